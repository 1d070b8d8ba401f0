"""A report as JSON, and what it means as an exit status."""

from __future__ import annotations

from typing import Any

from ladder_backends.model.finding import Allocation, CodeLocation, Finding, Report, Side
from ladder_backends.model.provenance import Provenance
from ladder_backends.sanitizer.describe import NO_FAULT_KINDS, headline, unseen_errors

FORMAT = 1
NOTHING_FOUND, FOUND, PROVES_NOTHING = 0, 1, 2


def _dim3(value: tuple[int, int, int] | None) -> list[int] | None:
    return list(value) if value is not None else None


def location_json(location: CodeLocation) -> dict[str, Any]:
    """A place or frame: function, file, line, offset, module."""
    return {
        "function": location.function,
        "file": location.file,
        "line": location.line,
        "offset": location.offset,
        "module": location.module,
    }


def side_json(side: Side) -> dict[str, Any]:
    """One place of a finding with its lane."""
    return {
        "access": side.access,
        "block": _dim3(side.block),
        "thread": _dim3(side.thread),
        "block_rank": side.block_rank,
        "function": side.location.function,
        "file": side.location.file,
        "line": side.location.line,
        "offset": side.location.offset,
    }


def allocation_json(allocation: Allocation) -> dict[str, Any]:
    """The allocation nearest to an access, or the one leaked."""
    return {
        "address": allocation.address,
        "size": allocation.size,
        "relation": allocation.relation,
        "distance": allocation.distance,
        "name": allocation.name,
        "where": location_json(allocation.where) if allocation.where is not None else None,
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding; coordinates are arrays, addresses hex strings, what is unknown is null or an empty string."""
    return {
        "index": finding.index,
        "tool": finding.tool,
        "kind": str(finding.kind),
        "access": finding.access,
        "size": finding.size,
        "space": finding.space,
        "kernel": finding.kernel,
        "src_file": finding.src_file,
        "line": finding.line,
        "block": _dim3(finding.block),
        "thread": _dim3(finding.thread),
        "sides": [side_json(side) for side in finding.sides],
        "device_frames": [location_json(frame) for frame in finding.device_frames],
        "host_frames": [location_json(frame) for frame in finding.host_frames],
        "allocation": allocation_json(finding.allocation) if finding.allocation is not None else None,
        "address": finding.address,
        "severity": finding.severity,
        "reason": finding.reason,
        "group": finding.group,
        "consequence_of": finding.consequence_of,
        "lane": str(finding.lane),
        "why": finding.why,
        "origin": finding.origin,
        "raw": finding.raw,
    }


def report_json(report: Report) -> dict[str, Any]:
    """The whole report, `"format": 1` first.

    `groups` lists bugs with the indices of their findings; `folded` are consequences shown under a bug.
    """
    return {
        "format": FORMAT,
        "tool": report.tool,
        "ran": report.ran,
        "complete": report.complete,
        "reason": report.reason,
        "summary": dict(report.summary),
        "findings": [finding_json(finding) for finding in report.findings],
        "groups": [
            {
                "id": group.id,
                "title": group.title,
                "kind": str(group.kind),
                "members": list(group.members),
                "folded": list(group.folded),
            }
            for group in report.groups.values()
        ],
        "dumps": list(report.dumps),
        "notes": list(report.notes),
        "unknown_lines": report.unknown_lines,
        "headline": headline(report),
        "provenance": str(Provenance.REPORT),
    }


def exit_code(report: Report) -> int:
    """0: ran to its end and found nothing. 1: found something. 2: did not run, or cut short with nothing found.

    Messages about the run itself and barrier traces are not counted as found; errors that only the tool's own
    summary counts are.
    """
    if any(group.kind not in NO_FAULT_KINDS for group in report.groups.values()) or unseen_errors(report):
        return FOUND
    return NOTHING_FOUND if report.ran and report.complete else PROVES_NOTHING

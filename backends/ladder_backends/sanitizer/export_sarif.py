"""A report as SARIF 2.1.0, for code review (OASIS, Static Analysis Results Interchange Format).

One result a bug, not a lane: its lanes are counted and sampled in `properties`. The second side of a hazard, the
callers on the device, the launch and the allocation are `relatedLocations`; the launch stack is in `stacks`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from ladder_backends.model.finding import CodeLocation, Finding, FindingGroup, FindingKind, Report
from ladder_backends.sanitizer.describe import (
    NO_FAULT_KINDS,
    allocation_line,
    group_count,
    lane_words,
    short_function,
)
from ladder_backends.sanitizer.group_key import group_key
from ladder_backends.sanitizer.host_stack import frame_line
from ladder_backends.sanitizer.user_frame import user_frame

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION = "2.1.0"
_SAMPLE = 32
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")
_RULES = {
    FindingKind.OOB: "Access outside of any allocation",
    FindingKind.MISALIGNED: "Access to an address that its size does not divide",
    FindingKind.PERMISSION: "Access that the memory does not allow",
    FindingKind.UNINIT_READ: "Read of device memory that was never written",
    FindingKind.UNINIT_API: "Copy from device memory that was never written",
    FindingKind.UNUSED_MEMORY: "Device memory that was never used",
    FindingKind.MALLOC_FREE: "Wrong use of malloc or free on the device",
    FindingKind.HW_EXCEPTION: "Hardware exception",
    FindingKind.UVM_GPU_FAULT: "GPU fault on managed memory",
    FindingKind.UVM_CPU_FAULT: "CPU fault on managed memory",
    FindingKind.TENSOR_MEMORY: "Access to tensor memory that is not allocated",
    FindingKind.STREAM_RACE: "Stream-ordered memory used out of order",
    FindingKind.RACE_HAZARD: "Hazard between two threads on shared memory",
    FindingKind.RACE_ANALYSIS: "Race on shared memory",
    FindingKind.CLUSTER_LATE_ENTRY: "Access to a block of the cluster that may not have started",
    FindingKind.CLUSTER_EARLY_EXIT: "Access to a block of the cluster that may have exited",
    FindingKind.DEADLOCK: "Deadlock at a barrier",
    FindingKind.BARRIER: "Wrong use of a barrier",
    FindingKind.LEAK: "Device memory that was never freed",
    FindingKind.API_ERROR: "CUDA call that failed",
}


def sarif(report: Report, *, version: str = "") -> dict[str, Any]:
    """The report as one SARIF run.

    Args:
        report: What was read; messages about the run itself become notifications.
        version: Of this program, for the log's `tool`.
    """
    bugs = [group for group in report.groups.values() if group.members and group.kind not in NO_FAULT_KINDS]
    kinds = list(dict.fromkeys(group.kind for group in bugs))
    driver: dict[str, Any] = {
        "name": "compute-sanitizer",
        "informationUri": "https://docs.nvidia.com/compute-sanitizer/",
        "rules": [_rule(kind) for kind in kinds],
    }
    extension: dict[str, Any] = {"name": "ladder-tui"}
    if version:
        extension["version"] = version
    run: dict[str, Any] = {
        "tool": {"driver": driver, "extensions": [extension]},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [_result(report, group, kinds.index(group.kind)) for group in bugs],
    }
    if report.tool:
        run["automationDetails"] = {"id": f"compute-sanitizer/{report.tool}/"}
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _rule(kind: FindingKind) -> dict[str, Any]:
    return {"id": str(kind), "shortDescription": {"text": _RULES.get(kind, str(kind))}}


def _invocation(report: Report) -> dict[str, Any]:
    notes = [
        {"level": _LEVELS.get(finding.severity, "note"), "message": {"text": finding.reason or str(finding.kind)}}
        for group in report.groups.values()
        if group.kind in NO_FAULT_KINDS
        for finding in (report.findings[number] for number in group.members[:_SAMPLE])
    ]
    if report.reason:
        notes.append({"level": "warning" if report.ran else "error", "message": {"text": report.reason}})
    invocation: dict[str, Any] = {"executionSuccessful": report.ran and report.complete}
    if notes:
        invocation["toolExecutionNotifications"] = notes
    return invocation


def _result(report: Report, group: FindingGroup, rule: int) -> dict[str, Any]:
    first = report.findings[group.members[0]]
    count = group_count(report, group)
    result: dict[str, Any] = {
        "ruleId": str(group.kind),
        "ruleIndex": rule,
        "level": _LEVELS.get(first.severity, "warning"),
        "message": {"text": _message(group, first, count)},
        "partialFingerprints": {
            "ladderGroup/v1": group_key(report, group),
            "ladderGroupWithoutLines/v1": group_key(report, group, loose=True),
        },
        "occurrenceCount": len(group.members),
    }
    own = user_frame(first.host_frames)
    places = _places(first)
    main = places[0] if places else (own, "")
    if main[0] is not None and (location := _location(main[0])):
        result["locations"] = [location]
    related = [(frame, f"{access} by the other side") for frame, access in places[1:]]
    related += [(frame, "called on the device from here") for frame in first.device_frames]
    if own is not None and places:
        related.append((own, "launched from here"))
    if first.allocation is not None and first.allocation.where is not None:
        related.append((first.allocation.where, "allocated here"))
    entries = [
        {"id": number, **entry, "message": {"text": words}}
        for number, (frame, words) in enumerate(related, 1)
        if (entry := _location(frame))
    ]
    if entries:
        result["relatedLocations"] = entries
    if first.host_frames:
        result["stacks"] = [
            {"message": {"text": "host stack"}, "frames": [_frame(frame) for frame in first.host_frames]}
        ]
    result["properties"] = _properties(report, group, first)
    return result


def _message(group: FindingGroup, first: Finding, count: str) -> str:
    words = " ".join(group.title.split("  "))
    allocation = allocation_line(first.allocation)
    text = f"{words}{f' ({count})' if count else ''}{f': {allocation}' if allocation else ''}"
    follow = len(group.folded)
    if follow:
        text += f"; {follow:,} follow-up {'error' if follow == 1 else 'errors'}"
    return text + "."


def _places(finding: Finding) -> list[tuple[CodeLocation, str]]:
    places = [(side.location, side.access or "access") for side in finding.sides]
    if not places and finding.src_file:
        places = [(CodeLocation(finding.kernel, finding.src_file, finding.line), finding.access)]
    return places


def _uri(file: str) -> str:
    text = file.replace("\\", "/") if _WINDOWS.match(file) or "\\" in file else file
    if text.startswith("/"):
        return "file://" + quote(text)
    if _WINDOWS.match(text):
        return "file:///" + quote(text, safe="/:")
    # A relative reference: a colon in its first part would be read as a scheme.
    return quote(str(PurePosixPath(text)))


def _location(place: CodeLocation) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place.file:
        physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.file)}}
        if place.line is not None and place.line > 0:
            physical["region"] = {"startLine": place.line}
        location["physicalLocation"] = physical
    if place.function:
        location["logicalLocations"] = [
            {"name": short_function(place.function), "fullyQualifiedName": place.function, "kind": "function"}
        ]
    return location


def _frame(frame: CodeLocation) -> dict[str, Any]:
    entry: dict[str, Any] = {"location": {**_location(frame), "message": {"text": frame_line(frame)}}}
    if frame.module:
        entry["module"] = frame.module
    return entry


def _properties(report: Report, group: FindingGroup, first: Finding) -> dict[str, Any]:
    lanes: Sequence[str] = [
        words
        for number in group.members[:_SAMPLE]
        for side in range(max(1, len(report.findings[number].sides)))
        if (words := lane_words(report.findings[number], side))
    ]
    properties: dict[str, Any] = {
        "tool": first.tool,
        "kernel": first.kernel,
        "group": group.id,
        "provenance": "report",
        "lanes": list(dict.fromkeys(lanes)),
    }
    if len(group.members) > _SAMPLE:
        properties["lanesNotListed"] = len(group.members) - _SAMPLE
    return properties

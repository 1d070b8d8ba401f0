"""A sanitizer report as text for a person: one paragraph a bug."""

from __future__ import annotations

from collections.abc import Iterator

from ladder_backends.model.finding import CodeLocation, Finding, FindingGroup, LaneAnswer, Report
from ladder_tui.cli.lane_ranges import lane_ranges
from ladder_tui.panes.findings_words import allocation_words, plural, reason_lines

_BLOCKS = 4
_FRAMES = 6


def report_lines(report: Report) -> Iterator[str]:
    """The whole report: a headline, then each bug, then what the tool said of the run."""
    yield _headline(report)
    for number, group in enumerate(report.groups.values(), 1):
        yield ""
        yield from _group_lines(number, group, report)
    if report.reason:
        yield ""
        yield f"note: {report.reason}"


def _headline(report: Report) -> str:
    tool = report.tool or "compute-sanitizer"
    if not report.ran:
        return f"{tool} did not run: {report.reason or 'the report does not say why'}"
    count = len(report.findings)
    if not count:
        return (
            f"{tool}: nothing found" if report.complete else f"{tool}: nothing found, but the report is incomplete"
        )
    words = f"{tool}: {plural(count, 'finding')}"
    if len(report.groups) != count:
        words += f" of {plural(len(report.groups), 'bug')}"
    return words if report.complete else f"{words}; the report is incomplete"


def _group_lines(number: int, group: FindingGroup, report: Report) -> Iterator[str]:
    members = [report.findings[index] for index in group.members]
    if not members:
        return
    first = members[0]
    count = f" × {len(members):,}" if len(members) > 1 else ""
    yield f"{number}. {group.title}{count}"
    yield from (f"   {line}" for line in _place_lines(first))
    yield from (f"   {line}" for line in _lane_lines(members))
    if words := allocation_words(first):
        more = ", and so on" if len(members) > 1 and len({member.address for member in members}) > 1 else ""
        yield f"   {words}{more}"
    for frame in first.host_frames[:_FRAMES]:
        if words := _frame_words(frame):
            yield f"   from {words}"
    if first.lane is not LaneAnswer.EXACT:
        yield from (f"   {line}" for line in reason_lines(first))
    if group.folded:
        yield f"   then {plural(len(group.folded), 'follow-up error')}: {report.findings[group.folded[0]].reason}"


def _place_lines(finding: Finding) -> Iterator[str]:
    places = [side.location for side in finding.sides] or [
        CodeLocation(finding.kernel, finding.src_file, finding.line)
    ]
    shown: set[str] = set()
    for place in [*places, *finding.device_frames[:_FRAMES]]:
        words = _frame_words(place)
        if words and words not in shown:
            shown.add(words)
            yield f"at {words}"


def _lane_lines(members: list[Finding]) -> Iterator[str]:
    lanes = [
        (side.block, side.thread)
        for member in members
        for side in member.sides
        if side.block is not None and side.thread is not None
    ]
    if not lanes:
        lanes = [(one.block, one.thread) for one in members if one.block is not None and one.thread is not None]
    ranges = list(lane_ranges(lanes))
    yield from ranges[:_BLOCKS]
    if len(ranges) > _BLOCKS:
        yield f"and {plural(len(ranges) - _BLOCKS, 'more block')}"


def _frame_words(frame: CodeLocation) -> str:
    place = f"{frame.file}:{frame.line}" if frame.file and frame.line is not None else frame.file or frame.module
    if frame.function and place:
        return f"{frame.function} in {place}"
    return frame.function or place

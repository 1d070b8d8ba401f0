"""A sanitizer report as text for a person: one paragraph a bug."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator

from ladder_backends.model.finding import CodeLocation, Finding, FindingGroup, FindingKind, LaneAnswer, Report
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer import allocation_line, group_count, headline, member_line
from ladder_backends.sanitizer.comparison import Comparison
from ladder_backends.sanitizer.describe import NO_FAULT_KINDS
from ladder_backends.sanitizer.host_stack import stack_rows
from ladder_backends.text import clean_line
from ladder_tui.cli.lane_ranges import lane_ranges

_BLOCKS = 4
_FRAMES = 6
_ORIGINS = 4
_SIDES = 4
_HOW_TO_LOAD = re.compile(r"Generating coredump file|It can be loaded in the debugger|cuda-gdb -ex")
"""What the tool says of its dump: said anew with the command that opens it here."""


def report_lines(report: Report, log: str = "", *, new: Collection[str] = ()) -> Iterator[str]:
    """The whole report: a headline, then each bug, then what else was found and what the tool said of the run.

    Args:
        report: What was read.
        log: Its file as it was named, for the command that opens it with its dump; without one there is none.
        new: Ids of bugs that an earlier report did not hold.
    """
    yield f"{report.tool or 'compute-sanitizer'}: {headline(report)}"
    groups = report.groups.values()
    for number, group in enumerate((one for one in groups if one.kind not in NO_FAULT_KINDS), 1):
        yield ""
        yield from _group_lines(f"{number}. {'new: ' if group.id in new else ''}", group, report)
    others = [one for one in groups if one.kind in NO_FAULT_KINDS]
    if others and len(others) < len(groups):
        yield from ("", "not bugs by themselves:")
    for group in others:
        yield ""
        yield from _group_lines("·  ", group, report)
    if notes := list(_note_lines(report, log)):
        yield from ("", *notes)


def comparison_lines(report: Report, against: Comparison) -> Iterator[str]:
    """How the report differs from an earlier one: a count, then what is gone and what has moved."""
    yield ""
    yield f"against the earlier report: {against.words()}"
    for group in against.gone:
        yield f"   {'gone' if against.sure else 'not seen'}: {group.title}"
    for group in against.not_looked_for:
        yield f"   of another tool: {group.title}"
    for number in sorted(against.moved):
        yield f"   moved: {report.groups[number].title}"


def _note_lines(report: Report, log: str) -> Iterator[str]:
    for note in report.notes:
        if not _HOW_TO_LOAD.match(note):
            yield f"note: {note}"
    for dump in report.dumps:
        how = f"; to stand in its lanes: ladder-tui open {shlex.quote(log)} {shlex.quote(dump)} PROGRAM"
        yield f"note: the tool wrote {dump}{how if log else ''}"


def _group_lines(mark: str, group: FindingGroup, report: Report) -> Iterator[str]:
    members = [report.findings[index] for index in group.members]
    if not members:
        return
    first = members[0]
    count = group_count(report, group)
    yield f"{mark}{group.title}" + (f"  ({count})" if count else "")
    yield from (f"   {line}" for line in _place_lines(first))
    yield from (f"   {line}" for line in _lane_lines(members))
    if words := _origin_words(members):
        yield f"   {words}"
    if words := allocation_line(first.allocation):
        yield f"   {words}" + (", the others further on" if _differ(members) else "")
    rows = (row.frame for row in stack_rows(first.host_frames, first.kernel) if row.frame is not None)
    for frame in [frame for frame in rows if frame.file][:_FRAMES]:
        yield f"   from {_frame_words(frame)}"
    if first.why:
        yield f"   {first.why}"
    if group.folded:
        more = len(group.folded)
        noun = "a follow-up error" if more == 1 else f"{more:,} follow-up errors"
        yield f"   then {noun}: {report.findings[group.folded[0]].reason}"


def _origin_words(members: list[Finding]) -> str:
    """`in rank.0.log (24), rank.2.log (13)`: which of several reports tell of it; empty for one report."""
    told = Counter(file_name(member.origin) for member in members if member.origin)
    named = [f"{clean_line(name)} ({count:,})" for name, count in told.most_common(_ORIGINS)]
    more = f" and {len(told) - _ORIGINS:,} more" if len(told) > _ORIGINS else ""
    return f"in {', '.join(named)}{more}" if named else ""


def _differ(members: list[Finding]) -> bool:
    return len({member.allocation.distance for member in members if member.allocation is not None}) > 1


def _place_lines(finding: Finding) -> Iterator[str]:
    places = [side.location for side in finding.sides]
    places = places or [CodeLocation(finding.kernel, finding.src_file, finding.line)]
    shown: set[str] = set()
    for place in [*places, *finding.device_frames[:_FRAMES]]:
        words = _frame_words(place)
        if words and words not in shown:
            shown.add(words)
            yield f"at {words}"


def _lane_lines(members: list[Finding]) -> Iterator[str]:
    if members[0].lane is LaneAnswer.TWO or members[0].kind is FindingKind.RACE_ANALYSIS:
        yield from (member_line(member) for member in members[:_SIDES])
        if len(members) > _SIDES:
            yield f"and {len(members) - _SIDES:,} more"
        return
    ranges = list(lane_ranges((one.block, one.thread) for one in members if one.block and one.thread))
    yield from ranges[:_BLOCKS]
    if len(ranges) > _BLOCKS:
        yield f"and {len(ranges) - _BLOCKS:,} more blocks"


def _frame_words(frame: CodeLocation) -> str:
    place = f"{frame.file}:{frame.line}" if frame.file and frame.line is not None else frame.file or frame.module
    if frame.function and place:
        return f"{frame.function} in {place}"
    return frame.function or place

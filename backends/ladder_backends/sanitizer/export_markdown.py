"""A report as Markdown, to paste into a bug report.

Text of the report stands in code spans and blocks only, where Markdown has no meaning of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ladder_backends.model.finding import Finding, FindingGroup, FindingKind, Report
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer.comparison import Comparison
from ladder_backends.sanitizer.describe import (
    NO_FAULT_KINDS,
    allocation_line,
    group_count,
    headline,
    lane_words,
    what_words,
)
from ladder_backends.sanitizer.host_stack import frame_line, stack_rows

_TICKS = re.compile(r"`+")
_SAMPLE = 4
_FRAMES = 20
_RAW_LINES = 60


def code(text: str) -> str:
    """Text as a code span that it cannot leave."""
    text = " ".join(text.split())
    if not text:
        return ""
    fence = "`" * (max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    space = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def block(text: str) -> Iterator[str]:
    """Lines as a code block that they cannot leave."""
    fence = "`" * max(3, max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    yield f"{fence}text"
    yield from text.split("\n")
    yield fence


def markdown(
    report: Report, *, notes: Mapping[str, str] | None = None, against: Comparison | None = None
) -> Iterator[str]:
    """Lines of a Markdown document: a headline, then a section for each bug.

    Args:
        report: What was read.
        notes: A person's words on bugs, by group id.
        against: How the report differs from an earlier one.
    """
    yield f"## {report.tool or 'compute-sanitizer'}: {code(headline(report))}"
    if against is not None:
        yield ""
        yield f"Against the earlier report: {against.words()}."
        for gone in against.gone:
            yield f"- {'gone' if against.sure else 'not seen'}: {code(gone.title)}"
    bugs = [group for group in report.groups.values() if group.members and group.kind not in NO_FAULT_KINDS]
    new = set(against.new) if against is not None else set()
    for number, group in enumerate(bugs, 1):
        yield ""
        yield from _section(report, group, number, (notes or {}).get(group.id, ""), new=group.id in new)
    said = [
        finding.reason
        for group in report.groups.values()
        if group.kind in NO_FAULT_KINDS
        for finding in (report.findings[member] for member in group.members[:_SAMPLE])
        if finding.reason
    ]
    if said:
        yield ""
        yield "### About the run"
        yield from (f"- {code(words)}" for words in dict.fromkeys(said))


def _section(report: Report, group: FindingGroup, number: int, note: str, *, new: bool) -> Iterator[str]:
    members = [report.findings[member] for member in group.members[: _SAMPLE + 1]]
    first = members[0]
    count = group_count(report, group)
    yield f"### {number}. {code(what_words(first))}{f' ({count})' if count else ''}{' — new' if new else ''}"
    yield ""
    if first.kernel:
        yield f"- kernel: {code(first.kernel)}"
    yield from _places(first)
    for member in members[:_SAMPLE]:
        words = " and ".join(code(lane) for side in range(len(member.sides)) if (lane := lane_words(member, side)))
        if words:
            yield f"- block and thread: {words}"
    if len(group.members) > _SAMPLE and lane_words(first):
        yield f"- and {len(group.members) - _SAMPLE:,} more"
    if allocation := allocation_line(first.allocation):
        yield f"- {code(allocation)}"
    if first.why:
        yield f"- no lane: {code(first.why)}"
    if group.folded:
        cause = report.findings[group.folded[0]]
        yield f"- follow-up errors: {len(group.folded):,}, the first {code(cause.reason or cause.access)}"
    if note:
        yield f"- note: {code(note)}"
    if first.host_frames:
        yield from ("", "Host stack (folded):", "")
        rows = [
            frame_line(row.frame) if row.frame is not None else f"… {len(row.folded)} frames: {row.why}"
            for row in stack_rows(first.host_frames, first.kernel)
        ]
        yield from block("\n".join(rows[:_FRAMES]))
    yield from ("", "<details><summary>as the tool wrote it</summary>", "")
    lines = first.raw.split("\n")
    yield from block("\n".join(lines[:_RAW_LINES]))
    yield from ("", "</details>")


def _places(finding: Finding) -> Iterator[str]:
    several = len(finding.sides) > 1 or finding.kind is FindingKind.RACE_ANALYSIS
    for side in finding.sides:
        place = side.location
        if not place.file:
            continue
        where = f"{place.file}:{place.line}" if place.line is not None else place.file
        yield f"- {side.access if several else 'at'} {code(where)}"
    for frame in finding.device_frames:
        if frame.file:
            yield f"- called from {code(f'{file_name(frame.file)}:{frame.line} {frame.function}')}"

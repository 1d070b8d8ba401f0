"""Findings in a person's words. Everything here is the report's word, none of it an engine's."""

from __future__ import annotations

from ladder_backends.model.finding import CodeLocation, Finding, LaneAnswer, Report, Side
from ladder_backends.model.focus import format_coordinate
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer import short_function


def place_words(location: CodeLocation) -> str:
    """`vector_add.cu:10`, or the function, or the module: whatever of these the report has."""
    if location.line is not None and location.file:
        return f"{file_name(location.file)}:{location.line}"
    if location.function:
        return short_function(location.function)
    return file_name(location.file or location.module)


def host_words(finding: Finding) -> str:
    """The host frame that led here: the innermost one with a line, else the outermost that has a name."""
    named = [frame for frame in finding.host_frames if frame.function or frame.line is not None]
    lined = next((frame for frame in named if frame.line is not None), None)
    if lined is not None:
        return f"{short_function(lined.function)} {place_words(lined)}".strip()
    return place_words(named[-1]) if named else ""


def reason_lines(finding: Finding) -> tuple[str, ...]:
    """Why there is no exact lane, and the action that gets one, a line each."""
    why, colon, action = finding.why.partition(": ")
    return (why, f"→ {action}") if colon else (why,) if why else ()


def side_of(finding: Finding, side: int) -> Side | None:
    """One side of a finding, or None where it has fewer."""
    return finding.sides[side] if 0 <= side < len(finding.sides) else None


def lane_words(side: Side) -> tuple[str, str]:
    """Block and thread as coordinates; empty where the report has none."""
    block = format_coordinate(side.block) if side.block is not None else ""
    thread = format_coordinate(side.thread) if side.thread is not None else ""
    return block, thread


def has_lane(finding: Finding) -> bool:
    """Whether the report names at least one lane."""
    return finding.lane is not LaneAnswer.NONE


def plural(count: int, noun: str) -> str:
    """`1 bug`, `24 bugs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def report_summary(report: Report | None, bugs: int, lanes: int, pairs: int = 0) -> tuple[str, str]:
    """What the pane's title says of the report, and the style it says it in.

    Args:
        report: What is open, or None.
        bugs: Groups that are about the program.
        lanes: Findings that name a lane.
        pairs: Hazards, which name two.
    """
    if report is None:
        return "no report open", "muted"
    if not report.ran and not bugs:
        tool = report.tool or "the sanitizer"
        return f"{tool} did not run: {report.reason or 'the report does not say why'}", "fault"
    words = plural(bugs, "bug") if bugs else "nothing found"
    if lanes:
        words += f" · {plural(lanes, 'lane')}"
    if pairs:
        words += f" · {plural(pairs, 'pair')}"
    unprinted = report.summary.get("not_printed", 0)
    if unprinted:
        words += f" · {unprinted:,} more not printed by the tool"
    if report.complete and not report.reason:
        return words, "text" if bugs else "ok"
    if report.reason:
        return f"{words} · {'' if report.complete else 'incomplete: '}{report.reason}", "warn"
    return f"{words} so far", "text"

"""Findings in a person's words. Everything here is the report's word, none of it an engine's."""

from __future__ import annotations

from ladder_backends.model.finding import CodeLocation, Finding, LaneAnswer, Report, Side
from ladder_backends.model.focus import format_coordinate

_RELATIONS = {"after": "past", "before": "before", "inside": "inside"}


def base_name(path: str) -> str:
    """The last part of a path, of either kind of slash."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def bare_function(name: str) -> str:
    """A function's name without return type, template arguments and parameters."""
    depth = 0
    kept: list[str] = []
    for character in name.replace("(anonymous namespace)::", "").replace("<unnamed>::", "").removesuffix(" const"):
        if character == "(" and depth == 0 and kept and "".join(kept[-8:]) != "operator":
            break
        if character in "<(":
            depth += 1
        elif character in ">)":
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(character)
    words = "".join(kept).split()
    return words[-1] if words else name


def place_words(location: CodeLocation) -> str:
    """`main :16`, `main in libfoo.so`, or whatever of these the report has."""
    function = bare_function(location.function) if location.function else ""
    if location.line is not None:
        return f"{function or base_name(location.file)} :{location.line}"
    if location.module and not function:
        return base_name(location.module)
    return function


def line_words(finding: Finding) -> str:
    """`:10`, or an empty string where the report has no line."""
    return f":{finding.line}" if finding.line is not None else ""


def size_words(count: int) -> str:
    """`4,000 B`."""
    return f"{count:,} B"


def allocation_words(finding: Finding) -> str:
    """`1 B past an allocation of 4,000 B at 0x7f58… (allocated main :16)`, as far as the report tells."""
    allocation = finding.allocation
    if allocation is None:
        return ""
    relation = _RELATIONS.get(allocation.relation, "")
    if relation == "inside":
        words = "inside"
    elif relation and allocation.distance is not None:
        words = f"{size_words(allocation.distance)} {relation}"
    elif relation:
        words = relation
    else:
        words = "near"
    words += f" {allocation.name}," if allocation.name else " an allocation"
    if allocation.size is not None:
        words += f" {size_words(allocation.size)}" if allocation.name else f" of {size_words(allocation.size)}"
    if allocation.address:
        words += f" at {allocation.address}"
    where = place_words(allocation.where) if allocation.where is not None else ""
    return f"{words} (allocated {where})" if where else words


def offset_words(finding: Finding) -> str:
    """The access relative to its allocation's start, `+4032`; the bare address where there is none."""
    allocation = finding.allocation
    if not finding.address:
        return ""
    if allocation is None or not allocation.address:
        return finding.address
    try:
        offset = int(finding.address, 16) - int(allocation.address, 16)
    except ValueError:
        return finding.address
    return f"{offset:+d}"


def reason_lines(finding: Finding) -> tuple[str, ...]:
    """Why there is no exact lane, and the action that gets one, a line each."""
    if not finding.why:
        return ()
    why, dash, action = finding.why.partition(" — ")
    return (why, action) if dash else (why,)


def side_of(finding: Finding, side: int) -> Side | None:
    """One side of a finding, or None where it has fewer."""
    if 0 <= side < len(finding.sides):
        return finding.sides[side]
    if side == 0 and finding.block is not None and finding.thread is not None:
        return Side(access=finding.access, block=finding.block, thread=finding.thread)
    return None


def lane_words(side: Side) -> tuple[str, str]:
    """Block and thread as coordinates; empty where the report has none."""
    block = format_coordinate(side.block) if side.block is not None else ""
    thread = format_coordinate(side.thread) if side.thread is not None else ""
    return block, thread


def host_words(finding: Finding) -> str:
    """The user's own host frame, else the outermost named one: `main :19`."""
    named = [frame for frame in finding.host_frames if frame.function or frame.line is not None]
    for frame in named:
        if frame.line is not None:
            return place_words(frame)
    return place_words(named[-1]) if named else ""


def has_lane(finding: Finding) -> bool:
    """Whether the report names at least one lane."""
    return finding.lane is not LaneAnswer.NONE


def plural(count: int, noun: str) -> str:
    """`1 bug`, `24 bugs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def report_summary(report: Report | None, groups: int, lanes: int) -> tuple[str, str]:
    """What the pane's title says of the report, and the style it says it in.

    Args:
        report: What is open, or None.
        groups: Bugs in the report.
        lanes: Findings that name a lane.
    """
    if report is None:
        return "no report open", "muted"
    if not report.ran and not report.findings:
        tool = report.tool or "the sanitizer"
        return f"{tool} did not run: {report.reason or 'the report does not say why'}", "fault"
    counts = plural(groups, "bug") if groups else "no findings"
    if lanes:
        counts += f" · {plural(lanes, 'lane')}"
    unprinted = report.summary.get("not_printed", 0)
    if unprinted:
        counts += f" · {unprinted:,} more not printed by the tool"
    if report.complete:
        return counts, "text" if groups else "ok"
    if report.reason:
        return f"{counts} · incomplete: {report.reason}", "warn"
    return f"{counts} · reading", "text"

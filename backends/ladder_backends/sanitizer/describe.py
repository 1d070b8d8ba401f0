"""Findings in a person's words, all of them from the report and nothing else."""

from __future__ import annotations

import re

from ladder_backends.model.finding import (
    Allocation,
    CodeLocation,
    Finding,
    FindingGroup,
    FindingKind,
    LaneAnswer,
    Report,
)
from ladder_backends.model.focus import format_coordinate
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer.lanes import frame_words
from ladder_backends.sanitizer.summary import counted_errors

RUN_KINDS = frozenset({FindingKind.TOOL_ERROR, FindingKind.TOOL_WARNING, FindingKind.SESSION})
"""Kinds that are about the run of the tool, not about the program."""

NO_FAULT_KINDS = RUN_KINDS | {FindingKind.SYNC_TRACE}
"""Kinds that report no fault of the program: they are listed, and not counted as found."""

_LONGEST_REASON = 300
_TAIL = 6
"""Last digits of an address, in which neighbours differ."""
_TEMPLATE_RETURN = re.compile(r"^(?:void|__half|float|double|int|bool|unsigned(?: \w+)?|long(?: \w+)?) (?=[\w:~<])")
_CLONE = re.compile(r"^\[clone [^\]]*\]\s*(?=\S)")
_BARRIERS = {
    "divergent-warp": "threads of one warp diverge at a barrier",
    "divergent-block": "threads of one block diverge at a barrier",
    "invalid-arguments": "a barrier got invalid arguments",
    "missing-wait": "a barrier phase is never waited for",
}


def short_function(function: str, width: int = 40) -> str:
    """`void at::native::k<float>(T1 *)` as `at::native::k<…>`, cut in the middle to `width` characters."""
    name = _TEMPLATE_RETURN.sub("", _CLONE.sub("", function))
    flat, depth = [], 0
    for index, char in enumerate(name):
        if char == "<" and not name.startswith(("<unnamed>", "<module>", "<lambda>"), index) and (index or depth):
            if depth == 0:
                flat.append("<…>")
            depth += 1
        elif char == ">" and depth and name[index - 1] != "-":
            depth -= 1
        elif depth == 0:
            if char == "(" and not name.startswith("(anonymous", index) and not _operator_call(name, index):
                break
            flat.append(char)
    short = "".join(flat).strip() or function
    if len(short) > width:
        half = (width - 1) // 2
        short = f"{short[:half]}…{short[-(width - 1 - half) :]}"
    return short


def _operator_call(name: str, index: int) -> bool:
    return name.startswith("()", index) and name[:index].endswith("operator")


def byte_count(size: int) -> str:
    """`4,000 B`."""
    return f"{size:,} B"


def place_words(finding: Finding) -> str:
    """`vadd :10`: the kernel or host function with the line, as far as the report has them."""
    name = short_function(finding.kernel) if finding.kernel else ""
    if finding.src_file:
        line = f":{finding.line}" if finding.line is not None else ""
        inner = finding.sides[0].location.function if finding.sides else ""
        own = not inner or inner == finding.kernel
        return f"{name} {'' if own else file_name(finding.src_file)}{line}".strip()
    return name


def what_words(finding: Finding) -> str:
    """What is wrong, in a few words, without the place: `read 4 B out of bounds`."""
    kind, size = finding.kind, byte_count(finding.size) if finding.size is not None else ""
    space = (
        f"{finding.space.replace('device-heap', 'device heap')} "
        if finding.space and finding.space != "global"
        else ""
    )
    access = "access" if finding.access in ("?", "") else finding.access
    match kind:
        case FindingKind.OOB | FindingKind.MISALIGNED | FindingKind.PERMISSION:
            reason = finding.reason or ("out of bounds" if kind is FindingKind.OOB else str(kind))
            return f"{space}{access} {size} {reason}" if size else reason
        case FindingKind.CLUSTER_LATE_ENTRY:
            return f"{access} {size} of a block that may not have started"
        case FindingKind.CLUSTER_EARLY_EXIT:
            return f"{access} {size} of a block that may have exited"
        case FindingKind.UNINIT_READ:
            return f"{space}{access} {size} never written"
        case FindingKind.UNINIT_API:
            return f"{finding.access or 'host copy'} reads memory never written"
        case FindingKind.UNUSED_MEMORY:
            return f"{space}allocation {size} not used".replace("  ", " ")
        case FindingKind.MALLOC_FREE:
            return f"device malloc/free: {finding.reason.lower()}"
        case FindingKind.BARRIER:
            return _BARRIERS.get(finding.access) or f"barrier: {finding.reason or 'error'}"
        case FindingKind.RACE_HAZARD:
            return f"{finding.access} hazard on {finding.space} memory"
        case FindingKind.RACE_ANALYSIS:
            return f"race {finding.access.lower()} on {finding.space} memory"
        case FindingKind.LEAK:
            return f"leaked {size}{f' ({space.strip()})' if space else ''}" if size else finding.reason
        case FindingKind.API_ERROR:
            return f"{finding.access or 'API call'} failed: {finding.reason}".rstrip(": ")
        case FindingKind.STREAM_RACE:
            return f"{finding.access} of {size}"
        case FindingKind.UVM_GPU_FAULT:
            return f"GPU fault on managed memory {finding.reason}".rstrip()
        case FindingKind.UVM_CPU_FAULT:
            return f"CPU fault on managed memory {finding.reason}".rstrip()
        case FindingKind.DEADLOCK:
            return f"deadlock at {finding.reason or finding.access}"
        case FindingKind.SYNC_TRACE:
            return f"{finding.reason or finding.access} trace"
        case _:
            reason = finding.reason or str(kind)
            return reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 1] + "…"


def group_title(finding: Finding, user: CodeLocation | None = None) -> str:
    """One line for all findings like this one: what, then where.

    Args:
        finding: The first of the group.
        user: The user's frame of its host stack, shown where there is no place on the device.
    """
    place = place_words(finding)
    if not place and user is not None:
        place = frame_words(user)
    return f"{what_words(finding)}  {place}".rstrip()


def allocation_line(allocation: Allocation | None) -> str:
    """`1 B past a 4,000 B allocation at 0x7f58…`; an empty string where the report names none."""
    if allocation is None:
        return ""
    size = f"{byte_count(allocation.size)} " if allocation.size is not None else ""
    name = f" {allocation.name}" if allocation.name else ""
    at = f" at {allocation.address}" if allocation.address else ""
    where = f" (allocated by {frame_words(allocation.where)})" if allocation.where is not None else ""
    distance = byte_count(allocation.distance) if allocation.distance is not None else ""
    relation = {"after": f"{distance} past", "before": f"{distance} before", "inside": "inside"}.get(
        allocation.relation, ""
    )
    noun = f"{'an' if not size and not name else 'a'} {size}allocation" if relation else f"{size}allocation"
    return f"{relation} {noun}{name}{at}{where}".strip()


def lane_words(finding: Finding, side: int = 0) -> str:
    """`(3,0,0) (240,0,0)`: block and thread of one place; an empty string without them."""
    if side >= len(finding.sides):
        return ""
    place = finding.sides[side]
    words = [format_coordinate(value) for value in (place.block, place.thread) if value is not None]
    if place.block_rank is not None:
        words.append(f"block rank {place.block_rank}")
    return " ".join(words)


def offset_words(finding: Finding, *, told: Allocation | None = None) -> str:
    """`base+4,032`: the accessed address relative to the nearest allocation, else the address.

    Args:
        finding: The finding.
        told: The allocation that `base` would be taken for; another one is named: `24 B before 0x…801000`.
    """
    allocation = finding.allocation
    if allocation is not None and told is not None and allocation.address != told.address:
        return _distance_words(finding, allocation, told) or finding.address
    if allocation is not None and allocation.relation and allocation.address and finding.address:
        try:
            offset = int(finding.address, 16) - int(allocation.address, 16)
        except ValueError:
            return finding.address
        if abs(offset) < 1 << 40:
            return f"base{offset:+,}"
    return finding.address


def _distance_words(finding: Finding, allocation: Allocation, told: Allocation) -> str:
    relation = {"after": "past", "before": "before", "inside": "into"}.get(allocation.relation, "")
    distance = allocation.distance
    try:
        if allocation.relation == "inside":
            distance = int(finding.address, 16) - int(allocation.address, 16)
    except ValueError:
        return ""
    if distance is None or not allocation.address or not relation:
        return ""
    short = len(allocation.address) > _TAIL + 2 and allocation.address[-_TAIL:] != told.address[-_TAIL:]
    address = f"0x…{allocation.address[-_TAIL:]}" if short else allocation.address
    return f"{byte_count(distance)} {relation} {address}"


def member_line(finding: Finding) -> str:
    """One line for one finding of a group: block, thread, offset; both lanes of a hazard."""
    if len(finding.sides) > 1 and finding.kind is not FindingKind.RACE_ANALYSIS:
        lanes = "  <>  ".join(
            f"{place.access} {lane_words(finding, index)}".strip() for index, place in enumerate(finding.sides)
        )
        return f"{lanes}  {finding.address}".rstrip()
    if finding.kind is FindingKind.RACE_ANALYSIS:
        return "  <>  ".join(
            f"{place.access} {short_function(place.location.function)}"
            + (f" :{place.location.line}" if place.location.line is not None else "")
            for place in finding.sides
        )
    return f"{lane_words(finding)}  {offset_words(finding)}".strip() or what_words(finding)


def group_count(report: Report, group: FindingGroup) -> str:
    """`24 lanes` where each member is one lane, else `3 times`; empty for a single one without a lane."""
    count = len(group.members)
    sides = report.findings[group.members[0]].sides if count else ()
    if any(side.thread is not None for side in sides) and group.kind is not FindingKind.RACE_ANALYSIS:
        return "1 lane" if count == 1 else f"{count:,} lanes"
    return f"{count:,} times" if count > 1 else ""


def unseen_errors(report: Report) -> int:
    """How many errors the tool's summary counts, where the report shows no fault at all."""
    if any(group.kind not in NO_FAULT_KINDS for group in report.groups.values()):
        return 0
    own = sum(finding.kind is FindingKind.TOOL_ERROR for finding in report.findings)
    return max(0, counted_errors(report.summary) - own)


def headline(report: Report) -> str:
    """The report in one line: `1 bug · 24 lanes`, or why it proves nothing."""
    bugs = [group for group in report.groups.values() if group.kind not in NO_FAULT_KINDS]
    if not bugs:
        if not report.ran:
            return f"did not run: {report.reason}" if report.reason else "did not run"
        if unseen_errors(report):
            return f"errors not shown: {report.reason}" if report.reason else "errors not shown"
        if not report.complete:
            return f"nothing found so far: {report.reason}" if report.reason else "nothing found so far"
        return "nothing found" + (f" ({report.reason})" if report.reason else "")
    found = sum(len(group.members) for group in bugs)
    named = [report.findings[member].lane for group in bugs for member in group.members]
    lanes, pairs = named.count(LaneAnswer.EXACT), named.count(LaneAnswer.TWO)
    words = [f"{len(bugs):,} bug{'s' if len(bugs) != 1 else ''}"]
    if lanes:
        words.append(f"{lanes:,} lane{'s' if lanes != 1 else ''}")
    if pairs:
        words.append(f"{pairs:,} pair{'s' if pairs != 1 else ''} of lanes")
    if not lanes and not pairs and found != len(bugs):
        words.append(f"{found:,} reports")
    if report.reason:
        words.append(report.reason)
    return " · ".join(words)

"""The indented lines of a record.

Each line becomes an `Effect`: a function and its value, applied to the record at hand. Lines that repeat from
record to record (places, frames) are parsed once and their effects kept by the reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from ladder_backends.model.finding import CodeLocation, Side
from ladder_backends.model.focus import Dim3
from ladder_backends.sanitizer.draft import RecordDraft
from ladder_backends.sanitizer.fields import dim3, number
from ladder_backends.sanitizer.locations import parse_device_frame, parse_host_frame, parse_location, with_module

Effect: TypeAlias = tuple[Callable[[RecordDraft, Any], None], Any]
"""What a line does to its record."""

_BY = re.compile(
    r"by (?:threads? )?\((?P<thread>[^)]*)\)(?: \(block rank (?P<rank1>\d+)\))? in [Bb]lock \((?P<block>[^)]*)\)"
    r"(?:.*block rank (?P<rank2>\d+))?"
)
_ACCESS = re.compile(
    r"(?:Address|Access|Barrier) (?:at |to )?(?P<address>0x[0-9a-fA-F]+)(?: in CTA (?P<cta>\S+))?"
    r"(?:(?: is)? (?P<reason>.*?))?[.]?$"
)
_NEAREST = re.compile(
    r"and is (?:(?P<distance>[\d,]+) bytes? (?P<relation>before|after|inside)|inside) the nearest allocation"
    r"(?: at (?P<address>0x[0-9a-fA-F]+))?(?: of size (?P<size>[\d,]+))?"
)
_CALLED = re.compile(r" called (.*?)(?: of size [\d,]+(?: bytes?)?| at 0x[0-9a-fA-F]+)*$")
_SAVED = re.compile(r"Saved host backtrace(?: up to driver entry point)?(?: at (?P<moment>.*))?$")
_SIDE = re.compile(r"(?P<access>\w+) Thread \((?P<thread>[^)]*)\)(?P<between>.*?)(?: at (?P<where>.*))?$")
_RANK = re.compile(r"block rank (\d+)")
_SIDE_BLOCK = re.compile(r"in [Bb]lock \(([^)]*)\)")
_BROKEN = re.compile(r"(?!at |by |in |and |is )[\w:~<(].*\+0x[0-9a-fA-F]+(?: in \S.*:\d+)?$")
_ANALYSIS = re.compile(r"and (?P<access>\w+) access at(?: (?P<where>.*?))?(?: ?\[(?P<count>[\d,]+) hazards?\])?$")
_PLACE = re.compile(r"at \S.*(?:\+0x[0-9a-fA-F]+| in \S+:\d+)$")
_FILE_OF_SIDE = re.compile(r"in (\S.*):(\d+)(?: \[[\d,]+ hazards?\])?$")
_HOST_ACCESS = re.compile(
    r"Uninitialized access (?:at|to) (?P<address>0x[0-9a-fA-F]+)(?: on access by (?P<access>.*?))?[.]?$"
)
_DURING = re.compile(r"during (?P<access>[\w ]+?) access to address (?P<address>0x[0-9a-fA-F]+)")
_SHARED_BARRIER = re.compile(r"Barrier is located at shared address (0x[0-9a-fA-F]+)")
_KEPT = re.compile(
    r"Current Value\b|Incoming Value\b|Identical data|Not written\b|[\d.,]+% of|These unused bytes|Sync mask of"
    r"|and is located in|Kernel:|Grid:|Block:|Cluster:|Stream:|Try using --|\(?[\d,]+ (?:errors|hazards)"
    r"|\[[\d,]+ hazards?\]|transfer size|dst address|(?:Strong|Weak|Relaxed)\b|\.\.\.|\[\.\.\.\]|Columns? "
    r"|Access size"
)
_FORMS = (
    "at ",
    "by thread (",
    "Address 0x",
    "Access at 0x",
    "Access to 0x",
    "and is ",
    "Saved host backtrace up to driver entry point",
    "Host Frame:",
    "Device Frame:",
    "Write Thread (",
    "Read Thread (",
    "and Write access at ",
    "and Read access at ",
    "Current Value :",
    "Uninitialized access ",
    "during ",
    "Sync mask of thread",
    "Not written ",
    "in ",
)
"""How indented lines begin; a cut line is known by the beginning that is left of it."""


def _keep(record: RecordDraft, value: None) -> None:
    """A line that is only kept as text."""


def _at(record: RecordDraft, where: CodeLocation) -> None:
    record.at = where


def _by(record: RecordDraft, value: tuple[Dim3 | None, Dim3 | None, int | None]) -> None:
    record.thread, record.block, record.block_rank = value


def _access(record: RecordDraft, value: tuple[str, str]) -> None:
    record.address = value[0]
    if value[1]:
        record.reason = value[1]


def _nearest(record: RecordDraft, value: tuple[str, int, str, int | None, str]) -> None:
    record.relation, record.distance, record.allocation_address, record.allocation_size, name = value
    if name:
        record.name = name


def _reason(record: RecordDraft, reason: str) -> None:
    record.reason = f"{record.reason}, {reason}" if record.reason else reason


def _saved(record: RecordDraft, moment: str) -> None:
    record.open_stack(moment)


def _host_frame(record: RecordDraft, frame: CodeLocation) -> None:
    stacks = record.stacks
    if stacks:
        stacks[-1].frames.append(frame)
    else:
        record.add_host_frame(frame)


def _file_of_side(record: RecordDraft, value: tuple[str, int | None]) -> None:
    """A place whose line was broken before its file."""
    if record.sides and not record.sides[-1].location.file:
        side = record.sides[-1]
        where = CodeLocation(side.location.function, value[0], value[1], side.location.offset)
        record.sides[-1] = Side(side.access, where, side.block, side.thread, side.block_rank)


def _place_of_side(record: RecordDraft, where: CodeLocation) -> None:
    """A place whose line was broken before it."""
    if record.sides and record.sides[-1].location == CodeLocation():
        side = record.sides[-1]
        record.sides[-1] = Side(side.access, where, side.block, side.thread, side.block_rank)


def _module(record: RecordDraft, module: str) -> None:
    if record.stacks and record.stacks[-1].frames:
        frames = record.stacks[-1].frames
        frames[-1] = with_module(frames[-1], module)


def _device_frame(record: RecordDraft, frame: CodeLocation) -> None:
    record.add_device_frame(frame)


def _in_file_or_module(record: RecordDraft, value: tuple[str, int | None, str]) -> None:
    if record.sides and not record.stacks:
        _file_of_side(record, value[:2])
    else:
        _module(record, value[2])


def _side(record: RecordDraft, side: Side) -> None:
    if side.block is None and record.block is not None:
        side = Side(side.access, side.location, record.block, side.thread, side.block_rank)
    record.add_side(side)


def _analysis_side(record: RecordDraft, side: Side) -> None:
    record.add_side(side)
    record.access = f"{record.access}/{side.access.capitalize()}"


def _host_access(record: RecordDraft, value: tuple[str, str]) -> None:
    record.address, access = value
    record.access = access or record.access


def _during(record: RecordDraft, value: tuple[str, str]) -> None:
    record.access, record.address = value


def _barrier_address(record: RecordDraft, address: str) -> None:
    record.address = address


def _parse_access(body: str) -> Effect | None:
    match = _ACCESS.match(body)
    if match is None:
        return None
    return _access, (match["address"], match["reason"] or "")


def _parse_and(body: str) -> Effect | None:
    match = _NEAREST.match(body)
    if match is not None:
        relation = match["relation"] or "inside"
        distance = number(match["distance"]) or 0
        called = _CALLED.search(body, match.end(1) if match["relation"] else 0)
        name = called[1] if called is not None else ""
        return _nearest, (relation, distance, match["address"] or "", number(match["size"]), name)
    match = _ANALYSIS.match(body)
    if match is not None:
        return _analysis_side, Side(match["access"].lower(), parse_location(match["where"] or ""))
    if body.startswith("and is "):
        return _keep, None
    return None


def _parse_by(body: str) -> Effect | None:
    match = _BY.match(body)
    if match is None:
        return None
    rank = match["rank1"] or match["rank2"]
    return _by, (dim3(match["thread"]), dim3(match["block"]), number(rank))


def _parse_side(body: str) -> Effect | None:
    match = _SIDE.match(body)
    if match is None:
        return None
    between, where = match["between"], match["where"] or ""
    rank, block = _RANK.search(between), _SIDE_BLOCK.search(between)
    return _side, Side(
        match["access"].lower(),
        parse_location(where),
        dim3(block[1]) if block else None,
        dim3(match["thread"]),
        int(rank[1][:9]) if rank else None,
    )


def _parse_saved(body: str) -> Effect | None:
    match = _SAVED.match(body)
    return (_saved, match["moment"] or "") if match is not None else None


def _parse_uninitialized(body: str) -> Effect | None:
    match = _HOST_ACCESS.match(body)
    return (_host_access, (match["address"], match["access"] or "")) if match is not None else None


def _parse_during(body: str) -> Effect | None:
    match = _DURING.match(body)
    return (_during, (match["access"].lower(), match["address"])) if match is not None else None


def _parse_barrier(body: str) -> Effect | None:
    match = _SHARED_BARRIER.match(body)
    return (_barrier_address, match[1]) if match is not None else _parse_access(body)


_BY_WORD: dict[str, Callable[[str], Effect | None]] = {
    "at": lambda body: (_at, parse_location(body[3:])),
    "by": _parse_by,
    "Address": _parse_access,
    "Access": _parse_access,
    "Barrier": _parse_barrier,
    "and": _parse_and,
    "Saved": _parse_saved,
    "Host": lambda body: (_host_frame, parse_host_frame(body[11:])) if body.startswith("Host Frame:") else None,
    "Device": (
        lambda body: (_device_frame, parse_device_frame(body[13:])) if body.startswith("Device Frame:") else None
    ),
    "in": lambda body: (_module, body[3:].strip()),
    "Uninitialized": _parse_uninitialized,
    "during": _parse_during,
}

_ONCE = frozenset({"by", "Address", "Access", "Not", "Current"})
"""First words of lines that are mostly unlike in every record."""


def parse_continuation(body: str) -> tuple[Effect | None, bool]:
    """Read an indented line, its prefix and indent cut off.

    Returns:
        The effect, None where the line fits no form, and whether the line is likely to be met again.
    """
    word, _, _ = body.partition(" ")
    form = _BY_WORD.get(word)
    effect = form(body) if form is not None else None
    if word == "in" and (broken := _FILE_OF_SIDE.match(body)) is not None:
        effect = _in_file_or_module, (broken[1], number(broken[2]), body[3:].strip())
    if effect is None and " Thread (" in body:
        effect = _parse_side(body)
    if effect is None and _BROKEN.match(body) is not None:
        effect = _place_of_side, parse_location(body)
    if effect is None and (_KEPT.match(body) is not None or _is_cut(body)):
        effect = _keep, None
    if effect is None and body.startswith(("is ", "might ")):
        effect = _reason, body
    return effect, word not in _ONCE and not body.startswith("and is ")


def _is_cut(body: str) -> bool:
    """Whether a line is the beginning of a known one: the end of a log that was cut."""
    return len(body) < 60 and any(form.startswith(body) for form in _FORMS)


def is_continuation(body: str) -> bool:
    """Whether a line that lost its indent can only go on with the record before it."""
    return (
        body.startswith(
            (
                "at 0x",
                "by thread (",
                "Address 0x",
                "Access at 0x",
                "Access to 0x",
                "and is ",
                "and Write access at",
                "and Read access at",
                "Saved host backtrace",
                "Host Frame:",
                "Device Frame:",
                "Uninitialized access ",
                "during ",
                "Sync mask of",
                "Current Value",
            )
        )
        or (" Thread (" in body[:16] and _SIDE.match(body) is not None)
        or _PLACE.match(body) is not None
    )

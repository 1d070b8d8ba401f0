"""First lines about memory: accesses, initialization, leaks, order of allocation and use."""

from __future__ import annotations

import re

from ladder_backends.model.finding import FindingKind
from ladder_backends.sanitizer.draft import Head
from ladder_backends.sanitizer.fields import ADDRESS, BLOCK, CALLED, SIZE, SPACE, dim3, number, space_name

_INVALID = re.compile(
    rf"(?P<potential>Potential )?[Ii]nvalid {SPACE}(?P<access>\?|\w[\w .:-]*?)"
    r" of size (?P<size>[\d,]+)(?: bytes?)?(?: is (?P<reason>.*?))?[.]?$"
)
_INVALID_OPERATION = re.compile(r"Invalid (?P<what>[\w-]+(?: [\w-]+)*) operation\b(?: \((?P<reason>[^)]*)\))?")
_UNINITIALIZED = re.compile(
    rf"Uninitialized {SPACE}memory (?P<access>\w+)(?: of size (?P<size>[\d,]+)(?: bytes?)?)?[.]?$"
)
_HOST_ACCESS = re.compile(r"Host API (?:memory access error|uninitialized memory access)(?P<rest>.*)$")
_UNUSED = re.compile(rf"Unused {SPACE}memory in allocation\b(?P<rest>.*)$")
_ALLOCATION = re.compile(r" ?(0x[0-9a-fA-F]+)")
_LEAKED = re.compile(r"Leaked (?P<size>[\d,]+) bytes?\b(?P<rest>.*)$")
_LEAKED_HANDLE = re.compile(r"Leaked an? (?P<what>\S+)(?: with)?(?: handle)? ?(?P<handle>0x[0-9a-fA-F]+|\?)?")
_STREAM_RACE = re.compile(
    r"(?P<what>(?:Free|Use)-(?:before|after)-\w+) on allocation of size (?P<size>[\d,]+)(?: bytes?)?"
    r"(?: at (?P<address>0x[0-9a-fA-F]+))?"
)


def _reason_kind(reason: str, potential: bool) -> FindingKind:
    """The kind of an access that the tool calls invalid."""
    if potential:
        return FindingKind.CLUSTER_EARLY_EXIT if "exited" in reason else FindingKind.CLUSTER_LATE_ENTRY
    if "misaligned" in reason:
        return FindingKind.MISALIGNED
    if "not readable" in reason or "not writable" in reason or "permission" in reason or "non-migratable" in reason:
        return FindingKind.PERMISSION
    return FindingKind.OOB


def kind_of_access(head: Head, reason: str) -> FindingKind:
    """The kind of an invalid access, its reason now known."""
    return _reason_kind(reason, head.kind is FindingKind.CLUSTER_LATE_ENTRY)


def invalid_access(body: str, severity: str) -> Head | None:
    """`Invalid __global__ write of size 4 bytes`; `Potential invalid` is a race with a block's life."""
    match = _INVALID.match(body)
    if match is not None:
        potential = match["potential"] is not None
        reason = match["reason"] or ""
        return Head(
            kind=_reason_kind(reason, potential),
            tool="racecheck" if potential else "memcheck",
            access=match["access"].lower(),
            size=number(match["size"]),
            space=space_name(match["space"]),
            severity=severity,
            reason=reason,
            default_kind=True,
        )
    match = _INVALID_OPERATION.match(body)
    if match is None:
        return None
    what = match["what"]
    access = "atomic" if "atomic" in what else what
    reason = match["reason"] or body.rstrip(".")
    return Head(FindingKind.PERMISSION, "memcheck", access, severity=severity, reason=reason)


def uninitialized_read(body: str, severity: str) -> Head | None:
    """`Uninitialized __global__ memory read of size 4 bytes`."""
    match = _UNINITIALIZED.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.UNINIT_READ,
        "initcheck",
        match["access"].lower(),
        number(match["size"]),
        space_name(match["space"], "global"),
        severity,
        "uninitialized",
    )


def uninitialized_copy(body: str, severity: str) -> Head | None:
    """`Host API memory access error at host access to 0x… of size 400 bytes`."""
    match = _HOST_ACCESS.match(body)
    if match is None:
        return None
    size = SIZE.search(match["rest"])
    address = ADDRESS.search(match["rest"])
    return Head(
        FindingKind.UNINIT_API,
        "initcheck",
        size=number(size[1]) if size else None,
        space="global" if size else "",
        severity=severity,
        reason="uninitialized",
        address=address[0] if address else "",
    )


def unused_memory(body: str, severity: str) -> Head | None:
    """`Unused __global__ memory in allocation 0x… called NAME of size 100 bytes`."""
    match = _UNUSED.match(body)
    if match is None:
        return None
    rest = match["rest"]
    address, called, block = _ALLOCATION.match(rest), CALLED.search(rest), BLOCK.search(rest)
    sizes = SIZE.findall(rest)
    return Head(
        FindingKind.UNUSED_MEMORY,
        "initcheck",
        size=number(sizes[-1]) if sizes else None,
        space=space_name(match["space"], "global"),
        severity=severity,
        reason="unused",
        address=address[1] if address else "",
        block=dim3(block[1]) if block else None,
        name=called[1] if called else "",
    )


def leak(body: str, severity: str) -> Head | None:
    """`Leaked 64 bytes at 0x…`, `Leaked an OptixModule with handle 0x…`."""
    match = _LEAKED.match(body)
    if match is not None:
        rest = match["rest"]
        address, called = ADDRESS.search(rest), CALLED.search(rest)
        space = "device-heap" if "device heap" in rest else "global"
        for what in ("array", "module"):
            if f"from CUDA {what}" in rest:
                space = what
        return Head(
            FindingKind.LEAK,
            "memcheck",
            size=number(match["size"]),
            space=space,
            severity=severity,
            reason="leaked",
            address=address[0] if address else "",
            name=called[1] if called else "",
        )
    match = _LEAKED_HANDLE.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.LEAK,
        "memcheck",
        space="optix" if match["what"].startswith("Optix") else "",
        severity=severity,
        reason=f"leaked {match['what']}",
        address=match["handle"] or "",
    )


def stream_race(body: str, severity: str) -> Head | None:
    """`Use-after-free on allocation of size 256 bytes at 0x…`."""
    match = _STREAM_RACE.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.STREAM_RACE,
        "memcheck",
        match["what"].lower(),
        number(match["size"]),
        "global",
        severity,
        match["what"].lower(),
        match["address"] or "",
    )

"""First lines about order between threads: barriers, hazards, races, deadlocks, traces of synchronization."""

from __future__ import annotations

import re

from ladder_backends.model.finding import CodeLocation, FindingKind
from ladder_backends.sanitizer.draft import Head
from ladder_backends.sanitizer.fields import ADDRESS, BLOCK, dim3, slug
from ladder_backends.sanitizer.locations import parse_location

_DETECTED = re.compile(r"(?P<what>[\w:. -]*?) ?error detected ?[.:]? ?(?P<detail>.*?)[.]?$")
_HAZARD = re.compile(
    r"(?P<level>\(Warp Level Programming\)\s*)?Potential (?P<type>RAW|WAR|WAW) hazard detected(?P<rest>.*)$"
)
_HAZARD_SPACE = re.compile(r" at (?:__(\w+)__|(\w+) address)")
_RACE = re.compile(r"Race reported between (?P<access>\w+) access at(?: (?P<where>.*))?$")
_THREADS = re.compile(
    r"(?P<what>.*?) called by threads starting at \((?P<thread>[^)]*)\) in block \((?P<block>[^)]*)\)"
    r"(?P<rest>.*)$"
)
_SYNC_VERB = re.compile(
    r"(.*(?:barrier|syncwarp|copy.*))\s+(init\w*|inval\w*|arrive.*|wait|expect.*)$", re.IGNORECASE
)


def barrier_error(body: str, severity: str) -> Head | None:
    """`Barrier error detected. Divergent thread(s) in warp`, `Warpgroup MMA sequence error detected…`."""
    match = _DETECTED.match(body)
    if match is None:
        return None
    what, detail = match["what"].strip(), match["detail"]
    barrier = what.lower() in ("barrier", "")
    access = slug(detail) if detail else slug(what)
    reason = detail if barrier else f"{what}: {detail}" if detail else what
    return Head(FindingKind.BARRIER, "synccheck", access, severity=severity, reason=reason)


def hazard(body: str, severity: str) -> Head | None:
    """`Potential RAW hazard detected at __shared__ 0x8c in block (0,0,0) :`."""
    match = _HAZARD.match(body)
    if match is None:
        return None
    rest = match["rest"]
    address, block, space = ADDRESS.search(rest), BLOCK.search(rest), _HAZARD_SPACE.search(rest)
    notes = re.findall(r"\(([^()\d][^()]*)\)", rest)
    if match["level"]:
        notes.insert(0, "Warp Level Programming")
    return Head(
        FindingKind.RACE_HAZARD,
        "racecheck",
        match["type"],
        1,
        space[1] or space[2] if space is not None else "shared",
        severity,
        ", ".join(notes),
        address[0] if address else "",
        dim3(block[1]) if block else None,
    )


def race(body: str, severity: str) -> Head | None:
    """`Race reported between Read access at LOCATION`."""
    match = _RACE.match(body)
    if match is None:
        return None
    return Head(
        FindingKind.RACE_ANALYSIS, "racecheck", match["access"], space="shared", severity=severity, reason="race"
    )


def barrier_call(body: str, severity: str) -> Head | None:
    """`Barrier called by threads starting at (32,0,0) in block (1,0,0), … at LOCATION`, and deadlocks."""
    match = _THREADS.match(body)
    if match is None:
        return None
    what = match["what"]
    deadlock = what.startswith("Deadlock detected in ")
    if deadlock:
        what = what.removeprefix("Deadlock detected in ")
    verb = _SYNC_VERB.match(what)
    _, found, where = match["rest"].partition(" at ")
    address = re.search(r"barrier address: (0x[0-9a-fA-F]+)", match["rest"])
    return Head(
        kind=FindingKind.DEADLOCK if deadlock else FindingKind.SYNC_TRACE,
        tool="racecheck",
        access=(verb[1] if verb else what).lower(),
        space="shared" if deadlock else "",
        severity=severity if deadlock else "info",
        reason=what,
        address=address[1] if address else "",
        block=dim3(match["block"]),
        thread=dim3(match["thread"]),
        location=parse_location(where) if found else None,
    )


def first_place(body: str) -> tuple[str, CodeLocation, str]:
    """The first side of a race analysis: access word, location, and what follows on the same line."""
    match = _RACE.search(body)
    if match is None:
        return "", CodeLocation(), ""
    where = match["where"] or ""
    second = re.search(r" and (?=\w+ access at )", where)
    if second is None:
        return match["access"], parse_location(where), ""
    return match["access"], parse_location(where[: second.start()]), where[second.start() + 1 :]

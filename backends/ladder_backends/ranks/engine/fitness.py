"""Which ranks can be attached to, which share an engine, and why the others cannot."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from ladder_backends.model.ranks import Rank, Unreachable
from ladder_backends.processes.obstacles import Obstacle, ObstacleKind, obstacle_at_a_glance, obstacle_before
from ladder_backends.processes.proc_files import ProcFiles

MOST_INFERIORS = 32
"""Ranks that one engine holds: it works off their events one after the other."""

_START_FIELD = 19
"""Place of the start time behind the state, in `stat` of proc(5)."""


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """Ranks that one engine is to hold.

    Attributes:
        root: Prefix under which their files are found, or an empty string.
        why: Why they have an engine of their own, a clause; empty for the first one of a node.
    """

    ranks: tuple[Rank, ...]
    root: str = ""
    why: str = ""


def start_of(pid: int, proc: ProcFiles | None = None) -> int | None:
    """Clock ticks from boot to the start of a process; None where there is none."""
    fields = (proc or ProcFiles()).raw(pid, "stat").rpartition(b")")[2].split()
    try:
        return int(fields[_START_FIELD])
    except (IndexError, ValueError):
        return None


def unfit(rank: Rank, proc: ProcFiles | None = None, *, glance: bool = False) -> Unreachable | None:
    """Why a rank cannot be attached to now, or None.

    With `glance` it takes one look; a rank in the kernel is unfit then though it may only be reading from a disk.
    Otherwise this takes a quarter of a second at most.
    """
    if rank.host and rank.host not in ("localhost", socket.gethostname()):
        return Unreachable(rank.rank, f"it runs on {rank.host}, not here", "look at it from there")
    proc = proc or ProcFiles()
    started = start_of(rank.pid, proc)
    if started is None or (rank.started and started != rank.started):
        return Unreachable(rank.rank, "it has ended", "look for the ranks again")
    if glance:
        status = proc.status(rank.pid)
        found = obstacle_at_a_glance(rank.pid, status, proc)
        if found is None and status.get("State", "")[:1] == "D":
            found = Obstacle(ObstacleKind.WAITING, "it waits in the kernel (state D)")
    else:
        found = obstacle_before(rank.pid, proc)
    if found is None or not found.certain:
        return None
    if found.kind is ObstacleKind.GONE:
        return Unreachable(rank.rank, "it has ended", "look for the ranks again")
    return Unreachable(rank.rank, found.cause, found.remedy)


def plan(ranks: Iterable[Rank], proc: ProcFiles | None = None) -> tuple[EnginePlan, ...]:
    """Divide ranks among engines: by mount namespace and program, and no more than `MOST_INFERIORS` each."""
    proc = proc or ProcFiles()
    ours = proc.link("self", "ns/mnt")
    groups: dict[tuple[str, str], list[Rank]] = {}
    for rank in ranks:
        theirs = proc.link(rank.pid, "ns/mnt")
        elsewhere = bool(theirs and ours and theirs != ours)
        program = proc.link(rank.pid, "exe") or rank.executable
        groups.setdefault((theirs if elsewhere else "", program), []).append(rank)
    plans: list[EnginePlan] = []
    first = max(groups, key=lambda key: (not key[0], len(groups[key])), default=None)
    for key, members in sorted(groups.items(), key=lambda entry: entry[0] != first):
        namespace, program = key
        why = ""
        if namespace:
            why = "in another mount namespace"
        elif key != first:
            why = f"of another program, {os.path.basename(program)}"
        for at in range(0, len(members), MOST_INFERIORS):
            some = tuple(members[at : at + MOST_INFERIORS])
            root = f"{proc.root}/{some[0].pid}/root" if namespace else ""
            plans.append(EnginePlan(some, root, why or (f"beyond the first {at} ranks" if at else "")))
    return tuple(plans)

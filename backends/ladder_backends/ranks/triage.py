"""What the kernel tells of ranks at no cost to them: state, where they wait, whether processor time moves."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ladder_backends.model.ranks import Rank, RankActivity, RankSource, Reading, Unreachable
from ladder_backends.processes.obstacles import Obstacle, kernel_wait, obstacle_at_a_glance
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.discovery import wait_channel
from ladder_backends.ranks.syscalls import syscall_name

BETWEEN = 0.2
"""Seconds between the two looks; the kernel counts processor time in hundredths."""


@dataclass(frozen=True, slots=True)
class Triage:
    """Two looks at all ranks.

    Attributes:
        obstacles: By rank, what is in the way of a debugger.
    """

    activity: tuple[RankActivity, ...]
    reading: Reading
    obstacles: dict[int, Obstacle]


@dataclass(slots=True)
class _Look:
    state: str
    cpu: float
    at: float
    started: int


async def triage(ranks: Sequence[Rank], *, proc: ProcFiles | None = None, between: float = BETWEEN) -> Triage:
    """Look at every rank twice. A rank that ended meanwhile, or whose number is another process now, is silent."""
    proc = proc or ProcFiles()
    begun = time.monotonic()
    first = {rank.rank: _look(rank, proc) for rank in ranks}
    if between:
        await asyncio.sleep(between)
    activity: list[RankActivity] = []
    silent: list[Unreachable] = []
    obstacles: dict[int, Obstacle] = {}
    for rank in ranks:
        look, before = _look(rank, proc), first[rank.rank]
        if look is None or look.started != rank.started or look.state in "ZX":
            silent.append(Unreachable(rank.rank, _why_gone(rank, look), "look at the job again"))
            continue
        status = proc.status(rank.pid)
        # A wait in the kernel that was seen at both looks is worth a word, too.
        obstacle = obstacle_at_a_glance(rank.pid, status, proc)
        if obstacle is None and look.state == "D" and before is not None and before.state == "D":
            obstacle = kernel_wait(rank.pid, proc, status)
        if obstacle is not None:
            obstacles[rank.rank] = obstacle
        tracer, threads = status.get("TracerPid", "0"), status.get("Threads", "0")
        activity.append(
            RankActivity(
                rank.rank,
                look.state,
                wait_channel(proc, rank.pid),
                syscall_name(proc.text(rank.pid, "syscall")),
                int(tracer) if tracer.isdecimal() else 0,
                int(threads) if threads.isdecimal() else 0,
                look.cpu - before.cpu if before is not None and between else None,
                look.at - before.at if before is not None and between else 0.0,
                obstacle.cause if obstacle is not None else "",
                obstacle.remedy if obstacle is not None else "",
            )
        )
    reading = Reading(
        RankSource.PROC,
        tuple(each.rank for each in activity),
        tuple(silent),
        took=time.monotonic() - begun,
    )
    return Triage(tuple(activity), reading, obstacles)


def is_same_process(rank: Rank, proc: ProcFiles | None = None) -> bool:
    """Whether the rank's process still lives, and its number is not that of a later one."""
    look = _look(rank, proc or ProcFiles())
    return look is not None and look.started == rank.started and look.state not in "ZX"


def _look(rank: Rank, proc: ProcFiles, name: str = "stat") -> _Look | None:
    """State, and processor time of all threads: fields 3, 14, 15 and 22 of `stat`, proc(5)."""
    fields = proc.raw(rank.pid, name, 4096).rpartition(b")")[2].split()
    if len(fields) < 20:
        return None
    tick = os.sysconf("SC_CLK_TCK") or 100
    cpu = (int(fields[11]) + int(fields[12])) / tick
    return _Look(fields[0].decode("ascii", "replace"), cpu, time.monotonic(), int(fields[19]))


def _why_gone(rank: Rank, look: _Look | None) -> str:
    if look is None:
        return f"process {rank.pid} has ended"
    if look.started != rank.started:
        return f"process {rank.pid} has ended; another one has its number now"
    return f"process {rank.pid} has ended and waits for its parent (zombie)"

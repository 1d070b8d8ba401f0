"""One rank in an ordinary gdb session of its own, so that all panes of a program are there for it.

A process has one tracer. So a rank that the gdb of its node holds is let go by that one first, and the others stay
with it or run on. How long a rank may stand, whoever opened it watches over: several that stand share one time-out.
"""

from __future__ import annotations

import asyncio
import contextlib

from ladder_backends.debugger.target import AttachTarget, Target
from ladder_backends.errors import LadderError, TargetInvalid
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.events import EngineNotice
from ladder_backends.ranks.choosing import job_of
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.engine.rank_engine import RankEngine


class RankDebugger(GdbDebugger):
    """gdb on one rank; says which."""

    async def open(self, target: Target) -> None:
        """Attach to a rank.

        Raises:
            TargetInvalid: It is no process, or cannot be attached to.
            EngineMissing, EngineDied: There is no gdb, or it has ended.
        """
        if not isinstance(target, AttachTarget):
            raise TargetInvalid("a rank is a running process", "", "open programs and cores on the gdb rung")
        await super().open(target)
        self.emit(EngineNotice(await asyncio.to_thread(_which, target.pid), "information"))


async def hand_over(engine: RankEngine, rank: int) -> AttachTarget:
    """Have a node's gdb let go of a rank, so that a session of its own can have it.

    Raises:
        TargetInvalid: There is no such rank, or it has ended.
    """
    found = engine.job.rank(rank)
    held = engine.last(rank)
    if found is None or (held is not None and held.code is not None):
        why = "it has ended" if found is not None else "there is no such rank"
        raise TargetInvalid(f"rank {rank} cannot be opened", why)
    await engine.release([rank])
    return AttachTarget(found.pid)


def _which(pid: int) -> str:
    who = f"process {pid}"
    with contextlib.suppress(LadderError):
        job = job_of(Discovery(), pid)
        rank = next((each.rank for each in job.ranks if each.pid == pid), None)
        who = who if rank is None else f"rank {rank} of {job.title or job.key}"
    return f"{who} stands in a gdb of its own; the others are not held by it"

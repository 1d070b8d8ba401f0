"""One rank in an ordinary gdb session of its own, so that all panes of a program are there for it.

A process has one tracer. So a rank that the gdb of its node holds is let go by that one first, and the others stay
with it or run on. The rank may be held for as long as its job bears: then it goes on by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import ClassVar

from ladder_backends.debugger.contract import StepKind
from ladder_backends.debugger.target import AttachTarget, Target
from ladder_backends.errors import EngineError, LadderError, TargetInvalid
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.events import (
    EngineExited,
    EngineNotice,
    Event,
    TargetExited,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.ranks import Job
from ladder_backends.ranks.choosing import job_of
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.stop_budget import Limit, StopBudget, limits_of


class RankDebugger(GdbDebugger):
    """gdb on one rank; says which, and lets it go on before its job gives it up.

    Attributes:
        budget: How long the rank may stand.
    """

    name: ClassVar[str] = "ranks"
    rung: ClassVar[str] = "ranks"
    rung_answers: ClassVar[str] = "which rank waits for which"
    rung_opens: ClassVar[str] = "ladder-tui ranks --tui"

    budget: StopBudget | None = None
    _going_on: asyncio.Task[None] | None = None

    async def open(self, target: Target) -> None:
        """Attach to a rank."""
        if not isinstance(target, AttachTarget):
            raise TargetInvalid("a rank is a running process", "", "open programs and cores on the gdb rung")
        limits = await asyncio.to_thread(limits_of, [target.pid])
        self.budget = StopBudget(limits, self._in_time)
        await super().open(target)
        self.emit(EngineNotice(await asyncio.to_thread(_which, target.pid, limits), "information"))

    def emit(self, event: Event) -> None:
        """Hand an event on, and count while the rank stands."""
        if self.budget is not None:
            if isinstance(event, TargetStopped):
                self.budget.follow(event.at)
            elif isinstance(event, TargetRunning | TargetExited | EngineExited):
                self.budget.follow(None)
        super().emit(event)

    async def close(self) -> None:
        """Let the rank go, end the engine."""
        if self.budget is not None:
            self.budget.close()
        await super().close()

    def _in_time(self, limit: Limit) -> None:
        self.emit(EngineNotice(f"the rank goes on: {limit.source} after {limit.seconds:g} s", "warning"))
        self._going_on = asyncio.get_running_loop().create_task(self._go_on())

    async def _go_on(self) -> None:
        with contextlib.suppress(EngineError):
            await self.resume(StepKind.CONTINUE)


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


def _which(pid: int, limits: tuple[Limit, ...]) -> str:
    job: Job | None = None
    with contextlib.suppress(LadderError):
        job = job_of(Discovery(), pid)
    rank = next((each.rank for each in job.ranks if each.pid == pid), None) if job is not None else None
    who = f"rank {rank} of {job.title or job.key}" if job is not None and rank is not None else f"process {pid}"
    others = "; the others are not held by it"
    limit = f"; it goes on by itself after {limits[0].seconds * 0.8:g} s, for {limits[0].source}" if limits else ""
    return f"{who} stands in a gdb of its own{others}{limit}"

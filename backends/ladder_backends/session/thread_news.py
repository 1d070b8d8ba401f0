"""What is said of threads: where the focus went, and who stopped elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from ladder_backends.errors import LadderError
from ladder_backends.session.state import DebugState

if TYPE_CHECKING:
    from ladder_backends.session.follower import Follower

TOGETHER = 0.05
"""Seconds within which threads that stop one after another are told of in one line."""

_NAMED = 4
"""Threads that a line names before it only counts."""


class ThreadNews:
    """Puts what happened to threads into single lines for the user.

    Args:
        do: Runs a coroutine in the background, as long as the target is there.
    """

    def __init__(
        self, state: DebugState, follower: Follower, do: Callable[[Callable[..., Coroutine[Any, Any, None]]], None]
    ) -> None:
        self._state = state
        self._follower = follower
        self._do = do
        self._timer: asyncio.TimerHandle | None = None
        self._untold: dict[int, str] = {}

    def forget(self) -> None:
        """Say nothing more of what has happened."""
        self._untold.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def stopped_elsewhere(self, thread: int, reason: str) -> None:
        """A thread stopped that is not the focused one: it is told of with those that stop in the same moment."""
        self._state.threads.news[thread] = self._untold[thread] = reason
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TOGETHER, self._do, self._tell)

    async def moved(self, before: int | None, now: int, reason: str) -> None:
        """Say where the focus is now, and where it was."""
        seen = self._state.threads
        await self._learn_name(now)
        here = f"now in {seen.called(now)}" + (f": {reason}" if reason else "")
        if before is None:
            self._follower.notice(here)
        elif before not in seen.processes_of:
            self._follower.notice(f"{seen.called(before)} has ended; {here}")
        else:
            self._follower.notice(f"{here}; was in {seen.called(before)}")

    async def _tell(self) -> None:
        self._timer = None
        untold, self._untold = self._untold, {}
        if len(untold) == 1:
            ((thread, reason),) = untold.items()
            await self._learn_name(thread)
            self._follower.notice(f"{self._state.threads.called(thread)} has stopped: {reason}; the focus stays")
        elif untold:
            numbers = ", ".join(str(thread) for thread in sorted(untold)[:_NAMED])
            more = f" and {len(untold) - _NAMED} more" if len(untold) > _NAMED else ""
            reasons = set(untold.values())
            why = f": {reasons.pop()}" if len(reasons) == 1 else ""
            self._follower.notice(f"threads {numbers}{more} have stopped{why}; the focus stays")

    async def _learn_name(self, thread: int) -> None:
        facet, seen = self._follower.debugger.threads, self._state.threads
        if facet is None or thread in seen.names:
            return
        with contextlib.suppress(LadderError):
            told = await facet.one(thread)
            if told is not None and told.name:
                seen.names[thread] = told.name

"""Lets ranks go on in time that stand in a debugger of this console.

While one rank stands, the others wait for it, and what watches over them counts: a collective's time-out, NCCL's
RAS, a heartbeat. When four fifths of the shortest are over, the rank goes on by itself, unless it is to stand for
ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import StepKind
from ladder_backends.ranks.engine.stop_budget import Limit, StopBudget
from ladder_backends.session.state import Change, Run

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.ladder import Ladder

BREATH = 1.0
"""Seconds that a rank has to run for its next stop to be counted anew: a step is no end of the one before."""


class RankWatch:
    """Follows the sessions that ranks were opened in.

    Args:
        ladder: Whose sessions.
        note: Called with the moment at which ranks go on by themselves (`time.monotonic()`), None for never.
    """

    def __init__(self, ladder: Ladder, note: Callable[[float | None], None]) -> None:
        self._ladder = ladder
        self._note = note
        self._budget = StopBudget((), self._over)
        self._ranks: dict[DebugSession, int] = {}
        self._since: float | None = None
        self._ran_at: float | None = None
        self._told = False
        self._stop = ladder.subscribe(self._changed)
        self.holds = False

    def add(self, session: DebugSession, rank: int, limits: Sequence[Limit]) -> None:
        """Watch over a rank's session too; the limits hold for all of them."""
        self._ranks[session] = rank
        self._budget.change(limits)
        self._look()

    def change(self, limits: Sequence[Limit]) -> None:
        """Take other limits."""
        self._budget.change(limits)
        self._look()

    def hold(self) -> bool:
        """Have ranks stand for as long as is wished, or go on in time again; returns whether they stand."""
        self.holds = not self.holds
        self._look()
        return self.holds

    def close(self) -> None:
        """Watch no more."""
        self._stop()
        self._budget.close()
        self._note(None)

    def _changed(self, change: Change) -> None:
        if change & Change.RUN:
            self._look()

    def _standing(self) -> list[DebugSession]:
        every = set(self._ladder.every_session())
        self._ranks = {session: rank for session, rank in self._ranks.items() if session in every}
        return [session for session in self._ranks if session.state.run is Run.STOPPED]

    def _look(self) -> None:
        """Take account of who stands since when."""
        standing, now = self._standing(), time.monotonic()
        if standing:
            if self._since is None or (self._ran_at is not None and now - self._ran_at > BREATH):
                self._since, self._told = now, False
            self._ran_at = None
        elif self._since is not None and self._ran_at is None:
            self._ran_at = now
        # A moment of running is no reason to count anew, and none to count on.
        self._budget.follow(self._since if standing and not self.holds else None)
        left, limit = self._budget.left, self._budget.limit
        self._note(now + left if left is not None else None)
        if left is not None and limit is not None and not self._told:
            self._told = True
            names = self._names(standing)
            self._ladder.notice(f"{names} by itself in {left:.0f} s: {limit.source} after {limit.seconds:.0f} s")

    def _names(self, standing: Sequence[DebugSession]) -> str:
        numbers = sorted(self._ranks[session] for session in standing)
        many = len(numbers) > 1
        return f"rank{'s' if many else ''} {', '.join(map(str, numbers))} {'go' if many else 'goes'} on"

    def _over(self, limit: Limit) -> None:
        standing = self._standing()
        if not standing:
            return
        self._ladder.notice(f"{self._names(standing)} now: {limit.source} after {limit.seconds:.0f} s", "warning")
        for session in standing:
            self._ladder.background(session.resume(StepKind.CONTINUE))

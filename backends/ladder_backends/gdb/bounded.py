"""Questions that may take too long: after a while the engine's work on them is interrupted, and only that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ladder_backends.beginning import begin
from ladder_backends.errors import DeadlinePassed

if TYPE_CHECKING:
    from ladder_backends.gdb.questions import Engine
    from ladder_backends.mi.records import ResultRecord

_AGAIN = 0.3
"""Seconds between interruptions; each ends one value of a question, and some are lost in the engine's Python."""
_LOST = 20
"""Interruptions after which the engine is left to itself."""


class BoundedQuestions:
    """Asks with a budget of seconds. A question whose asker has gone is still interrupted in time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # A task that nothing else refers to may be collected before it is done.
        self._asked: set[asyncio.Future[ResultRecord]] = set()

    async def ask(
        self, text: str, budget: float, before: Sequence[str] = (), after: Sequence[str] = ()
    ) -> ResultRecord:
        """The engine's answer to a command; raises as `Engine.command` does.

        Args:
            text: The command.
            budget: Seconds until it is interrupted for the first time.
            before: Commands that are sent just before it; their answers are of no interest.
            after: Commands that are sent just behind it.
        """
        loop = asyncio.get_running_loop()
        for one in before:
            self._keep(begin(self._engine.command(one)))
        asking = begin(self._engine.command(text, deadline=None))
        self._keep(asking)
        for one in after:
            self._keep(begin(self._engine.command(one)))
        timer = loop.call_later(budget, self._late, text, asking, 0)
        asking.add_done_callback(lambda _: timer.cancel())
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if asking.cancelled():
                raise DeadlinePassed("the engine cannot be interrupted in its work on a value") from None
            raise

    def _keep(self, asked: asyncio.Future[ResultRecord]) -> None:
        self._asked.add(asked)
        asked.add_done_callback(self._over)

    def _over(self, asked: asyncio.Future[ResultRecord]) -> None:
        self._asked.discard(asked)
        if not asked.cancelled():
            # Nobody may be left to hear of it.
            asked.exception()

    def _late(self, text: str, asking: asyncio.Future[ResultRecord], interrupted: int) -> None:
        if asking.done():
            return
        if interrupted >= _LOST:
            asking.cancel()
            return
        loop = asyncio.get_running_loop()
        pending = self._engine.pending()
        if self._engine.console_works or (pending and pending[0][0] != text):
            # What a user has typed, and what was asked before, may take as long as it likes.
            loop.call_later(_AGAIN, self._late, text, asking, interrupted)
            return
        self._engine.interrupt_engine()
        loop.call_later(_AGAIN, self._late, text, asking, interrupted + 1)

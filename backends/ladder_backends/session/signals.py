"""Signals: the engine's table, and the one that the target stands at."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import StepKind
from ladder_backends.errors import LadderError
from ladder_backends.model.events import TargetStopped
from ladder_backends.session.state import Change, Run
from ladder_backends.session.why_none import why_none

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession

_SIGNAL_STOPS = ("signal-received", "core")


class SignalTable:
    """Keeps the table while it is looked at; the cause of a signal is asked for where one came."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._asking: asyncio.Task[None] | None = None

    async def look(self) -> None:
        """Read the table."""
        session = self._session
        state, facet = session.state.machine.signals, session.debugger.signals
        if facet is None:
            state.note = "this engine has no table of signals"
        else:
            try:
                state.table, state.note = tuple(await facet.table()), ""
            except LadderError as error:
                state.note = why_none(error)
        session.tell(Change.MACHINE)

    async def handle(
        self, name: str, *, stops: bool | None = None, prints: bool | None = None, passes: bool | None = None
    ) -> None:
        """Change what happens at a signal, and read the table again.

        Raises:
            LadderError: The engine refused.
        """
        facet = self._session.debugger.signals
        if facet is not None:
            await facet.handle(name, stops=stops, prints=prints, passes=passes)
            await self.look()

    async def continue_with(self, name: str) -> None:
        """Run on and give the program a signal, or none in place of the one it stands at.

        Raises:
            LadderError: The engine refused.
        """
        session = self._session
        facet = session.debugger.signals
        if facet is None or session.state.run is not Run.STOPPED:
            session.notice("the target does not stand at a signal", "warning")
            return
        await facet.deliver(name)
        await session.resume(StepKind.CONTINUE)

    def stopped(self, event: TargetStopped) -> None:
        """Ask why a signal came; a stop for another reason has no cause."""
        self.forget()
        if event.fault and event.reason in _SIGNAL_STOPS and self._session.debugger.signals is not None:
            self._asking = asyncio.get_running_loop().create_task(self._ask_cause())

    def forget(self) -> None:
        """The target moved, or is gone."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        self._session.state.machine.signals.cause = None

    async def _ask_cause(self) -> None:
        facet = self._session.debugger.signals
        if facet is None:
            return
        try:
            cause = await facet.cause()
        except LadderError:
            # Nothing is lost with it: the stop tells which signal it was.
            return
        self._session.state.machine.signals.cause = cause
        if cause is not None and cause.words:
            self._session.tell(Change.MACHINE)

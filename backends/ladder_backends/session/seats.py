"""Which sessions are open: on each rung one on screen, and beside it at most one of the other kind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from ladder_backends.errors import LadderError
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Change, LadderState, Run

if TYPE_CHECKING:
    from ladder_backends.debugger.contract import Debugger
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.debug_state import DebugState

_WORTH_TELLING = (Run.STOPPED, Run.EXITED, Run.DEAD)


class Seats:
    """Keeps sessions by rung and kind; `LadderState.debug` and `LadderState.aside` follow.

    Args:
        state: The ladder's.
        notifier: Told of every change, of sessions that are not on screen, too.
        notice: Tells the user one line.
        background: Does something without anyone waiting for it.

    Attributes:
        shown: The session on screen of each rung.
    """

    def __init__(
        self,
        state: LadderState,
        notifier: Notifier,
        notice: Callable[[str], None],
        background: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self.shown: dict[str, DebugSession] = {}
        self._state = state
        self._notifier = notifier
        self._notice = notice
        self._background = background
        self._aside: dict[str, DebugSession] = {}
        self._leave: dict[DebugSession, Callable[[], None]] = {}

    def every(self) -> Iterator[DebugSession]:
        """Every session, on screen or not, in the order of the rungs as they were used first."""
        for rung, session in tuple(self.shown.items()):
            yield session
            if rung in self._aside:
                yield self._aside[rung]

    def of(self, rung: str) -> tuple[DebugSession, ...]:
        """The sessions of a rung, the one on screen first."""
        return tuple(session for session in self.every() if session.state.rung == rung)

    def session(self, rung: str, seat: Seat) -> DebugSession | None:
        """The session of a kind on a rung, on screen or not."""
        return next((session for session in self.of(rung) if session.state.seat is seat), None)

    def place(self, debugger: Debugger, replacement: Callable[[], Debugger], seat: Seat) -> DebugSession:
        """Put a debugger on its rung and show it; what was of its kind is closed, the other stays aside."""
        from ladder_backends.session.debug_session import DebugSession

        session = DebugSession(debugger, replacement=replacement)
        session.state.seat = seat
        rung = debugger.rung
        old = self.session(rung, seat)
        if old is not None:
            self._drop(old)
        shown = self.shown.get(rung)
        if shown is not None:
            self._aside[rung] = shown
        self.shown[rung] = session
        self._leave[session] = session.subscribe(lambda change: self._told(session, change))
        self._publish(rung)
        return session

    def switch(self, rung: str, seat: Seat) -> bool:
        """Show the session of a kind; returns whether there is one. The other goes on aside."""
        wanted = self.session(rung, seat)
        if wanted is None:
            return False
        if self.shown[rung] is not wanted:
            self._aside[rung], self.shown[rung] = self.shown[rung], wanted
            self._publish(rung)
        return True

    async def close_seat(self, rung: str, seat: Seat) -> None:
        """End one session; the other one of its rung, where there is one, comes on screen.

        Raises:
            DeadlinePassed: Its engine has not ended; it may still hold its target.
        """
        session = self.session(rung, seat)
        if session is None:
            return
        self._forget(session)
        self._publish(rung)
        await session.close()

    async def close(self) -> None:
        """End every session.

        Raises:
            DeadlinePassed: An engine has not ended; it may still hold its target.
        """
        answers = await asyncio.gather(*(session.close() for session in self.every()), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer

    def _drop(self, session: DebugSession) -> None:
        self._forget(session)
        self._background(_close(session))

    def _forget(self, session: DebugSession) -> None:
        rung = session.state.rung
        self._leave.pop(session)()
        if self._aside.get(rung) is session:
            del self._aside[rung]
        elif rung in self._aside:
            self.shown[rung] = self._aside.pop(rung)
        else:
            del self.shown[rung]

    def _publish(self, rung: str) -> None:
        state = self._state
        state.debug = {name: session.state for name, session in self.shown.items()}
        state.aside = {name: session.state for name, session in self._aside.items()}
        self._notifier.tell(~Change.NONE)

    def _told(self, session: DebugSession, change: Change) -> None:
        # A stop that was waited for is painted in this turn of the loop.
        self._notifier.tell(change, at_once=bool(change & Change.RUN))
        debug = session.state
        if change & Change.RUN and self._aside.get(debug.rung) is session and debug.run in _WORTH_TELLING:
            self._notice(f"{seat_title(debug)}, which is not on screen: {debug.run_detail or debug.run}")


def seat_title(debug: DebugState) -> str:
    """A session beside the other one of its rung: `live vector_add_oob`, `dump vector_add_oob`."""
    name, _, _ = debug.title.partition(" · ")
    return f"{debug.seat} {name}".rstrip()


async def _close(session: DebugSession) -> None:
    with contextlib.suppress(LadderError):
        await session.close()

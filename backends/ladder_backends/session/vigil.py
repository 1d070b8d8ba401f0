"""Looks now and then whether what stands still lives: an engine hears of a death only when it lets it run."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from ladder_backends.errors import EngineError
from ladder_backends.session.state import Run

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession

LOOK_EVERY = 2.0
"""Seconds between two looks at a target that stands; each reads one file of `/proc` and asks the engine nothing."""

_LOOKS, _LOOK_AGAIN = 5, 0.05
"""How often, and after how many seconds each, to look at a target that is perhaps on its way out."""

_GONE = "the program was ended from outside while it stood: by a kill, a limit of its job, or for want of memory"


class Vigil:
    """Watches the target of a session while it stands."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._watching: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """The target stands: look from now on."""
        if self._session.debugger.process is not None and (self._watching is None or self._watching.done()):
            self._watching = asyncio.get_running_loop().create_task(self._watch())

    def cancel(self) -> None:
        """Look no more."""
        if self._watching is not None:
            self._watching.cancel()

    async def look(self, times: int = _LOOKS) -> bool:
        """Look whether the target has gone, and tell that; returns whether it has."""
        facet = self._session.debugger.process
        for number in range(times if facet is not None else 0):
            if number:
                await asyncio.sleep(_LOOK_AGAIN)
            with contextlib.suppress(EngineError):
                if facet is not None and await facet.mourn():
                    self._session.notice(_GONE, "warning")
                    return True
        return False

    async def _watch(self) -> None:
        state = self._session.state
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if state.run not in (Run.STARTING, Run.RUNNING, Run.STOPPED):
                return
            # Of one that runs the engine hears by itself; a stop that is being looked into still shows as running.
            if state.run is Run.STOPPED:
                await self.look(1)

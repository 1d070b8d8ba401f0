"""What a person does with a GPU beside its lanes: stops at launches and failing calls, dumps, the way back."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.facets.device_stops import ApiFailures, DeviceStops, LaunchStops
from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.errors import CommandFailed, EngineError, LadderError
from ladder_backends.model.events import (
    EngineExited,
    Event,
    FocusChanged,
    SettingChanged,
    TargetExited,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.focus import Focus
from ladder_backends.session.state import Change, Run
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.device_state import DeviceState

_SHARED = "CUDA_MPS_PIPE_DIRECTORY"
_NO_DEVICE = "this engine has no GPU to choose for"
_LOGICAL = ("kernel", "block", "thread")


class SessionDevice:
    """Keeps `state.device`. Failures of what was asked for are one notice each."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session

    @property
    def state(self) -> DeviceState:
        """What panes show of it."""
        return self._session.state.device

    async def opened(self) -> None:
        """A target was opened, maybe again: what was chosen holds on."""
        facet, state = self._session.debugger.device_stops, self.state
        state.left, state.dumping = None, ""
        if facet is None:
            return
        self._warn_of_sharing()
        with contextlib.suppress(EngineError):
            if state.launches is not facet.launches:
                await facet.at_launch(state.launches)
            if state.failures is not facet.failures:
                await facet.at_failure(state.failures)

    def _warn_of_sharing(self) -> None:
        """Programs that share a GPU through its multi-process service cannot be stopped in a kernel."""
        given = self._session.target.environment if isinstance(self._session.target, LaunchTarget) else {}
        if given.get(_SHARED, os.environ.get(_SHARED)):
            self._session.notice(
                f"{_SHARED} is set: kernels of programs that share the GPU by MPS cannot be debugged — take it out"
                " of the program's environment",
                "warning",
            )

    def take(self, event: Event) -> None:
        """Note what an event makes of it."""
        state, facet = self.state, self._session.debugger.device_stops
        if isinstance(event, SettingChanged) and facet is not None and facet.concerns(event.name):
            state.launches, state.failures = facet.launches, facet.failures
        elif isinstance(event, TargetStopped | TargetRunning | TargetExited | EngineExited | FocusChanged):
            state.left = self._session.debugger.lane_left
        if isinstance(event, TargetStopped) and event.meaning:
            self._session.notice(event.meaning)

    def visited(self, left: Focus | None) -> None:
        """The focus was moved: tell where the lane was that was left for the host, once."""
        before, self.state.left = self.state.left, left
        if left is not None and before is None:
            self._session.notice(
                f"on the host: steps go on there; the lane {left.describe(*_LOGICAL)} is returned to by"
                " Back to the lane"
            )

    # -- what a person does

    async def choose_launches(self, which: LaunchStops) -> None:
        """Stop at these kernel launches from now on."""
        with self._session.told():
            await self._facet().at_launch(which)
            self.state.launches = which
            told = {
                LaunchStops.NONE: "kernel launches are run through",
                LaunchStops.APPLICATION: "it stops at each launch of the application's kernels",
                LaunchStops.SYSTEM: "it stops at each launch of the system's kernels",
                LaunchStops.ALL: "it stops at each kernel launch",
            }
            self._session.notice(told[which])
            self._session.tell(Change.RUN)

    async def choose_failures(self, what: ApiFailures) -> None:
        """Do this when a call of the driver fails, from now on."""
        with self._session.told():
            await self._facet().at_failure(what)
            self.state.failures = what
            told = {
                ApiFailures.IGNORE: "fatal errors of driver calls are told, and it runs on",
                ApiFailures.STOP: "it stops at driver calls with fatal errors",
                ApiFailures.HIDE: "errors of driver calls are not told",
                ApiFailures.IGNORE_ALL: "all errors of driver calls are told, and it runs on",
                ApiFailures.STOP_ALL: "it stops at driver calls with any error",
            }
            self._session.notice(told[what])
            self._session.tell(Change.RUN)

    def _facet(self) -> DeviceStops:
        facet = self._session.debugger.device_stops
        if facet is None:
            raise CommandFailed("", _NO_DEVICE)
        return facet

    async def return_to_lane(self) -> bool:
        """Go back to the lane that was left for the host; returns whether it stands there."""
        left = self._session.debugger.lane_left
        if left is None:
            self._session.notice("no lane was left", "warning")
            return False
        wanted = Focus.of(**{name: left.get(name) for name in _LOGICAL})
        return await self._session.switch(wanted) is not None

    async def dump(self, path: Path, *, lightweight: bool = False) -> bool:
        """Write what the GPU holds at this stop; returns whether the dump is there."""
        session = self._session
        facet = session.debugger.gpu_dumps
        if facet is None or session.state.run is not Run.STOPPED:
            why = "the program runs: interrupt it first" if session.state.run is Run.RUNNING else "no kernel stands"
            session.notice(f"nothing to dump: {why}", "warning")
            return False
        shown = clean_line(path.name)
        self.state.dumping = shown
        session.tell(Change.RUN)
        began = time.monotonic()
        try:
            await facet.write(path, lightweight=lightweight)
        except LadderError as refused:
            session.notice(refused.line(), "error")
            return False
        finally:
            self.state.dumping = ""
            session.tell(Change.RUN)
        session.notice(f"{shown} written in {time.monotonic() - began:.1f} s")
        return True

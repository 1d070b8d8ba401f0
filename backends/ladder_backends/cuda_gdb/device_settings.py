"""cuda-gdb's settings for what stops a program by itself: `set cuda break_on_launch`, `set cuda api_failures`."""

from __future__ import annotations

import contextlib

from ladder_backends.debugger.facets import ApiFailures, DeviceStops, LaunchStops
from ladder_backends.gdb.questions import Engine

LAUNCH_SETTING = "cuda break_on_launch"
FAILURE_SETTING = "cuda api_failures"


class CudaDeviceStops(DeviceStops):
    """Keeps both settings; for breakpoints that wait for a launch, the engine may stop at more than was chosen."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.launches = LaunchStops.NONE
        self.failures = ApiFailures.IGNORE
        self._set = LaunchStops.NONE

    async def at_launch(self, which: LaunchStops) -> None:
        """`set cuda break_on_launch`."""
        await self._engine.command(f"-gdb-set {LAUNCH_SETTING} {which}")
        self.launches = self._set = which

    async def at_failure(self, what: ApiFailures) -> None:
        """`set cuda api_failures`."""
        await self._engine.command(f"-gdb-set {FAILURE_SETTING} {what}")
        self.failures = what

    async def stop_for_breakpoints(self, wanted: bool) -> None:
        """Stop at launches of the application's kernels too, where breakpoints wait for one."""
        enough = (LaunchStops.APPLICATION, LaunchStops.ALL)
        needed = LaunchStops.APPLICATION if wanted and self.launches not in enough else self.launches
        if needed is not self._set:
            await self._engine.command(f"-gdb-set {LAUNCH_SETTING} {needed}")
            self._set = needed

    @property
    def borrowed(self) -> bool:
        """It stops at launches only because breakpoints wait for one."""
        return self._set is not self.launches

    def typed(self, name: str, value: str) -> None:
        """A setting was changed in the command line."""
        if name == LAUNCH_SETTING:
            with contextlib.suppress(ValueError):
                self.launches = self._set = LaunchStops(value)
        elif name == FAILURE_SETTING:
            with contextlib.suppress(ValueError):
                self.failures = ApiFailures(value)

    def concerns(self, setting: str) -> bool:
        """Whether it is one of the two."""
        return setting in (LAUNCH_SETTING, FAILURE_SETTING)

"""Stops that nobody asked for: at a launch, for breakpoints that wait for it, and on the way out."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from ladder_backends.cuda_gdb.focus import is_lane
from ladder_backends.errors import EngineError
from ladder_backends.model.stop_reasons import KERNEL_ENTRY

if TYPE_CHECKING:
    from ladder_backends.cuda_gdb.device_settings import CudaDeviceStops
    from ladder_backends.cuda_gdb.kernel_breakpoints import KernelBreakpoints
    from ladder_backends.gdb.event_reader import EventReader
    from ladder_backends.gdb.running import Running
    from ladder_backends.model.events import TargetStopped


class KernelStops:
    """Sets what waits for a kernel as soon as one stands, and goes on where only that was wanted.

    Attributes:
        once: Set from the first stop, or end, of the target on.
    """

    def __init__(
        self, events: EventReader, breakpoints: KernelBreakpoints, settings: CudaDeviceStops, running: Running
    ) -> None:
        self._events, self._breakpoints, self._settings, self._running = events, breakpoints, settings, running
        self._tasks: set[asyncio.Task[None]] = set()
        self.once = asyncio.Event()

    def take(self, event: TargetStopped) -> bool:
        """Note a stop; True where it was on the way, or only for breakpoints that wait for a launch."""
        self.once.set()
        if self._events.processes.ending:
            # On its way out, where the target is let go or ended.
            return True
        if is_lane(event.focus) and self._breakpoints.waiting:
            own = event.reason == KERNEL_ENTRY and self._settings.borrowed
            task = asyncio.get_running_loop().create_task(self._set_waiting(go_on=own))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return own
        return False

    async def prepare(self) -> None:
        """Before the target runs: stop at launches as long as breakpoints wait for one."""
        await self._settings.stop_for_breakpoints(self._breakpoints.waits_for_launch)

    async def _set_waiting(self, *, go_on: bool) -> None:
        # Whatever the engine refuses here, the next stop tells.
        with contextlib.suppress(EngineError):
            try:
                await self._breakpoints.kernel_stands()
                await self.prepare()
            finally:
                if go_on:
                    await self._running.run("-exec-continue")

    def close(self) -> None:
        """Do nothing more."""
        for task in tuple(self._tasks):
            task.cancel()

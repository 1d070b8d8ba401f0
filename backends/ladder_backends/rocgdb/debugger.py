"""ROCgdb on programs and processes with an AMD GPU, and gdb that was built for one."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import ClassVar

from ladder_backends.debugger.contract import Capability, FocusRefused
from ladder_backends.debugger.target import Target
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.debugger import GdbDebugger
from ladder_backends.gdb.dialect import TransportFactory
from ladder_backends.gdb.translation import number_of, text_of
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.model.focus import Dim3, Focus, FocusLevel, parse_dim3
from ladder_backends.model.grid import BlockRange, Kernel, Warp
from ladder_backends.model.provenance import Provenance
from ladder_backends.rocgdb.names import FOCUS_SCHEMA
from ladder_backends.rocgdb.waves import Waves


class RocgdbDebugger(GdbDebugger):
    """One rocgdb process; it stands in a thread of the host, or in a lane of a wave."""

    name: ClassVar[str] = "rocgdb"
    rung: ClassVar[str] = "rocgdb"
    rung_device: ClassVar[str] = "HIP"
    engine: ClassVar[str] = "rocgdb"
    stops_threads_apart: ClassVar[bool] = False
    keeps_libraries: ClassVar[str] = "rocgdb finds the ROCm runtime's libraries by it"
    focus_schema: ClassVar[tuple[FocusLevel, ...]] = FOCUS_SCHEMA

    def __init__(
        self, transport: TransportFactory = PtyTransport, *, provenance: Provenance = Provenance.ENGINE
    ) -> None:
        super().__init__(transport, provenance=provenance)
        self.waves = Waves(self)

    async def open(self, target: Target) -> None:
        """Open a program, a process or a core; of a fault in a kernel the exact instruction is told."""
        await super().open(target)
        # It is off until the first queue exists, and an older engine does not know it.
        with contextlib.suppress(CommandFailed):
            await self.command("-gdb-set amdgpu precise-memory on")
        self.capabilities |= Capability.DEVICE_FOCUS

    async def focus(self) -> Focus | None:
        """The wave and lane, or the thread of the host."""
        thread = self.events.thread
        if thread is None or self.events.running:
            return None
        wave = await self.waves.name(thread)
        if wave is None:
            return Focus.of(thread=thread)
        lane = await self._variable("$_lane")
        told = await self._variable("$_lane_workgroup_pos") if lane is not None else None
        return wave.focus(thread, number_of(lane), _workitem(told))

    async def switch(self, asked: Focus) -> Focus:
        """Move to a thread, a wave, a lane, or a work-item named by its place in the dispatch.

        Raises:
            FocusRefused: There is no such wave or lane; the focus is unchanged.
        """
        thread, lane = asked.index("thread"), asked.index("lane")
        if thread is None:
            thread, lane = await self._place_of(asked)
        lanes = lane is not None and await self.waves.has("lane-info")
        if lane is not None and not lanes:
            raise FocusRefused("", f"{self.engine} knows waves and no lanes; ROCgdb knows both", asked)
        command = f"-thread-select -l {lane} {thread}" if lanes else f"-thread-select {thread}"
        try:
            answer = await self.command(command)
        except CommandFailed as refused:
            raise FocusRefused(command, refused.what, asked) from refused
        self.events.turn_to(number_of(answer.results.get("new-thread-id")) or thread)
        self.selected_frame = 0
        return await self.focus() or asked

    async def kernels(self) -> Sequence[Kernel]:
        """Dispatches, numbered as their waves name them."""
        return await self.waves.kernels()

    async def blocks(self, kernel: int) -> Sequence[BlockRange]:
        """Work-groups of a dispatch."""
        return await self.waves.blocks(kernel)

    async def warps(self, focus: Focus) -> Sequence[Warp]:
        """Waves of the work-group that a focus names."""
        dispatch, group = focus.index("dispatch"), focus.dim3("workgroup")
        return await self.waves.warps(dispatch, group) if dispatch is not None and group is not None else ()

    async def _place_of(self, asked: Focus) -> tuple[int, int | None]:
        """The thread of the wave, and the lane, of a place in a dispatch; what is not named is as in the focus."""
        here = await self.focus() or Focus()
        dispatch = asked.index("dispatch") or here.index("dispatch")
        group = asked.dim3("workgroup") or here.dim3("workgroup")
        if dispatch is None or group is None:
            raise FocusRefused("", f"no dispatch is in focus to find {asked.describe()} in", asked)
        item, wave = asked.dim3("workitem"), asked.index("wave")
        found = await self.waves.find(dispatch, group)
        for thread, name in found:
            if item is None and wave in (None, name.wave):
                return thread, asked.index("lane")
            if item is not None:
                lane = next((each.number for each in await self.waves.lanes(thread) if each.thread == item), None)
                if lane is not None:
                    return thread, lane
        raise FocusRefused("", f"no resident wave holds {asked.describe()}", asked)

    async def _variable(self, name: str) -> str | None:
        try:
            answer = await self.command(f"-data-evaluate-expression {name}")
        except CommandFailed:
            return None
        told = text_of(answer.results.get("value"))
        return None if told == "void" else told


def _workitem(told: str | None) -> Dim3 | None:
    """The work-item of `$_lane_workgroup_pos`, a string `"[7,3,1]"`."""
    try:
        return parse_dim3(told.strip('"\\ ').strip("[]")) if told else None
    except ValueError:
        return None

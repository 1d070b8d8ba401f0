"""What is asked about the work on a device: kernels, blocks, warps and lanes, each question with a filter."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ladder_backends.cuda_gdb.calm import until_calm
from ladder_backends.cuda_gdb.focus import focus_of, is_lane, switch_command
from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.cuda_gdb.tables import block_warps, blocks_of, kernels_of, thread_runs
from ladder_backends.debugger.contract import FocusRefused
from ladder_backends.errors import CommandFailed
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.focus import Dim3, Focus, format_coordinate
from ladder_backends.model.grid import BlockRange, Kernel, ThreadRun, Warp
from ladder_backends.model.provenance import Provenance

if TYPE_CHECKING:
    from ladder_backends.gdb.debugger import GdbDebugger


class GridQuestions:
    """Asks an engine about its grid.

    Attributes:
        constant: Nothing can change, as in a dump: kernels are asked for once.
    """

    def __init__(self, engine: GdbDebugger, standing: Standing, provenance: Provenance) -> None:
        self._engine, self._standing, self._provenance = engine, standing, provenance
        self._kernels: tuple[Kernel, ...] | None = None
        self._asking: asyncio.Future[ResultRecord] | None = None
        self.constant = False

    async def kernels(self) -> Sequence[Kernel]:
        """Every kernel."""
        if self._kernels is not None and self.constant:
            return self._kernels
        if self._asking is None or self._asking.done():
            # Who asks in the same breath gets the same answer.
            self._asking = asyncio.ensure_future(self._engine.command("-cuda-info-kernels"))
            # Nobody may be left who wants to know how it failed.
            self._asking.add_done_callback(lambda asked: asked.cancelled() or asked.exception())
        answer = await asyncio.shield(self._asking)
        clusters = self._standing.clusters
        self._kernels = tuple(
            replace(kernel, cluster_dim=clusters.get(kernel.number)) if kernel.number in clusters else kernel
            for kernel in kernels_of(answer.results, self._provenance)
        )
        return self._kernels

    async def blocks(self, kernel: int) -> Sequence[BlockRange]:
        """Blocks of a kernel that are held, coalesced."""
        answer = await self._engine.command(f"-cuda-info-blocks kernel {kernel}")
        return blocks_of(answer.results, kernel)

    async def threads_held(self, block: Dim3) -> Sequence[ThreadRun]:
        """Threads of a block of the focused kernel that are held, coalesced."""
        focus = self._standing.focus
        kernel = focus.index("kernel") if focus else None
        named = f"kernel {kernel} " if kernel is not None else ""
        answer = await self._engine.command(f"-cuda-info-threads {named}block {format_coordinate(block)}")
        return thread_runs(answer.results)

    async def warps(self, focus: Focus) -> Sequence[Warp]:
        """Warps of a block that are held: the lanes of the focused one exactly, of others from the masks."""
        block, here = focus.dim3("block"), self._standing.focus
        if block is None or (self._standing.live and not is_lane(here)):
            # Standing in a thread of the host there is no way to a block but to go there.
            return ()
        if (
            here is None
            or here.dim3("block") != block
            or here.index("kernel") != focus.get("kernel", here.index("kernel"))
        ):
            return await self._warps_elsewhere(focus)
        device, sm, warp = here.index("device"), here.index("sm"), here.index("warp")
        if device is None or sm is None:
            return ()
        kernels, table, lanes = await asyncio.gather(
            self.kernels(),
            self._engine.command(f"-cuda-info-warps device {device} sm {sm}"),
            self._engine.command(f"-cuda-info-lanes device {device} sm {sm} warp {warp}"),
        )
        return block_warps(here, kernels, table.results, lanes.results)

    async def _warps_elsewhere(self, focus: Focus) -> Sequence[Warp]:
        """Warps of a block that is not the focused one: only a focus there tells on which SM it is.

        The move there, the questions and the move back are sent together, so that no other command comes between.
        """
        kernels = await self.kernels()
        await until_calm(self._engine)
        here = self._standing.focus
        back = switch_command(here) if here is not None else None
        there = Focus.of(kernel=focus.get("kernel"), block=focus.get("block"))
        moved, table, lanes, *_ = await asyncio.gather(
            self._engine.submit(switch_command(there)),
            self._engine.submit("-cuda-info-warps"),
            self._engine.submit("-cuda-info-lanes"),
            *((self._engine.submit(back),) if back else ()),
            return_exceptions=True,
        )
        if isinstance(moved, CommandFailed):
            held = "the device does not hold" if self._standing.live else "the dump does not hold"
            raise FocusRefused(moved.command, f"{held} {there.describe()}", there) from moved
        for answer in (moved, table, lanes):
            if isinstance(answer, BaseException):
                raise answer
        assert not isinstance(moved, BaseException)
        assert not isinstance(table, BaseException)
        assert not isinstance(lanes, BaseException)
        reached = focus_of(moved.results)
        return block_warps(reached, kernels, table.results, lanes.results) if reached is not None else ()

"""The grid map on hardware: what each level costs over the raw commands of the same stop, and what it shows.

Times are printed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.debugger.facets import LaunchStops
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import LaneState
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.device_view import with_places
from ladder_backends.session.state import Run
from ladder_backends.session.until_resident import can_wait_for, run_until_resident
from ladder_tui.panes.grid_blocks import Spans, layouts
from ladder_tui.panes.grid_hardware import hardware_rows
from ladder_tui.panes.grid_lanes import program_counters
from ladder_tui.panes.grid_rows import grid_rows

Build = Callable[..., Path]
LIMIT = 30.0


class Live:
    """A session on a real cuda-gdb, and what its commands and ours took."""

    def __init__(self) -> None:
        self.session = DebugSession(CudaGdbDebugger())
        self.state = self.session.state
        self.times: list[str] = []

    @property
    def debugger(self) -> CudaGdbDebugger:
        debugger = self.session.debugger
        assert isinstance(debugger, CudaGdbDebugger)
        return debugger

    async def launch(self, program: Path, *arguments: str) -> None:
        await self.session.open(LaunchTarget(program, arguments), run=False)
        assert self.debugger.device_stops is not None
        await self.debugger.device_stops.at_launch(LaunchStops.APPLICATION)
        await self.go(StepKind.RUN)
        await self.debugger.device_stops.at_launch(LaunchStops.NONE)
        assert self.state.focus is not None, self.state.notices
        assert "block" in self.state.focus

    async def go(self, kind: StepKind, location: str = "") -> None:
        began = time.perf_counter()
        async with asyncio.timeout(LIMIT):
            await self.session.resume(kind, location)
            await self.session.at_rest()
        self.note(f"{kind.value} until shown", began)

    def note(self, what: str, began: float) -> None:
        self.times.append(f"{what}: {(time.perf_counter() - began) * 1e3:.2f} ms")

    async def beside(self, what: str, ours: Callable[[], Awaitable[object]], *raw: str) -> None:
        """What ours costs beside the raw commands that it sends, each of them once more."""
        began = time.perf_counter()
        await ours()
        took = time.perf_counter() - began
        began = time.perf_counter()
        for command in raw:
            await self.debugger.command(command)
        self.times.append(f"{what}: {took * 1e3:.2f} ms, raw {(time.perf_counter() - began) * 1e3:.2f} ms")


@pytest.fixture
async def live(request: pytest.FixtureRequest) -> AsyncIterator[Live]:
    one = Live()
    yield one
    print(f"\n--- {request.node.name}", *one.times, *(note.text for note in one.state.notices), sep="\n")
    await one.session.close()


async def test_a_quarter_of_a_million_blocks(live: Live, cuda_program: Build) -> None:
    await live.launch(cuda_program("divergent_grid"))
    state = live.state
    (kernel,) = state.grid.kernels
    assert kernel.grid_dim == (250, 1000, 1)
    spans = Spans(kernel, state.grid.blocks)
    assert 0 < spans.held < 250_000
    began = time.perf_counter()
    built = grid_rows(state, width=118)
    live.note("map drawn", began)
    assert built.layout is not None
    assert built.layout.size > 1
    assert layouts(kernel.grid_dim, 64, 3)[-1].size == 1
    live.debugger.grid._kernels = None
    await live.beside(
        "kernels and blocks",
        lambda: asyncio.gather(live.debugger.kernels(), live.debugger.blocks(0)),
        "-cuda-info-kernels",
        "-cuda-info-blocks kernel 0",
    )
    focus = state.focus
    assert focus is not None
    sm, warp = focus.index("sm"), focus.index("warp")
    await live.beside(
        "warps of the block",
        lambda: live.debugger.warps(focus),
        f"-cuda-info-warps device 0 sm {sm}",
        f"-cuda-info-lanes device 0 sm {sm} warp {warp}",
    )


async def test_every_level_of_the_hardware(live: Live, cuda_program: Build) -> None:
    await live.launch(cuda_program("divergent_grid"))
    view, state = live.session.machine.device, live.state.hardware
    await live.beside(
        "devices, SMs and warps of one",
        lambda: view.look(0, 5),
        "-cuda-info-devices",
        "-cuda-info-sms device 0",
        "-cuda-info-warps device 0 sm 5",
    )
    assert state.note == ""
    assert state.devices[0].sm_count >= len(state.sms) > 5
    assert state.warps
    assert all(warp.kernel == 0 for warp in state.warps)
    began = time.perf_counter()
    rows = hardware_rows(live.state, width=118, cursor_sm=5, cursor_slot=None, cursor_lane=0).rows
    live.note("hardware drawn", began)
    print("\n".join(row.text() for row in rows[:12]))
    chosen = state.warps[-1]
    reached = await live.session.switch(Focus.of(device=0, sm=5, warp=chosen.number, lane=2))
    await live.session.at_rest()
    assert reached is not None, live.state.reason
    assert (reached.dim3("block"), reached.index("lane")) == (chosen.block, 2)


async def test_lanes_of_a_diverged_block(live: Live, cuda_program: Build) -> None:
    await live.launch(cuda_program("divergent_grid"))
    assert await live.session.set_breakpoint("divergent_grid.cu:28", temporary=True)
    await live.go(StepKind.CONTINUE)
    state = live.state
    focus = state.focus
    assert focus is not None
    block = focus.dim3("block")
    assert block is not None
    where = f"({block[0]},{block[1]},{block[2]})"
    await live.beside(
        "lines of the block's lanes",
        lambda: live.session.machine.device.look_lines(at_once=True),
        f"-cuda-info-threads kernel 0 block {where}",
    )
    told = state.lane_lines
    assert told.block == block
    assert sum(count for _, count in told.lanes) <= 256
    assert any(place.line in range(26, 31) for place, _ in told.lanes), told.lanes
    (kernel,) = state.grid.kernels
    warps = with_places(state.grid.warps, told, 0, block, kernel.block_dim)
    lanes = [lane for warp in warps for lane in warp.lanes]
    assert any(lane.state is LaneState.DIVERGENT for lane in lanes)
    assert all(lane.pc for lane in lanes if lane.state is LaneState.DIVERGENT)
    assert program_counters(warps).diverge
    print("\n".join(row.text() for row in grid_rows(state, width=100, warps=warps).rows))


async def test_a_block_that_is_not_resident_is_said_to_be_so_and_waited_for(
    live: Live, cuda_program: Build
) -> None:
    # A grid small enough for a condition that each block is asked about, too large to be resident at once.
    await live.launch(cuda_program("divergent_grid"), "1024", "1024")
    state = live.state
    (kernel,) = state.grid.kernels
    asked = Focus.of(kernel=0, block=(kernel.grid_dim[0] - 1, kernel.grid_dim[1] - 1, 0), thread=(3, 2, 0))
    assert await live.session.switch(asked) is None
    assert state.asked == asked
    assert state.reason.endswith("it has ended or not begun"), state.reason
    assert can_wait_for(state, asked)
    began = time.perf_counter()
    async with asyncio.timeout(120):
        reached = await run_until_resident(live.session, asked)
    live.note("until the block is there", began)
    assert reached, [note.text for note in state.notices]
    assert state.focus is not None
    assert state.focus.satisfies(Focus.of(block=asked["block"], thread=(3, 2, 0))), state.reason
    assert await live.session.switch(Focus.of(kernel=0, block=kernel.grid_dim, thread=(0, 0, 0))) is None
    assert "outside the grid" in state.reason


async def test_clusters_are_told(live: Live, cuda_program: Build) -> None:
    await live.launch(cuda_program("clusters"))
    assert live.state.run is Run.STOPPED
    text = "\n".join(row.text() for row in grid_rows(live.state, width=118).rows)
    print(text)
    assert "cluster (" in text


async def test_a_grid_that_nobody_sees_costs_nothing(live: Live, cuda_program: Build) -> None:
    live.session.show_rows(frames=5, variables=5, grid=False)
    await live.launch(cuda_program("divergent_grid"))
    assert live.state.grid.warps == ()
    await live.go(StepKind.NEXT)
    live.session.show_rows(frames=5, variables=5, grid=True)
    await live.session.at_rest()
    assert live.state.grid.warps
    await live.go(StepKind.NEXT)

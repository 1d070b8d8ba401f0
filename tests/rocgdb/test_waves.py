"""ROCgdb's waves and lanes, against a stand-in that answers as the manual and the sources say."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ladder_backends.debugger.contract import FocusRefused
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import LaneState
from ladder_backends.rocgdb import RocgdbDebugger
from ladder_backends.rocgdb.names import dispatch_of, wave_of, workitem_of


def _stand_in() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rocgdb_stand_in", Path(__file__).with_name("stand_in.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Made = Callable[..., Awaitable[tuple[RocgdbDebugger, Any]]]


@pytest.fixture
async def make(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Made]:
    # The stand-in runs in this process: the path is only looked for.
    monkeypatch.setenv("LADDER_ROCGDB", sys.executable)
    made: list[RocgdbDebugger] = []

    async def start(**form: object) -> tuple[RocgdbDebugger, Any]:
        engine = _stand_in().StandIn(**form)
        debugger = RocgdbDebugger(engine)
        debugger.listen(lambda event: None)
        made.append(debugger)
        await debugger.start()
        debugger.events.alive = True
        debugger.events.thread = 1
        return debugger, engine

    yield start
    for debugger in made:
        await debugger.close()


def test_names() -> None:
    wave = wave_of("AMDGPU Wave 1:4:2:9 (7,0,3)/1")
    assert wave is not None
    assert (wave.agent, wave.queue, wave.dispatch, wave.wave, wave.workgroup, wave.place) == (
        1,
        4,
        2,
        9,
        (7, 0, 3),
        1,
    )
    unknown = wave_of("AMDGPU Wave 1:2:?:1 (?,?,?)/?")
    assert unknown is not None
    assert (unknown.dispatch, unknown.workgroup, unknown.place) == (None, None, None)
    assert wave_of('Thread 0x7ffff6288180 (LWP 645917) "AMDGPU Wave"') is None
    assert workitem_of("AMDGPU Lane 1:4:1:1/5 (0,0,0)[69,0,2]") == (69, 0, 2)
    dispatch = dispatch_of("AMDGPU Dispatch 1:2:1 (PKID 0)")
    assert dispatch is not None
    assert (dispatch.dispatch, dispatch.packet) == (1, 0)


@pytest.mark.parametrize("size", [32, 64])
async def test_grid_and_lanes(make: Made, size: int) -> None:
    debugger, engine = await make(size=size)
    (kernel,) = await debugger.kernels()
    assert (kernel.name, kernel.grid_dim, kernel.block_dim) == ("saxpy", (3, 1, 1), (100, 1, 1))
    (run,) = await debugger.blocks(1)
    assert (run.first, run.last, run.count) == ((0, 0, 0), (2, 0, 0), 3)
    warps = await debugger.warps(Focus.of(dispatch=1, workgroup=(1, 0, 0)))
    assert [warp.index for warp in warps] == list(range(engine.per_group))
    assert {len(warp.lanes) for warp in warps} == {size}
    lanes = [lane for warp in warps for lane in warp.lanes]
    assert sum(lane.state is LaneState.ACTIVE for lane in lanes) == 50
    assert sum(lane.state is LaneState.DIVERGENT for lane in lanes) == 50
    assert sum(lane.state is LaneState.ABSENT for lane in lanes) == len(lanes) - 100


@pytest.mark.parametrize("size", [32, 64])
async def test_work_item(make: Made, size: int) -> None:
    debugger, engine = await make(size=size)
    reached = await debugger.switch(Focus.of(dispatch=1, workgroup=(2, 0, 0), workitem=(70, 0, 0)))
    assert reached.dim3("workitem") == (70, 0, 0)
    assert reached.index("lane") == 70 % size
    assert reached.index("wave") == 2 * engine.per_group + 70 // size + 1
    assert await debugger.focus() == reached


async def test_refusals_move_nothing(make: Made) -> None:
    debugger, _ = await make()
    there = await debugger.switch(Focus.of(thread=4, lane=3))
    with pytest.raises(FocusRefused, match="Lane 64 does not exist on this thread"):
        await debugger.switch(Focus.of(thread=4, lane=64))
    with pytest.raises(FocusRefused, match="no resident wave holds"):
        await debugger.switch(Focus.of(dispatch=1, workgroup=(9, 0, 0)))
    assert await debugger.focus() == there


async def test_a_grid_of_many_waves_is_asked_for_in_parts(make: Made) -> None:
    debugger, engine = await make(groups=10_000)
    assert [run.count for run in await debugger.blocks(1)] == [10_000]
    assert len(await debugger.warps(Focus.of(dispatch=1, workgroup=(9_999, 0, 0)))) == 2
    assert "-thread-info" not in engine.sent
    assert sum(command.startswith("-lane-info") for command in engine.sent) == 2


async def test_an_engine_without_lanes(make: Made) -> None:
    debugger, engine = await make(lanes=False)
    assert await debugger.kernels() == ()
    reached = await debugger.switch(Focus.of(thread=4))
    assert (reached.dim3("workgroup"), reached.index("lane")) == ((0, 0, 0), None)
    moved = await debugger.switch(Focus.of(workgroup=(2, 0, 0)))
    assert (moved.dim3("workgroup"), moved.index("wave")) == ((2, 0, 0), 5)
    with pytest.raises(FocusRefused, match="waves and no lanes"):
        await debugger.switch(Focus.of(thread=4, lane=3))
    assert not [command for command in engine.sent if command.startswith(("-lane-info", "-dispatch-info"))]


async def test_places_that_are_not_told(make: Made) -> None:
    debugger, _ = await make(hidden=True, lanes=False)
    reached = await debugger.switch(Focus.of(thread=4))
    assert (reached.index("wave"), reached.dim3("workgroup"), reached.index("dispatch")) == (2, None, None)


async def test_the_host(make: Made) -> None:
    debugger, _ = await make()
    assert await debugger.switch(Focus.of(thread=2)) == Focus.of(thread=2)

"""A program on two and on eight devices: kernels, focus and hardware of each, and which one is meant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.model.focus import Focus
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.jump import jump
from ladder_backends.session.lane_words import device_to_name, kernel_of, lane_words
from ladder_tui.panes.grid_hardware import hardware_rows
from ladder_tui.panes.grid_rows import grid_rows

from .several_devices import SeveralDevices

Start = Callable[..., object]


@pytest.fixture
async def started(compiled: Callable[..., Path]) -> AsyncIterator[Callable[..., object]]:
    """A session that stands in a kernel, on a machine with so many devices."""
    made: list[DebugSession] = []

    async def start(count: int, idle: tuple[int, ...] = ()) -> tuple[DebugSession, SeveralDevices]:
        engine = SeveralDevices(count, idle)
        session = DebugSession(CudaGdbDebugger(engine))
        made.append(session)
        await session.open(LaunchTarget(compiled("steps")), run=False)
        session.show_rows(frames=5, variables=5, grid=True)
        await session.resume(StepKind.RUN)
        async with asyncio.timeout(5):
            await session.at_rest()
        return session, engine

    yield start
    for session in made:
        await session.close()


@pytest.mark.parametrize("count", [2, 8])
async def test_every_device_has_its_kernel_on_the_map(started: Start, count: int) -> None:
    session, _ = await started(count)  # type: ignore[misc]
    await session.machine.device.look_kernels()
    state = session.state
    assert [kernel.device for kernel in state.grid.kernels] == list(range(count))
    rows = [row.text() for row in grid_rows(state, width=60).rows]
    ends = [row.end[0].text for row in grid_rows(state, width=60).rows[:count]]
    assert ends == [f"Active on device {number}" for number in range(count)]
    assert sum(row.startswith("◆ kernel ") for row in rows) == 1


@pytest.mark.parametrize("count", [2, 8])
async def test_the_focus_goes_to_the_kernel_of_another_device(started: Start, count: int) -> None:
    session, engine = await started(count)  # type: ignore[misc]
    await session.machine.device.look_kernels()
    last = count - 1
    reached = await session.switch(Focus.of(kernel=last, block=(3, 0, 0), thread=(240, 0, 0)))
    assert reached is not None
    assert (reached.index("device"), reached.index("sm"), reached.index("kernel")) == (last, 2 * last, last)
    assert device_to_name(session.state) == last
    words = lane_words(session.state.focus, kernel_of(session.state), 40, device_to_name(session.state))
    assert words == f"t (240,0,0) b (3,0,0) dev {last} SM {2 * last} w7 l16"
    assert (
        engine.asked("-cuda-focus-switch")[-1] == f"-cuda-focus-switch kernel {last} block (3,0,0) thread (240,0,0)"
    )
    warps = await session.debugger.warps(reached)
    assert {warp.device for warp in warps} == {last}
    assert f"-cuda-info-warps device {last} sm {2 * last}" in engine.sent


async def test_the_focus_goes_to_a_device_by_its_number(started: Start) -> None:
    session, _ = await started(8, (3,))  # type: ignore[misc]
    reached = await session.switch(Focus.of(device=5, sm=10, warp=2, lane=1))
    assert reached is not None
    assert reached.satisfies(Focus.of(device=5, kernel=5, thread=(65, 0, 0)))
    assert await session.switch(Focus.of(device=3)) is None
    assert "not on the device now" in session.state.reason
    assert session.state.focus is not None
    assert session.state.focus.index("device") == 5


async def test_the_hardware_of_a_device_that_is_not_the_focused_one(started: Start) -> None:
    session, engine = await started(8, (7,))  # type: ignore[misc]
    await session.machine.device.look(6, None)
    state = session.state
    rows = [
        row.text() for row in hardware_rows(state, width=76, cursor_sm=None, cursor_slot=None, cursor_lane=0).rows
    ]
    assert [row[:12].strip() for row in rows[:8]] == [
        "◆ device 0",
        *(f"device {number}" for number in range(1, 6)),
        "◇ device 6",
        "device 7",
    ]
    assert state.hardware.device == 6
    assert "-cuda-info-sms device 6" in engine.sent
    assert [sm.number for sm in state.hardware.sms] == [12]
    await session.machine.device.look(6, 12)
    assert "-cuda-info-warps device 6 sm 12" in engine.sent
    assert {warp.device for warp in state.hardware.warps} == {6}
    await session.machine.device.look(7, None)
    assert state.hardware.sms == ()
    # A look is no move.
    assert engine.focus[0] == 0


async def test_a_jump_says_that_a_report_names_no_device(started: Start) -> None:
    session, _ = await started(2)  # type: ignore[misc]
    outcome = await jump(session.debugger, Focus.of(block=(3, 0, 0), thread=(240, 0, 0)))
    assert outcome.exact
    assert "it may be meant in kernel 1 on device 1" in outcome.doubt
    named = await jump(session.debugger, Focus.of(kernel=1, block=(3, 0, 0), thread=(240, 0, 0)))
    assert named.exact
    assert named.doubt == ""


async def test_one_device_is_not_named(started: Start) -> None:
    session, _ = await started(1)  # type: ignore[misc]
    await session.machine.device.look_kernels()
    assert device_to_name(session.state) is None
    outcome = await jump(session.debugger, Focus.of(block=(3, 0, 0), thread=(240, 0, 0)))
    assert outcome.doubt == ""

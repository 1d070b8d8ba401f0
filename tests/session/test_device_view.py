"""The hardware and the lines of lanes of a session: on a real dump, and behind a recording that holds neither."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from ladder_backends.case import open_files
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import GpuDumpTarget
from ladder_backends.debugger.facets import DeviceMap
from ladder_backends.errors import CommandFailed
from ladder_backends.model.events import TargetExited, TargetRunning
from ladder_backends.model.focus import Dim3, Focus
from ladder_backends.model.frame import Place
from ladder_backends.model.grid import BlockRange, Device, Kernel, Sm, ThreadRun, Warp
from ladder_backends.model.provenance import Provenance
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, Run
from ladder_demos.catalogue import find_demo


class Hardware(DeviceMap):
    """Two devices of four SMs, whose answers can be held back or refused."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.refuses = False

    async def _ask(self, what: str) -> None:
        self.asked.append(what)
        await self.gate.wait()
        if self.refuses:
            raise CommandFailed(what, "no device")

    async def devices(self) -> Sequence[Device]:
        await self._ask("devices")
        return (Device(0, "00:06.0", "A", "sm_90", 4, 64, 0b1010), Device(1, "00:07.0", "B", "sm_90", 4, 64, 0b1))

    async def sms(self, device: int) -> Sequence[Sm]:
        await self._ask(f"sms {device}")
        return (Sm(1, 0, 3), Sm(3, 0, 1)) if device == 0 else (Sm(0, 1, 1),)

    async def warps_on(self, device: int, sm: int) -> Sequence[Warp]:
        await self._ask(f"warps {device} {sm}")
        return (Warp(0, 0, sm, device, (sm, 0, 0), ()),)


@pytest.fixture
def standing() -> tuple[DebugSession, Hardware]:
    """A session that stands in a lane of device 0, SM 3."""
    session = DebugSession(CudaGdbDebugger())
    hardware = Hardware()
    session.debugger.device_map = hardware
    session.state.run = Run.STOPPED
    session.state.focus = Focus.of(kernel=0, block=(3, 0, 0), thread=(0, 0, 0), device=0, sm=3, warp=0, lane=0)
    return session, hardware


async def test_the_engine_s_sm_is_looked_at_first(standing: tuple[DebugSession, Hardware]) -> None:
    session, hardware = standing
    view, state = session.machine.device, session.state.hardware
    await view.look()
    assert hardware.asked == ["devices", "sms 0", "warps 0 3"]
    assert (state.device, state.sm, state.warps[0].block) == (0, 3, (3, 0, 0))
    await view.look(0, 1)
    assert hardware.asked[3:] == ["warps 0 1"]
    await view.look()
    assert hardware.asked[4:] == ["warps 0 3"], "by default it is the engine's"
    del hardware.asked[4:]
    await view.look(1)
    assert hardware.asked[4:] == ["sms 1", "warps 1 0"]
    assert (state.device, state.sm) == (1, 0)
    # On an SM where nothing is there is nothing to ask for.
    await view.look(1, 2)
    assert hardware.asked[6:] == []
    assert (state.sm, state.warps) == (2, ())


async def test_the_newest_wish_wins(standing: tuple[DebugSession, Hardware]) -> None:
    session, hardware = standing
    view, state = session.machine.device, session.state.hardware
    await view.look(0, 3)
    hardware.gate.clear()
    first = asyncio.ensure_future(view.look(0, 1))
    await asyncio.sleep(0)
    assert state.asked == "warps of SM 1"
    held, hardware.gate = hardware.gate, asyncio.Event()
    hardware.gate.set()
    await view.look(0, 3)
    held.set()
    await first
    assert (state.sm, state.warps[0].block, state.asked) == (3, (3, 0, 0), "")


async def test_an_answer_of_the_stop_before_is_dropped(standing: tuple[DebugSession, Hardware]) -> None:
    session, hardware = standing
    view, state = session.machine.device, session.state.hardware
    hardware.gate.clear()
    asking = asyncio.ensure_future(view.look())
    await asyncio.sleep(0)
    view.take(TargetRunning(0.0))
    hardware.gate.set()
    await asking
    assert (state.devices, state.asked, hardware.asked) == ((), "", ["devices"])


async def test_a_refusal_is_one_line(standing: tuple[DebugSession, Hardware]) -> None:
    session, hardware = standing
    hardware.refuses = True
    told: list[Change] = []
    session.subscribe(told.append)
    await session.machine.device.look()
    assert session.state.hardware.note
    await asyncio.sleep(0.01)
    assert told == [Change.GRID]
    assert not session.state.notices


async def test_nothing_is_asked_while_it_runs(standing: tuple[DebugSession, Hardware]) -> None:
    session, hardware = standing
    session.state.run = Run.RUNNING
    await session.machine.device.look()
    await session.machine.device.look_lines()
    assert hardware.asked == []
    session.state.run = Run.STOPPED
    session.debugger.device_map = None
    await session.machine.device.look()
    assert "nothing of the hardware" in session.state.hardware.note


@pytest.mark.cuda_gdb
async def test_a_dump_s_hardware_and_lines(cuda_gdb: Path) -> None:
    opened = open_files([find_demo("hang").path])
    assert opened.dump is not None
    session = DebugSession(CudaGdbDebugger())
    try:
        await session.open(GpuDumpTarget(opened.dump, opened.executable))
        await session.at_rest()
        view, state = session.machine.device, session.state
        await view.look()
        assert [(sm.number, sm.warps) for sm in state.hardware.sms] == [(124, 2), (126, 2)]
        assert (state.hardware.sm, len(state.hardware.warps)) == (124, 2)
        await view.look_lines()
        assert [(str(place), count) for place, count in state.lane_lines.lanes] == [("hang.cu:3", 64)]
        reached = await session.switch(Focus.of(device=0, sm=126, warp=1, lane=7))
        assert reached is not None
        assert reached.dim3("thread") == (39, 0, 0)
        assert state.reason == ""
        await view.look_lines()
        assert state.lane_lines.block == (1, 0, 0)
    finally:
        await session.close()


async def test_a_recording_that_holds_no_hardware_is_calm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LADDER_CUDA_GDB", "/no/such/cuda-gdb")
    ladder = Ladder()
    try:
        await ladder.open_files((find_demo("vector-add").path,))
        await ladder.jump_to(Focus.of(block=(3, 0, 0), thread=(240, 0, 0)))
        session = ladder.active
        assert session is not None
        assert session.state.provenance is Provenance.RECORDING
        await session.at_rest()
        before = len(session.state.notices)
        await session.machine.device.look()
        await session.machine.device.look_lines()
        assert len(session.state.notices) == before
        hardware = session.state.hardware
        assert hardware.devices or "not in this recording" in hardware.note
        assert [(str(place), count) for place, count in session.state.lane_lines.lanes] in (
            [],
            [("vector_add_oob.cu:10", 24)],
        )
    finally:
        await ladder.close()


async def test_from_the_host_kernels_are_still_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    session = DebugSession(CudaGdbDebugger())
    kernel = Kernel(0, 1, 0, "spin", (2, 1, 1), (64, 1, 1), "Active")
    asked: list[str] = []

    async def kernels() -> tuple[Kernel, ...]:
        asked.append("kernels")
        return (kernel,)

    async def blocks(number: int) -> tuple[BlockRange, ...]:
        asked.append(f"blocks {number}")
        return (BlockRange(0, (0, 0, 0), (1, 0, 0), 2, "running"),)

    monkeypatch.setattr(session.debugger, "kernels", kernels)
    monkeypatch.setattr(session.debugger, "blocks", blocks)
    session.state.run, session.state.focus = Run.STOPPED, Focus.of(thread=1)
    for _ in range(2):
        await session.machine.device.look_kernels()
    assert asked == ["kernels", "blocks 0"]
    assert session.state.grid.kernels == (kernel,)
    assert session.state.grid.blocks[0].count == 2
    session.state.focus = Focus.of(kernel=0, block=(0, 0, 0))
    session.machine.device.take(TargetRunning(0.0))
    await session.machine.device.look_kernels()
    assert len(asked) == 2, "where it stands in a lane the stop itself asks"


async def test_a_step_keeps_what_is_shown_until_it_is_read_again(
    standing: tuple[DebugSession, Hardware],
) -> None:
    session, hardware = standing
    view, state = session.machine.device, session.state.hardware
    await view.look()
    view.take(TargetRunning(0.0))
    assert state.warps
    hardware.asked.clear()
    await view.look()
    assert hardware.asked == ["devices", "sms 0", "warps 0 3"]
    view.take(TargetExited(0))
    assert (state.devices, state.sms, state.warps) == ((), (), ())


async def test_steps_typed_fast_do_not_pay_for_lines(
    standing: tuple[DebugSession, Hardware], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = standing
    asked: list[Dim3] = []

    async def threads_held(block: Dim3) -> tuple[ThreadRun, ...]:
        asked.append(block)
        return (ThreadRun(block, (0, 0, 0), block, (31, 0, 0), 32, "0x10", Place("k.cu", 3)),)

    monkeypatch.setattr(session.debugger, "threads_held", threads_held)
    view = session.machine.device
    for _ in range(3):
        looking = asyncio.ensure_future(view.look_lines())
        await asyncio.sleep(0)
        view.take(TargetRunning(0.0))
        await looking
    assert asked == []
    await view.look_lines()
    await view.look_lines()
    assert asked == [(3, 0, 0)]
    assert session.state.lane_lines.lanes == ((Place("k.cu", 3), 32),)


async def test_a_refused_wish_is_not_asked_again_at_each_paint(standing: tuple[DebugSession, Hardware]) -> None:
    session, hardware = standing
    view = session.machine.device
    await view.look()
    hardware.refuses = True
    for _ in range(3):
        await view.look(0, 1)
    assert hardware.asked[3:] == ["warps 0 1"]
    hardware.refuses = False
    await view.look(0, 3)
    await view.look(0, 1)
    assert hardware.asked[4:] == ["warps 0 3", "warps 0 1"]

"""The grid and the hardware of a live program as cuda-gdb 13.0 told them on an H200, through a headless session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.cuda_gdb.tables import thread_runs, warps_of
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import LaneState
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.device_view import lines_of, with_places
from ladder_backends.session.grid_state import LinesOfLanes
from ladder_backends.session.state import DebugState, Run
from ladder_tui.panes.grid_lanes import lane_cells, program_counters

from .stand_in import StandIn

RECORDINGS = Path(__file__).parents[1] / "mi" / "recordings"


class Live:
    """A session, and what stands in for its engine."""

    def __init__(self, name: str) -> None:
        self.engine = StandIn(name)
        self.session = DebugSession(CudaGdbDebugger(self.engine))

    @property
    def state(self) -> DebugState:
        return self.session.state

    async def launch(self, program: Path, *, grid: bool = True) -> None:
        await self.session.open(LaunchTarget(program), run=False)
        self.session.show_rows(frames=5, variables=5, grid=grid)
        await self.session.resume(StepKind.RUN)
        async with asyncio.timeout(5):
            await self.session.at_rest()
        assert self.state.run is Run.STOPPED

    def notices(self) -> list[str]:
        return [notice.text for notice in self.state.notices]


@pytest.fixture
async def live(compiled: Callable[..., Path]) -> AsyncIterator[Callable[..., Live]]:
    made: list[Live] = []

    def make(name: str) -> Live:
        made.append(Live(name))
        return made[-1]

    yield make
    for one in made:
        await one.session.close()


async def test_a_grid_that_nobody_sees_is_not_asked_for(
    live: Callable[..., Live], compiled: Callable[..., Path]
) -> None:
    one = live("live-grid")
    await one.launch(compiled("steps"), grid=False)
    assert one.engine.asked("-cuda-info") == []
    one.session.show_rows(frames=5, variables=5, grid=True)
    await one.session.at_rest()
    assert one.state.grid.kernels[0].grid_dim == (250, 1000, 1)
    assert [blocks.count for blocks in one.state.grid.blocks] == [1056]
    # No table of all threads, and none that is not asked for by its filter.
    assert not any(command.startswith("-cuda-info-threads") for command in one.engine.sent)
    assert not any(command.endswith(("-cuda-info-warps", "-cuda-info-lanes")) for command in one.engine.sent)


async def test_the_hardware_one_level_at_a_time(live: Callable[..., Live], compiled: Callable[..., Path]) -> None:
    one = live("live-grid")
    await one.launch(compiled("steps"))
    with_oob = StandIn("live-oob")
    devices = next(each for each in with_oob._exchanges if each.asked == "-cuda-info-devices")
    one.engine.answer(
        "-cuda-info-devices", *(line.lstrip("0123456789") for kind, line in devices.lines if "^" in line)
    )
    sms = next(each for each in one.engine._exchanges if each.asked == "-cuda-info-sms")
    one.engine.answer(
        "-cuda-info-sms device 0", *(line.lstrip("0123456789") for _, line in sms.lines if "^" in line)
    )
    view = one.session.machine.device
    assert one.engine.asked("-cuda-info-sms") == []
    await view.look(0, 5)
    state = one.state.hardware
    assert (state.device, {sm.warps for sm in state.sms}) == (0, {64})
    assert len(state.sms) > 30
    assert (state.sm, {warp.block for warp in state.warps[:8]}) == (5, {(41, 0, 0)})
    assert state.warps[3].lanes[2].thread == (2, 3, 0)
    sent = list(one.engine.sent)
    await view.look(0, 5)
    assert one.engine.sent == sent, "what is known of this stop is not asked again"


async def test_what_was_read_is_gone_when_it_runs(live: Callable[..., Live], compiled: Callable[..., Path]) -> None:
    one = live("live-grid")
    await one.launch(compiled("steps"))
    one.engine.answer("-cuda-info-devices", '^error,msg="no"')
    await one.session.machine.device.look()
    assert one.state.hardware.note
    await one.session.machine.device.look_lines()
    before = one.session.machine.device.stop
    await one.session.resume(StepKind.NEXT)
    await one.session.at_rest()
    assert one.session.machine.device.stop > before
    assert (one.state.hardware.note, one.state.lane_lines) == ("", LinesOfLanes())


async def test_why_a_block_is_not_reached(live: Callable[..., Live], compiled: Callable[..., Path]) -> None:
    one = live("live-grid")
    await one.launch(compiled("steps"))
    for block, thread in (((200, 500, 0), (0, 0, 0)), ((250, 0, 0), (0, 0, 0)), ((0, 0, 0), (32, 0, 0))):
        asked = Focus.of(kernel=0, block=block, thread=thread)
        one.engine.answer(
            "-cuda-focus-switch " + asked.describe(),
            '^error,msg="Invalid coordinates requested. CUDA focus unchanged."',
        )
        assert await one.session.switch(asked) is None
        assert one.state.asked == asked
        told = one.state.reason
        if block == (200, 500, 0):
            assert told == "block (200,500,0) is not on the device now: it has ended or not begun"
            assert one.state.alternatives[0].focus == Focus.of(kernel=0, block=(55, 4, 0))
        elif block[0] == 250:
            assert told == "block (250,0,0) is outside the grid of tile, of (250,1000,1) blocks"
        else:
            assert told == "thread (32,0,0) is outside a block of tile, of (32,8,1) threads"


@pytest.mark.parametrize("named", [True, False])
async def test_running_until_a_block_is_there(
    live: Callable[..., Live], compiled: Callable[..., Path], named: bool
) -> None:
    from ladder_backends.session.until_resident import run_until_resident

    one = live("live-grid")
    await one.launch(compiled("steps"))
    asked = Focus.of(kernel=0, block=(200, 500, 0), thread=(3, 2, 0))
    insert = '-break-insert -t -c "blockIdx.x == 200 && blockIdx.y == 500 && blockIdx.z == 0" "tile"'
    if not named:
        # The name is one of the host too, and the engine will not have a condition on a block there.
        one.engine.answer(insert, '^error,msg="No symbol \\"blockIdx\\" in current context."')
        code = 'address="0x00007ffddb7a1620",func-name="tile",offset="288",inst="MOV R0, R1"'
        for asked_for in ('-s $pc -e "$pc + 1" -- 0', "-a $pc -- 0"):
            one.engine.answer(f"-data-disassemble {asked_for}", f"^done,asm_insns=[{{{code}}}]")
        insert = insert.replace('"tile"', '"*0x7ffddb7a1500"')
    row = 'bkpt={number="9",type="breakpoint",disp="del",enabled="y",addr="0x10",func="tile",times="0"}'
    place = 'device="0",sm="7",warp="4",lane="0",kernel="0",grid="1",blockIdx="(200,500,0)",threadIdx="(0,0,0)"'
    one.engine.answer(insert, f"^done,{row}")
    one.engine.answer(
        "-exec-continue",
        "^running",
        '*running,thread-id="all"',
        f'*stopped,CudaFocus={{{place}}},reason="breakpoint-hit",disp="del",bkptno="9",'
        'frame={addr="0x10",func="tile",args=[],file="divergent_grid.cu",line="17",arch="m68k"},thread-id="1"',
    )
    reached = place.replace('lane="0"', 'lane="3"').replace('threadIdx="(0,0,0)"', 'threadIdx="(3,2,0)"')
    one.engine.answer("-cuda-focus-switch " + asked.describe(), f"^done,CudaFocus={{{reached}}}")
    assert await run_until_resident(one.session, asked), (one.engine.sent[-8:], one.notices())
    assert one.state.focus is not None
    assert one.state.focus.describe("block", "thread") == "block (200,500,0) thread (3,2,0)"
    assert any("Ctrl-C stops" in notice for notice in one.notices())
    assert one.state.breakpoints == ()


def recorded(command: str) -> ResultRecord:
    """The answer to a command of a run of a big grid that stands in a diverged block."""
    token = ""
    for line in (RECORDINGS / "big-grid-launch-then-condition.jsonl").read_text().splitlines():
        entry = json.loads(line)
        text = entry["s"]
        if entry["d"] == ">" and text.lstrip("0123456789") == command:
            token = text.removesuffix(command)
        elif token and text.startswith(f"{token}^done"):
            record = parse(text.encode())
            assert isinstance(record, ResultRecord)
            answer = record
            if command != "-cuda-info-warps" or 'active_lanes_mask="0x55555555"' in text:
                return answer
            token = ""
    raise AssertionError(command)


def test_a_checkerboard_of_lanes_is_seen() -> None:
    runs = thread_runs(recorded("-cuda-info-threads kernel 0 block (100,3,0)").results)
    assert len(runs) == 249
    lines = lines_of(runs)
    assert [(str(place), count) for place, count in lines] == [("grid.cu:15", 256)]
    warps = warps_of(
        recorded("-cuda-info-warps").results, device=0, sm=22, kernel=0, block=(100, 3, 0), block_dim=(32, 8, 1)
    )
    assert [warp.index for warp in warps] == list(range(8))
    divergent = [lane for lane in warps[3].lanes if lane.state is LaneState.DIVERGENT]
    assert len(divergent) == 16
    assert {lane.pc for lane in divergent} == {""}
    placed = with_places(warps, LinesOfLanes(0, (100, 3, 0), runs, lines), 0, (100, 3, 0), (32, 8, 1))
    assert {lane.pc[-4:] for warp in placed for lane in warp.lanes} == {"1970", "1a20"}
    counters = program_counters(placed)
    assert [counters.where(pc) for pc in counters.group] == [":15 …1970", ":15 …1a20"]
    first, second = ("".join(cell.text for cell in lane_cells(placed[at], counters, None, None)) for at in (0, 1))
    assert (first, second) == ("Ab" * 16, "bA" * 16)

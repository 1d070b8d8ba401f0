"""How many lanes stand at an instruction, from what the engine told of the warp and the block."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import Instruction, Lane, LaneState, ThreadRun, Warp
from ladder_backends.session.grid_state import LinesOfLanes
from ladder_backends.session.state import Change, DebugState, Grid
from ladder_tui.panes.lane_counts import LaneCounts, lane_counts

FOCUS = Focus.of(kernel=0, block=(3, 0, 0), thread=(40, 0, 0), device=0, sm=5, warp=9, lane=8)


def warp(slot: int, index: int) -> Warp:
    """Eight lanes at 0x110, four wait at 0x150, one has ended, the others are not there."""
    lanes = [Lane(number, LaneState.ACTIVE, pc="0x110") for number in range(8)]
    lanes += [Lane(number, LaneState.DIVERGENT, pc="0x0000000000000150") for number in range(8, 12)]
    lanes += [Lane(12, LaneState.EXITED, pc="0x150")]
    lanes += [Lane(number, LaneState.ABSENT) for number in range(13, 32)]
    return Warp(slot, index, 5, 0, (3, 0, 0), tuple(lanes))


def state() -> DebugState:
    runs = (
        ThreadRun((3, 0, 0), (0, 0, 0), (3, 0, 0), (31, 0, 0), 32, "0x110"),
        ThreadRun((3, 0, 0), (32, 0, 0), (3, 0, 0), (43, 0, 0), 12, "0x150"),
    )
    return DebugState(
        rung="cuda-gdb",
        focus=FOCUS,
        grid=Grid(warps=(warp(2, 0), warp(9, 1))),
        lane_lines=LinesOfLanes(0, (3, 0, 0), runs, ()),
    )


def told(counts: LaneCounts, address: int, *, raised: bool = False) -> str:
    return "".join(words for words, _ in counts.words(address, raised=raised))


def test_lanes_of_the_focused_warp_and_of_its_block() -> None:
    counts = lane_counts(state())
    assert (counts.warp, counts.places) == ({0x110: 8, 0x150: 4}, 2)
    assert told(counts, 0x110) == "8 lanes · 32 of the block"
    assert told(counts, 0x150, raised=True) == "raised it here · 4 lanes · 12 of the block"
    assert told(counts, 0x160) == ""


def test_what_was_told_of_another_block_or_nothing_is_not_counted() -> None:
    debug = state()
    debug.lane_lines = replace(debug.lane_lines, block=(1, 0, 0))
    assert lane_counts(debug).block == {}
    debug.focus = None
    assert lane_counts(debug) == LaneCounts()
    debug.focus = Focus.of(thread=1)
    assert lane_counts(debug).warp == {}


async def test_keys_live_on_while_a_kernel_is_disassembled(gpu_dump: Any, show: Any) -> None:
    session, done = gpu_dump.sessions["cuda-gdb"], asyncio.Event()
    session.state.capabilities |= Capability.DISASSEMBLE
    session.state.disassembly = ()

    async def slowly(count: int) -> None:
        await done.wait()
        session.state.disassembly = (Instruction("0x7f587b7d2470", "NOP", "vadd", 880, size=16),)
        session.tell(Change.DISASSEMBLY)

    session.load_disassembly = slowly
    gpu_dump.state.rung = "cuda-gdb"
    async with show(gpu_dump, (80, 24)) as view:
        await view.pilot.press("w", "d")
        await view.pilot.pause()
        assert "disassembling …" in view.text()
        await view.pilot.press("exclamation_mark")
        await view.pilot.pause()
        assert "Messages" in view.text()
        await view.pilot.press("escape")
        done.set()
        await view.settle()
        assert "NOP" in view.text()
        assert "disassembling" not in view.text()

"""The map of a big grid: what opening it, walking over it and zooming cost of our own time, by kind of grid."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from ladder_backends.cuda_gdb.tables import blocks_of
from ladder_backends.debugger.contract import Capability
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.focus import Dim3, Focus
from ladder_backends.model.grid import (
    LANES,
    BlockRange,
    Device,
    Kernel,
    Lane,
    LaneState,
    Sm,
    ThreadRun,
    Warp,
    delinear,
    volume,
)
from ladder_backends.session.debug_state import DebugState, Grid
from ladder_backends.session.device_view import lines_of, with_places
from ladder_backends.session.grid_state import HardwareState, LinesOfLanes
from ladder_backends.session.state import Run
from ladder_tui.panes.grid_blocks import Spans, layouts, line_cells
from ladder_tui.panes.grid_hardware import hardware_rows
from ladder_tui.panes.grid_rows import BlockView, grid_rows

ROUNDS = 30
GRIDS: dict[str, tuple[Dim3, int, int]] = {
    "250x1000, 1 run": ((250, 1000, 1), 1, 1056),
    "250x1000, 1,056 runs": ((250, 1000, 1), 1056, 1),
    "2^31-1 blocks, 1,056 runs": ((2**31 - 1, 1, 1), 1056, 1),
    "65,535x65,535, 2,112 runs": ((65_535, 65_535, 1), 2112, 1),
}


def state_of(extent: Dim3, runs: int, length: int) -> DebugState:
    """A live stop in a grid with blocks of 1,024 threads, half of whose lanes diverge."""
    kernel = Kernel(0, 1, 0, "tile", extent, (32, 32, 1), "Active")
    step = max(length, volume(extent) // runs)
    blocks = tuple(
        BlockRange(0, delinear(at * step, extent), delinear(at * step + length - 1, extent), length, "running")
        for at in range(runs)
    )
    warps = []
    for index in range(32):
        lanes = tuple(
            Lane(
                lane,
                LaneState.ACTIVE if lane % 2 else LaneState.DIVERGENT,
                (lane, index, 0),
                "0x10" if lane % 2 else "",
            )
            for lane in range(LANES)
        )
        warps.append(Warp(index, index, 5, 0, (0, 0, 0), lanes, "0x10", 0))
    return DebugState(
        "cuda-gdb",
        run=Run.STOPPED,
        capabilities=Capability.DEVICE_FOCUS,
        focus=Focus.of(kernel=0, block=(0, 0, 0), thread=(3, 4, 0), device=0, sm=5, warp=4, lane=3),
        grid=Grid((kernel,), blocks, tuple(warps)),
        hardware=HardwareState(
            (Device(0, "00:06.0", "GPU", "sm_90", 132, 64, (1 << 132) - 1),),
            0,
            tuple(Sm(number, 0, (1 << 64) - 1) for number in range(132)),
            5,
            tuple(warps) * 2,
        ),
    )


def milliseconds(work: Callable[[], object]) -> float:
    """The median of some rounds."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return round(statistics.median(took) * 1e3, 3)


def measured(extent: Dim3, runs: int, length: int) -> dict[str, float]:
    """Milliseconds of opening the map, of a key on it, and of its finest zoom."""
    debug = state_of(extent, runs, length)
    (kernel,) = debug.grid.kernels
    spans = Spans(kernel, debug.grid.blocks)
    levels = layouts(extent, 64, 8)
    fine = len(levels) - 1
    middle = levels[-1].lines // 2
    return {
        "open": milliseconds(lambda: grid_rows(debug, width=118, view=BlockView(lines=8, whole=8))),
        "walk": milliseconds(
            lambda: grid_rows(debug, width=118, view=BlockView(lines=8, whole=8, cursor=0), spans=spans)
        ),
        "finest zoom": milliseconds(
            lambda: grid_rows(debug, width=118, view=BlockView(fine, middle, 20, 8), spans=spans)
        ),
        "one line": milliseconds(lambda: line_cells(kernel, spans, levels[0], 0, (0, 0, 0))),
    }


def lanes_measured() -> dict[str, float]:
    """Milliseconds of taking the lines of 1,024 lanes that all stand apart, and of drawing an SM of 64 warps."""
    debug = state_of((250, 1000, 1), 1, 1056)
    runs = tuple(
        ThreadRun((0, 0, 0), delinear(at, (32, 32, 1)), (0, 0, 0), delinear(at, (32, 32, 1)), 1, hex(16 + at % 7))
        for at in range(1_024)
    )
    told = LinesOfLanes(0, (0, 0, 0), runs, lines_of(runs))
    return {
        "lines of 1,024 lanes": milliseconds(
            lambda: with_places(debug.grid.warps, told, 0, (0, 0, 0), (32, 32, 1))
        ),
        "hardware": milliseconds(
            lambda: hardware_rows(debug, width=118, cursor_sm=5, cursor_slot=None, cursor_lane=0)
        ),
    }


def parsed(runs: int) -> float:
    """Milliseconds of reading an answer that tells of so many runs of blocks."""
    row = (
        'CoalescedInfoCudaBlocksRow={{current=" ",kernel="0",from="({x},{y},0)",to="({x},{y},0)",count="1",'
        'state="running"}}'
    )
    body = ",".join(row.format(x=at % 250, y=at // 250 * 3) for at in range(runs))
    answer = f'1^done,CoalescedInfoCudaBlocksTable={{nr_rows="{runs}",nr_cols="6",hdr=[],body=[{body}]}}'.encode()

    def read() -> object:
        record = parse(answer)
        assert isinstance(record, ResultRecord)
        return blocks_of(record.results, 0)

    return milliseconds(read)


def rows() -> Iterator[dict[str, Any]]:
    """All of it; opening a map is ours alone, so it is held against its budget in milliseconds."""
    for name, grid in GRIDS.items():
        for what, took in measured(*grid).items():
            budget = {"budget": 100.0} if what == "open" else {}
            yield {"what": f"grid of {name}: {what}", "ours": took, "unit": "ms", **budget}
    for what, took in lanes_measured().items():
        yield {"what": f"grid: {what}", "ours": took, "unit": "ms"}
    yield {"what": "grid: answer with 1,056 runs of blocks", "ours": parsed(1_056), "unit": "ms"}

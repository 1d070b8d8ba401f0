"""The grid map as rows: kernels, blocks, the focused block's warps and lanes."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ladder_backends.model.focus import Dim3, Focus, format_coordinate
from ladder_backends.model.grid import LANES, Kernel, LaneState, Warp, delinear, linear, volume
from ladder_backends.session.alternatives import Alternative
from ladder_backends.session.state import DebugState, Run
from ladder_tui.panes.grid_blocks import BlockCell, block_cells, held_words, map_cells
from ladder_tui.panes.grid_lanes import lane_cells, legend, program_counters
from ladder_tui.widgets.row import Cell, Row

_NUMBERED_BLOCKS = 16
_REASON_LINES = 3


class KernelTarget(NamedTuple):
    """A kernel's row."""

    kernel: int


class BlocksTarget(NamedTuple):
    """The row of the block map."""

    cells: tuple[BlockCell, ...]


class WarpTarget(NamedTuple):
    """A warp's row, by its place in the block."""

    warp: int


class RangeTarget(NamedTuple):
    """A run of blocks in one state."""

    block: Dim3


class AlternativeTarget(NamedTuple):
    """Somewhere else to go when the asked lane was not reached."""

    alternative: Alternative


GridTarget: TypeAlias = KernelTarget | BlocksTarget | WarpTarget | RangeTarget | AlternativeTarget


def focused_kernel(debug: DebugState) -> Kernel | None:
    """The kernel that the engine's focus is in, else the only one there is."""
    number = debug.focus.index("kernel") if debug.focus is not None else None
    for kernel in debug.grid.kernels:
        if kernel.number == number:
            return kernel
    return (
        debug.grid.kernels[0] if len(debug.grid.kernels) == 1 or (number is None and debug.grid.kernels) else None
    )


def invocation(kernel: Kernel) -> str:
    """`vadd<<<(4,1,1),(256,1,1)>>>`."""
    return f"{kernel.name}<<<{format_coordinate(kernel.grid_dim)},{format_coordinate(kernel.block_dim)}>>>"


def warp_count(kernel: Kernel | None) -> int:
    """Warps of a block of the kernel."""
    return -(-volume(kernel.block_dim) // LANES) if kernel is not None else 0


def thread_at(kernel: Kernel | None, warp: int, lane: int) -> Dim3 | None:
    """The thread of a lane, or None past the block's end."""
    if kernel is None:
        return None
    number = warp * LANES + lane
    return delinear(number, kernel.block_dim) if number < volume(kernel.block_dim) else None


@dataclass(frozen=True, slots=True)
class FocusedLane:
    """Where the engine stands in its block; None where it stands nowhere."""

    block: Dim3 | None = None
    warp: int | None = None
    lane: int | None = None


def focused_lane(debug: DebugState) -> FocusedLane:
    """Warp of the block and lane from the focus: by thread index, else by the physical coordinates."""
    focus = debug.focus
    if focus is None:
        return FocusedLane()
    block, thread = focus.dim3("block"), focus.dim3("thread")
    kernel = focused_kernel(debug)
    if kernel is not None and thread is not None:
        number = linear(thread, kernel.block_dim)
        return FocusedLane(block, number // LANES, number % LANES)
    slot = focus.index("warp")
    for warp in debug.grid.warps:
        if warp.number == slot:
            return FocusedLane(block, warp.index, focus.index("lane"))
    return FocusedLane(block, None, focus.index("lane"))


@dataclass(slots=True)
class GridRows:
    """Rows of one state.

    Attributes:
        rows: Everything but the long list of block ranges.
        lane_start: Column of lane 0 in a warp's row.
        warp_rows: Row number by warp of the block.
    """

    rows: list[Row] = field(default_factory=list)
    lane_start: int = 0
    warp_rows: dict[int, int] = field(default_factory=dict)


def grid_rows(
    debug: DebugState,
    *,
    width: int,
    cursor_warp: int | None = None,
    cursor_lane: int | None = None,
    cursor_block: int | None = None,
) -> GridRows:
    """Lay out the map.

    Args:
        debug: The state to draw.
        width: Columns of a row.
        cursor_warp: Warp of the block under the cursor, or None.
        cursor_lane: Lane under the cursor.
        cursor_block: Cell of the block map under the cursor, or None.
    """
    built = GridRows()
    rows = built.rows
    rows += _asked_rows(debug, width)
    kernel = focused_kernel(debug)
    if len(debug.grid.kernels) > 1:
        rows += [_kernel_row(other, other is kernel) for other in debug.grid.kernels]
    focus = focused_lane(debug)
    if kernel is not None:
        rows += _block_rows(debug, kernel, focus, width, cursor_block)
    _warp_rows(built, debug, kernel, focus, width, cursor_warp, cursor_lane)
    return built


def range_row(debug: DebugState, number: int) -> Row:
    """A run of neighbouring blocks in one state, as the engine coalesces them."""
    run = debug.grid.blocks[number]
    where = format_coordinate(run.first)
    if run.last != run.first:
        where += f" – {format_coordinate(run.last)}"
    count = f"{run.count:,} block{'' if run.count == 1 else 's'}"
    return Row((Cell("  "), Cell(where, "number"), Cell(f"  {run.state}", "muted")), (Cell(count, "number"),),
               RangeTarget(run.first))  # fmt: skip


def _asked_rows(debug: DebugState, width: int) -> list[Row]:
    """What was asked for and not reached, why, and where else to go."""
    if not debug.reason:
        return []
    rows: list[Row] = []
    if debug.asked is not None:
        now = f"now in {_lane_of(debug.focus)}" if debug.focus is not None else "nowhere now"
        rows.append(Row((Cell("! ", "warn"), Cell(f"asked for {_lane_of(debug.asked)} · {now}", "warn"))))
    style = "text" if rows else "warn"
    lines = textwrap.wrap(debug.reason, max(20, width - 3))[:_REASON_LINES]
    rows += [
        Row((Cell("  " if rows or number else "! ", "warn"), Cell(line, style)))
        for number, line in enumerate(lines)
    ]
    rows += [
        Row((Cell("  → ", "focus"), Cell(other.label, "text")), target=AlternativeTarget(other))
        for other in debug.alternatives
    ]
    return rows


def _lane_of(focus: Focus) -> str:
    """`(3,0,0) (240,0,0)`, block and thread; the levels by name where it has others."""
    block, thread = focus.dim3("block"), focus.dim3("thread")
    if block is None or thread is None:
        return focus.describe("block", "thread") or focus.describe()
    return f"{format_coordinate(block)} {format_coordinate(thread)}"


def _kernel_row(kernel: Kernel, focused: bool) -> Row:
    mark = Cell("◆ ", "focus") if focused else Cell("  ")
    cells = (mark, Cell(f"kernel {kernel.number}  ", "number"), Cell(invocation(kernel), "function"))
    return Row(cells, (Cell(kernel.status, "muted"),), KernelTarget(kernel.number))


def _block_rows(debug: DebugState, kernel: Kernel, focus: FocusedLane, width: int, cursor: int | None) -> list[Row]:
    words = held_words(kernel, debug.grid.blocks, dump=debug.run is Run.DUMP)
    total = volume(kernel.grid_dim)
    numbered = total <= _NUMBERED_BLOCKS and kernel.grid_dim[1:] == (1, 1)
    head = Cell("blocks ", "muted")
    room = max(8, min(64, width - len(head.text)))
    cells = block_cells(kernel, debug.grid.blocks, focus.block, room)
    target = BlocksTarget(tuple(cells))
    drawn = map_cells(kernel, cells, cursor, numbered)
    note = Cell(f" {words}", "muted")
    taken = len(head.text) + sum(len(cell.text) for cell in drawn)
    if taken + len(note.text) <= width:
        return [Row((head, *drawn, note), target=target)]
    return [Row((head, *drawn), target=target), Row((Cell("      "), note))]


def _warp_rows(
    built: GridRows,
    debug: DebugState,
    kernel: Kernel | None,
    focus: FocusedLane,
    width: int,
    cursor_warp: int | None,
    cursor_lane: int | None,
) -> None:
    rows, warps = built.rows, debug.grid.warps
    if not warps:
        if focus.block is not None and kernel is not None:
            rows.append(Row((Cell(f"block {format_coordinate(focus.block)} has no warp on the device", "muted"),)))
        return
    held = {warp.index: warp for warp in warps}
    count = max(warp_count(kernel), max(held) + 1)
    digits = len(str(count - 1))
    built.lane_start = digits + 1
    counters = program_counters(warps)
    number = 0
    absent = "the dump holds none of it" if debug.run is Run.DUMP else "not resident"
    while number < count:
        warp = held.get(number)
        if warp is None:
            end = number
            while end + 1 < count and end + 1 not in held:
                end += 1
            built.warp_rows.update(dict.fromkeys(range(number, end + 1), len(rows)))
            span = f"{number}" if number == end else f"{number}–{end}"
            rows.append(Row((Cell(f"{span:>{digits}} ", "muted"), Cell(f"· {absent}", "lane-absent")),
                            target=WarpTarget(number)))  # fmt: skip
            number = end + 1
            continue
        built.warp_rows[number] = len(rows)
        at_cursor = number == cursor_warp
        focus_lane = focus.lane if number == focus.warp else None
        cells = lane_cells(warp, counters, focus_lane, cursor_lane if at_cursor else None)
        end_cells = _cursor_words(kernel, number, cursor_lane) if at_cursor and width >= digits + LANES + 22 else ()
        rows.append(Row((Cell(f"{number:>{digits}} ", "number"), *cells), end_cells, WarpTarget(number)))
        number += 1
    shown = held.get(cursor_warp if cursor_warp is not None else -1) or held.get(
        focus.warp if focus.warp is not None else -1
    )
    if shown is not None:
        rows += _legend_rows(debug, kernel, shown, counters, focus)


def _cursor_words(kernel: Kernel | None, warp: int, lane: int | None) -> tuple[Cell, ...]:
    thread = thread_at(kernel, warp, lane) if lane is not None else None
    return (Cell(f"lane {lane} {format_coordinate(thread)}", "muted"),) if thread is not None else ()


def _legend_rows(
    debug: DebugState, kernel: Kernel | None, warp: Warp, counters: dict[str, int], focus: FocusedLane
) -> list[Row]:
    pc, line = "", ""
    if focus.warp == warp.index and focus.lane is not None and 0 <= focus.lane < len(warp.lanes):
        pc = warp.lanes[focus.lane].pc
        frame = debug.frames.frames[0] if debug.frames.frames and debug.frames.start == 0 else None
        if frame is not None and frame.place is not None:
            line = f":{frame.place.line}"
    rows: list[Row] = []
    absent = "not held" if debug.run is Run.DUMP else "not running"
    if focus.warp == warp.index and focus.lane is not None:
        lane = warp.lanes[focus.lane] if 0 <= focus.lane < len(warp.lanes) else None
        thread = (lane.thread if lane is not None else None) or thread_at(kernel, warp.index, focus.lane)
        if thread is not None and (lane is None or lane.state is not LaneState.ABSENT):
            words = f" lane {focus.lane} = thread {format_coordinate(thread)}"
            rows.append(Row((Cell("  "), Cell("◆", "focus"), Cell(words, "text"))))
    return rows + [Row((Cell("  "), *cells)) for cells in legend(warp, counters, pc, line, absent)]

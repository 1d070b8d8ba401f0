"""The grid map as rows: kernels, a window of the blocks, the focused block's warps and lanes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ladder_backends.model.focus import Dim3, Focus, format_coordinate
from ladder_backends.model.grid import LANES, Kernel, LaneState, Warp, delinear, linear, volume
from ladder_backends.session.alternatives import Alternative
from ladder_backends.session.state import DebugState, Run
from ladder_backends.session.until_resident import can_wait_for
from ladder_tui.panes.grid_blocks import (
    BlockCell,
    Layout,
    Spans,
    block_cell,
    block_name,
    cell_words,
    held_words,
    layouts,
    line_cells,
    map_cells,
)
from ladder_tui.panes.grid_lanes import Counters, counters_line, lane_cells, legend, program_counters
from ladder_tui.widgets.row import Cell, Row

_NUMBERED_BLOCKS = 16
_MOST_CELLS = 64
_HEAD = 7
"""Columns before the map of blocks."""
_REASON_LINES = 3


class KernelTarget(NamedTuple):
    """A kernel's row."""

    kernel: int


class BlocksTarget(NamedTuple):
    """A line of the map of blocks.

    Attributes:
        cells: What is on it.
        line: Which it is, of the whole map.
    """

    cells: tuple[BlockCell, ...]
    line: int = 0


class WarpTarget(NamedTuple):
    """A warp's row, by its place in the block."""

    warp: int


class RangeTarget(NamedTuple):
    """A run of blocks in one state."""

    block: Dim3


class AlternativeTarget(NamedTuple):
    """Somewhere else to go when the asked lane was not reached."""

    alternative: Alternative


class UntilTarget(NamedTuple):
    """Running on until the block that was asked for is on the device."""

    asked: Focus


GridTarget: TypeAlias = KernelTarget | BlocksTarget | WarpTarget | RangeTarget | AlternativeTarget | UntilTarget


@dataclass(frozen=True, slots=True)
class BlockView:
    """Which part of the map of blocks is looked at.

    Attributes:
        zoom: Level of zoom; 0 is the whole grid.
        top: First line of the map that is in its window.
        lines: Lines of the window.
        whole: Lines that the whole grid may take at level 0.
        cursor: First block of the cell under the keyboard's cursor, or None.
    """

    zoom: int = 0
    top: int = 0
    lines: int = 1
    whole: int = 1
    cursor: int | None = None


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
        map_row: Row number of the first line of the map's window.
        levels: The levels of zoom of the map.
        layout: The level that is shown, or None without a map.
        shown: Lines of the map in its window.
    """

    rows: list[Row] = field(default_factory=list)
    lane_start: int = 0
    warp_rows: dict[int, int] = field(default_factory=dict)
    map_row: int = 0
    levels: list[Layout] = field(default_factory=list)
    layout: Layout | None = None
    shown: int = 0


def grid_rows(
    debug: DebugState,
    *,
    width: int,
    view: BlockView = BlockView(),
    spans: Spans | None = None,
    warps: Sequence[Warp] | None = None,
    cursor_warp: int | None = None,
    cursor_lane: int | None = None,
) -> GridRows:
    """Lay out the map.

    Args:
        debug: The state to draw.
        width: Columns of a row.
        view: Which part of the map of blocks is looked at.
        spans: The blocks that are held, where they are known already.
        warps: The block's warps, where more is known of them than the state tells.
        cursor_warp: Warp of the block under the cursor, or None.
        cursor_lane: Lane under the cursor.
    """
    built = GridRows()
    rows = built.rows
    rows += _asked_rows(debug, width)
    kernel = focused_kernel(debug)
    if len(debug.grid.kernels) > 1:
        devices = {other.device for other in debug.grid.kernels}
        rows += [_kernel_row(other, other is kernel, len(devices) > 1) for other in debug.grid.kernels]
    focus = focused_lane(debug)
    if kernel is not None:
        _block_rows(built, debug, kernel, focus, width, view, spans)
    _warp_rows(built, debug, kernel, focus, width, cursor_warp, cursor_lane, warps)
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
    if debug.asked is not None and can_wait_for(debug, debug.asked):
        words = f"run until {debug.asked.describe('block')} is on the device"
        rows.append(Row((Cell("  → ", "focus"), Cell(words, "text")), target=UntilTarget(debug.asked)))
    return rows


def _lane_of(focus: Focus) -> str:
    """`(3,0,0) (240,0,0)`, block and thread; the levels by name where it has others."""
    block, thread = focus.dim3("block"), focus.dim3("thread")
    if block is None or thread is None:
        return focus.describe("block", "thread") or focus.describe()
    return f"{format_coordinate(block)} {format_coordinate(thread)}"


def _kernel_row(kernel: Kernel, focused: bool, named_device: bool) -> Row:
    status = f"{kernel.status} on device {kernel.device}" if named_device else kernel.status
    mark = Cell("◆ ", "focus") if focused else Cell("  ")
    cells = (mark, Cell(f"kernel {kernel.number}  ", "number"), Cell(invocation(kernel), "function"))
    return Row(cells, (Cell(status, "muted"),), KernelTarget(kernel.number))


def _block_rows(
    built: GridRows,
    debug: DebugState,
    kernel: Kernel,
    focus: FocusedLane,
    width: int,
    view: BlockView,
    spans: Spans | None,
) -> None:
    """A window on the map of blocks, and what is known of them in words."""
    rows, dump = built.rows, debug.run is Run.DUMP
    spans = spans if spans is not None else Spans(kernel, debug.grid.blocks)
    words = held_words(kernel, spans, dump=dump, room=width - _HEAD) + cluster_words(debug, kernel)
    total, flat = volume(kernel.grid_dim), kernel.grid_dim[1:] == (1, 1)
    numbered = total <= _NUMBERED_BLOCKS and flat
    room = max(8, min(_MOST_CELLS, width - _HEAD))
    built.levels = levels = layouts(kernel.grid_dim, room, max(1, view.whole))
    built.map_row = len(rows)
    if not levels:
        rows.append(Row((Cell("blocks ", "muted"), Cell(words, "muted")), target=BlocksTarget(())))
        return
    built.layout = layout = levels[min(view.zoom, len(levels) - 1)]
    top = max(0, min(view.top, layout.lines - 1))
    built.shown = min(view.lines if view.zoom else max(view.whole, 1), layout.lines - top)
    cursor_cell: BlockCell | None = None
    for line in range(top, top + built.shown):
        cells = line_cells(kernel, spans, layout, line, focus.block)
        cursor_cell = next((cell for cell in cells if cell.first == view.cursor), cursor_cell)
        drawn = map_cells(cells, view.cursor, numbered)
        head = "blocks " if line == top and (layout.lines == 1 or not view.zoom) else _line_name(kernel, cells)
        rows.append(Row((Cell(f"{head:<{_HEAD}}", "muted"), *drawn), target=BlocksTarget(tuple(cells), line)))
    more = [f"1 cell = {layout.size:,} blocks"] if layout.size > 1 else []
    if built.shown < layout.lines:
        more.append(f"lines {top + 1:,}–{top + built.shown:,} of {layout.lines:,}")
    about = words if cursor_cell is None else cell_words(kernel, cursor_cell, dump=dump)
    last, note = rows[-1], " · ".join((about, *more))
    if built.shown == 1 and len(last.text()) + len(" · ".join((words, *more))) + 1 <= width:
        rows[-1] = last._replace(cells=(*last.cells, Cell(f" {note}", "muted")))
        return
    # As many rows whatever the cursor is on, so that those below stay where they are.
    far = block_cell(kernel, spans, layout, layout.total - 1)
    room = width - _HEAD
    count = max(len(_joined((one, *more), room)) for one in (words, cell_words(kernel, far, dump=dump)))
    lines = [*_joined((about, *more), room), *[""] * count][:count]
    rows += [Row((Cell(" " * _HEAD), Cell(line, "muted"))) for line in lines]


def _joined(notes: Sequence[str], room: int) -> list[str]:
    """Notes on as few lines as they fit on whole."""
    lines: list[str] = []
    for note in notes:
        if lines and len(lines[-1]) + 3 + len(note) <= room:
            lines[-1] += f" · {note}"
        else:
            lines.append(note)
    return lines


def _line_name(kernel: Kernel, cells: Sequence[BlockCell]) -> str:
    """The block that a line begins with, as far as there is room: `0,12`."""
    first = delinear(cells[0].first, kernel.grid_dim)
    name = block_name(first, kernel.grid_dim).strip("()")
    if kernel.grid_dim[2] == 1 and name.endswith(",0") and name.count(",") == 2:
        name = name[:-2]
    return name if len(name) < _HEAD else "…" + name[len(name) - _HEAD + 2 :]


def cluster_words(debug: DebugState, kernel: Kernel) -> str:
    """` · cluster (1,0,0) of 2×1×1 blocks`, where the kernel has clusters."""
    cluster = debug.focus.get("cluster") if debug.focus is not None else None
    if cluster is None and kernel.cluster_dim is None:
        return ""
    of = " of " + "×".join(map(str, kernel.cluster_dim)) + " blocks" if kernel.cluster_dim is not None else ""
    return f" · cluster {format_coordinate(cluster)}{of}" if cluster is not None else f" · clusters{of}"


def _warp_rows(
    built: GridRows,
    debug: DebugState,
    kernel: Kernel | None,
    focus: FocusedLane,
    width: int,
    cursor_warp: int | None,
    cursor_lane: int | None,
    placed: Sequence[Warp] | None,
) -> None:
    rows, warps = built.rows, debug.grid.warps if placed is None else placed
    if not warps:
        if focus.block is not None and kernel is not None:
            rows.append(Row((Cell(f"block {format_coordinate(focus.block)} has no warp on the device", "muted"),)))
        elif kernel is not None and debug.focus is not None and debug.run is Run.STOPPED:
            words = f"standing in {debug.focus.describe()} of the host; Enter on a block goes there"
            rows.append(Row((Cell(words, "muted"),)))
        return
    held = {warp.index: warp for warp in warps}
    count = max(warp_count(kernel), max(held) + 1)
    digits = len(str(count - 1))
    # Where there is room beside the lanes, each number says that it is a warp's.
    mark = "w" if width >= digits + 2 + LANES else ""
    digits += len(mark)
    built.lane_start = digits + 1
    counters = program_counters(warps)
    if counters.diverge:
        rows.append(Row(tuple(counters_line(counters, width))))
    number = 0
    absent = "not held by the dump" if debug.run is Run.DUMP else "not resident"
    while number < count:
        warp = held.get(number)
        if warp is None:
            end = number
            while end + 1 < count and end + 1 not in held:
                end += 1
            built.warp_rows.update(dict.fromkeys(range(number, end + 1), len(rows)))
            span = f"warp {number}" if number == end else f"warps {number}–{end}"
            rows.append(Row((Cell(f"· {span} {absent}", "lane-absent"),), target=WarpTarget(number)))
            number = end + 1
            continue
        built.warp_rows[number] = len(rows)
        at_cursor = number == cursor_warp
        focus_lane = focus.lane if number == focus.warp else None
        cells = lane_cells(warp, counters, focus_lane, cursor_lane if at_cursor else None)
        end_cells = _cursor_words(kernel, number, cursor_lane) if at_cursor and width >= digits + LANES + 22 else ()
        rows.append(Row((Cell(f"{f'{mark}{number}':>{digits}} ", "number"), *cells), end_cells, WarpTarget(number)))
        number += 1
    shown = held.get(cursor_warp if cursor_warp is not None else -1) or held.get(
        focus.warp if focus.warp is not None else -1
    )
    if shown is not None:
        rows += _legend_rows(debug, kernel, shown, counters, focus, width)


def _cursor_words(kernel: Kernel | None, warp: int, lane: int | None) -> tuple[Cell, ...]:
    thread = thread_at(kernel, warp, lane) if lane is not None else None
    return (Cell(f"lane {lane} {format_coordinate(thread)}", "muted"),) if thread is not None else ()


def _slot_words(debug: DebugState) -> str:
    """` · SM 126 warp 7`: where on the device the lane runs, as the engine told."""
    sm, slot = (debug.focus.index("sm"), debug.focus.index("warp")) if debug.focus is not None else (None, None)
    return f" · SM {sm} warp {slot}" if sm is not None and slot is not None else ""


def _legend_rows(
    debug: DebugState, kernel: Kernel | None, warp: Warp, counters: Counters, focus: FocusedLane, width: int
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
            slot = _slot_words(debug)
            # Beside two blanks and the lane's glyph.
            words += slot if len(words) + len(slot) + 3 < width else ""
            rows.append(Row((Cell("  "), Cell("◆", "focus"), Cell(words, "text"))))
    return rows + [Row((Cell("  "), *cells)) for cells in legend(warp, counters, pc, line, absent)]

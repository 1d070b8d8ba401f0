"""A kernel's blocks as a map, whatever their number: cells of consecutive blocks, some lines, levels of zoom.

Nothing here is made for each block: cells are cut from the coalesced ranges that the engine told, and only the
lines on screen are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from ladder_backends.model.focus import Dim3, format_coordinate
from ladder_backends.model.grid import BlockRange, Kernel, delinear, linear, volume
from ladder_tui.widgets.row import Cell

_HEAT = ((1.0, "█"), (0.75, "▓"), (0.4, "▒"), (0.0, "░"))
_ZOOM = 4
"""How many times finer each level of zoom is."""


class BlockCell(NamedTuple):
    """One cell of the map: a run of blocks, x fastest.

    Attributes:
        first: Linear number of its first block.
        size: Blocks in it.
        held: How many of them the engine holds.
        block: The block a click goes to: the first that is held, else the first.
        focused: The engine's block is among them.
    """

    first: int
    size: int
    held: int
    block: Dim3
    focused: bool


class Spans:
    """The blocks of a kernel that the engine holds, as runs of linear numbers.

    Attributes:
        runs: `(first, after last)`, in order, apart from one another, bounded by the grid.
        held: Blocks in all of them.
    """

    def __init__(self, kernel: Kernel, blocks: Sequence[BlockRange]) -> None:
        total = volume(kernel.grid_dim)
        found = []
        for block in blocks:
            if block.kernel == kernel.number:
                first = linear(block.first, kernel.grid_dim)
                after = first + max(1, block.count)
                if first < (after := min(total, after) if total else after):
                    found.append((first, after))
        self.runs: list[tuple[int, int]] = []
        for first, after in sorted(found):
            if self.runs and first <= self.runs[-1][1]:
                self.runs[-1] = (self.runs[-1][0], max(after, self.runs[-1][1]))
            else:
                self.runs.append((first, after))
        self.held = sum(after - first for first, after in self.runs)
        self._starts = [first for first, _ in self.runs]

    def within(self, first: int, after: int) -> tuple[int, int]:
        """How many of the blocks `first` to `after - 1` are held, and the first of them, or -1."""
        count, place = 0, -1
        index = max(0, bisect_right(self._starts, first) - 1)
        while index < len(self.runs) and self.runs[index][0] < after:
            start, end = self.runs[index]
            if end > first:
                if not count:
                    place = max(start, first)
                count += min(end, after) - max(start, first)
            index += 1
        return count, place


class Layout(NamedTuple):
    """How a grid is cut into cells and lines.

    Attributes:
        total: Blocks of the grid.
        across: Blocks of the grid's x direction.
        size: Blocks of a cell.
        columns: Cells of a line, at most.
        folds: Lines of one row of the grid; 0 where a cell holds whole rows, and lines do not begin with one.
        lines: Lines of the whole map.
    """

    total: int
    across: int
    size: int
    columns: int
    folds: int
    lines: int

    def span(self, line: int) -> tuple[int, int]:
        """First block of a line, and the one after its last."""
        if not self.folds:
            first = line * self.columns * self.size
            return first, min(self.total, first + self.columns * self.size)
        row, fold = divmod(line, self.folds)
        first = row * self.across + fold * self.columns * self.size
        return first, min((row + 1) * self.across, first + self.columns * self.size)

    def line_of(self, block: int) -> int:
        """The line that a block is in."""
        if not self.folds:
            return block // (self.columns * self.size)
        row, x = divmod(block, self.across)
        return row * self.folds + x // (self.columns * self.size)

    def cell_of(self, block: int) -> int:
        """The first block of the cell that a block is in."""
        first, _ = self.span(self.line_of(block))
        return first + (block - first) // self.size * self.size


def layouts(extent: Dim3, columns: int, lines: int) -> list[Layout]:
    """The levels of zoom of a grid, the whole of it in at most `lines` lines first, one block a cell last.

    A cell holds whole rows of the grid, or a part of one; then each row begins a line of its own.
    """
    total, across = volume(extent), extent[0]
    if total <= 0 or columns <= 0 or lines <= 0:
        return []
    rows = total // across
    sizes: list[int] = []
    if rows == 1:
        sizes += _finer(-(-total // (columns * lines)))
    elif rows <= lines:
        sizes += _finer(-(-across // (columns * (lines // rows))))
    else:
        sizes += [many * across for many in _finer(-(-rows // (columns * lines)))]
        sizes += _finer(-(-across // columns))
    levels = [_layout(total, across, size, columns) for size in dict.fromkeys(sizes)]
    if levels[0].size > 1 and total <= columns * lines:
        # All are seen one by one, if not each row on a line of its own.
        return [Layout(total, across, 1, columns, 0, -(-total // columns)), levels[-1]]
    return levels


def _finer(size: int) -> list[int]:
    sizes = [size]
    while sizes[-1] > 1:
        sizes.append(sizes[-1] // _ZOOM or 1)
    return sizes


def _layout(total: int, across: int, size: int, columns: int) -> Layout:
    if total > across and size < across:
        folds = -(-across // (columns * size))
        return Layout(total, across, size, columns, folds, total // across * folds)
    return Layout(total, across, size, columns, 0, -(-total // (columns * size)))


def line_cells(kernel: Kernel, spans: Spans, layout: Layout, line: int, focused: Dim3 | None) -> list[BlockCell]:
    """The cells of one line of the map."""
    begin, end = layout.span(line)
    focus = linear(focused, kernel.grid_dim) if focused is not None else -1
    cells = []
    for first in range(begin, end, layout.size):
        after = min(end, first + layout.size)
        held, place = spans.within(first, after)
        block = delinear(place if held else first, kernel.grid_dim)
        cells.append(BlockCell(first, after - first, held, block, first <= focus < after))
    return cells


def block_cell(kernel: Kernel, spans: Spans, layout: Layout, block: int) -> BlockCell:
    """The cell that a block is in."""
    line = layout.line_of(block)
    first = layout.cell_of(block)
    after = min(layout.span(line)[1], first + layout.size)
    held, place = spans.within(first, after)
    return BlockCell(first, after - first, held, delinear(place if held else first, kernel.grid_dim), False)


def map_cells(cells: Sequence[BlockCell], cursor: int | None, numbered: bool) -> list[Cell]:
    """A line of the map drawn: numbers for a few blocks, shades for many.

    Args:
        cells: Of the line.
        cursor: First block of the cell under the keyboard's cursor, or None.
        numbered: Blocks are few enough to be named.
    """
    drawn: list[Cell] = []
    for cell in cells:
        if numbered:
            glyph = "◆" if cell.focused else "▣" if cell.held else ""
            text = f"{glyph}{cell.first}"
        elif cell.focused:
            text = "◆"
        elif not cell.held:
            text = "·"
        else:
            text = next(shade for share, shade in _HEAT if cell.held / cell.size >= share)
        style = "focus" if cell.focused else "lane-active" if cell.held else "lane-absent"
        if cell.first == cursor:
            style = "lane-focus"
        drawn.append(Cell(text, style, cell))
        if numbered:
            drawn.append(Cell(" "))
    return drawn


def block_name(block: Dim3, extent: Dim3) -> str:
    """`3` in a grid of one direction, else `(3,0,0)`."""
    return str(block[0]) if extent[1:] == (1, 1) else format_coordinate(block)


def held_words(kernel: Kernel, spans: Spans, *, dump: bool, room: int = 40) -> str:
    """`dump holds block 3 only`, `1,056 of 250,000 blocks resident`; less where there is little room."""
    total = volume(kernel.grid_dim)
    if dump and spans.held == 1:
        return f"dump holds block {block_name(delinear(spans.runs[0][0], kernel.grid_dim), kernel.grid_dim)} only"
    verb = ("held by the dump" if room >= 40 else "held") if dump else "resident"
    words = f"{spans.held:,} of {total:,} block{'' if total == 1 else 's'} {verb}"
    return words if len(words) <= room else f"{spans.held:,} of {total:,} {verb}"


def cell_words(kernel: Kernel, cell: BlockCell, *, dump: bool) -> str:
    """What is under the cursor: `block (3,1,0) not resident`, `(0,6,0)–(249,11,0) 56 of 1,500 resident`."""
    first = delinear(cell.first, kernel.grid_dim)
    name = block_name(first, kernel.grid_dim)
    verb = "held" if dump else "resident"
    if cell.size == 1:
        # Whether a block that is not there has ended or not begun, the engine cannot tell.
        return f"block {name} {verb}" if cell.held else f"block {name} not {verb}"
    last = block_name(delinear(cell.first + cell.size - 1, kernel.grid_dim), kernel.grid_dim)
    return f"{name}–{last} {cell.held:,} of {cell.size:,} {verb}"

"""A kernel's blocks as a short map, whatever their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ladder_backends.model.focus import Dim3, format_coordinate
from ladder_backends.model.grid import BlockRange, Kernel, delinear, linear, volume
from ladder_tui.widgets.row import Cell

_HEAT = ((1.0, "█"), (0.75, "▓"), (0.4, "▒"), (0.0, "░"))


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


def held_spans(kernel: Kernel, blocks: Sequence[BlockRange]) -> list[tuple[int, int]]:
    """Linear numbers `(first, after last)` of the blocks that the engine holds, in order, bounded by the grid."""
    total = volume(kernel.grid_dim)
    spans = []
    for block in blocks:
        if block.kernel == kernel.number:
            first = linear(block.first, kernel.grid_dim)
            after = min(total, first + max(1, block.count)) if total else first + max(1, block.count)
            if first < after:
                spans.append((first, after))
    return sorted(spans)


def block_cells(kernel: Kernel, blocks: Sequence[BlockRange], focused: Dim3 | None, room: int) -> list[BlockCell]:
    """The grid cut into at most `room` runs of equal length."""
    total = volume(kernel.grid_dim)
    if total <= 0 or room <= 0:
        return []
    length = -(-total // min(total, room))
    spans = held_spans(kernel, blocks)
    focus = linear(focused, kernel.grid_dim) if focused is not None else -1
    cells: list[BlockCell] = []
    span = 0
    for first in range(0, total, length):
        after = min(total, first + length)
        while span < len(spans) and spans[span][1] <= first:
            span += 1
        held, place = 0, first
        for start, end in spans[span:]:
            if start >= after:
                break
            if not held:
                place = max(start, first)
            held += min(end, after) - max(start, first)
        block = delinear(place, kernel.grid_dim)
        cells.append(BlockCell(first, after - first, held, block, first <= focus < after))
    return cells


def map_cells(kernel: Kernel, cells: Sequence[BlockCell], cursor: int | None, numbered: bool) -> list[Cell]:
    """The map drawn: numbers for a few blocks, shades for many."""
    drawn: list[Cell] = []
    for position, cell in enumerate(cells):
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
        if position == cursor:
            style = "lane-focus"
        if numbered:
            drawn += [Cell(text, style, cell), Cell(" ")]
        else:
            drawn.append(Cell(text, style, cell))
    return drawn


def held_words(kernel: Kernel, blocks: Sequence[BlockRange], *, dump: bool) -> str:
    """`dump holds block 3 only`, `1,056 of 250,000 blocks resident`."""
    spans = held_spans(kernel, blocks)
    held = sum(after - first for first, after in spans)
    total = volume(kernel.grid_dim)
    if dump and held == 1:
        only = delinear(spans[0][0], kernel.grid_dim)
        name = str(only[0]) if kernel.grid_dim[1:] == (1, 1) else format_coordinate(only)
        return f"dump holds block {name} only"
    verb = "held by the dump" if dump else "resident"
    return f"{held:,} of {total:,} block{'' if total == 1 else 's'} {verb}"

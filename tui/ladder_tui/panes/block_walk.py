"""Walking over the map of blocks: a block under the cursor, a level of zoom, a window of lines."""

from __future__ import annotations

from collections.abc import Sequence

from ladder_tui.panes.grid_blocks import Layout
from ladder_tui.panes.grid_rows import BlockView

_MOST_LINES = 8
"""Lines that the whole grid takes at most."""


class BlockWalk:
    """Where the cursor stands on the map of blocks, whatever part of it is shown.

    Attributes:
        block: Linear number of the block under the cursor.
        zoom: Level of zoom; 0 is the whole grid.
        top: First line of the map that is in its window.
    """

    def __init__(self) -> None:
        self.block = self.zoom = self.top = 0

    def view(self, height: int, layout: Layout | None) -> BlockView:
        """The part to draw in a view of so many lines; with a cursor where a layout to stand on is given."""
        height = max(1, height)
        whole = max(1, min(_MOST_LINES, height // 4))
        # Looked at closely, the map takes half of the room and is scrolled in it.
        cursor = self.cell(layout) if layout is not None else None
        return BlockView(self.zoom, self.top, max(whole, height // 2), whole, cursor)

    def cell(self, layout: Layout) -> int:
        """The first block of the cell under the cursor."""
        return layout.cell_of(min(self.block, layout.total - 1))

    def line(self, layout: Layout) -> int:
        """The line that the cursor is on."""
        return layout.line_of(self.cell(layout))

    def show(self, layout: Layout, shown: int) -> None:
        """Scroll the window to the cursor."""
        line, shown = self.line(layout), max(1, shown)
        if not self.top <= line < self.top + shown:
            self.top = max(0, min(line - shown // 2, layout.lines - shown))

    def sideways(self, layout: Layout, step: int) -> None:
        """Move to the next cell or the one before, from line to line; the last cell of a line may be shorter."""
        first = self.cell(layout)
        after = min(layout.span(layout.line_of(first))[1], first + layout.size)
        self.block = layout.cell_of(min(after, layout.total - 1) if step > 0 else max(0, first - 1))

    def by_lines(self, layout: Layout, lines: int) -> bool:
        """Move by lines; False where one step leads out of the map."""
        first = self.cell(layout)
        line = layout.line_of(first)
        aim = line + lines
        if abs(lines) > 1:
            aim = max(0, min(aim, layout.lines - 1))
        if not 0 <= aim < layout.lines or aim == line:
            return False
        begin, end = layout.span(aim)
        self.block = min(begin + first - layout.span(line)[0], layout.cell_of(end - 1))
        return True

    def to_edge(self, layout: Layout, shown: int, *, last: bool) -> bool:
        """Go to the first or the last block; False where the whole map is seen, or it stands there already."""
        edge = layout.total - 1 if last else 0
        if shown >= layout.lines or self.cell(layout) == layout.cell_of(edge):
            return False
        self.block = edge
        return True

    def zoomed(self, levels: Sequence[Layout], closer: int) -> None:
        """Look closer, or from farther away; the block under the cursor stays."""
        most = len(levels) - 1
        self.zoom = max(0, min(min(self.zoom, most) + closer, most))
        self.top = 0

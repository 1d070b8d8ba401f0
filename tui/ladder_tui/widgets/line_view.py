"""The view under every pane: rows of styled text, painted cell by cell where they changed."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from ladder_backends.late_dataclass import dataclass
from ladder_tui.actions import bindings_for
from ladder_tui.widgets.row import (
    Cell,
    Row,
    Styler,
    cell_at,
    changed_spans,
    hidden_width,
    joined,
    pieces_of,
    printable,
)
from ladder_tui.widgets.title import Title, compose_title

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

__all__ = ["Hit", "LineView", "Title"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in a view that was clicked or acted on.

    Attributes:
        index: Row, 0-based.
        target: Of the cell where it has one, else of the row.
        column: Column of the view's body, or None for the keyboard.
    """

    index: int
    target: object
    column: int | None = None


_Built: TypeAlias = "tuple[Row | Title | str, bool] | None"


class LineView(Widget, can_focus=True):
    """A view made of rows.

    Subclasses give `row_count`, `row` and `title`, and call `update` when what these return may have changed: the
    visible rows are built again, compared with what is painted, and only the cells that differ are sent.

    Attributes:
        HAS_TITLE: The first line is the title, drawn into a rule.
        HAS_CURSOR: One row is selected; two columns at the left mark it.
        CURSOR_LIT: The selected row has a background of its own while the view has the focus.
        TAKES_TEXT: The view types what is pressed; letters are no commands while it has the focus.
        SEARCHES: What can be searched for, where that is more than words.
        edge: Separator glyphs down the left side, one a line, or an empty string; the layout sets it.
        joins: Columns of the title line in which a separator from above ends; the layout sets them.
    """

    HAS_TITLE: ClassVar[bool] = True
    HAS_CURSOR: ClassVar[bool] = True
    CURSOR_LIT: ClassVar[bool] = True
    TAKES_TEXT: bool = False
    SEARCHES: ClassVar[str] = ""
    ALLOW_SELECT = False
    BINDINGS = bindings_for("list")
    DEFAULT_CSS = "LineView { width: 1fr; height: 1fr; }"
    collected: ClassVar[list[tuple[Widget, list[tuple[int, Strip]]]] | None] = None
    """While a list is here, `update` notes in it which lines differ rather than have them repainted."""

    def __init__(self, *, id: str | None = None, palette: Palette) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.edge = ""
        self.joins: tuple[int, ...] = ()
        self.cursor = 0
        self.top = 0
        self.shift = 0
        self._needle = ""
        self._painted_strips: list[Strip] = []
        self._painted_rows: list[_Built] = []
        self._title_targets: list[tuple[int, int, object]] = []
        self._painted_size = (0, 0)
        # Set while lines are built: Textual works the size out from the layout each time it is asked.
        self._drawn_size: Size | None = None
        self._known_size = (0, 0)

    # What a subclass gives -------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """How many rows there are; asking must be cheap."""
        return 0

    def row(self, index: int) -> Row:
        """Row `index`; only visible rows are asked for."""
        raise NotImplementedError

    def title(self) -> Title:
        """The title line."""
        return Title("")

    def heading(self) -> Row | None:
        """Names of the columns, which stand under the title whatever is scrolled; None for none."""
        return None

    def sized(self) -> None:
        """Called before the first lines of a new size are built: the place to scroll to what matters."""

    def empty_text(self) -> str:
        """What to say where there are no rows."""
        return ""

    def activate(self, hit: Hit) -> None:
        """Act on a row: Enter or a click."""

    def activate_title(self, target: object) -> None:
        """Act on a part of the title that was clicked."""

    def copy_text(self, index: int) -> str:
        """What `y` copies from row `index`."""
        return self.row(index).text().strip()

    def row_text(self, index: int) -> str:
        """What `/` searches in row `index`."""
        return self.row(index).text()

    # Geometry --------------------------------------------------------------------------------------------------

    @property
    def size(self) -> Size:
        """Columns and lines of the view."""
        return self._drawn_size or super().size

    @property
    def body_width(self) -> int:
        """Columns of a row: without separator, cursor mark and right margin."""
        return max(0, self.size.width - len(self._edge_at(0)) - self._mark_width - 1)

    @property
    def body_height(self) -> int:
        """Rows that are visible at once."""
        return max(0, self.size.height - self._title_height)

    @property
    def _title_height(self) -> int:
        return (1 if self.HAS_TITLE else 0) + (self.heading() is not None)

    @property
    def _mark_width(self) -> int:
        return 2 if self.HAS_CURSOR else 0

    def _edge_at(self, y: int) -> str:
        return self.edge[y : y + 1] or self.edge[-1:]

    def hit(self, x: int, y: int) -> Hit | None:
        """What lies at a coordinate of the widget, or None on the title and on blank lines."""
        index = y - self._title_height + self.top
        if y < self._title_height or index >= self.row_count:
            return None
        row = self.row(index)
        column = x - len(self._edge_at(y)) - self._mark_width
        cell = cell_at(row, column, self.body_width, self.shift) if column >= 0 else None
        target = cell.target if cell is not None and cell.target is not None else row.target
        return Hit(index, target, column)

    def edits(self, key: str) -> bool:
        """Whether a key edits the text that is typed here, as it stands now."""
        return False

    def take_escape(self) -> bool:
        """Take an Esc that was read in one piece with the next key; False where the two mean one key here."""
        return False

    @property
    def keeps_interrupt(self) -> bool:
        """Ctrl-C is a key of this view now, and interrupts nothing here."""
        return False

    def take_interrupt(self) -> bool:
        """Take Ctrl-C as a key of this view; False where it is the command that it is everywhere."""
        return False

    # Painting --------------------------------------------------------------------------------------------------

    def update(self) -> None:
        """Build the visible rows again and repaint the cells that differ."""
        width, height = size = self.size
        if not self.display or not width or not height:
            self._painted_size = (0, 0)
            return
        if self._painted_size != size or len(self._painted_strips) != height:
            self.repaint()
            return
        outside, self._drawn_size = self._drawn_size, size
        try:
            if LineView.collected is not None:
                if changed := [(y, line) for y, line, _ in self._redraw(width, height)]:
                    LineView.collected.append((self, changed))
                return
            dirty = [
                Region(start, y, end - start, 1)
                for y, line, old in self._redraw(width, height)
                for start, end in changed_spans(old, line)
            ]
        finally:
            self._drawn_size = outside
        if dirty:
            self.refresh(*dirty)

    def standing_still(self, do: Callable[[], None]) -> None:
        """Do something that does not change the layout: the size is worked out once."""
        outside, self._drawn_size = self._drawn_size, self.size
        try:
            do()
        finally:
            self._drawn_size = outside

    def _redraw(self, width: int, height: int) -> Iterator[tuple[int, Strip, Strip]]:
        """Build the visible rows again; gives each line that may differ, as it is now and as it was."""
        count, above = self._keep_in_view(), self._title_height
        painted, strips = self._painted_rows, self._painted_strips
        for y in range(height):
            built = self._build(y, count, above)
            if built == painted[y]:
                if built is None:
                    break
                continue
            old, strips[y] = strips[y], self._strip_for(y, built, width)
            painted[y] = built
            yield y, strips[y], old

    def repaint(self) -> None:
        """Build everything again, after a change of size, theme or separators."""
        self._painted_size = (0, 0)
        self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Draw with other styles from now on."""
        self.palette = palette
        self.repaint()

    def _rebuild(self) -> None:
        width, height = size = self.size
        self._drawn_size = size
        try:
            if self._known_size != size:
                self._known_size = size
                self.sized()
            count, above = self._keep_in_view(), self._title_height
            self._painted_rows = [self._build(y, count, above) for y in range(height)]
            self._painted_strips = [self._strip_for(y, built, width) for y, built in enumerate(self._painted_rows)]
        finally:
            self._drawn_size = None
        self._painted_size = size

    def _build(self, y: int, count: int, above: int) -> _Built:
        """What line `y` shows: a row and whether it is selected, the title, a line of the empty text, nothing."""
        if not y and self.HAS_TITLE:
            return self.title(), self.has_focus
        if y < above:
            return self.heading() or Row(), False
        index = y - above + self.top
        if index < count:
            return self.row(index), self.is_marked(index)
        return None if count else (self._empty_line(y - above), False)

    def is_marked(self, index: int) -> bool:
        """Whether the cursor's mark stands on a row."""
        return self.HAS_CURSOR and index == self.cursor

    def _strip_for(self, y: int, built: _Built, width: int) -> Strip:
        palette = self.palette
        edge = self._edge_at(y)
        shown, selected = built if built is not None else ("", False)
        if isinstance(shown, Title):
            strip, self._title_targets = compose_title(shown, width, palette, selected, edge, self.joins)
            return strip
        head = [Segment(edge, palette["rule"])] if edge else []
        inner = max(0, width - len(edge))
        if isinstance(shown, str):
            blank = Row((Cell(" " * min(2, inner)), Cell(shown, "muted")))
            return Strip(joined([*head, *pieces_of(blank, inner, palette.__getitem__)]), width)
        lit = selected and self.has_focus and self.CURSOR_LIT
        styler = self.styler(lit)
        if self.HAS_CURSOR:
            head.append(Segment("▸ " if selected else "  ", styler("focus" if lit else "muted")))
            inner -= 2
        body = pieces_of(shown, max(0, inner - 1), styler, self.shift)
        segments = joined([*head, *body, Segment(" ", styler("text"))])
        return Strip(segments, width) if inner > 0 else Strip(segments).adjust_cell_length(width, palette.base)

    def styler(self, lit: bool) -> Styler:
        """Styles of a row's cells by name; `lit` on the selected row of the view that has the focus."""
        return self.palette.on_cursor if lit else self.palette.__getitem__

    def _empty_line(self, number: int) -> str:
        width = self.size.width - len(self._edge_at(0)) - 3
        lines = textwrap.wrap(printable(self.empty_text()), max(8, width)) if width > 0 else []
        return lines[number] if number < len(lines) else ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The painted lines: no styles cache, no filters, no borders."""
        width, height = size = self.size
        if self._painted_size != size or len(self._painted_strips) != height:
            self._rebuild()
        lines = self._painted_strips[crop.y : crop.bottom]
        if crop.x or crop.width != width:
            return [line.crop(crop.x, crop.right) for line in lines]
        return lines

    # Moving ----------------------------------------------------------------------------------------------------

    def _keep_in_view(self) -> int:
        count, height = self.row_count, self.body_height
        self.cursor = max(0, min(self.cursor, count - 1))
        if self.HAS_CURSOR and self._follow_cursor and height > 0:
            if self.cursor < self.top:
                self.top = self.cursor
            elif self.cursor >= self.top + height:
                self.top = self.cursor - height + 1
        self.top = max(0, min(self.top, count - height))
        return count

    _follow_cursor = True

    def take_focus(self) -> None:
        """Have the keys at once; `focus` would wait for a later turn of the loop, and keys typed ahead with it."""
        self.screen.set_focus(self, scroll_visible=False)

    def move_cursor(self, index: int) -> None:
        """Select another row and bring it into view."""
        self._follow_cursor = True
        self.cursor = max(0, min(index, self.row_count - 1))
        self.cursor_moved()
        self.update()

    def cursor_moved(self) -> None:
        """Called after the selected row changed."""

    def scroll_rows(self, count: int) -> None:
        """Scroll by rows; the selected row stays selected, in view or not."""
        self._follow_cursor = False
        self.top = max(0, min(self.top + count, self.row_count - self.body_height))
        self.update()

    def scroll_sideways(self, columns: int) -> None:
        """Scroll by columns, as far as a visible row is cut; pinned cells stay."""
        count = min(self.row_count, self.top + self.body_height)
        farthest = max(
            (hidden_width(self.row(index), self.body_width) for index in range(self.top, count)), default=0
        )
        self.shift = max(0, min(self.shift + columns, farthest))
        self._painted_rows = [None] * len(self._painted_rows)
        self.update()

    def action_move(self, rows: int) -> None:
        """Move by rows: the cursor where there is one, else the view."""
        if self.HAS_CURSOR:
            self.move_cursor(self.cursor + rows)
        else:
            self.scroll_rows(rows)

    def action_page(self, pages: int) -> None:
        """Move by what is visible."""
        self.action_move(pages * max(1, self.body_height - 1))

    def action_edge(self, which: str) -> None:
        """Go to the first or the last row."""
        self.action_move(-self.row_count if which == "first" else self.row_count)

    def action_sideways(self, columns: int) -> None:
        """Scroll sideways."""
        self.scroll_sideways(columns)

    def action_act(self) -> None:
        """Act on the selected row."""
        if self.row_count:
            self.activate(Hit(self.cursor, self.row(self.cursor).target))

    def action_copy(self) -> None:
        """Copy the selected row through the terminal (OSC 52)."""
        if self.row_count:
            self.app.copy_to_clipboard(self.copy_text(self.cursor))

    def search(self, needle: str, *, backwards: bool = False) -> bool:
        """Select the next row that holds `needle` (an empty one repeats the last), without regard to case.

        Returns:
            Whether there is one; the search goes round the end.
        """
        self._needle = needle = (needle or self._needle).casefold()
        count = self.row_count
        if not needle or not count:
            return False
        step = -1 if backwards else 1
        for distance in range(1, count + 1):
            index = (self.cursor + step * distance) % count
            if needle in self.row_text(index).casefold():
                self.move_cursor(index)
                return True
        return False

    # Events ----------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """A click selects a row and acts on it; on the title it only takes the focus."""
        event.stop()
        if self.HAS_TITLE and event.y == 0:
            for start, end, target in self._title_targets:
                if start <= event.x < end and target is not None:
                    self.activate_title(target)
            return
        hit = self.hit(event.x, event.y)
        if hit is None:
            return
        if self.HAS_CURSOR and hit.index != self.cursor:
            self.move_cursor(hit.index)
        self.activate(hit)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel scrolls three rows."""
        event.stop()
        self.scroll_rows(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel scrolls three rows back."""
        event.stop()
        self.scroll_rows(-3)

    def on_focus(self) -> None:
        """The title shows where the keys go."""
        self.repaint()

    def on_blur(self) -> None:
        """The title shows where the keys go."""
        self.repaint()

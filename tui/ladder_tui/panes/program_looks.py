"""The looks a program gives its text, as styles over the theme's own."""

from __future__ import annotations

from rich.color import Color
from rich.style import Style

from ladder_tui.theming import Depth, Palette
from ladder_tui.widgets.row import Cell, Row, Styler
from ladder_tui.widgets.terminal_row import (
    BOLD,
    DIM,
    ITALIC,
    PLAIN,
    REVERSE,
    STRIKE,
    TRUE_COLOUR,
    UNDERLINE,
    Rendition,
    RenditionTable,
    TerminalRow,
)

_PREFIX = "program "


class ProgramLooks:
    """Styles by the names that `cells` gives, made once each.

    Args:
        palette: The theme.
        table: The renditions of the program's screen.
    """

    def __init__(self, palette: Palette, table: RenditionTable) -> None:
        self._palette = palette
        self._table = table
        self._styles: dict[str, Style] = {}

    def styler(self, otherwise: Styler) -> Styler:
        """Styles of the program's own looks, and of everything else through `otherwise`."""

        def style(name: str) -> Style:
            if not name.startswith(_PREFIX):
                return otherwise(name)
            made = self._styles.get(name)
            if made is None:
                made = self._styles[name] = self._make(self._table[name[len(_PREFIX) :]])
            return made

        return style

    def _make(self, rendition: Rendition) -> Style:
        flags = rendition.flags
        colours = self._palette.depth is not Depth.NONE
        return self._palette.base + Style(
            color=_colour(rendition.foreground) if colours else None,
            bgcolor=_colour(rendition.background) if colours else None,
            bold=bool(flags & BOLD) or None,
            dim=bool(flags & DIM) or None,
            italic=bool(flags & ITALIC) or None,
            underline=bool(flags & UNDERLINE) or None,
            reverse=bool(flags & REVERSE) or None,
            strike=bool(flags & STRIKE) or None,
        )


def _colour(colour: int) -> Color | None:
    if colour < 0:
        return None
    if colour & TRUE_COLOUR:
        return Color.from_rgb(colour >> 16 & 0xFF, colour >> 8 & 0xFF, colour & 0xFF)
    return Color.from_ansi(colour)


def screen_row(
    line: TerminalRow,
    columns: int,
    cursor: int | None = None,
    lit: tuple[int, int] | None = None,
) -> Row:
    """A line of the program's screen.

    Args:
        line: The line.
        columns: Cells to show.
        cursor: Where to draw the cursor, or None.
        lit: Cells to mark, from the first to before the last, or None.
    """
    if lit is not None and lit[0] < lit[1]:
        return Row(_around(line, columns, *lit, "match"))
    if cursor is None:
        return Row(tuple(_cells(line, columns)))
    return Row(_around(line, columns, cursor, cursor + 1, "text-cursor"))


def _around(line: TerminalRow, columns: int, start: int, end: int, style: str) -> tuple[Cell, ...]:
    """The line with some of its cells in another style; where it is shorter than they are, with one at least."""
    before = _cells(line.part(0, start), columns)
    gap = Cell(" " * max(0, start - len(line.text)))
    under = "".join(text for text, _ in line.part(start, end).runs(columns))
    after = _cells(line.part(end, columns), columns)
    return (*before, *((gap,) if gap.text else ()), Cell(under or " ", style), *after)


def _cells(line: TerminalRow, columns: int) -> list[Cell]:
    return [Cell(text, "text" if look == PLAIN else _PREFIX + look) for text, look in line.runs(columns)]

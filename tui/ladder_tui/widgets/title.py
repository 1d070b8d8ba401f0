"""A view's title, drawn into the rule above it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from textual.strip import Strip

from ladder_tui.widgets.row import Cell, cut, joined, printable, width_of

if TYPE_CHECKING:
    from ladder_tui.theming import Palette


class Title(NamedTuple):
    """A view's title line.

    Attributes:
        name: What it is.
        state: Its state, right after the name.
        end: Flush right.
    """

    name: str
    state: tuple[Cell, ...] = ()
    end: tuple[Cell, ...] = ()


Targets = list[tuple[int, int, object]]
"""Columns, from and up to, with what a click there means."""


def compose_title(
    title: Title, width: int, palette: Palette, focused: bool, corner: str, joins: tuple[int, ...]
) -> tuple[Strip, Targets]:
    """Lay a title out over `width` cells.

    Args:
        title: Name, state and end.
        width: Terminal cells.
        palette: Styles.
        focused: The rule is heavy, so that the focus shows without colour.
        corner: Glyph of the separator at the left, or an empty string.
        joins: Columns in which a separator from above ends.
    """
    name, state, end = title
    line, joint = ("━", "┷") if focused else ("─", "┴")
    rule = palette["rule-focus" if focused else "rule"]
    segments = [Segment(corner, palette["rule"])] if corner else []
    segments.append(Segment(line, rule))
    room = width - len(corner) - 1
    end_width = width_of(end) + 3 if end else 0
    if name and room > 4:
        text = cut(printable(name), room - 3)
        segments.append(Segment(f" {text} ", palette["title-focus" if focused else "title"]))
        room -= width_of([Cell(text)]) + 2
    end_width = end_width if end_width < room - 2 else 0
    for cell in state:
        if room - end_width < 4:
            break
        text = cut(printable(cell.text), room - end_width - 2)
        segments.append(Segment(text, palette[cell.style]))
        room -= width_of([Cell(text)])
    if state:
        segments.append(Segment(" ", palette["text"]))
        room -= 1
    start = width - room
    fill = "".join(joint if x in joins else line for x in range(start, start + max(0, room - end_width)))
    segments.append(Segment(fill, rule))
    targets: Targets = []
    if end_width:
        segments.append(Segment(" ", palette["text"]))
        x = width - end_width + 1
        for cell in end:
            segments.append(Segment(printable(cell.text), palette[cell.style]))
            targets.append((x, x := x + width_of([cell]), cell.target))
        segments.append(Segment(" ", palette["text"]))
        segments.append(Segment(line, rule))
    return Strip(joined(segments)).adjust_cell_length(width, palette.base), targets

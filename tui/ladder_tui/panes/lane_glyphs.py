"""Rows of many lanes' values as cells."""

from __future__ import annotations

from collections.abc import Sequence

from ladder_backends.session.lane_values_state import LaneValuesState
from ladder_tui.lane_shading import ABSENT, UNKNOWN, Shading
from ladder_tui.widgets.row import Cell

_FOCUS = "◆"


def row_cells(
    state: LaneValuesState, shading: Shading, row: int, focus: int | None = None, cursor: int | None = None
) -> list[Cell]:
    """A row of units, neighbours that look alike joined.

    Args:
        state: The values.
        shading: From `Shading.of`.
        row: Which row.
        focus: Place that the engine stands in, or None.
        cursor: Column under the keyboard's cursor, or None.
    """
    units = state.layout.rows[row].units
    base = row * state.layout.width
    looks: list[tuple[str, str]] = []
    for column, unit in enumerate(units):
        value = state.values.get(base + column)
        if unit is None:
            look = (ABSENT, "lane-absent")
        elif value is None:
            look = (UNKNOWN, "muted")
        else:
            look = shading.glyph(value)
        if base + column == focus:
            # What is out of the ordinary is not hidden by where one stands.
            look = (look[0] if look[1] in ("warn", "fault") else _FOCUS, "focus")
        if column == cursor:
            look = (look[0], "lane-focus")
        looks.append((look[0], "muted") if state.old and look[1].startswith("heat") else look)
    return joined(looks)


def joined(looks: Sequence[tuple[str, str]]) -> list[Cell]:
    """Cells of neighbours with one style."""
    cells: list[Cell] = []
    for glyph, style in looks:
        if cells and cells[-1].style == style:
            cells[-1] = Cell(cells[-1].text + glyph, style)
        else:
            cells.append(Cell(glyph, style))
    return cells

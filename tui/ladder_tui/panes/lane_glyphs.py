"""Rows of many lanes' values as cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ladder_backends.session.lane_values_state import LaneValuesState
from ladder_tui.lane_shading import ABSENT, LEVELS, OTHER, UNKNOWN, Shading
from ladder_tui.widgets.row import Cell

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState

_FOCUS = "◆"
_SHARES = (1, 2, 4)


def looks_of(state: LaneValuesState, shading: Shading, row: int) -> list[tuple[str, str]]:
    """Glyph and style of each unit of a row."""
    base = row * state.layout.width
    looks: list[tuple[str, str]] = []
    for column, unit in enumerate(state.layout.rows[row].units):
        value = state.values.get(base + column)
        if unit is None:
            looks.append((ABSENT, "lane-absent"))
        else:
            looks.append(shading.glyph(value) if value is not None else (UNKNOWN, "muted"))
    return looks


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
    looks = looks_of(state, shading, row)
    if state.old:
        looks = [(glyph, "muted" if style.startswith("heat") else style) for glyph, style in looks]
    here = focus - row * state.layout.width if focus is not None else -1
    if 0 <= here < len(looks):
        # What is out of the ordinary is not hidden by where one stands.
        glyph, style = looks[here]
        looks[here] = (glyph if style in ("warn", "fault") else _FOCUS, "focus")
    if cursor is not None and 0 <= cursor < len(looks):
        looks[cursor] = (looks[cursor][0], "lane-focus")
    return joined(looks)


class Sparkline:
    """The values of the focused row of units, for the line of a variable that was asked over all of them."""

    def __init__(self) -> None:
        self._for: tuple[object, ...] = ()
        self._looks: list[tuple[str, str]] = []

    def cells(self, debug: DebugState, expression: str, room: int) -> tuple[Cell, ...]:
        """As many glyphs as there is room for, each for one, two or four units.

        None where another expression was asked, or at another stop or place, or where there is no room.
        """
        state = debug.lane_values
        if not expression or expression != state.expression or state.old or not state.values:
            return ()
        now = (id(state), state.turn, debug.focus)
        if now != self._for:
            place = state.layout.place_of(debug.focus)
            row = place // state.layout.width if place is not None else None
            shading = Shading.of(state.distribution)
            self._looks = looks_of(state, shading, row) if row is not None else []
            self._for = now
        share = next((share for share in _SHARES if -(-len(self._looks) // share) <= room), 0)
        if not share:
            return ()
        groups = (self._looks[at : at + share] for at in range(0, len(self._looks), share))
        return tuple(joined([_together(group) for group in groups]))


def _together(looks: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """One glyph for several: what is out of the ordinary first, the middle of numbers, what is alike."""
    held = [look for look in looks if look[0] != ABSENT]
    odd = next((look for look in held if look[1] in ("warn", "fault")), None)
    if odd is not None or len(set(held)) <= 1:
        return odd or (held or looks)[0]
    levels = [LEVELS.find(glyph) for glyph, _ in held]
    if min(levels) < 0:
        return OTHER, "muted"
    middle = sum(levels) // len(levels)
    return LEVELS[middle], f"heat-{middle + 1}"


def joined(looks: Sequence[tuple[str, str]]) -> list[Cell]:
    """Cells of neighbours with one style."""
    cells: list[Cell] = []
    for glyph, style in looks:
        if cells and cells[-1].style == style:
            cells[-1] = Cell(cells[-1].text + glyph, style)
        else:
            cells.append(Cell(glyph, style))
    return cells

"""An expression over lanes as rows: what the values have in common, the map, what its glyphs mean, equal values."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from ladder_backends.model.focus import Focus, format_coordinate
from ladder_backends.model.unit_values import UnitLayout
from ladder_backends.session.lane_values_state import LaneValuesState
from ladder_backends.session.unit_words import counted, units_words
from ladder_tui.actions import key_of
from ladder_tui.lane_shading import ABSENT, ERROR, LEVELS, UNKNOWN, Shading
from ladder_tui.panes.lane_glyphs import row_cells
from ladder_tui.widgets.row import Cell, Row, cut, width_of

_MOST_CLASSES = 256
_SHOWN_VALUE = 40
_NARROW = 48
"""Columns below which nothing is said twice."""


class UnitTarget(NamedTuple):
    """A row of the map."""

    row: int


class ClassTarget(NamedTuple):
    """Units with one value; the first of them is where Enter goes."""

    place: int


class LaneRows:
    """Rows of one state at one width; the map's are built when they are asked for.

    Attributes:
        first: Row of the view in which the map begins.
        label: Columns before the first unit of a map row.
    """

    def __init__(self, state: LaneValuesState, width: int, focus: Focus | None) -> None:
        self._state, self._width = state, width
        self._taken = state.distribution
        self.shading = Shading.of(self._taken)
        self.focus = state.layout.place_of(focus)
        self._heads = self._head_rows()
        self.first = len(self._heads)
        rows = state.layout.rows
        self._labels = [f"{row.group} {row.number}".lstrip() for row in rows]
        if max(map(len, self._labels), default=0) + 1 + state.layout.width > width:
            self._labels = [f"{_short(row.group)}{row.number}" for row in rows]
        self.label = max((len(label) for label in self._labels), default=0) + 1
        self._tail: list[Row] | None = None

    @property
    def count(self) -> int:
        """All rows."""
        return self.first + len(self._labels) + len(self.tail)

    @property
    def tail(self) -> list[Row]:
        """What stands under the map."""
        if self._tail is None:
            self._tail = self._tail_rows()
        return self._tail

    def row(self, index: int, cursor: int | None = None) -> Row:
        """Row `index`; `cursor` is the column under the cursor, where it is a row of the map."""
        if index < self.first:
            return self._heads[index]
        number = index - self.first
        if number >= len(self._labels):
            return self.tail[number - len(self._labels)]
        cells = row_cells(self._state, self.shading, number, self.focus, cursor)
        end: tuple[Cell, ...] = ()
        if cursor is not None:
            told = tuple(self.value_cells(number * self._state.layout.width + cursor))
            end = told if self.label + self._state.layout.width + width_of(told) < self._width else ()
        return Row((Cell(f"{self._labels[number]:>{self.label - 1}} ", "number"), *cells), end, UnitTarget(number))

    def map_row(self, index: int) -> int | None:
        """Which row of the map a row is, or None."""
        number = index - self.first
        return number if 0 <= number < len(self._labels) else None

    def value_cells(self, place: int) -> list[Cell]:
        """`lane 16 = 1008`."""
        layout = self._state.layout
        column = place % layout.width
        value = self._state.values.get(place)
        if layout.unit_at(place) is None:
            return [Cell(f"{layout.unit} {column} not held", "muted")]
        head = Cell(f"{layout.unit} {column} = ", "muted")
        if value is None:
            return [head, Cell(UNKNOWN, "muted")]
        if value.error:
            return [head, Cell(f"<{cut(value.error, _SHOWN_VALUE)}>", "warn")]
        return [head, Cell(cut(value.text, _SHOWN_VALUE), "value")]

    # -- above the map

    def _head_rows(self) -> list[Row]:
        state, taken = self._state, self._taken
        rows: list[Row] = []
        if state.failed:
            return [Row((Cell(line, "warn"),)) for line in self._wrapped(state.failed)]
        if state.old:
            rows.append(Row((Cell("of the moment before the target ran", "muted"),)))
        if self._refusal:
            # Why comes first: in a small view nothing below it is seen.
            rows += [Row((Cell(line, "warn"),)) for line in self._wrapped(self._refusal)]
        if not state.whole or state.reason:
            style = "muted" if state.running else "warn"
            rows += [Row((Cell(line, style),)) for line in self._partial()]
        if taken.pattern is not None:
            but = taken.pattern.but
            rows += [Row((Cell(line, "value"),)) for line in self._wrapped(taken.pattern.words)]
            if but:
                rows.append(
                    Row((Cell(f"but {units_words(state.layout, but)}", "warn"),), target=ClassTarget(but[0]))
                )
        told = (
            self._width < _NARROW
            and taken.told_by_rule
            and taken.pattern is not None
            and ".." in taken.pattern.words
        )
        if told and not self._counts():
            # The rule has named both ends.
            return rows
        if self._refusal:
            return rows
        if taken.numbers and (taken.least != taken.greatest or taken.pattern is None):
            rows.append(Row(tuple(self._extremes())))
        elif counts := self._counts():
            rows.append(Row(tuple(counts)))
        return rows

    @property
    def _refusal(self) -> str:
        """Why no unit has a value, where all say the same."""
        taken = self._taken
        alike = taken.errors and taken.errors == taken.answered and len(taken.classes) == 1
        return f"no value: {taken.classes[0].text}" if alike else ""

    def _partial(self) -> list[str]:
        state = self._state
        if not state.layout.rows:
            return ["asking …"]
        words = state.answered_words()
        if not state.running and not state.old and len(state.values) < state.layout.total:
            words += f" — {key_of('lanes.more')} goes on"
        return self._wrapped(words)

    def _wrapped(self, words: str) -> list[str]:
        # A step stays with its number.
        lines = textwrap.wrap(words.replace("step ", "step\u00a0"), max(20, self._width))
        return [line.replace("\u00a0", " ") for line in lines]

    def _extremes(self) -> list[Cell]:
        taken = self._taken
        cells = [Cell("min ", "muted"), Cell(cut(taken.least, _SHOWN_VALUE), "value")]
        cells += [Cell("  max ", "muted"), Cell(cut(taken.greatest, _SHOWN_VALUE), "value")]
        if taken.mean is not None:
            cells += [Cell("  mean ", "muted"), Cell(f"{taken.mean:.6g}", "value")]
        if rest := self._counts():
            cells += [Cell("  "), *rest]
        return cells

    def _counts(self) -> list[Cell]:
        taken = self._taken
        told = []
        if taken.nans:
            told.append(Cell(f"NaN {taken.nans:,}", "fault"))
        if taken.infinities:
            told.append(Cell(f"inf {taken.infinities:,}", "fault"))
        if taken.errors:
            told.append(Cell(f"no value {taken.errors:,}", "warn"))
        return [cell for number, each in enumerate(told) for cell in ([Cell("  "), each] if number else [each])]

    # -- under the map

    def _tail_rows(self) -> list[Row]:
        state, taken = self._state, self._taken
        if not state.layout.rows:
            return []
        rows: list[Row] = []
        if legend := self._legend():
            rows.append(Row((Cell(" " * self.label), *legend)))
        if taken.told_by_rule or self._refusal:
            return rows
        counts = [f"{len(each.places):,}" for each in taken.classes[:_MOST_CLASSES]]
        widest = max(map(len, counts), default=0)
        for count, each in zip(counts, taken.classes, strict=False):
            shown = f"<{each.text}>" if each.error else each.text
            glyph, style = self.shading.glyph(state.values[each.places[0]])
            cells = (
                Cell(f"{count:>{widest}} × ", "number"),
                Cell(f"{glyph} ", style),
                Cell(cut(shown, max(_SHOWN_VALUE, self._width // 2)), "warn" if each.error else "value"),
                Cell(f"  {units_words(state.layout, each.places)}", "muted"),
            )
            rows.append(Row(cells, target=ClassTarget(each.places[0])))
        if len(taken.classes) > _MOST_CLASSES:
            rows.append(Row((Cell(f"… {len(taken.classes) - _MOST_CLASSES:,} more values", "muted"),)))
        return rows

    def _legend(self) -> list[Cell]:
        state, taken = self._state, self._taken
        cells: list[Cell] = []
        if taken.numbers and not self.shading.equal and self.shading.levels is None:
            cells += [Cell(LEVELS[0], "heat-1"), Cell(f" {cut(taken.least, 18)}  ", "muted")]
            cells += [Cell(LEVELS[-1], "heat-8"), Cell(f" {cut(taken.greatest, 18)}  ", "muted")]
        if any(unit is None for row in state.layout.rows for unit in row.units):
            cells += [Cell(ABSENT, "lane-absent"), Cell(" not held  ", "muted")]
        if taken.errors:
            cells += [Cell(ERROR, "warn"), Cell(" no value  ", "muted")]
        if not state.running and len(state.values) < sum(1 for _ in state.layout.places()):
            cells += [Cell(UNKNOWN, "muted"), Cell(" not asked", "muted")]
        return cells


def _short(group: str) -> str:
    """`3/` of `(3,0,0)`, where there is no room for all of it."""
    plain = group.removesuffix(",0,0)").removeprefix("(")
    return f"{plain}/" if plain else ""


def title_words(state: LaneValuesState) -> str:
    """`24 lanes · 12 ms`; while they are asked, how many have answered."""
    if not state.layout.rows:
        return ""
    total = counted(len(state.values), state.layout.unit)
    if len(state.values) < state.layout.total:
        total = f"{len(state.values):,} of {counted(state.layout.total, state.layout.unit)}"
    took = f" · {state.seconds * 1000:.0f} ms" if state.seconds and not state.running else ""
    return f"{total}{took}"


def unit_words(layout: UnitLayout, place: int) -> str:
    """`(240,0,0)`: where a unit is, by the coordinates that tell it from the others; empty where there is none."""
    unit = layout.unit_at(place)
    if unit is None:
        return ""
    first, last = layout.rows[0].units, layout.rows[-1].units
    ends = [one for one in (*first, *last) if one is not None]
    told = [name for name in unit if ends[0].get(name) != ends[-1].get(name)] or list(unit)
    return " ".join(format_coordinate(unit[name]) for name in told)

"""An expression over lanes without a screen: as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ladder_backends.debugger.contract import Debugger
from ladder_backends.errors import LadderError
from ladder_backends.session.jump_json import focus_json
from ladder_backends.session.lane_values import ask_all
from ladder_backends.session.lane_values_state import LaneValuesState
from ladder_backends.session.unit_words import units_words
from ladder_tui.cli.output import unicode_output
from ladder_tui.lane_shading import ABSENT, UNKNOWN, Shading

LIMIT = 60.0
"""Seconds after which what has come is told."""

_MOST_CLASSES = 64
_MOST_ROWS = 64


async def ask_over_lanes(debugger: Debugger, over: LaneValuesState) -> None:
    """Ask the expression; why nobody could be asked stands in `failed`."""
    if debugger.lanes is None:
        over.failed = "this engine knows no lanes"
        return
    over.provenance = debugger.provenance
    try:
        await ask_all(debugger.lanes, over, limit=LIMIT)
    except LadderError as error:
        over.failed, over.running = error.line(), False


def over_lanes_json(over: LaneValuesState) -> dict[str, Any]:
    """Every value, and what they have in common."""
    layout, taken = over.layout, over.distribution
    return {
        "expression": over.expression,
        "scope": over.span,
        "asked": layout.total,
        "answered": len(over.values),
        "reason": over.failed or over.reason or None,
        "seconds": round(over.seconds, 6),
        "source": over.provenance.value,
        "values": [
            {
                **focus_json(unit),
                layout.row: layout.rows[place // layout.width].number,
                layout.unit: place % layout.width,
                "value": value.text if not value.error else None,
                **({"error": value.error} if value.error else {}),
            }
            for place, value in sorted(over.values.items())
            if (unit := layout.unit_at(place)) is not None
        ],
        "min": taken.least or None,
        "max": taken.greatest or None,
        "mean": taken.mean,
        "nan": taken.nans,
        "inf": taken.infinities,
        "errors": taken.errors,
        "pattern": taken.pattern.words if taken.pattern else None,
        "pattern_exceptions": units_words(layout, taken.pattern.but)
        if taken.pattern and taken.pattern.but
        else None,
        "classes": [
            {
                "count": len(each.places),
                "value": each.text if not each.error else None,
                **({"error": each.text} if each.error else {}),
                "lanes": units_words(layout, each.places, len(each.places)),
            }
            for each in taken.classes
        ],
    }


def over_lanes_lines(over: LaneValuesState) -> Iterator[str]:
    """What the values have in common, the map, equal values with their lanes."""
    yield ""
    if over.failed:
        yield f"over lanes  {over.expression}: {over.failed}"
        return
    layout, taken = over.layout, over.distribution
    yield f"over lanes  {over.expression}  ({over.span}: {over.answered_words()})"
    if taken.pattern is not None:
        but = f", but {units_words(layout, taken.pattern.but)}" if taken.pattern.but else ""
        yield f"       {taken.pattern.words}{but}"
    if taken.numbers and taken.least != taken.greatest:
        mean = f"  mean {taken.mean:.6g}" if taken.mean is not None else ""
        yield f"       min {taken.least}  max {taken.greatest}{mean}"
    told = (("NaN", taken.nans), ("inf", taken.infinities), ("no value", taken.errors))
    if counts := [f"{word} {count:,}" for word, count in told if count]:
        yield f"       {'  '.join(counts)}"
    if unicode_output():
        yield from _map(over)
    if taken.told_by_rule:
        return
    for each in taken.classes[:_MOST_CLASSES]:
        shown = f"<{each.text}>" if each.error else each.text
        yield f"       {len(each.places):>5,} × {shown}  {units_words(layout, each.places)}"
    if len(taken.classes) > _MOST_CLASSES:
        yield f"       … {len(taken.classes) - _MOST_CLASSES:,} more values"


def _map(over: LaneValuesState) -> Iterator[str]:
    layout, shading = over.layout, Shading.of(over.distribution)
    for number, row in enumerate(layout.rows[:_MOST_ROWS]):
        glyphs = "".join(
            ABSENT
            if unit is None
            else shading.glyph(value)[0]
            if (value := over.values.get(number * layout.width + column)) is not None
            else UNKNOWN
            for column, unit in enumerate(row.units)
        )
        group = f"{layout.group} {row.group} " if row.group else ""
        yield f"       {group}{layout.row} {row.number:>2}  |{glyphs}|"
    if len(layout.rows) > _MOST_ROWS:
        yield f"       … {len(layout.rows) - _MOST_ROWS:,} more {layout.row}s"

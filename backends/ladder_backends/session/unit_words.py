"""Many units in few words: `lanes 8–31`, `warps 0–6, warp 7 lanes 0–3`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ladder_backends.model.unit_values import UnitLayout

MOST_PIECES = 6
"""Pieces that are named before `…` stands for the rest."""


def runs(numbers: Iterable[int]) -> list[str]:
    """`["0", "2", "4–7"]`."""
    pieces: list[str] = []
    start = previous = None
    for number in [*sorted(numbers), None]:
        if previous is not None and number == previous + 1:
            previous = number
            continue
        if start is not None and previous is not None:
            pieces.append(str(start) if start == previous else f"{start}–{previous}")
        start = previous = number
    return pieces


def counted(count: int, noun: str) -> str:
    """`1 lane`, `1,024 lanes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def units_words(layout: UnitLayout, places: Sequence[int], most: int = MOST_PIECES) -> str:
    """The units of these places: whole rows by their numbers, others by row and column."""
    by_row: dict[int, list[int]] = {}
    for place in places:
        row, column = divmod(place, layout.width)
        by_row.setdefault(row, []).append(column)
    if len(layout.rows) == 1:
        return _shortened(_named(layout.unit, runs(by_row.get(0, ()))), most)
    whole: dict[str, list[int]] = {}
    parts: list[str] = []
    for number, columns in sorted(by_row.items()):
        row = layout.rows[number]
        if len(columns) == sum(1 for unit in row.units if unit is not None):
            whole.setdefault(row.group, []).append(row.number)
    for group in dict.fromkeys(layout.rows[number].group for number in sorted(by_row)):
        here: list[str] = []
        if group in whole:
            here += _named(layout.row, runs(whole[group]))
        for number, columns in sorted(by_row.items()):
            row = layout.rows[number]
            if row.group == group and row.number not in whole.get(group, ()):
                here += [f"{layout.row} {row.number} {' '.join(_named(layout.unit, runs(columns)))}"]
        if group:
            here[0] = f"{layout.group} {group} {here[0]}"
        parts += here
        if len(parts) > most:
            break
    return _shortened(parts, most)


def _named(noun: str, pieces: list[str]) -> list[str]:
    if not pieces:
        return []
    several = len(pieces) > 1 or "–" in pieces[0]
    return [f"{noun}{'s' if several else ''} {pieces[0]}", *pieces[1:]]


def _shortened(pieces: list[str], most: int) -> str:
    return ", ".join(pieces if len(pieces) <= most else [*pieces[:most], "…"])

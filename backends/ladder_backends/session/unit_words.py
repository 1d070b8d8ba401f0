"""Many units in few words: `lanes 8–31`, `warps 0–6, warp 7 lanes 0–3`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ladder_backends.model.unit_values import UnitLayout

MOST_PIECES = 6
"""Pieces that are named before `…` stands for the rest."""


def runs(numbers: Iterable[int]) -> list[str]:
    """`["0", "2", "4–7"]`; four or more at one distance are `0–28 step 4`."""
    ordered = sorted(set(numbers))
    pieces: list[str] = []
    at = 0
    while at < len(ordered):
        end = at
        step = ordered[at + 1] - ordered[at] if at + 1 < len(ordered) else 1
        while end + 1 < len(ordered) and ordered[end + 1] - ordered[end] == step:
            end += 1
        if step > 1 and end - at < 3:
            pieces.append(str(ordered[at]))
            at += 1
            continue
        if end == at:
            pieces.append(str(ordered[at]))
        else:
            pieces.append(f"{ordered[at]}–{ordered[end]}" + (f" step {step}" if step > 1 else ""))
        at = end + 1
    return pieces


def counted(count: int, noun: str) -> str:
    """`1 lane`, `1,024 lanes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def units_words(layout: UnitLayout, places: Sequence[int], most: int = MOST_PIECES) -> str:
    """The units of these places: whole rows by their numbers, others by row and column."""
    by_row: dict[int, list[int]] = {}
    for place in places:
        number, column = divmod(place, layout.width)
        by_row.setdefault(number, []).append(column)
    if len(layout.rows) == 1:
        return _shortened(_named(layout.unit, runs(by_row.get(0, ()))), most)
    if len(by_row) == len(layout.rows) and len({tuple(columns) for columns in by_row.values()}) == 1:
        columns = next(iter(by_row.values()))
        if any(len(columns) < sum(1 for unit in each.units if unit is not None) for each in layout.rows):
            return f"{_shortened(_named(layout.unit, runs(columns)), most)} of each {layout.row}"
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
                here += [f"{layout.row} {row.number} {_shortened(_named(layout.unit, runs(columns)), most)}"]
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

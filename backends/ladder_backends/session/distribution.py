"""What many answers to one expression have in common: extremes, classes of equal values, a rule they follow."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ladder_backends.model.unit_values import UnitLayout, UnitValue, is_address, unit_value

_LIST = 16
"""Values that follow a rule and are listed all the same."""

_FEW = 8
"""One in so many values may stand outside a rule that is told."""

_LONGEST_PERIOD = 256
"""Units after which a rule that repeats is still looked for."""

_MOST_FIELDS = 3
"""Members of a structure whose rules are told."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_FIELD = re.compile(r"(?P<name>[A-Za-z_]\w*) = (?P<value>0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?=[,}])")

_FLOAT_CLOSE = 1e-5
"""Relative distance within which printed floats are taken for the same."""


@dataclass(frozen=True, slots=True)
class UnitClass:
    """Units with the same answer.

    Attributes:
        text: The value as it was printed, or the error.
        error: There is no value.
        places: Who answered so, in the order of their places.
        number: The value as a number, or None.
    """

    text: str
    error: bool
    places: tuple[int, ...]
    number: int | float | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule that the values follow over the units, in their order.

    Attributes:
        words: `992..1023 step 1`.
        but: Places of the few that do not follow it.
    """

    words: str
    but: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Distribution:
    """The answers taken together.

    Attributes:
        answered: How many there are.
        numbers: How many of them are finite numbers.
        least, greatest: Of the finite numbers, as they were printed; empty where there are none.
        low, high: The same as numbers.
        mean: Of the finite numbers; None where there are none, or where they are addresses.
        nans, infinities, errors: How many of each.
        classes: Equal answers, most units first.
        pattern: A rule, or None where none was found.
        addresses: The values are addresses.
    """

    answered: int = 0
    numbers: int = 0
    least: str = ""
    greatest: str = ""
    low: int | float = 0
    high: int | float = 0
    mean: float | None = None
    nans: int = 0
    infinities: int = 0
    errors: int = 0
    classes: tuple[UnitClass, ...] = ()
    pattern: Pattern | None = None
    addresses: bool = False

    @property
    def told_by_rule(self) -> bool:
        """The rule says more than a list of the values would."""
        exact = self.pattern is not None and not self.pattern.but
        return exact and len(self.classes) > 1 and (len(self.classes) == self.answered or len(self.classes) > _LIST)


def distribution(layout: UnitLayout, values: Iterable[UnitValue]) -> Distribution:
    """Take answers together."""
    ordered = sorted(values, key=lambda value: value.place)
    classes: dict[tuple[bool, str], list[int]] = {}
    number_of: dict[tuple[bool, str], int | float | None] = {}
    for value in ordered:
        # What is each unit's own, as the address that it cannot read, makes no class.
        key = (bool(value.error), _ADDRESS.sub("0x…", value.error) or value.text)
        classes.setdefault(key, []).append(value.place)
        number_of[key] = value.number
    nans = sum(1 for value in ordered if isinstance(value.number, float) and math.isnan(value.number))
    infinities = sum(1 for value in ordered if isinstance(value.number, float) and math.isinf(value.number))
    finite = [value for value in ordered if value.number is not None and math.isfinite(value.number)]
    addresses = bool(finite) and is_address(finite[0].text)
    least = min(finite, key=_number, default=None)
    greatest = max(finite, key=_number, default=None)
    return Distribution(
        answered=len(ordered),
        numbers=len(finite),
        least=least.text if least else "",
        greatest=greatest.text if greatest else "",
        low=_number(least) if least else 0,
        high=_number(greatest) if greatest else 0,
        mean=_mean(finite) if finite and not addresses else None,
        nans=nans,
        infinities=infinities,
        errors=sum(1 for value in ordered if value.error),
        classes=tuple(
            UnitClass(text, error, tuple(places), number_of[error, text])
            for (error, text), places in sorted(classes.items(), key=lambda item: (-len(item[1]), item[1][0]))
        ),
        pattern=_pattern(layout, [value for value in ordered if not value.error], len(finite)),
        addresses=addresses,
    )


def _pattern(layout: UnitLayout, values: Sequence[UnitValue], numbers: int) -> Pattern | None:
    if len(values) > 1 and len({value.text for value in values}) == 1:
        return Pattern(f"all equal: {values[0].text}")
    if numbers == len(values):
        return pattern_of(layout, values)
    return _fields(layout, values) if not numbers else None


def _fields(layout: UnitLayout, values: Sequence[UnitValue]) -> Pattern | None:
    """The rules that the members of one structure follow, each by itself, where all have the same members."""
    if len(values) < 2 or len({_FIELD.sub("", value.text) for value in values}) != 1:
        return None
    told: list[str] = []
    found = [list(_FIELD.finditer(value.text)) for value in values]
    if len({tuple(match["name"] for match in each) for each in found}) != 1:
        return None
    for members in zip(*found, strict=True):
        if len({match["value"] for match in members}) == 1:
            continue
        rule = pattern_of(
            layout,
            [unit_value(value.place, match["value"]) for value, match in zip(values, members, strict=True)],
        )
        if rule is None or rule.but:
            return None
        told.append(f"{members[0]['name']} {rule.words}")
    return Pattern(", ".join(told)) if 0 < len(told) <= _MOST_FIELDS else None


def _number(value: UnitValue) -> int | float:
    return value.number if value.number is not None else math.nan


def _mean(values: Sequence[UnitValue]) -> float:
    numbers = [_number(value) for value in values]
    if all(isinstance(number, int) for number in numbers):
        return float(Fraction(sum(int(number) for number in numbers), len(numbers)))
    return math.fsum(numbers) / len(numbers)


def pattern_of(layout: UnitLayout, values: Sequence[UnitValue]) -> Pattern | None:
    """The rule that numbers follow over their units: all equal, one stride, one in each row, or an order."""
    if len(values) < 2:
        return None
    if len({value.text for value in values}) == 1:
        return Pattern(f"all equal: {values[0].text}")
    if len(values) < 4:
        return None
    ordered = sorted(values, key=lambda value: layout.ordinal(value.place))
    line = _line(layout, ordered)
    if line is not None:
        return line
    for whose, name in ((_group_of, layout.group), (_row_of, layout.row)):
        parts = _in_each(layout, ordered, whose, name)
        if parts is not None:
            return parts
    return _repeated(layout, ordered) or _order(ordered)


def _line(layout: UnitLayout, ordered: Sequence[UnitValue]) -> Pattern | None:
    steps = Counter(_step(layout, before, after) for before, after in itertools.pairwise(ordered))
    step, often = steps.most_common(1)[0]
    if step == 0 or often * 2 < len(ordered) - 1:
        return None
    starts = Counter(_start(layout, value, step) for value in ordered)
    start, _ = starts.most_common(1)[0]
    on = [value for value in ordered if _close(_start(layout, value, step), start, value)]
    follow = {value.place for value in on}
    but = tuple(value.place for value in ordered if value.place not in follow)
    if len(but) * _FEW > len(ordered) or len(on) < 4:
        return None
    words = f"{_printed(on[0])}..{_printed(on[-1])} step {_plain(step)}"
    return Pattern(words, but)


def _row_of(layout: UnitLayout, place: int) -> tuple[Hashable, int]:
    return divmod(place, layout.width)


def _group_of(layout: UnitLayout, place: int) -> tuple[Hashable, int]:
    row, column = divmod(place, layout.width)
    return layout.rows[row].group, layout.rows[row].number * layout.width + column


def _in_each(
    layout: UnitLayout,
    ordered: Sequence[UnitValue],
    whose: Callable[[UnitLayout, int], tuple[Hashable, int]],
    name: str,
) -> Pattern | None:
    """The same stride in each of several parts; `whose` gives a unit's part and where it stands in it."""
    parts: dict[Hashable, list[tuple[int, UnitValue]]] = {}
    for value in ordered:
        part, at = whose(layout, value.place)
        parts.setdefault(part, []).append((at, value))
    if len(parts) < 2 or any(len(part) < 2 for part in parts.values()):
        return None
    steps: set[int | float | Fraction] = set()
    starts: set[int | float | Fraction] = set()
    for units in parts.values():
        steps |= {_step(layout, before, after) for (_, before), (_, after) in itertools.pairwise(units)}
        if len(steps) != 1:
            return None
        step = next(iter(steps))
        at, first = units[0]
        start = _number(first) - at * step
        starts.add(float(f"{start:.5g}") if isinstance(start, float) else start)
    if step == 0:
        return Pattern(f"equal in each {name}")
    rule = f"step {_plain(step)} in each {name}"
    if len(starts) > 1:
        return Pattern(rule)
    longest = max(parts.values(), key=len)
    return Pattern(f"{_printed(longest[0][1])}..{_printed(longest[-1][1])} {rule}")


def _repeated(layout: UnitLayout, ordered: Sequence[UnitValue]) -> Pattern | None:
    """The same values again and again, after so many units."""
    places = [layout.ordinal(value.place) for value in ordered]
    for period in range(2, min(_LONGEST_PERIOD, (places[-1] - places[0] + 1) // 2) + 1):
        kept: dict[int, UnitValue] = {}
        if all(
            kept.setdefault(place % period, value).text == value.text
            for place, value in zip(places, ordered, strict=True)
        ):
            if len(kept) < period:
                return None
            start = kept[0], kept[period - 1]
            rises = {
                _number(after) - _number(before)
                for before, after in itertools.pairwise(kept[number] for number in range(period))
            }
            rule = f"repeats every {period} {layout.unit}s"
            if len(rises) == 1 and isinstance(step := rises.pop(), int):
                return Pattern(f"{_printed(start[0])}..{_printed(start[1])} step {step}, {rule}")
            return Pattern(rule)
    return None


def _order(ordered: Sequence[UnitValue]) -> Pattern | None:
    pairs = [(_number(before), _number(after)) for before, after in itertools.pairwise(ordered)]
    if all(before <= after for before, after in pairs):
        return Pattern("rising" if all(before < after for before, after in pairs) else "never falling")
    if all(before >= after for before, after in pairs):
        return Pattern("falling" if all(before > after for before, after in pairs) else "never rising")
    return None


def _step(layout: UnitLayout, before: UnitValue, after: UnitValue) -> int | float | Fraction:
    rise = _number(after) - _number(before)
    run = layout.ordinal(after.place) - layout.ordinal(before.place)
    if isinstance(rise, int):
        whole, rest = divmod(rise, run)
        return Fraction(rise, run) if rest else whole
    return float(f"{rise / run:.5g}")


def _start(layout: UnitLayout, value: UnitValue, step: float | Fraction) -> int | float | Fraction:
    start = _number(value) - layout.ordinal(value.place) * step
    return float(f"{start:.5g}") if isinstance(start, float) else start


def _close(one: float | Fraction, other: float | Fraction, value: UnitValue) -> bool:
    if one == other:
        return True
    exact = isinstance(one, int | Fraction) and isinstance(other, int | Fraction)
    return not exact and math.isclose(one, other, rel_tol=_FLOAT_CLOSE, abs_tol=abs(_number(value)) * _FLOAT_CLOSE)


def _printed(value: UnitValue) -> str:
    return hex(int(_number(value))) if is_address(value.text) else value.text


def _plain(step: float | Fraction) -> str:
    return f"{step:g}" if isinstance(step, float) else str(step)

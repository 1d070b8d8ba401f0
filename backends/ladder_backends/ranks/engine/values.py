"""A value over ranks in numbers: smallest, largest, those that are none, and a line to see it by."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_BARS = "▁▂▃▄▅▆▇█"
_NO_NUMBER, _NO_ANSWER = "×", "·"
_NUMBER = re.compile(
    r"(?P<number>[-+]?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?))(?: '.*')?"
)
_NAN = re.compile(r"[-+]?nan(?:\(.*\))?", re.IGNORECASE)
_INFINITE = re.compile(r"(?P<sign>[-+]?)inf(?:inity)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RankNumbers:
    """Numbers of ranks.

    Attributes:
        numbers: By rank; NaN and infinities among them.
        others: Ranks that answered with something else than a number.
        silent: Ranks that gave no answer.
    """

    numbers: Mapping[int, float]
    others: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()

    @property
    def finite(self) -> dict[int, float]:
        """Those that are neither NaN nor an infinity."""
        return {rank: number for rank, number in self.numbers.items() if math.isfinite(number)}

    @property
    def smallest(self) -> float | None:
        """The smallest finite number."""
        return min(self.finite.values(), default=None)

    @property
    def largest(self) -> float | None:
        """The largest finite number."""
        return max(self.finite.values(), default=None)

    @property
    def smallest_at(self) -> int | None:
        """The first rank that has it."""
        return self._first(self.smallest)

    @property
    def largest_at(self) -> int | None:
        """The first rank that has it."""
        return self._first(self.largest)

    @property
    def mean(self) -> float | None:
        """The mean of the finite numbers."""
        finite = self.finite
        # A sum may be beyond all numbers though its parts are not.
        return math.fsum(value / len(finite) for value in finite.values()) if finite else None

    @property
    def nan(self) -> tuple[int, ...]:
        """Ranks whose value is NaN."""
        return tuple(rank for rank, number in self.numbers.items() if math.isnan(number))

    @property
    def infinite(self) -> tuple[int, ...]:
        """Ranks whose value is an infinity."""
        return tuple(rank for rank, number in self.numbers.items() if math.isinf(number))

    def sparkline(self, width: int = 80) -> str:
        """A character a rank, from the lowest on, as high as its value; `×` for no finite number, `·` for silence.

        Equal values are a flat line in the middle. With more ranks than `width` each character stands for several:
        the highest of them, or the first that is no number.
        """
        ranks = sorted({*self.numbers, *self.others, *self.silent})
        if not ranks:
            return ""
        each = max(1, -(-len(ranks) // max(1, width)))
        return "".join(self._bar(ranks[at : at + each]) for at in range(0, len(ranks), each))

    def _bar(self, ranks: Sequence[int]) -> str:
        finite = self.finite
        if any(rank not in finite and rank not in self.silent for rank in ranks):
            return _NO_NUMBER
        values = [finite[rank] for rank in ranks if rank in finite]
        low, high = self.smallest, self.largest
        if not values or low is None or high is None:
            return _NO_ANSWER
        if low == high:
            return _BARS[len(_BARS) // 2]
        # Halves, so that a difference of two large numbers is one, too.
        share = (max(values) / 2 - low / 2) / (high / 2 - low / 2)
        return _BARS[min(len(_BARS) - 1, int(share * len(_BARS)))]

    def _first(self, value: float | None) -> int | None:
        return next((rank for rank, number in self.finite.items() if number == value), None)


def number_of_value(text: str) -> float | None:
    """The number that an engine's text of a value is, or None: `3`, `0x1f`, `-nan(0x8000)`, `97 'a'`."""
    text = text.strip()
    if _NAN.fullmatch(text):
        return math.nan
    infinite = _INFINITE.fullmatch(text)
    if infinite is not None:
        return -math.inf if infinite["sign"] == "-" else math.inf
    match = _NUMBER.fullmatch(text)
    if match is None:
        return {"true": 1.0, "false": 0.0}.get(text)
    number = match["number"]
    return float(int(number, 16)) if "0x" in number else float(number)


def numbers_of(values: Mapping[int, str], asked: Sequence[int] = ()) -> RankNumbers:
    """Values of ranks, as an engine wrote them, in numbers; of those `asked`, the others are the silent ones."""
    numbers: dict[int, float] = {}
    others: list[int] = []
    for rank in sorted(values):
        number = number_of_value(values[rank])
        if number is None:
            others.append(rank)
        else:
            numbers[rank] = number
    return RankNumbers(numbers, tuple(others), tuple(rank for rank in asked if rank not in values))

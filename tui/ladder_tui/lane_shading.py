"""How values of many lanes are drawn: how large by height and colour, which by letter, what is none by a mark."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ladder_backends.model.unit_values import UnitValue
from ladder_backends.session.distribution import Distribution

LEVELS = "▁▂▃▄▅▆▇█"
_EQUAL = "■"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMPQRSTUVWXYZ"
ABSENT, UNKNOWN, ERROR, NAN, INFINITE, OTHER = "·", "?", "!", "N", "∞", "*"


@dataclass(frozen=True, slots=True)
class Shading:
    """How the values of one question are drawn.

    Attributes:
        levels: Level of each printed number, 0 to 7, where few numbers differ; else they are between the extremes.
        letters: Number of each printed value that is no number.
        equal: All values are the same.
    """

    low: float = 0.0
    high: float = 0.0
    levels: dict[str, int] | None = None
    letters: dict[str, int] | None = None
    equal: bool = False

    @classmethod
    def of(cls, taken: Distribution) -> Shading:
        """For the values that were taken together."""
        values = [each for each in taken.classes if not each.error]
        numbers = [each for each in values if each.number is not None and math.isfinite(each.number)]
        words = [each.text for each in values if each.number is None]
        few = sorted(numbers, key=lambda each: each.number or 0) if len(numbers) <= len(LEVELS) else None
        levels = None
        if few is not None:
            last = max(1, len(few) - 1)
            levels = {each.text: position * (len(LEVELS) - 1) // last for position, each in enumerate(few)}
        return cls(
            float(taken.low),
            float(taken.high),
            levels,
            {text: number for number, text in enumerate(words)},
            len(taken.classes) == 1 and not taken.errors and not taken.nans and not taken.infinities,
        )

    def glyph(self, value: UnitValue) -> tuple[str, str]:
        """Glyph and style of an answer."""
        if value.error:
            return ERROR, "warn"
        if self.equal:
            return _EQUAL, "lane-active"
        number = value.number
        if number is None:
            place = (self.letters or {}).get(value.text, len(_LETTERS))
            letter = _LETTERS[place] if place < len(_LETTERS) else OTHER
            return letter, f"heat-{1 + place % 8}"
        if isinstance(number, float) and not math.isfinite(number):
            return (NAN if math.isnan(number) else INFINITE), "fault"
        level = self._level(value.text, number)
        return LEVELS[level], f"heat-{level + 1}"

    def _level(self, text: str, number: float) -> int:
        if self.levels is not None:
            return self.levels.get(text, 0)
        width = self.high - self.low
        share = (float(number) - self.low) / width if width > 0 and math.isfinite(width) else 0.0
        return min(len(LEVELS) - 1, max(0, int(share * len(LEVELS))))

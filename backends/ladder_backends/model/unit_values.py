"""One expression asked of many units: the lanes of a warp or block, or the ranks of a job.

Units stand in rows of equal width, as lanes stand in warps. A unit is named by its place: row times width plus
column; rows are in the order in which they are drawn.
"""

from __future__ import annotations

import math
import re
from dataclasses import field

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.focus import Coordinate, Focus

_NUMBER = re.compile(
    r"""(?:\([^()]*(?:\([^()]*\)[^()]*)?\)\s*)?      # a type before a pointer
        @?(?P<number>0[xX][0-9a-fA-F]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
        (?P<rest>\s.*|<.*)?$""",
    re.VERBOSE | re.DOTALL,
)
_SPECIAL = re.compile(r"(?P<sign>-?)(?P<word>nan|inf)(?:\(0x[0-9a-fA-F]+\))?$", re.IGNORECASE)
_WORDS = {"true": 1, "false": 0}


@dataclass(frozen=True, slots=True)
class Span:
    """How far round the focus units are asked.

    Attributes:
        name: What it is called on a command line: `warp`.
        words: What is asked then: `lanes of this warp`.
    """

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class UnitRow:
    """Units that stand side by side.

    Attributes:
        number: The row's own number: of a warp in its block.
        group: What the row belongs to, `(3,0,0)`, or an empty string where there is only one.
        units: Where each one is, by column; None where none is held.
        first: Place of its first unit in the order that strides follow, whatever rows are between.
    """

    number: int
    group: str
    units: tuple[Focus | None, ...]
    first: int


@dataclass(frozen=True, slots=True)
class UnitLayout:
    """Which units are asked.

    Attributes:
        span: Name of the span.
        unit: What one is called: `lane`.
        row: What a row is called: `warp`.
        width: Columns of a row.
        rows: In the order in which they are drawn.
        start: Index of the row that is asked first.
        total: Units in the span, with those that are not in `rows`.
        group: What a group is called: `block`.
    """

    span: str = ""
    unit: str = "lane"
    row: str = "warp"
    width: int = 32
    rows: tuple[UnitRow, ...] = ()
    start: int = 0
    total: int = 0
    group: str = "block"
    _index: dict[tuple[tuple[str, Coordinate | None], ...], int] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def unit_at(self, place: int) -> Focus | None:
        """The unit of a place, or None."""
        row, column = divmod(place, self.width)
        return self.rows[row].units[column] if 0 <= row < len(self.rows) else None

    def places(self) -> list[int]:
        """Places of all units, those of the first row to be asked before the others."""
        order = [self.start, *(number for number in range(len(self.rows)) if number != self.start)]
        return [
            number * self.width + column
            for number in order
            if number < len(self.rows)
            for column, unit in enumerate(self.rows[number].units)
            if unit is not None
        ]

    def ordinal(self, place: int) -> int:
        """Where a unit stands in the order that strides follow."""
        row, column = divmod(place, self.width)
        return self.rows[row].first + column

    def place_of(self, focus: Focus | None) -> int | None:
        """The place of the unit that a focus is in; None where it is in none of them."""
        if focus is None:
            return None
        if not self._index:
            for number, row in enumerate(self.rows):
                for column, unit in enumerate(row.units):
                    if unit is not None:
                        self._index[unit.coordinates] = number * self.width + column
        levels = next(iter(self._index), ())
        return self._index.get(tuple((name, focus.get(name)) for name, _ in levels))


@dataclass(frozen=True, slots=True)
class UnitValue:
    """What one unit answered.

    Attributes:
        place: Which unit.
        text: The value as the engine wrote it, clean; empty where there is an error.
        error: Why there is none.
        number: The value as a number, where it is one; `nan` and infinities are floats.
    """

    place: int
    text: str
    error: str = ""
    number: int | float | None = field(default=None, compare=False)


def unit_value(place: int, text: str, error: str = "") -> UnitValue:
    """An answer with its number, where the text is one."""
    if not error and text.startswith("<") and text.endswith(">"):
        # An engine has values in words that are none: <optimized out>.
        text, error = "", text[1:-1]
    return UnitValue(place, text, error, None if error else number_in(text))


def number_in(text: str) -> int | float | None:
    """The number that a printed value is: of integers, floats, pointers, characters and booleans; else None."""
    text = text.strip()
    if text in _WORDS:
        return _WORDS[text]
    special = _SPECIAL.match(text)
    if special is not None:
        value = math.nan if special["word"].lower() == "nan" else math.inf
        return -value if special["sign"] else value
    match = _NUMBER.match(text)
    if match is None:
        return None
    number = match["number"]
    if number[:2].lower() == "0x":
        return int(number, 16)
    try:
        return int(number)
    except ValueError:
        return float(number)


def is_address(text: str) -> bool:
    """A printed value is a pointer, so that sums and means of it say nothing."""
    match = _NUMBER.match(text.strip())
    return match is not None and match["number"][:2].lower() == "0x"

"""An array that lies in parts on ranks, seen as one.

`64/4` is an array of 64 elements in blocks on 4 ranks, `8x8/2x2` one of 8 rows in blocks on a grid of 2 by 2 ranks.
Blocks are as even as they can be, larger ones first, as most codes and `MPI_Dims_create` have it. The last axis
varies fastest, of the elements of a part and of the grid of ranks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ladder_backends.ranks.sets.set_invalid import SetInvalid

MOST_ELEMENTS = 1 << 22
_PART = re.compile(r"\d{1,9}")
_REPEATS = re.compile(r"^(?P<value>.*) <repeats (?P<count>\d{1,9}) times>$")


class DecompositionInvalid(SetInvalid):
    """A text that is no decomposition, or one for other ranks."""

    noun = "decomposition"


@dataclass(frozen=True, slots=True)
class Decomposition:
    """How an array is divided.

    Attributes:
        shape: Elements along each axis.
        grid: Ranks along each axis.
    """

    shape: tuple[int, ...]
    grid: tuple[int, ...]

    @classmethod
    def read(cls, text: str) -> Decomposition:
        """Read `8x8/2x2`.

        Raises:
            DecompositionInvalid: It is none; the fault is pointed at.
        """
        shape, at = _numbers(text, 0)
        if at >= len(text) or text[at] != "/":
            raise DecompositionInvalid(text, at, "x or / is expected", "write it as 64/4 or 8x8/2x2")
        grid, end = _numbers(text, at + 1)
        if end < len(text):
            raise DecompositionInvalid(text, end, "x or the end is expected", "write it as 64/4 or 8x8/2x2")
        if len(grid) != len(shape):
            raise DecompositionInvalid(
                text, at + 1, f"{len(grid)} axes of ranks for {len(shape)} of elements", "", end - at - 1
            )
        if math.prod(shape) > MOST_ELEMENTS:
            raise DecompositionInvalid(text, 0, f"more than {MOST_ELEMENTS} elements", "", at)
        return cls(shape, grid)

    @property
    def ranks(self) -> int:
        """Ranks that it takes."""
        return math.prod(self.grid)

    def block(self, axis: int, place: int) -> range:
        """Elements along an axis that the ranks at one place of it hold."""
        size, parts = self.shape[axis], self.grid[axis]
        each, more = divmod(size, parts)
        first = place * each + min(place, more)
        return range(first, first + each + (1 if place < more else 0))

    def blocks(self, position: int) -> tuple[range, ...]:
        """Elements along each axis that one rank holds, by its position among the ranks."""
        places: list[int] = []
        for parts in reversed(self.grid):
            position, place = divmod(position, parts)
            places.append(place)
        return tuple(self.block(axis, place) for axis, place in enumerate(reversed(places)))

    def size(self, position: int) -> int:
        """Elements that one rank holds."""
        return math.prod(len(each) for each in self.blocks(position))

    def owner(self, index: Sequence[int]) -> tuple[int, int]:
        """Who holds an element: position among the ranks, and its place in that part."""
        position, offset = 0, 0
        for axis, at in enumerate(index):
            place = next(each for each in range(self.grid[axis]) if at in self.block(axis, each))
            block = self.block(axis, place)
            position = position * self.grid[axis] + place
            offset = offset * len(block) + at - block.start
        return position, offset


@dataclass(frozen=True, slots=True)
class DistributedArray:
    """The whole array.

    Attributes:
        ranks: By position in the decomposition.
        parts: Elements of each rank that answered.
    """

    decomposition: Decomposition
    ranks: tuple[int, ...]
    parts: Mapping[int, tuple[str, ...]]

    def element(self, index: Sequence[int]) -> tuple[int, str | None]:
        """The rank that holds an element, and its value; None where that rank did not answer, or holds fewer."""
        position, offset = self.decomposition.owner(index)
        rank = self.ranks[position]
        part = self.parts.get(rank, ())
        return rank, part[offset] if offset < len(part) else None

    def rows(self) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, str | None], ...]]]:
        """Lines along the last axis: where each begins, without that axis, and rank and value of its elements."""
        *outer, last = self.decomposition.shape
        for number in range(math.prod(outer)):
            index: list[int] = []
            for size in reversed(outer):
                number, at = divmod(number, size)
                index.append(at)
            index.reverse()
            yield tuple(index), tuple(self.element((*index, at)) for at in range(last))


def array_of(decomposition: Decomposition, ranks: Sequence[int], values: Mapping[int, str]) -> DistributedArray:
    """Parts of ranks, as an engine wrote them, as one array.

    Raises:
        DecompositionInvalid: It takes another number of ranks.
    """
    if len(ranks) != decomposition.ranks:
        grid = "x".join(str(each) for each in decomposition.grid)
        raise DecompositionInvalid(
            grid, 0, f"it takes {decomposition.ranks} ranks, and {len(ranks)} were asked", "", len(grid)
        )
    parts = {rank: tuple(elements(text)) for rank, text in values.items()}
    return DistributedArray(decomposition, tuple(ranks), parts)


def elements(text: str) -> list[str]:
    """The elements of an array as an engine writes it, `{1, 2, 3}` or `{{1, 2}, {3, 4}}`, in their order."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return [text] if text else []
    found: list[str] = []
    for part in _split(text[1:-1]):
        repeated = _REPEATS.match(part)
        value, count = (repeated["value"], int(repeated["count"])) if repeated is not None else (part, 1)
        inner = elements(value) if value.startswith("{") and "=" not in value else [value]
        found.extend(inner * min(count, MOST_ELEMENTS))
    return found


def _split(text: str) -> Iterator[str]:
    depth, quote, start, skip = 0, "", 0, False
    for at, character in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = character == "\\"
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "{(<":
            depth += 1
        elif character in "})>":
            depth -= 1
        elif character == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def _numbers(text: str, at: int) -> tuple[tuple[int, ...], int]:
    found: list[int] = []
    while True:
        match = _PART.match(text, at)
        if match is None:
            raise DecompositionInvalid(text, at, "a number is expected", "write it as 64/4 or 8x8/2x2")
        if int(match[0]) == 0:
            raise DecompositionInvalid(text, at, "0 is too few", "", len(match[0]))
        found.append(int(match[0]))
        at = match.end()
        if at >= len(text) or text[at] != "x":
            return tuple(found), at
        at += 1

"""Focus: the place in the machine that an engine answers for.

Each dialect has its own levels. gdb has `thread`; cuda-gdb has `kernel, grid, cluster, block, thread` (logical) and
`device, sm, warp, lane` (physical), and `thread` as a number where it stands in a thread of the host; rocgdb has
`wave, lane`. A `Focus` holds any of them by name, so that panes need not know the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ladder_backends.late_dataclass import dataclass

Dim3: TypeAlias = tuple[int, int, int]
"""A coordinate or extent in a grid or block, `(x, y, z)`."""

Coordinate: TypeAlias = int | Dim3
"""One level's value: a number or a grid coordinate."""

_DIM3 = re.compile(r"\s*\(?\s*(\d+)\s*(?:,\s*(\d+)\s*)?(?:,\s*(\d+)\s*)?\)?\s*$")


def parse_dim3(text: str) -> Dim3:
    """Read `(x,y,z)`, `x,y,z`, `x,y` or `x`; what is left out is 0.

    Raises:
        ValueError: The text is not a coordinate.
    """
    match = _DIM3.match(text)
    if match is None:
        raise ValueError(f"not a coordinate: {text!r}; write x,y,z")
    x, y, z = (int(part or 0) for part in match.groups())
    return x, y, z


def format_coordinate(value: Coordinate) -> str:
    """`(3,0,0)` for a grid coordinate, `7` for a number."""
    if isinstance(value, tuple):
        return f"({value[0]},{value[1]},{value[2]})"
    return str(value)


@dataclass(frozen=True, slots=True)
class FocusLevel:
    """One level of a dialect's focus.

    Attributes:
        name: The field's own term: `block`, `warp`, `lane`, `thread`.
        is_dim3: The coordinate is `(x, y, z)` rather than a number.
        physical: The level names hardware (device, sm, warp, lane) rather than a place in the program's grid.
    """

    name: str
    is_dim3: bool = False
    physical: bool = False


@dataclass(frozen=True, slots=True)
class Focus(Mapping[str, Coordinate]):
    """Coordinates by level name, in the dialect's order. Levels that are unknown are absent."""

    coordinates: tuple[tuple[str, Coordinate], ...] = ()

    @classmethod
    def of(cls, **coordinates: Coordinate | None) -> Focus:
        """Build a focus; levels given as None are left out."""
        return cls(tuple((name, value) for name, value in coordinates.items() if value is not None))

    def __getitem__(self, name: str) -> Coordinate:
        for level, value in self.coordinates:
            if level == name:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.coordinates)

    def __len__(self) -> int:
        return len(self.coordinates)

    def dim3(self, name: str) -> Dim3 | None:
        """The level's `(x, y, z)`, or None where it is absent or a plain number."""
        value = self.get(name)
        return value if isinstance(value, tuple) else None

    def index(self, name: str) -> int | None:
        """The level's number, or None where it is absent or a coordinate."""
        value = self.get(name)
        return value if isinstance(value, int) else None

    def satisfies(self, asked: Focus) -> bool:
        """Whether each level that was asked for is here with the same value."""
        return all(self.get(name) == value for name, value in asked.items())

    def describe(self, *levels: str) -> str:
        """`block (3,0,0) thread (232,0,0)`; all levels when none are named."""
        names = levels or tuple(self)
        return " ".join(f"{name} {format_coordinate(self[name])}" for name in names if name in self)

"""A piece of memory as it was read."""

from __future__ import annotations

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """Bytes from an address on.

    Attributes:
        address: Of the first byte.
        contents: One entry a byte, None where it cannot be read.
        symbol: `<main+12>` of the first byte, or an empty string.
        why: Why some of it cannot be read, where that was told; else an empty string.
    """

    address: int
    contents: tuple[int | None, ...]
    symbol: str = ""
    why: str = ""

    @property
    def end(self) -> int:
        """The address behind the last byte."""
        return self.address + len(self.contents)


@dataclass(frozen=True, slots=True)
class MemoryLayout:
    """How numbers lie in the target's memory.

    Attributes:
        little: The lowest byte comes first.
        pointer: Bytes of a pointer.
    """

    little: bool = True
    pointer: int = 8


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """An address, and what it is an address of.

    Attributes:
        space: One of the address spaces that the engine reads, or an empty string for the usual one.
    """

    address: int
    space: str = ""

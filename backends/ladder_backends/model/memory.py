"""A piece of memory as it was read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """Bytes from an address on.

    Attributes:
        address: Of the first byte.
        contents: One entry a byte, None where it cannot be read.
        symbol: `<main+12>` of the first byte, or an empty string.
    """

    address: int
    contents: tuple[int | None, ...]
    symbol: str = ""

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

"""Memory: reading windows of it, finding where an expression points, writing."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.memory import MemoryBlock, MemoryLayout, MemoryPlace


class Memory(abc.ABC):
    """The target's memory.

    Attributes:
        spaces: Names of its address spaces, the usual one first; none where there is only one.
    """

    spaces: Sequence[str] = ()

    @abc.abstractmethod
    async def address_of(self, expression: str, frame_level: int) -> int:
        """Where an expression lies or points: a pointer's value, an object's own address, a number as it is."""

    async def place_of(self, expression: str, frame_level: int) -> MemoryPlace:
        """The same, with the space that it lies in."""
        from ladder_backends.model.memory import MemoryPlace

        return MemoryPlace(await self.address_of(expression, frame_level))

    async def start_of(self, space: str, frame_level: int) -> MemoryPlace:
        """Where a space is looked at first."""
        from ladder_backends.model.memory import MemoryPlace

        return MemoryPlace(0, space)

    async def size_of(self, space: str) -> int | None:
        """Bytes of a space as the focus sees it, or None where that is not told."""
        return None

    @abc.abstractmethod
    async def layout(self) -> MemoryLayout:
        """Byte order and the size of pointers; asked once."""

    @abc.abstractmethod
    async def read(self, address: int, length: int, space: str = "") -> MemoryBlock:
        """`length` bytes, fewer at the end of the address space; unreadable ones are None, never an error."""

    @abc.abstractmethod
    async def symbols(self, address: int, count: int) -> Mapping[int, str]:
        """Symbols that `count` pointers stored from `address` on point to, by the address each is stored at."""

    @abc.abstractmethod
    async def symbol_at(self, address: int) -> str:
        """`<main+12>`, or an empty string where no symbol lies there."""

    @abc.abstractmethod
    async def write(self, address: int, contents: bytes, space: str = "") -> None:
        """Write bytes, exactly these."""

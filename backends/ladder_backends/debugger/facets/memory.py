"""Memory: reading windows of it, finding where an expression points, writing."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.memory import MemoryBlock, MemoryLayout


class Memory(abc.ABC):
    """The target's memory."""

    @abc.abstractmethod
    async def address_of(self, expression: str, frame_level: int) -> int:
        """Where an expression lies or points: a pointer's value, an object's own address, a number as it is."""

    @abc.abstractmethod
    async def layout(self) -> MemoryLayout:
        """Byte order and the size of pointers; asked once."""

    @abc.abstractmethod
    async def read(self, address: int, length: int) -> MemoryBlock:
        """`length` bytes, fewer at the end of the address space; unreadable ones are None, never an error."""

    @abc.abstractmethod
    async def symbols(self, address: int, count: int) -> Mapping[int, str]:
        """Symbols that `count` pointers stored from `address` on point to, by the address each is stored at."""

    @abc.abstractmethod
    async def symbol_at(self, address: int) -> str:
        """`<main+12>`, or an empty string where no symbol lies there."""

    @abc.abstractmethod
    async def write(self, address: int, contents: bytes) -> None:
        """Write bytes, exactly these."""

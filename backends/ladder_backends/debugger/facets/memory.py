"""Memory: reading windows of it, finding where an expression points, writing."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.memory import MemoryBlock


class Memory(abc.ABC):
    """The target's memory."""

    @abc.abstractmethod
    async def address_of(self, expression: str, frame_level: int) -> int:
        """Where an expression lies or points: a pointer's value, an object's own address, a number as it is."""

    @abc.abstractmethod
    async def read(self, address: int, length: int) -> MemoryBlock:
        """`length` bytes; unreadable ones are None, never an error."""

    @abc.abstractmethod
    async def write(self, address: int, contents: bytes) -> None:
        """Write bytes."""

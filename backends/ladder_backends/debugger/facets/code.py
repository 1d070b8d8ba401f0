"""Machine code in windows, in both directions from anywhere."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.grid import Instruction


class Code(abc.ABC):
    """The target's machine code. Windows are in the order of addresses, without gaps."""

    def covers(self, frame_level: int) -> bool:
        """Whether windows round a frame can be read; else only what the engine tells at its counter."""
        return True

    @abc.abstractmethod
    async def counter(self, frame_level: int) -> Instruction | None:
        """The instruction a frame stands at; None where its memory cannot be read."""

    @abc.abstractmethod
    async def around(self, address: int) -> Sequence[Instruction]:
        """The function an address lies in where it is small, else some of the code on both sides of it."""

    @abc.abstractmethod
    async def after(self, address: int) -> Sequence[Instruction]:
        """Instructions from an address on; none where it cannot be read."""

    @abc.abstractmethod
    async def before(self, address: int) -> Sequence[Instruction]:
        """Instructions that end exactly at an address; none where they cannot be told."""

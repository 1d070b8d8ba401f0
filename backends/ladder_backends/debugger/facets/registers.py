"""Registers, by groups, as few as are looked at."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.register import Register

FORMS = ("natural", "hex", "decimal", "unsigned", "binary", "octal", "float")
"""Ways to print a register."""


class Registers(abc.ABC):
    """Registers of a frame of the focus."""

    @abc.abstractmethod
    async def groups(self, frame_level: int = 0) -> Sequence[str]:
        """Names of the groups that a frame's architecture has, the general ones first."""

    @abc.abstractmethod
    async def read(self, group: str, frame_level: int, form: str = "natural") -> Sequence[Register]:
        """The registers of a group; single ones that cannot be read carry their `error`.

        Args:
            group: One of `groups`.
            frame_level: Whose registers; those that a caller's frame saved are its own.
            form: One of `FORMS`.
        """

    @abc.abstractmethod
    async def with_text(self, registers: Sequence[Register]) -> Sequence[Register]:
        """The same registers; those that point to text are noted with its beginning. A question for each."""

    @abc.abstractmethod
    async def write(self, name: str, value: str, frame_level: int) -> None:
        """Set a register, or a field of one (`xmm0.v4_float[0]`), to the value of an expression."""

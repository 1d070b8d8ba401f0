"""Shared libraries, and when their symbols are read."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.library import Library


class Libraries(abc.ABC):
    """The target's shared libraries."""

    @abc.abstractmethod
    async def list(self) -> Sequence[Library]:
        """Every library, in the order of loading."""

    @abc.abstractmethod
    async def read_symbols(self, path: str) -> None:
        """Read the symbols of a library; may take seconds a gigabyte."""

    @abc.abstractmethod
    async def read_matching(self, pattern: str) -> None:
        """Read the symbols of all libraries whose path matches the engine's regular expression."""

    @abc.abstractmethod
    async def reads_new(self) -> bool:
        """Whether symbols of a library are read as soon as it is loaded."""

    @abc.abstractmethod
    async def read_new(self, on: bool) -> None:
        """Read symbols of a library as soon as it is loaded, or only when asked to."""

"""Dumps of a GPU that are written from a living target."""

from __future__ import annotations

import abc
from pathlib import Path


class GpuDumps(abc.ABC):
    """Writes GPU core dumps."""

    @abc.abstractmethod
    async def write(self, path: Path, *, lightweight: bool = False) -> None:
        """Write what the GPU holds at this stop; the target stands as before.

        Args:
            path: File that is made; one that is there already is refused.
            lightweight: Leave memory out: program counters, registers and stacks alone.

        Raises:
            CommandFailed: The engine cannot, with the reason; `remedy` says what would help.
        """

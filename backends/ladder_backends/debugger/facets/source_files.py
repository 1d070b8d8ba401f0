"""Source files that the debug information names."""

from __future__ import annotations

import abc
from collections.abc import Sequence


class SourceFiles(abc.ABC):
    """Source files of the target."""

    @abc.abstractmethod
    async def matching(self, words: str, most: int) -> tuple[Sequence[str], bool]:
        """Full names of the `most` source files that match words best, best first; and whether there are more.

        The engine's list is megabytes long for a large program: it is read once, bounded, and kept.
        """

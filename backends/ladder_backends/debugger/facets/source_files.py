"""Source files that the debug information names."""

from __future__ import annotations

import abc
from collections.abc import Sequence


class SourceFiles(abc.ABC):
    """Source files of the target."""

    @abc.abstractmethod
    async def names(self) -> Sequence[str]:
        """Full names of the source files, each once, clean; of very many only the first.

        The engine's list is megabytes long for a large program, and asking for it makes the engine read all of its
        debug information: ask once, when it is needed, and let the question be cancelled.
        """

    @property
    @abc.abstractmethod
    def cut(self) -> bool:
        """The last list was longer than what was kept of it."""

"""A set of ranks that was found, with its job and how it is best told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ladder_backends.ranks.rank_list import fold


@dataclass(frozen=True, slots=True)
class Selection:
    """Ranks of one job.

    Attributes:
        job: The job's name in sets.
        ranks: In ascending order, each once.
        text: As it was asked for.
    """

    job: str
    ranks: tuple[int, ...]
    text: str = ""

    def __iter__(self) -> Iterator[int]:
        return iter(self.ranks)

    def __len__(self) -> int:
        return len(self.ranks)

    def __contains__(self, rank: object) -> bool:
        return rank in self.ranks

    @property
    def name(self) -> str:
        """Short, and to be typed again: `$a{0-2,7}`."""
        return f"${self.job}{{{fold(self.ranks)}}}"

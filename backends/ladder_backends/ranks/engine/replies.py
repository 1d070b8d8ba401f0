"""Answers of many ranks as few: grouped by what they said, with who did not answer and why."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ladder_backends.model.ranks import Mesh, Unreachable
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.sets.axes import in_axes

Said = TypeVar("Said", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ReplyClass(Generic[Said]):
    """Ranks that said the same."""

    ranks: tuple[int, ...]
    said: Said

    def name(self, mesh: Mesh | None = None) -> str:
        """The ranks as axes where those say it shorter, else as a list."""
        return in_axes(self.ranks, mesh) or fold(self.ranks)


@dataclass(frozen=True, slots=True)
class Reply(Generic[Said]):
    """What a set of ranks answered.

    Attributes:
        asked: Ranks that were asked, in ascending order.
        classes: The largest first, then by the lowest rank.
        unreachable: Ranks without an answer, each with the reason.
        predicted: Seconds that ranks were expected to stand for this.
        pause: Seconds that the rank held longest did stand for this; 0 where all stood before.
    """

    asked: tuple[int, ...]
    classes: tuple[ReplyClass[Said], ...]
    unreachable: tuple[Unreachable, ...] = ()
    predicted: float = 0.0
    pause: float = 0.0

    @property
    def answered(self) -> int:
        """How many answered."""
        return sum(len(each.ranks) for each in self.classes)

    @property
    def headline(self) -> str:
        """`answered 3 of 4; rank 1: it waits in the kernel (state D)`."""
        text = f"answered {self.answered} of {len(self.asked)}"
        for reason, ranks in _by_reason(self.unreachable).items():
            text += f"; rank{'' if len(ranks) == 1 else 's'} {fold(ranks)}: {reason}"
        return text

    def of(self, rank: int) -> Said | None:
        """What one rank said, or None."""
        return next((each.said for each in self.classes if rank in each.ranks), None)

    def by_rank(self) -> dict[int, Said]:
        """What each said, by rank in ascending order."""
        return dict(sorted((rank, each.said) for each in self.classes for rank in each.ranks))


def group(
    asked: Sequence[int],
    said: Mapping[int, Said],
    unreachable: Iterable[Unreachable] = (),
    predicted: float = 0.0,
    pause: float = 0.0,
) -> Reply[Said]:
    """Answers by rank as a reply; ranks that are in neither mapping nor `unreachable` count as silent."""
    by_answer: dict[Said, list[int]] = {}
    for rank in sorted(said):
        by_answer.setdefault(said[rank], []).append(rank)
    classes = [ReplyClass(tuple(ranks), answer) for answer, ranks in by_answer.items()]
    classes.sort(key=lambda each: (-len(each.ranks), each.ranks))
    silent = {each.rank: each for each in unreachable if each.rank not in said}
    for rank in asked:
        if rank not in said and rank not in silent:
            silent[rank] = Unreachable(rank, "it gave no answer")
    return Reply(
        tuple(sorted(asked)),
        tuple(classes),
        tuple(silent[rank] for rank in sorted(silent)),
        predicted,
        pause,
    )


def _by_reason(unreachable: Iterable[Unreachable]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for each in unreachable:
        found.setdefault(each.reason, []).append(each.rank)
    return found

"""What NCCL's RAS counts: who has begun fewer operations, and who does not answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ladder_backends.model.ranks import RasCounts

_SILENT = ("MISSING", "DEAD", "UNRESPONSIVE", "NOCOMM")


@dataclass(frozen=True, slots=True)
class Behind:
    """Ranks of a communicator that have begun fewer operations of a kind than others.

    Attributes:
        fewest: Count of the one that is farthest behind.
        most: Count of the others.
    """

    communicator: str
    op: str
    ranks: tuple[int, ...]
    others: tuple[int, ...]
    fewest: int
    most: int


def behind(told: Sequence[RasCounts]) -> list[Behind]:
    """By communicator and operation; only counts that did not change between two queries are looked at.

    A healthy job differs in any single query, and one whose counts change goes on.
    """
    found: list[Behind] = []
    for communicator in dict.fromkeys(one.communicator for one in told):
        rows = [one for one in told if one.communicator == communicator and one.state not in _SILENT]
        if len(rows) < 2 or not all(one.unchanged for one in rows):
            continue
        for op in dict.fromkeys(name for one in rows for name in one.counts):
            counted = {one.rank: one.counts.get(op, 0) for one in rows}
            most = max(counted.values())
            late = tuple(sorted(rank for rank, count in counted.items() if count < most))
            if late:
                others = tuple(sorted(set(counted) - set(late)))
                found.append(Behind(communicator, op, late, others, min(counted.values()), most))
    return found


def silent(told: Sequence[RasCounts]) -> tuple[int, ...]:
    """Ranks that RAS knows and heard nothing of at two queries: at one, a busy rank may only have been late."""
    return tuple(sorted({one.rank for one in told if one.state in _SILENT and one.unchanged}))

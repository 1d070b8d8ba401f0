"""Who waits for whom over several process groups: what everything hangs on, or a circle."""

from __future__ import annotations

from collections.abc import Sequence

from ladder_backends.ranks.verdict.recorded import Parting


def _waits_elsewhere(rank: int, one: Parting, every: Sequence[Parting]) -> Parting | None:
    """The parting in which a culprit of another one waits itself."""
    return next((other for other in every if other is not one and other.pending and rank in other.others), None)


def roots_of(every: Sequence[Parting]) -> list[Parting]:
    """Those of which some culprit waits for nobody: what the others hang on."""
    roots = [one for one in every if any(_waits_elsewhere(rank, one, every) is None for rank in one.culprits)]
    return roots or list(every)


def circle_of(every: Sequence[Parting]) -> list[Parting]:
    """Partings that wait for each other, where there is no other root; else nothing."""
    if len(every) < 2 or any(_waits_elsewhere(rank, one, every) is None for one in every for rank in one.culprits):
        return []
    path: list[Parting] = []
    one: Parting | None = every[0]
    while one is not None and one not in path:
        path.append(one)
        one = _waits_elsewhere(one.culprits[0], one, every)
    return path[path.index(one) :] if one is not None else []

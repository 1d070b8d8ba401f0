"""What a sweep amounts to: the patterns over its pairs that the table of verdicts asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ladder_backends.model.p2p import ArmResult, PairResult, Result, Sweep

COPIES = ("push", "pull", "store", "load", "sizes", "patterns", "far end")
"""Arms that move data in one process, while nothing else runs."""

RESIDENT = ("handshake", "nccl")
"""Arms in which kernels wait for each other."""

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Signature:
    """Patterns over a sweep.

    Attributes:
        tested: Ordered pairs of which a peer arm came to something.
        right: Those on which everything is right.
        by_result: Ordered pairs by the class of their copies.
    """

    tested: tuple[Key, ...]
    right: tuple[Key, ...]
    by_result: dict[Result, tuple[Key, ...]]

    def having(self, result: Result) -> tuple[Key, ...]:
        """Pairs whose copies are of a class."""
        return self.by_result.get(result, ())


def signature(sweep: Sweep) -> Signature:
    """The patterns of a sweep."""
    tested, right = [], []
    by_result: dict[Result, list[Key]] = {}
    for key, pair in sweep.pairs.items():
        kind = copies(pair)
        if kind is Result.NOT_TESTED:
            continue
        tested.append(key)
        by_result.setdefault(kind, []).append(key)
        if pair.kind is Result.RIGHT:
            right.append(key)
    return Signature(tuple(tested), tuple(right), {kind: tuple(keys) for kind, keys in by_result.items()})


def copies(pair: PairResult) -> Result:
    """The class of a pair's plain transfers; `not_tested` before there is one."""
    results = {arm.result for name, arm in pair.arms.items() if name in (*COPIES, "enable", "trace", "speed")}
    for kind in (
        Result.HUNG,
        Result.MISROUTED,
        Result.MIRRORED,
        Result.DROPPED,
        Result.STALE,
        Result.PARTIAL,
        Result.ERROR,
        Result.RIGHT,
    ):
        if kind in results:
            return kind
    return Result.NOT_TESTED


def failing(sweep: Sweep, arms: Iterable[str]) -> list[ArmResult]:
    """Results of some arms that are wrong."""
    return [
        pair.arms[arm]
        for pair in sweep.pairs.values()
        for arm in arms
        if arm in pair.arms and pair.arms[arm].result.wrong
    ]


def bad_controls(sweep: Sweep, *arms: str) -> list[ArmResult]:
    """Control arms that are wrong."""
    return [one for one in sweep.controls.values() if one.arm in arms and one.result.wrong]


def one_way(sweep: Sweep, pairs: Iterable[Key]) -> bool:
    """Each of these pairs fails while its reverse is right."""
    pairs = tuple(pairs)
    return bool(pairs) and all(
        (target, source) in sweep.pairs and copies(sweep.pairs[target, source]) is Result.RIGHT
        for source, target in pairs
    )


def common_gpu(sweep: Sweep, pairs: Iterable[Key]) -> int | None:
    """The one GPU that all failing pairs share, where its pairs all fail and others are right."""
    pairs = set(pairs)
    if len(sweep.gpus) < 3 or not pairs:
        return None
    shared = set.intersection(*(set(pair) for pair in pairs))
    for gpu in shared:
        if pairs == {key for key in sweep.pairs if gpu in key}:
            return gpu
    return None


def common_target(sweep: Sweep, pairs: Iterable[Key]) -> int | None:
    """The one GPU into which all failing pairs go, where all that do fail and its own way out is right."""
    pairs = set(pairs)
    targets = {target for _, target in pairs}
    if len(sweep.gpus) < 3 or len(targets) != 1:
        return None
    gpu = targets.pop()
    into = {key for key, pair in sweep.pairs.items() if key[1] == gpu and pair.claim.offered is not False}
    return gpu if pairs == into and one_way(sweep, pairs) else None


def shown(pairs: Iterable[Key], sweep: Sweep) -> str:
    """Ordered pairs for a sentence."""
    pairs = tuple(pairs)
    if len(pairs) == len(sweep.pairs):
        return f"all {len(pairs)} pairs"
    if len(pairs) <= 3:
        return ", ".join(f"GPU{source} → GPU{target}" for source, target in pairs)
    return f"{len(pairs)} of {len(sweep.pairs)} pairs"

"""Where recorded values part first: hit, rank, index and both values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ladder_backends.ranks.compare.recorded_hits import Hit, RankHits
from ladder_backends.ranks.compare.wish import Wish


@dataclass(frozen=True, slots=True)
class ValueDivergence:
    """Where two ranks part for the first time, by one wish.

    Attributes:
        hit: How often the ranks had come there, from 1 on.
        rank, other: The rank of the left side, and of the right one; None where that is a number.
        index: Of the first element that differs; None where it is not known by elements.
        left, right: That element of both sides; None where it is no number.
        why: A clause.
    """

    wish: Wish
    hit: int
    rank: int
    other: int | None
    index: int | None
    left: float | None
    right: float | None
    why: str


@dataclass(frozen=True, slots=True)
class HitComparison:
    """What comparing two runs told.

    Attributes:
        compared: Pairs of hits that were compared.
        divergences: The first one of each wish and pair of ranks; the earliest hit first, then the lowest rank.
        unseen: What could not be compared, each a clause.
        endings: Runs and ranks that did not end well: `b rank 2: SIGSEGV in act at solver.c:12`.
        died: Some of these are known to have ended badly.
    """

    compared: int
    divergences: tuple[ValueDivergence, ...]
    unseen: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    died: bool = False

    @property
    def first(self) -> ValueDivergence | None:
        """The earliest."""
        return self.divergences[0] if self.divergences else None


def compare_hits(wishes: tuple[Wish, ...], runs: Mapping[str, Mapping[int, RankHits]]) -> HitComparison:
    """Compare recorded runs, by name, as wished."""
    compared = 0
    found: list[ValueDivergence] = []
    unseen: list[str] = []
    for wish in wishes:
        left_run = runs[wish.left.run]
        left = wish.left.ranks if wish.left.ranks is not None else tuple(left_run)
        right = left
        if wish.right is not None:
            right_run = runs[wish.right.run]
            right = wish.right.ranks if wish.right.ranks is not None else tuple(right_run)
            if len(left) != len(right):
                unseen.append(f"{wish.text}: {len(left)} ranks beside {len(right)}")
        for rank, other in zip(left, right, strict=False):
            count = _pair(wish, runs, rank, other, found, unseen)
            compared += count
    found.sort(key=lambda each: (each.hit, each.rank))
    endings = [
        f"{name} rank {rank}: {hits.ending or 'its record ends without a word'}"
        for name, run in runs.items()
        for rank, hits in run.items()
        if not hits.well
    ]
    died = any(hits.ending and not hits.well for run in runs.values() for hits in run.values())
    return HitComparison(compared, tuple(found), tuple(dict.fromkeys(unseen)), tuple(endings), died)


def _pair(
    wish: Wish,
    runs: Mapping[str, Mapping[int, RankHits]],
    rank: int,
    other: int,
    found: list[ValueDivergence],
    unseen: list[str],
) -> int:
    for side, number in ((wish.left, rank), (wish.right, other)):
        hits_of = runs[side.run].get(number) if side is not None else None
        if side is not None and hits_of is not None and (side.place, side.expression) not in hits_of.probes:
            unseen.append(f"{side.run} has not recorded {side.expression} at {side.place}")
            return 0
        if side is not None and hits_of is not None and wish.by and (side.place, wish.by) not in hits_of.probes:
            unseen.append(f"{side.run} has not recorded {wish.by} at {side.place}")
            return 0
    mine = runs[wish.left.run].get(rank)
    if mine is None:
        unseen.append(f"{wish.left.run} has no rank {rank}")
        return 0
    hits = mine.of(wish.left.place, wish.left.expression)
    theirs: RankHits | None = None
    others: list[Hit] = []
    if wish.right is not None:
        theirs = runs[wish.right.run].get(other)
        if theirs is None:
            unseen.append(f"{wish.right.run} has no rank {other}")
            return 0
        others = theirs.of(wish.right.place, wish.right.expression)
        if not hits and not others:
            unseen.append(f"rank {rank} never came to {wish.left.place}")
            return 0
    elif not hits:
        unseen.append(f"rank {rank} never came to {wish.left.place}")
        return 0
    pairs: list[tuple[int, Hit, Hit | None]]
    if wish.right is not None and theirs is not None and wish.by:
        pairs = _paired(wish, mine, hits, theirs, others, unseen)
    else:
        numbered = zip(hits, others, strict=False) if theirs is not None else ((hit, None) for hit in hits)
        pairs = [(number, hit, beside) for number, (hit, beside) in enumerate(numbered, 1)]
        if theirs is not None and mine is not theirs and (mine.live or theirs.live):
            unseen.append(
                "which hits belong together: ranks that ran already are counted from when they were attached to;"
                " add by=EXPRESSION, as by=iteration"
            )
    for count, (number, hit, beside) in enumerate(pairs, 1):
        differs = _differs(wish, mine, hit, theirs, beside)
        if differs is not None:
            index, left, right, why = differs
            found.append(ValueDivergence(wish, number, rank, other if theirs else None, index, left, right, why))
            return count
    if theirs is not None and wish.right is not None and len(hits) != len(others) and not wish.by:
        why = f"{wish.left.run} came there {len(hits)} times, {wish.right.run} {len(others)}"
        if mine.live or theirs.live:
            unseen.append(f"ranks {rank} and {other}: {why} while they were recorded")
        else:
            found.append(ValueDivergence(wish, len(pairs) + 1, rank, other, None, None, None, why))
    return len(pairs)


def _paired(
    wish: Wish, mine: RankHits, hits: list[Hit], theirs: RankHits, others: list[Hit], unseen: list[str]
) -> list[tuple[int, Hit, Hit | None]]:
    """Hits of equal keys, the first of each key with the first; the number is that of the left side."""
    assert wish.right is not None
    left = [_key(hit) for hit in mine.of(wish.left.place, wish.by)]
    right = [_key(hit) for hit in theirs.of(wish.right.place, wish.by)]
    waiting: dict[tuple[str, str], list[Hit]] = {}
    for key, hit in zip(reversed(right), reversed(others[: len(right)]), strict=False):
        waiting.setdefault(key, []).append(hit)
    pairs: list[tuple[int, Hit, Hit | None]] = []
    for number, (key, hit) in enumerate(zip(left, hits, strict=False), 1):
        if waiting.get(key):
            pairs.append((number, hit, waiting[key].pop()))
    if not pairs:
        unseen.append(f"ranks {mine.rank} and {theirs.rank} have no {wish.by} in common")
    return pairs


def _key(hit: Hit) -> tuple[str, str]:
    return hit.digest, hit.error


def _differs(
    wish: Wish, mine: RankHits, hit: Hit, theirs: RankHits | None, other: Hit | None
) -> tuple[int | None, float | None, float | None, str] | None:
    if hit.error or (other is not None and other.error):
        if other is not None and hit.error == other.error:
            return None
        return None, None, None, hit.error or (other.error if other is not None else "")
    named = [each.type.name for each in (hit, other) if each is not None and each.type is not None]
    if wish.left.place == "collectives" and len(named) == 2 and named[0] != named[1]:
        # The name of their type tells which collective it is, and of what.
        return None, None, None, f"{named[0]} beside {named[1]}"
    if other is not None and hit.digest == other.digest and (wish.nan_same or _no_nan(mine, hit)):
        return None
    raw = mine.bytes_of(hit)
    numbers = hit.type.numbers(raw) if hit.type is not None and raw is not None else None
    if other is None or theirs is None:
        if numbers is None:
            return None, None, None, "it is no number"
        return _first(wish, list(numbers), [wish.number] * len(numbers))
    raw = theirs.bytes_of(other)
    others = other.type.numbers(raw) if other.type is not None and raw is not None else None
    if numbers is None or others is None:
        kept = hit.at >= 0 and other.at >= 0
        return None, None, None, "their bytes differ" if kept else "their hashes differ; the values were not kept"
    if len(numbers) != len(others):
        return None, None, None, f"{len(numbers)} elements beside {len(others)}"
    return _first(wish, list(numbers), list(others))


def _no_nan(mine: RankHits, hit: Hit) -> bool:
    if hit.type is None or hit.type.code != "f":
        return True
    raw = mine.bytes_of(hit)
    numbers = hit.type.numbers(raw) if raw is not None else None
    return numbers is None or not any(math.isnan(number) for number in numbers)


def _first(wish: Wish, left: list[float], right: list[float]) -> tuple[int, float, float, str] | None:
    for index, (one, two) in enumerate(zip(left, right, strict=True)):
        if one == two:
            continue
        if math.isnan(one) or math.isnan(two):
            if wish.nan_same and math.isnan(one) and math.isnan(two):
                continue
            return index, one, two, "a NaN"
        difference = abs(one - two)
        if wish.exact or not difference <= wish.atol + wish.rtol * abs(two):
            return index, one, two, f"they differ by {difference:.3g}"
    return None

"""Which right pairs are slow: by ratios, because absolute figures belong to one model of GPU and one board."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace

from ladder_backends.model.p2p import PairResult, Sweep

ONE_WAY = 0.85
"""A direction below this part of its reverse is slow."""

OF_ITS_KIND = 0.7
"""A pair below this part of the median of all pairs is slow."""

BOTH_WAYS = 1.6
"""Both directions together should move this much more than one."""


def judged(sweep: Sweep) -> Mapping[tuple[int, int], PairResult]:
    """The pairs, with the reason where one is slow."""
    rates = [pair.bandwidth for pair in sweep.pairs.values() if pair.bandwidth]
    median = statistics.median(rates) if len(rates) > 2 else None
    return {key: replace(pair, slow=_slow(sweep, pair, median)) for key, pair in sweep.pairs.items()}


def staged_rate(sweep: Sweep, source: int, target: int) -> float | None:
    """GB/s of the copy through the host, where it was measured."""
    control = sweep.controls.get(("staged", source, target))
    value = control.evidence.get("GBps") if control is not None else None
    return float(value) if isinstance(value, int | float) else None


def _slow(sweep: Sweep, pair: PairResult, median: float | None) -> str:
    rate = pair.bandwidth
    if not rate:
        return ""
    staged = staged_rate(sweep, pair.source, pair.target)
    if staged is not None and rate < staged:
        return f"{rate:g} GB/s, below the {staged:g} GB/s of a copy through the host"
    reverse = sweep.pairs.get((pair.target, pair.source))
    if reverse is not None and reverse.bandwidth and rate < ONE_WAY * reverse.bandwidth:
        return f"{rate:g} GB/s, its reverse {reverse.bandwidth:g} GB/s"
    if median is not None and rate < OF_ITS_KIND * median:
        return f"{rate:g} GB/s, the median of the pairs is {median:g} GB/s"
    both = pair.arms.get("both ways")
    total = both.evidence.get("sum_GBps") if both is not None else None
    if isinstance(total, int | float) and reverse is not None and reverse.bandwidth and total < BOTH_WAYS * rate:
        return f"both directions together {total:g} GB/s, one alone {rate:g} GB/s"
    return ""

"""A verdict in the shape of `ladder-tui ranks --json`, and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ladder_backends.model.rank_verdict import RankVerdict
from ladder_backends.ranks.rank_list import fold


def verdict_json(verdict: RankVerdict, also: Sequence[RankVerdict] = ()) -> dict[str, Any]:
    """All of a verdict; `suspects` and `waiters` are rank lists, `now` a `command` with its `price`, or null."""
    return {
        "id": verdict.id,
        "sentence": verdict.sentence,
        "suspects": fold(verdict.suspects),
        "waiters": fold(verdict.waiters),
        "diverges": verdict.diverges,
        "confidence": str(verdict.confidence),
        "facts": [{"text": fact.text, "source": fact.source, "speaks": fact.speaks} for fact in verdict.facts],
        "now": {"command": verdict.now, "price": verdict.price} if verdict.now else None,
        "group": verdict.group or None,
        "seq": verdict.seq,
        "samples": verdict.samples,
        "also": [verdict_json(each) for each in also],
    }


def verdict_lines(verdict: RankVerdict, also: Sequence[RankVerdict] = ()) -> Iterator[str]:
    """The verdict, what it leans on, and what to do next."""
    looks = f"{verdict.samples} look" + ("" if verdict.samples == 1 else "s")
    yield f"{'✗' if verdict.diverges else '·'} {verdict.sentence}"
    yield f"  {looks} · confidence {verdict.confidence}"
    for fact in verdict.facts:
        sign = "+" if fact.speaks > 0 else "−" if fact.speaks < 0 else "·"
        yield f"  {sign} {fact.text}  [{fact.source}]"
    if verdict.now:
        yield f"  Now: {verdict.now}" + (f"   ({verdict.price})" if verdict.price else "")
    for each in also:
        yield f"  also: {each.sentence}"

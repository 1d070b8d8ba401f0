"""What a comparison told: for a person, and for a machine."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ladder_backends.model.ranks import Collective
from ladder_backends.ranks.compare.collective_comparison import CollectiveComparison, CollectiveDivergence
from ladder_backends.ranks.compare.hit_comparison import HitComparison, ValueDivergence

_SHOWN = 8


def hits_lines(told: HitComparison) -> Iterator[str]:
    """Lines about values."""
    first = told.first
    if first is not None:
        yield f"first difference: {divergence_words(first)}"
        yield f"  {first.wish.text}"
        others = told.divergences[1:]
        for each in others[:_SHOWN]:
            yield f"then: {divergence_words(each)}"
        if len(others) > _SHOWN:
            yield f"and {len(others) - _SHOWN} more pairs of ranks part"
    elif told.compared:
        yield f"no difference in {told.compared} hits"
    else:
        yield "nothing was compared"
    yield from (f"ended badly: {words}" for words in told.endings)
    yield from (f"not compared: {words}" for words in told.unseen)


def divergence_words(each: ValueDivergence) -> str:
    """`hit 300, rank 2, index 7: 1.0 beside 1.000000001 (they differ by 1e-09)`."""
    pair = f"rank {each.rank}" if each.other in (None, each.rank) else f"ranks {each.rank} and {each.other}"
    index = f", index {each.index}" if each.index is not None else ""
    if each.left is None or each.right is None:
        return f"hit {each.hit}, {pair}{index}: {each.why}"
    return f"hit {each.hit}, {pair}{index}: {each.left!r} beside {each.right!r} ({each.why})"


def hits_json(told: HitComparison) -> dict[str, object]:
    """The same for a machine."""
    return {
        "format": 1,
        "kind": "values",
        "compared": told.compared,
        "first": _value_json(told.first) if told.first is not None else None,
        "divergences": [_value_json(each) for each in told.divergences],
        "ended_badly": list(told.endings),
        "not_compared": list(told.unseen),
    }


def _value_json(each: ValueDivergence) -> dict[str, object]:
    return {
        "wish": each.wish.text,
        "hit": each.hit,
        "rank": each.rank,
        "other_rank": each.other,
        "index": each.index,
        "left": _number(each.left),
        "right": _number(each.right),
        "why": each.why,
    }


def _number(value: float | None) -> float | str | None:
    """JSON has neither NaN nor infinities."""
    return value if value is None or math.isfinite(value) else str(value)


def dumps_lines(told: CollectiveComparison) -> Iterator[str]:
    """Lines about collectives."""
    first = told.first
    if first is not None:
        yield f"first difference: {collective_words(first)}"
        shown = first.left or first.right
        if shown is not None and shown.frames:
            frame = shown.frames[-1]
            yield f"  asked for in {frame.function} at {frame.file}:{frame.line}"
        others = told.divergences[1:]
        for each in others[:_SHOWN]:
            yield f"then: {collective_words(each)}"
        if len(others) > _SHOWN:
            yield f"and {len(others) - _SHOWN} more"
    elif told.compared:
        yield f"no difference in {told.compared} collectives"
    else:
        yield "nothing was compared"
    yield from (f"not compared: {words}" for words in told.unseen)


def collective_words(each: CollectiveDivergence) -> str:
    """`collective 201 of group default, rank 1: all_reduce beside all_gather`."""
    return f"collective {each.seq} of group {each.group or 'default'}, rank {each.rank}: {each.why}"


def dumps_json(told: CollectiveComparison) -> dict[str, object]:
    """The same for a machine."""
    return {
        "format": 1,
        "kind": "collectives",
        "compared": told.compared,
        "first": _divergence_json(told.first) if told.first is not None else None,
        "divergences": [_divergence_json(each) for each in told.divergences],
        "not_compared": list(told.unseen),
    }


def _divergence_json(each: CollectiveDivergence) -> dict[str, object]:
    return {
        "group": each.group,
        "seq": each.seq,
        "rank": each.rank,
        "left": _collective_json(each.left),
        "right": _collective_json(each.right),
        "why": each.why,
    }


def _collective_json(each: Collective | None) -> dict[str, object] | None:
    if each is None:
        return None
    return {
        "op": each.op,
        "sizes": [list(shape) for shape in each.sizes],
        "dtype": each.dtype,
        "state": each.state,
        "frames": [
            {"function": frame.function, "file": frame.file, "line": frame.line} for frame in reversed(each.frames)
        ],
    }

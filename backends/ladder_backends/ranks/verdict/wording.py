"""Verdicts in words: one rank `has`, two `have`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ladder_backends.model.ranks import Collective
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.verdict.recorded import is_world

_LONGEST = 60
"""Characters of a list of ranks in a sentence."""


def named(ranks: Iterable[int]) -> str:
    """`Rank 3`, `Ranks 0-2,4`."""
    text = names(ranks)
    return text[:1].upper() + text[1:]


def names(ranks: Iterable[int]) -> str:
    """`rank 3`, `ranks 0-2,4`; `nobody` of none."""
    some = sorted(set(ranks))
    text = fold(some)
    if len(text) > _LONGEST:
        # All of them stand in the verdict's own lists; a sentence is for reading.
        return f"{len(some)} ranks ({text[: text.rfind(',', 0, _LONGEST)]},…)"
    return f"rank{'' if len(some) == 1 else 's'} {text}" if some else "nobody"


def verb(ranks: Sequence[int], one: str, many: str) -> str:
    """The form for so many."""
    return one if len(ranks) == 1 else many


def has(ranks: Sequence[int]) -> str:
    """`has` or `have`."""
    return verb(ranks, "has", "have")


def waits(ranks: Sequence[int]) -> str:
    """`waits` or `wait`."""
    return verb(ranks, "waits", "wait")


def ages(seconds: float | None) -> str:
    """`, 41 s`, `, 12 min`; empty where it is not known."""
    if seconds is None:
        return ""
    if seconds < 120:
        return f", {seconds:.0f} s"
    return f", {seconds / 60:.0f} min" if seconds < 7200 else f", {seconds / 3600:.1f} h"


def group(name: str) -> str:
    """A process group as a sentence names it."""
    return "the whole job" if is_world(name) else f"group {name}"


def shapes(one: Collective | None) -> str:
    """The sizes of a call: `[16]`, `[16] → [4 × 16]`."""
    if one is None:
        return "?"
    inputs = ", ".join(_shape(shape) for shape in one.sizes[:3]) + (" …" if len(one.sizes) > 3 else "")
    outputs = ", ".join(_shape(shape) for shape in one.output_sizes[:3])
    if not one.output_sizes or one.output_sizes == one.sizes:
        return inputs or "no sizes"
    return f"{inputs} → {outputs}"


def _shape(shape: Sequence[int]) -> str:
    return f"[{' × '.join(map(str, shape))}]"


class _Words(dict[str, object]):
    def __missing__(self, key: str) -> object:
        return ""


def sentence(form: str, suspects: Sequence[int], waiters: Sequence[int], words: Mapping[str, object]) -> str:
    """A row's words, filled in."""
    begins = form.startswith("{waiters}")
    count = words.get("total") or len(waiters)
    told = _Words(
        ranks=names(suspects) if begins or not form.startswith("{ranks}") else named(suspects),
        waiters=named(waiters) if begins else names(waiters),
        has=has(suspects),
        **{
            "is": verb(suspects, "is", "are"),
            "does": verb(suspects, "does", "do"),
            "do": verb(waiters, "does", "do"),
        },
        do_wait=waits(waiters),
        are=verb(waiters, "is", "are"),
        it=verb(suspects, "it", "them"),
        wait=waits(waiters if "for it" in form else suspects),
        count=count,
    )
    filled = {key: value for key, value in words.items() if key != "total"}
    if "group" not in filled:
        filled["group"] = "the group"
    told.update(filled)
    return form.format_map(told)

"""Verdicts of stacks where ranks stand in several operations, or in none that all of a group have to call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ladder_backends.model.rank_verdict import RankFact, RankVerdict
from ladder_backends.ranks.stacks.samples import Course
from ladder_backends.ranks.verdict.wording import names, waits

if TYPE_CHECKING:
    from ladder_backends.ranks.verdict.judging import Case

_STACKS = "stacks"
_BETWEEN_TWO = re.compile(
    r"MPI_(?:[SBR]?send|M?recv|M?probe|sendrecv|wait)\w*|nccl(?:Send|Recv)"
    r"|(?:batch_)?i?(?:send|recv)(?:_object_list|_irecv)?",
    re.IGNORECASE,
)
"""What waits for a message, of MPI, NCCL and torch; a transport's own functions may belong to a collective."""


def several_ops(case: Case, ordered: Sequence[tuple[str, list[int]]], own: Sequence[int]) -> RankVerdict:
    """Ranks in different collectives: who is in none of them is the suspect, else the fewest.

    Stacks tell no groups. Where somebody is in no collective, those who wait in different ones may be in different
    groups, and each may be where it belongs.

    Args:
        case: The job and all looks at it.
        ordered: Operations and who waits in them, most ranks first; at least two.
        own: Ranks in no communication.
    """
    facts = [RankFact(f"{names(ranks)} {waits(ranks)} in {name}", _STACKS, 1) for name, ranks in ordered[:3]]
    most = ordered[0][1]
    others = " and ".join(name for name, _ in ordered[1:])
    rest = sorted(rank for _, ranks in ordered[1:] for rank in ranks)
    if own:
        facts += case.looked(own, [*most, *rest])
        facts.append(RankFact("stacks tell no groups: one of those who wait may be in a wrong one", _STACKS, -1))
        op = f"{ordered[0][0]} and {others}"
        return case.make("stacks-outside", own, [*most, *rest], facts, op=op, tail=case.tail(own))
    facts += case.looked(rest, most)
    split = len(ordered[1][1]) == len(most)
    lines = {one.place for rank in rest if (one := case.standing[rank]).place}
    tail = f"It was called {lines.pop()}." if len(lines) == 1 else ""
    row = "stacks-split" if split else "stacks-wrong-op"
    return case.make(row, rest, most, facts, op=others, others=ordered[0][0], tail=tail)


def messages_only(case: Case, messages: Mapping[str, Sequence[int]]) -> list[RankVerdict]:
    """All ranks stand in calls between two, none of them on its way to answer; at two looks."""
    ranks = sorted(rank for some in messages.values() for rank in some)
    stuck = all(case.courses.get(rank) is Course.STUCK for rank in ranks)
    if not all(_BETWEEN_TWO.fullmatch(op) for op in messages):
        return []
    if case.stack_looks < 2 or not stuck or len(ranks) < 2 or len(ranks) < len(case.world):
        return []
    facts = [RankFact(f"{names(some)} {waits(some)} in {name}", _STACKS) for name, some in messages.items()]
    facts += case.looked(ranks, ())
    facts.append(RankFact("a job that does little but send looks like this too: look again", _STACKS))
    op = " or ".join(sorted(messages))
    lines = {case.standing[rank].place for rank in ranks}
    place = f" {lines.pop()}" if len(lines) == 1 and "" not in lines else ""
    return [case.make("stacks-messages", (), ranks, facts, op=op, place=place, total=len(ranks))]

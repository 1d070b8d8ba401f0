"""How sure one may be of a verdict: by what speaks for it, and by how far the looks lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from ladder_backends.model.rank_verdict import Confidence, RankFact
from ladder_backends.model.ranks import Evidence, Job
from ladder_backends.ranks.verdict.rows import Row

LONG_ENOUGH = 5.0
"""Seconds: for less than that, ranks wait in any job whose steps are long or uneven."""
LONGER = 30
"""Seconds between two looks that are advised instead."""
LONGER_COSTS = f"takes {LONGER} s, and stops no rank for longer than this look did"

_HIGH, _MEDIUM = 5, 3
_AT_ONCE = frozenset(("dead", "wrong-op", "split-op", "size", "dtype"))
_MAY_BE_SLOW = frozenset(("missing", "alone", "never", "stacks-missing", "stacks-outside", "ras-behind"))


def weigh(
    row: Row, facts: Sequence[RankFact], looks: Sequence[Evidence], waited: float | None
) -> tuple[Confidence, tuple[RankFact, ...]]:
    """The confidence that a verdict may have, and what speaks against more.

    Args:
        row: What it says.
        facts: What speaks for it and against it.
        looks: Those that it was made from, in the order of time.
        waited: Seconds for which somebody is known to wait, or None.
    """
    points = row.base + sum(fact.speaks for fact in facts)
    level = Confidence.HIGH if points >= _HIGH else Confidence.MEDIUM if points >= _MEDIUM else Confidence.LOW
    if len(looks) < 2:
        # A healthy job caught between two lines looks like this too.
        at_most = level if not row.diverges or row.id in _AT_ONCE or level is Confidence.LOW else Confidence.MEDIUM
        return at_most, ()
    span = looks[-1].at - looks[0].at
    if row.id not in _MAY_BE_SLOW or max(span, waited or 0.0) >= LONG_ENOUGH:
        return level, ()
    why = f"the looks lie {span:.1f} s apart: ranks in a long step look like this too"
    return Confidence.LOW, (RankFact(why, "looks"),)


def longer_look(job: Job) -> str:
    """The command that tells a long step from a hang."""
    pid = job.launcher_pid or (job.ranks[0].pid if job.ranks else None)
    return f"ladder-tui ranks --pid {pid} --between {LONGER}" if pid is not None else ""

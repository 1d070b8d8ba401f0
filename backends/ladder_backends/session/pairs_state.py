"""The pairs of GPUs, as panes see them: the sweep that goes on or was the last, and what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass

if TYPE_CHECKING:
    from ladder_backends.model.p2p import Sweep, Verdict


@dataclass(slots=True)
class PairsState:
    """What is known of the pairs.

    Attributes:
        sweep: What is known so far; None before the first sweep.
        verdicts: What it means, once it is over; the one to act on first.
        running: A sweep, or the test of one cell, is at work.
        expected: Seconds that it takes on a healthy machine.
        began: `time.monotonic()` of its begin.
        broke: What worked in the baseline that is compared and does not any more.
        baseline: The name of that baseline, or an empty string.
        changed: Ordered pairs of which `broke` tells.
        kept: Results of that baseline, shown where there was no sweep; None where it has none.
        kept_at: When they were kept, seconds since the epoch.
        stale: Ordered pairs that were tested before the machine changed.
        why_stale: What changed since, or an empty string.
    """

    sweep: Sweep | None = None
    verdicts: tuple[Verdict, ...] = ()
    running: bool = False
    expected: float = 0.0
    began: float = 0.0
    broke: tuple[str, ...] = ()
    baseline: str = ""
    changed: frozenset[tuple[int, int]] = frozenset()
    kept: Sweep | None = None
    kept_at: float = 0.0
    stale: frozenset[tuple[int, int]] = frozenset()
    why_stale: str = ""

    @property
    def shown(self) -> Sweep | None:
        """The sweep; before there is one, what the baseline holds."""
        return self.sweep or self.kept


def arm_words(arm: str) -> tuple[str, str]:
    """The test that an arm belongs to, and what it does; empty where there is no such arm."""
    from ladder_backends.p2p.arms import ARMS

    known = ARMS.get(arm)
    return (known.test, known.does) if known is not None else ("", "")

"""The pairs of GPUs, as panes see them: the sweep that goes on or was the last, and what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """

    sweep: Sweep | None = None
    verdicts: tuple[Verdict, ...] = ()
    running: bool = False
    expected: float = 0.0
    began: float = 0.0
    broke: tuple[str, ...] = ()
    baseline: str = ""


def arm_words(arm: str) -> tuple[str, str]:
    """The test that an arm belongs to, and what it does; empty where there is no such arm."""
    from ladder_backends.p2p.arms import ARMS

    known = ARMS.get(arm)
    return (known.test, known.does) if known is not None else ("", "")

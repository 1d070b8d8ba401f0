"""What is wrong with a job, in one sentence, and what that sentence leans on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Confidence(StrEnum):
    """How sure it is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class RankFact:
    """One thing that speaks for or against a verdict.

    Attributes:
        text: A clause.
        source: Who says so: `flight recorder`, `native stacks`, `RAS`.
        speaks: Points for it; negative where it speaks against it.
    """

    text: str
    source: str
    speaks: int = 0


@dataclass(frozen=True, slots=True)
class RankVerdict:
    """One verdict.

    Attributes:
        id: The row of the table that it comes from.
        sentence: What is so, with the ranks.
        suspects: Ranks to look at first, ascending.
        waiters: Ranks that wait for them.
        diverges: It is a divergence, a death, or something that holds the job up; false for news of progress.
        confidence: Worked out from the facts.
        facts: Everything it leans on, and what speaks against it.
        now: The next command, or an empty string.
        price: What that costs the job.
        group: The process group it is about, or an empty string.
        seq: The number of the collective, or None.
        samples: Looks that it was made from.
    """

    id: str
    sentence: str
    suspects: tuple[int, ...] = ()
    waiters: tuple[int, ...] = ()
    diverges: bool = True
    confidence: Confidence = Confidence.LOW
    facts: tuple[RankFact, ...] = ()
    now: str = ""
    price: str = ""
    group: str = ""
    seq: int | None = None
    samples: int = 1

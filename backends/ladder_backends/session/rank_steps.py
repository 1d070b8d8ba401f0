"""What the ranks rung tells of pauses, time-outs and values."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """One rung of the pause ladder.

    Attributes:
        action: Id of the action that takes it: `ranks.stacks`.
        what: What it does.
        predicted: How long a rank is expected to stand, in words.
        measured: Seconds that the rank held longest stood the last time, or None before the first.
    """

    action: str
    what: str
    predicted: str
    measured: float | None = None


class Limit(NamedTuple):
    """A time-out that runs against ranks that are held: seconds, and whose it is."""

    seconds: float
    source: str


class Printed(NamedTuple):
    """An expression over ranks.

    Attributes:
        asked: How many ranks were asked.
        classes: Ranks as a list, how many, and their value; the largest class first.
        silent: Ranks without an answer, with the reason.
        pause: Seconds that the rank held longest stood for it.
    """

    expression: str
    asked: int
    classes: tuple[tuple[str, int, str], ...] = ()
    silent: tuple[tuple[str, str], ...] = ()
    pause: float = 0.0

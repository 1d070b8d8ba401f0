"""What an engine of ranks tells, as it happens."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ladder_backends.model.ranks import RankFrame


class RankEventKind(enum.StrEnum):
    """What happened."""

    STOPPED = "stopped"
    CRASHED = "crashed"
    RESUMED = "resumed"
    EXITED = "exited"
    RELEASED = "released"
    LOST = "lost"
    BUDGET = "budget"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class RankEvent:
    """One thing that happened to a rank, or with `rank` None to an engine.

    Attributes:
        at: Seconds of `time.monotonic()`.
        text: Few words: a reason, an exit status, a notice.
        signal: Name of a signal, where one is to blame.
        code: Exit status, where it exited by itself.
        frame: Where it stands.
    """

    kind: RankEventKind
    rank: int | None
    at: float
    text: str = ""
    signal: str = ""
    code: int | None = None
    frame: RankFrame | None = None


RankListener: TypeAlias = Callable[[RankEvent], None]

"""One rank inside an engine: its threads, which of them stand, and how it got there."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass, field

from ladder_backends.model.ranks import Rank, RankFrame


class Hold(enum.StrEnum):
    """How a rank stands with its engine."""

    ATTACHING = "attaching"
    RUNNING = "running"
    STOPPED = "stopped"
    CRASHED = "crashed"
    LEAVING = "leaving"
    EXITED = "exited"
    RELEASED = "released"
    LOST = "lost"


LIVE = (Hold.ATTACHING, Hold.RUNNING, Hold.STOPPED, Hold.CRASHED, Hold.LEAVING)


@dataclass(slots=True)
class HeldRank:
    """A rank that an engine traces or has traced.

    Attributes:
        group: The engine's name of its inferior: `i3`.
        threads: By the engine's number of each thread, in ascending order: whether it stands.
        was_stopped: It was stopped already (state T) when it was attached to, and is left so.
        current: The thread that stopped last for a reason of its own; None for the first one.
        reason: Why it stands, few words.
        signal: Name of the signal that stopped or ended it, or an empty string.
        code: Its exit status, once it has exited by itself.
        frame: Where it stopped, innermost.
        since: `time.monotonic()` since when any of its threads stands; None while all run.
        pause: Seconds for which it stood when it was looked at last.
    """

    rank: Rank
    group: str
    threads: dict[int, bool] = field(default_factory=dict)
    was_stopped: bool = False
    current: int | None = None
    reason: str = ""
    signal: str = ""
    code: int | None = None
    frame: RankFrame | None = None
    hold: Hold = Hold.ATTACHING
    since: float | None = None
    pause: float = 0.0

    @property
    def live(self) -> bool:
        """Its engine traces it."""
        return self.hold in LIVE

    @property
    def stands(self) -> bool:
        """All of its threads stand."""
        return bool(self.threads) and all(self.threads.values())

    @property
    def running_threads(self) -> list[int]:
        """Threads that run."""
        return [thread for thread, stands in self.threads.items() if not stands]

    @property
    def thread(self) -> int | None:
        """The thread that it is spoken of by."""
        if self.current in self.threads:
            return self.current
        return min(self.threads, default=None)

    def settle(self) -> bool:
        """Take account of what its threads do; returns whether it has begun or ceased to be held."""
        if not self.live or self.hold is Hold.LEAVING:
            return False
        held = any(self.threads.values())
        if self.hold is not Hold.CRASHED or not held:
            self.hold = Hold.STOPPED if held else Hold.RUNNING
        if held == (self.since is not None):
            return False
        now = time.monotonic()
        if self.since is not None:
            self.pause = now - self.since
        self.since = now if held else None
        return True

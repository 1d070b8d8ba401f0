"""What log points wrote."""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import NamedTuple

from ladder_backends.late_dataclass import dataclass

MOST_LINES = 2_000
"""Messages that are kept."""


class LogLine(NamedTuple):
    """One message. `intent` is the id of the log point's intent."""

    intent: int
    text: str


@dataclass(slots=True)
class LogLines:
    """The last messages of all log points.

    Attributes:
        lines: Oldest first, bounded.
        last: The last message of each log point, by the id of its intent.
        written: How many there were.
    """

    lines: deque[LogLine] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    last: dict[int, str] = field(default_factory=dict)
    written: int = 0

    def add(self, intent: int, text: str) -> None:
        """Keep a message."""
        self.lines.append(LogLine(intent, text))
        self.last[intent] = text
        self.written += 1

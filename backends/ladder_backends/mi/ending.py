"""What is left to say of an engine that has ended."""

from __future__ import annotations

import re
import signal

from ladder_backends.text import decode

_KEPT_BYTES = 2048
_LINES = 4
# What gdb says of every death of its own, for those who make it.
_FOR_ITS_MAKERS = re.compile(r"This is a bug, please report it|For instructions, see|gnu\.org/software/gdb/bugs")
_PROMPT = re.compile(r"\((?:cuda-)?gdb\)")


class LastWords:
    """The last lines an engine wrote, of what it was fed with."""

    def __init__(self) -> None:
        self._raw = b""

    def feed(self, chunk: bytes) -> None:
        """Add what the engine wrote."""
        self._raw = (self._raw + chunk[-_KEPT_BYTES:])[-_KEPT_BYTES:]

    def __str__(self) -> str:
        """The last lines that say something, clean, in one line."""
        lines = [line.strip() for line in decode(self._raw.replace(b"\r", b"")).splitlines()]
        return " · ".join([line for line in lines if not _PROMPT.fullmatch(line) and says_why(line)][-_LINES:])


def says_why(line: str) -> bool:
    """Whether a line of an engine that ended may tell why, rather than where to report it."""
    return bool(line.strip()) and not _FOR_ITS_MAKERS.search(line)


def manner(status: int | None) -> str:
    """How a process ended, from its exit status as `subprocess` tells it."""
    if status is None:
        return "it is gone"
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"

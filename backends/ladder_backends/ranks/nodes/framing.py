"""The lines that console and agent exchange: `@SEQUENCE BYTES JSON`, numbered from 1 on each side."""

from __future__ import annotations

import json
import re
from typing import Any

LARGEST = 64 << 20
"""Bytes of one message."""

_HEAD = re.compile(rb"@(\d{1,10}) (\d{1,9}) ")
_GREETING = 1 << 20
"""Bytes of other text, as of a shell that greets, that are passed over before the first message."""


class LinkTorn(Exception):
    """What came is not what was sent; the text is a clause."""


def frame(sequence: int, message: dict[str, Any]) -> bytes:
    """One message as a line."""
    body = json.dumps(message)
    return b"@%d %d %s\n" % (sequence, len(body), body.encode("ascii"))


class FrameReader:
    """Takes bytes as they come, and gives messages; nothing of them is believed but their form.

    Attributes:
        bytes: All that has come so far.
        messages: How many were whole.
        greeting: The last of other text before the first message.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.messages = 0
        self.greeting = b""
        self._pieces: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The messages that became whole.

        Raises:
            LinkTorn: A line is cut, was mixed with others, or one is missing.
        """
        self.bytes += len(data)
        found: list[dict[str, Any]] = []
        *whole, rest = data.split(b"\n")
        for line in whole:
            if self._pieces:
                line = b"".join((*self._pieces, line))
                self._pieces.clear()
                self._held = 0
            message = self._message(line)
            if message is not None:
                found.append(message)
        if rest:
            self._pieces.append(rest)
            self._held += len(rest)
            if self._held > (LARGEST if self.messages or rest.startswith(b"@") else _GREETING + LARGEST):
                raise LinkTorn(f"a line of more than {LARGEST:,} bytes")
        return found

    @property
    def cut(self) -> bool:
        """The last line has no end yet."""
        return self._held > 0

    def _message(self, line: bytes) -> dict[str, Any] | None:
        head = _HEAD.match(line)
        if head is None:
            if self.messages:
                raise LinkTorn("something else wrote into its answers")
            self.greeting = (self.greeting + line + b"\n")[-2000:]
            return None
        if int(head[1]) != self.messages + 1:
            raise LinkTorn(f"message {self.messages + 1} is missing")
        body = line[head.end() :]
        if len(body) != int(head[2]):
            raise LinkTorn(f"message {int(head[1])} has {len(body):,} bytes of {int(head[2]):,}")
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            raise LinkTorn(f"message {int(head[1])} is no JSON") from None
        if not isinstance(message, dict):
            raise LinkTorn(f"message {int(head[1])} is no object")
        self.messages += 1
        return message

"""Chunks of bytes become lines."""

from __future__ import annotations


class LineBuffer:
    """Cuts a stream at newlines; cost is linear however the stream is cut into chunks.

    Args:
        limit: Bytes of a line; what is longer is given out as if it ended there.
    """

    def __init__(self, limit: int = 1 << 28) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._limit = limit

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add a chunk; returns the lines it completes, without their newlines."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                lines.append(self.take())
        return lines

    @property
    def empty(self) -> bool:
        """Nothing of a line is kept that has no newline yet."""
        return not self._parts

    def take(self) -> bytes:
        """What has come of a line that has no newline yet; the buffer is empty afterwards."""
        rest = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return rest

"""What a program wrote, fed to its screen in small helpings; what is too much to read is left out and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ladder_tui.widgets.terminal_screen import TerminalScreen
from ladder_tui.widgets.terminal_stream import TerminalStream

SLICE = 4_096
"""Bytes between two looks at the clock."""

BUDGET = 0.006
"""Seconds of one helping."""

LIMIT = 256 << 10
"""Bytes that may wait; of more, only the end is shown."""

KEPT = 48 << 10
"""Bytes of the end that are shown."""

_ALTERNATE = (b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?47h", b"\x1b[?47l", b"\x1b[?1047h", b"\x1b[?1047l")


class ProgramBacklog:
    """Follows the session's bounded log of output and shows it on a screen.

    Attributes:
        dropped_lines: Lines that were left out, as far as they could be counted.
        dropped_bytes: Bytes that were gone before they could be looked at.
    """

    def __init__(self, screen: TerminalScreen, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self.screen = screen
        self.dropped_lines = 0
        self.dropped_bytes = 0
        self._stream = TerminalStream(screen)
        self._clock = clock
        self._consumed = 0

    def take_answers(self) -> bytes:
        """What the terminal answers to questions in the output shown since the last call."""
        answers = bytes(self._stream.answers)
        self._stream.answers.clear()
        return answers

    def drain(self, chunks: Sequence[bytes], dropped: int) -> bool:
        """Show a helping.

        Args:
            chunks: The log, oldest first.
            dropped: Bytes that the log has lost at its front.

        Returns:
            Whether more is waiting.
        """
        total = dropped + sum(map(len, chunks))
        if total < self._consumed:
            # Another program's log: start over.
            self._consumed = dropped
        if self._consumed < dropped:
            self.dropped_bytes += dropped - self._consumed
            self._consumed = dropped
            self._gap(f"… {self.dropped_bytes:,} bytes were gone before they could be shown")
        if total == self._consumed:
            return False
        waiting = self._waiting(chunks, total - self._consumed)
        if len(waiting) > LIMIT:
            waiting = self._skip(waiting)
        return self._feed(waiting, total)

    def _waiting(self, chunks: Sequence[bytes], count: int) -> bytes:
        """The last `count` bytes of the log."""
        pieces: list[bytes] = []
        for chunk in reversed(chunks):
            if count <= 0:
                break
            pieces.append(chunk[-count:] if len(chunk) > count else chunk)
            count -= len(chunk)
        return b"".join(reversed(pieces))

    def _skip(self, waiting: bytes) -> bytes:
        """Leave out all but the end, cut at a line; modes switched on the way are kept."""
        start = waiting.find(b"\n", len(waiting) - KEPT) + 1 or len(waiting) - KEPT
        skipped = waiting[:start]
        lines = skipped.count(b"\n")
        self.dropped_lines += lines
        self._consumed += start
        last = max(_ALTERNATE, key=skipped.rfind)
        if last in skipped:
            self._stream.resume_after_gap()
            self._stream.feed(last)
        self._gap(f"… {lines:,} lines dropped")
        return waiting[start:]

    def _gap(self, words: str) -> None:
        self._stream.resume_after_gap()
        if not self.screen.alternate:
            self._stream.feed(f"\r\n\x1b[2m{words}\x1b[0m\r\n".encode())

    def _feed(self, waiting: bytes, total: int) -> bool:
        until = self._clock() + BUDGET
        for start in range(0, len(waiting), SLICE):
            piece = waiting[start : start + SLICE]
            self._stream.feed(piece)
            self._consumed += len(piece)
            if self._clock() >= until:
                break
        return self._consumed < total

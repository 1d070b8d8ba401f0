"""What a program writes under the sanitizer, as lines: in memory for the screen, raw in a file of the run."""

from __future__ import annotations

import codecs
import contextlib
import re
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.session.sanitizer_state import SanitizerRunState

LINE_LENGTH = 4_000
"""Characters of a line; a longer one is continued on the next."""

LARGEST_FILE = 64 << 20
"""Bytes of output that are kept on disk for each tool."""

_TAIL = 64 << 10
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


class RunOutput:
    """The output of one tool's run.

    Args:
        state: Gets the lines.
        file: Gets the bytes; None keeps none.

    Attributes:
        tail: The last bytes.
        size: Bytes written in all.
    """

    def __init__(self, state: SanitizerRunState, file: Path | None) -> None:
        self._state = state
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._stream: IO[bytes] | None = None
        self._line = ""
        self.tail = b""
        self.size = 0
        if file is not None:
            with contextlib.suppress(OSError):
                self._stream = file.open("wb")

    def take(self, raw: bytes) -> None:
        """Add bytes."""
        self.size += len(raw)
        self.tail = (self.tail + raw)[-_TAIL:]
        if self._stream is not None and self.size <= LARGEST_FILE:
            with contextlib.suppress(OSError):
                self._stream.write(raw)
        text = _SEQUENCE.sub("", self._decoder.decode(raw))
        for number, piece in enumerate(text.split("\n")):
            if number:
                if not self._state.output_open:
                    self._begin()
                self._state.output_open = False
            if piece:
                self._extend(piece)

    def close(self) -> None:
        """The run has ended; its last line ends too."""
        self._state.output_open = False
        if self._stream is not None:
            with contextlib.suppress(OSError):
                self._stream.close()
            self._stream = None

    def _begin(self) -> None:
        self._state.output.append("")
        self._state.output_lines += 1
        self._state.output_open = True
        self._line = ""

    def _extend(self, piece: str) -> None:
        if not self._state.output_open:
            self._begin()
        line = self._line + piece
        # A progress bar writes its line anew.
        before, returned, last = line.rpartition("\r")
        if returned and last:
            line = last
        elif returned and "\r" in before:
            line = before.rpartition("\r")[2] + returned
        while len(line) > LINE_LENGTH:
            self._state.output[-1], line = clean_line(line[:LINE_LENGTH]), line[LINE_LENGTH:]
            self._begin()
        self._line = line
        self._state.output[-1] = clean_line(line.rstrip("\r"))

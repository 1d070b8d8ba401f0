"""Reads a text report while the tool still writes it."""

from __future__ import annotations

import os
from pathlib import Path

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer.text_report import TextReportReader

SLICE = 1 << 17
"""Bytes that are read in one go: some milliseconds of work."""

_MOST_AT_ONCE = 4 << 20


class ReportFollower:
    """A report file that may grow, or be begun anew by another run under the same name.

    Attributes:
        report: What was read so far. Another object once the file was begun anew.
        position: Bytes of the file that were read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = TextReportReader()
        self._file = 0
        self._size = 0
        self.position = 0
        # Its summary was read. Should more come all the same, the whole is read again and settled again.
        self._settled = False

    @property
    def report(self) -> Report:
        """What was read so far."""
        return self._reader.report

    def has_more(self) -> bool:
        """Whether the file holds what was not read yet; False while it is away."""
        try:
            status = os.stat(self._path)
        except OSError:
            return False
        return (status.st_ino, status.st_size) != (self._file, self.position)

    def fetch(self) -> bytes:
        """The next bytes of the file, one slice at most; nothing where there is no more of it now.

        Blocks for as long as the file system takes, and changes nothing that a pane looks at.
        """
        try:
            with self._path.open("rb") as stream:
                status = os.fstat(stream.fileno())
                if (status.st_ino, status.st_size) == (self._file, self.position):
                    return b""
                self._size = status.st_size
                if self._settled or status.st_ino != self._file or status.st_size < self.position:
                    self._reader = TextReportReader()
                    self._file, self.position, self._settled = status.st_ino, 0, False
                stream.seek(self.position)
                return stream.read(SLICE)
        except OSError:
            return b""

    def take(self, chunk: bytes) -> None:
        """Read what was fetched: the report grows."""
        self.position += len(chunk)
        self._reader.feed(chunk)
        if self._reader.report.complete and self.position >= self._size:
            # More may follow a summary in the same file: only at its end is it the last one.
            self._reader.finish()
            self._settled = True

    def read_more(self) -> bool:
        """Read what was added, at most some megabytes; returns whether there was anything."""
        begun = read = 0
        while read < _MOST_AT_ONCE and (chunk := self.fetch()):
            if not read:
                begun = self.position
            self.take(chunk)
            read = self.position - begun
        return read > 0

"""Reads a text report while the tool still writes it."""

from __future__ import annotations

import os
from pathlib import Path

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer.text_report import TextReportReader

_CHUNK = 1 << 18
_MOST_AT_ONCE = 4 << 20


class ReportFollower:
    """A report file that may grow, or be begun anew by another run under the same name.

    Attributes:
        report: What was read so far. Another object once the file was begun anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = TextReportReader()
        self._file = 0
        self._position = 0
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
        return (status.st_ino, status.st_size) != (self._file, self._position)

    def read_more(self) -> bool:
        """Read what was added, at most some megabytes; returns whether there was anything.

        Blocks for as long as the file system takes.
        """
        try:
            with self._path.open("rb") as stream:
                status = os.fstat(stream.fileno())
                if self._settled or status.st_ino != self._file or status.st_size < self._position:
                    self._reader = TextReportReader()
                    self._file, self._position, self._settled = status.st_ino, 0, False
                stream.seek(self._position)
                begun = self._position
                while self._position - begun < _MOST_AT_ONCE and (chunk := stream.read(_CHUNK)):
                    self._position += len(chunk)
                    self._reader.feed(chunk)
        except OSError:
            return False
        if self._reader.report.complete:
            self._reader.finish()
            self._settled = True
        return self._position > begun

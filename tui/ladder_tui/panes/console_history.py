"""Lines typed into an engine's console, kept over sessions."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ladder_backends.paths import state_dir
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

LIMIT = 2_000
"""Lines that are kept."""

_MAX_FILE = 1 << 20


def history_file(engine: str) -> Path:
    """Where an engine's history is kept: `$XDG_STATE_HOME/ladder-tui/history/<engine>`."""
    name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in engine) or "engine"
    return state_dir() / "history" / name


class ConsoleHistory:
    """Walks through earlier lines; an unfinished line waits at the end.

    Each new line is appended to the file in one write, so that consoles side by side do not lose each other's; the
    file is shortened, by replacing it, when it is next read. A file that cannot be read or written costs the memory
    of earlier sessions, nothing else.

    Args:
        file: Where the lines are kept, or None to keep them in memory.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.lines: list[str] = _read(file) if file is not None else []
        self._at = len(self.lines)
        self._draft = ""

    def add(self, line: str) -> None:
        """Keep a line that was sent; one that is blank, starts with a space or repeats the last is not kept."""
        self._draft = ""
        if line.strip() and not line.startswith(" ") and line != (self.lines[-1] if self.lines else ""):
            self.lines.append(clean_line(line))
            del self.lines[:-LIMIT]
            self._append(self.lines[-1])
        self._at = len(self.lines)

    def walk(self, step: int, current: str) -> str | None:
        """The line before (-1) or after (+1), or None at an end.

        Args:
            step: Direction.
            current: What stands on the input line; it is kept when the walk starts.
        """
        if self._at == len(self.lines):
            self._draft = current
        at = self._at + step
        if not 0 <= at <= len(self.lines):
            return None
        self._at = at
        return self._draft if at == len(self.lines) else self.lines[at]

    def search(self, needle: str, before: int | None = None) -> int | None:
        """The newest line that holds `needle`, looking only at lines older than number `before`."""
        start = len(self.lines) if before is None else before
        folded = needle.casefold()
        return next(
            (number for number in range(start - 1, -1, -1) if folded in self.lines[number].casefold()), None
        )

    def leave(self) -> None:
        """Stand at the end again."""
        self._at = len(self.lines)

    def _append(self, line: str) -> None:
        if self._file is None:
            return
        # Without a history file the console works as well.
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, line.encode("utf-8", "backslashreplace") + b"\n")
            finally:
                os.close(handle)


def _read(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - _MAX_FILE))
            raw = stream.read(_MAX_FILE)
    except OSError:
        return []
    lines = [clean_line(line) for line in raw.decode("utf-8", "replace").split("\n") if line.strip()]
    if size > len(raw):
        # The first line may have lost its beginning.
        del lines[:1]
    if len(lines) > LIMIT or size > len(raw):
        lines = lines[-LIMIT:]
        _replace(file, lines)
    return lines


def _replace(file: Path, lines: list[str]) -> None:
    with contextlib.suppress(OSError), writing_whole(file) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))

"""The user's watched expressions, kept for each program over restarts.

One file a program, or script of an interpreter, in `state_dir()/watches`, named as `program_file` says:

```
{"format": 1, "program": "/real/path", "script": "/real/path.py", "watches": ["expression", ...]}
```
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ladder_backends.session.program_file import ProgramFile
from ladder_backends.text import clean_line

FORMAT = 1
_MOST = 200
_LONGEST = 1_000


class WatchStore:
    """Expressions of one program on disk, or of one script of an interpreter.

    Attributes:
        file: Where they are kept.
        notice: What was wrong with the file, for the user; empty where nothing was.
    """

    def __init__(self, program: Path, script: str = "") -> None:
        self._kept = ProgramFile(program, "watches", script)
        self.file = self._kept.path
        self.notice = ""
        self._saved: list[str] = []

    def load(self) -> list[str]:
        """The kept expressions; a file that cannot be understood is put aside, not overwritten."""
        try:
            self._saved = _expressions(self._kept.read())
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            why, aside = clean_line(str(error)), self._kept.put_aside()
            self.notice = f"kept expressions cannot be read: {why} — the file is now {aside}"
        return list(self._saved)

    def news(self) -> tuple[list[str], set[str]]:
        """What others have added since the last look, and what they have taken away."""
        before = list(self._saved)
        if not self.file.exists():
            return [], set()
        now = self.load()
        return [one for one in now if one not in before], set(before) - set(now)

    def save(self, expressions: Iterable[str]) -> None:
        """Keep the expressions, in one atomic write; nothing is written where nothing changed."""
        kept = list(expressions)[:_MOST]
        if kept == self._saved:
            return
        try:
            self._kept.write(FORMAT, {"watches": kept})
        except OSError as error:
            self.notice = f"expressions cannot be kept in {self.file.parent}: {error.strerror or error}"
            return
        self._saved = kept


def _expressions(document: object) -> list[str]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("it is of another format")
    rows = document.get("watches")
    if not isinstance(rows, list):
        raise ValueError("it lists no expressions")
    kept = (clean_line(row) for row in rows[:_MOST] if isinstance(row, str) and len(row) <= _LONGEST)
    return list(dict.fromkeys(row for row in kept if row))

"""The user's watched expressions, kept for each program over restarts.

One file a program in `state_dir()/watches`, named by a digest of the program's real path:

```
{"format": 1, "program": "/real/path", "watches": ["expression", ...]}
```
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from ladder_backends.paths import state_dir
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

FORMAT = 1
_MOST = 200
_LONGEST = 1_000
_LARGEST = 1 << 20


class WatchStore:
    """Expressions of one program on disk.

    Attributes:
        file: Where they are kept.
        notice: What was wrong with the file, for the user; empty where nothing was.
    """

    def __init__(self, program: Path) -> None:
        self._program = os.path.realpath(program)
        digest = hashlib.sha256(os.fsencode(self._program)).hexdigest()[:32]
        self.file = state_dir() / "watches" / f"{digest}.json"
        self.notice = ""
        self._saved: list[str] = []

    def load(self) -> list[str]:
        """The kept expressions; a file that cannot be understood is put aside, not overwritten."""
        try:
            if self.file.stat().st_size > _LARGEST:
                raise ValueError("it is too large")
            self._saved = _expressions(json.loads(self.file.read_bytes()))
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            aside = self.file.with_suffix(".json.bad")
            with contextlib.suppress(OSError):
                os.replace(self.file, aside)
            self.notice = f"kept expressions cannot be read: {clean_line(str(error))} — the file is now {aside}"
        return list(self._saved)

    def save(self, expressions: Iterable[str]) -> None:
        """Keep the expressions, in one atomic write; nothing is written where nothing changed."""
        kept = list(expressions)[:_MOST]
        if kept == self._saved:
            return
        document = {"format": FORMAT, "program": self._program, "watches": kept}
        raw = json.dumps(document, indent=1).encode("utf-8", "surrogateescape")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with writing_whole(self.file) as file:
                file.write(raw)
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

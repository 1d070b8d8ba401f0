"""The user's breakpoints, kept for each program over restarts.

One file a program in `state_dir()/breakpoints`, named by a digest of the program's real path:

```
{"format": 1, "program": "/real/path", "breakpoints": [{"location": "...", "condition": "", "enabled": true}]}
```
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.paths import state_dir
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

FORMAT = 1
_MOST = 1_000
_LARGEST = 1 << 20
_ENGINE_ONLY = ("watch ", "catch ", "*")
"""Beginnings of locations that mean nothing in another run: expressions of a scope, addresses."""


class IntentStore:
    """Breakpoints of one program on disk.

    Attributes:
        file: Where they are kept.
        notice: What was wrong with the file, for the user; empty where nothing was.
    """

    def __init__(self, program: Path) -> None:
        self._program = os.path.realpath(program)
        digest = hashlib.sha256(os.fsencode(self._program)).hexdigest()[:32]
        self.file = state_dir() / "breakpoints" / f"{digest}.json"
        self.notice = ""
        self._saved: list[dict[str, object]] | None = None

    def load(self) -> list[BreakpointIntent]:
        """The kept breakpoints, with ids from 1; a file that cannot be understood is put aside, not overwritten."""
        try:
            if self.file.stat().st_size > _LARGEST:
                raise ValueError("it is too large")
            document = json.loads(self.file.read_bytes())
            intents = _intents(document)
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            self._put_aside(clean_line(str(error)))
            return []
        self._saved = _rows(intents)
        return intents

    def save(self, intents: Iterable[BreakpointIntent]) -> None:
        """Keep the breakpoints, in one atomic write; nothing is written where nothing changed."""
        rows = _rows(intents)
        if rows == self._saved or (not rows and self._saved is None and not self.file.exists()):
            return
        document = {"format": FORMAT, "program": self._program, "breakpoints": rows}
        raw = json.dumps(document, indent=1).encode("utf-8", "surrogateescape")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with writing_whole(self.file) as file:
                file.write(raw)
        except OSError as error:
            self.notice = f"breakpoints cannot be kept in {self.file.parent}: {error.strerror or error}"
            return
        self._saved = rows

    def _put_aside(self, why: str) -> None:
        aside = self.file.with_suffix(".json.bad")
        with contextlib.suppress(OSError):
            os.replace(self.file, aside)
        self.notice = f"kept breakpoints cannot be read: {why} — the file is now {aside}"


def _rows(intents: Iterable[BreakpointIntent]) -> list[dict[str, object]]:
    kept: dict[tuple[str, str], dict[str, object]] = {}
    for intent in intents:
        if not intent.temporary and intent.location and not intent.location.startswith(_ENGINE_ONLY):
            row = {"location": intent.location, "condition": intent.condition, "enabled": intent.enabled}
            kept.setdefault((intent.location, intent.condition), row)
    return list(kept.values())


def _intents(document: object) -> list[BreakpointIntent]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("it is of another format")
    rows = document.get("breakpoints")
    if not isinstance(rows, list):
        raise ValueError("it lists no breakpoints")
    intents: list[BreakpointIntent] = []
    for row in rows[:_MOST]:
        location = row.get("location") if isinstance(row, dict) else None
        if isinstance(row, dict) and isinstance(location, str) and location:
            condition = row.get("condition")
            intents.append(
                BreakpointIntent(
                    id=len(intents) + 1,
                    location=clean_line(location),
                    condition=clean_line(condition) if isinstance(condition, str) else "",
                    enabled=row.get("enabled") is not False,
                )
            )
    return intents

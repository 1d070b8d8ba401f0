"""The user's breakpoints, kept for each program over restarts.

One file a program, or script of an interpreter, in `state_dir()/breakpoints`, named as `program_file` says:

```
{"format": 2, "program": "/real/path", "script": "/real/path.py", "breakpoints": [{
    "kind": "break", "location": "...", "condition": "", "enabled": true, "ignore": 0, "once": false, "log": "",
    "commands": [], "thread": null, "scope": "",
    "anchor": {"file": "/src/a.c", "line": 12, "text": "...", "before": "...", "after": "..."} or null}]}
```

Only `location` has to be there. Format 1 had location, condition and enabled, and kept breakpoints in code only.

Several consoles may debug one program: what one of them changed is merged into what the file holds meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from ladder_backends.model.breakpoint import BreakpointIntent, BreakpointKind, SourceAnchor
from ladder_backends.model.focus import Dim3
from ladder_backends.session.program_file import ProgramFile
from ladder_backends.text import clean_line

FORMAT = 2
_FORMATS = (1, 2)
_MOST = 1_000
_MOST_COMMANDS = 200
_LOCK_TRIES, _LOCK_AGAIN = 20, 0.005
"""How often, and after how many seconds each, another console is waited for that writes."""

_Row: TypeAlias = "dict[str, object]"
IntentKey: TypeAlias = "tuple[object, ...]"


class IntentStore:
    """Breakpoints of one program on disk, or of one script of an interpreter.

    Attributes:
        file: Where they are kept.
        notice: What was wrong with the file, for the user; empty where nothing was.
    """

    def __init__(self, program: Path, script: str = "") -> None:
        self._kept = ProgramFile(program, "breakpoints", script)
        self.file = self._kept.path
        self.notice = ""
        self._saved: dict[IntentKey, _Row] | None = None

    def load(self) -> list[BreakpointIntent]:
        """The kept breakpoints, with ids from 1; a file that cannot be understood is put aside, not overwritten."""
        intents = self._read()
        if intents is None:
            return []
        self._saved = _rows(intents)
        return intents

    def save(self, intents: Iterable[BreakpointIntent]) -> None:
        """Keep the breakpoints, in one atomic write; nothing is written where nothing changed."""
        rows = _rows(intents)
        if rows == self._saved or (not rows and self._saved is None and not self.file.exists()):
            return
        try:
            self._kept.make_folder()
            with self._alone():
                merged = _merged(self._saved or {}, rows, _rows(self._read() or ()))
                self._kept.write(FORMAT, {"breakpoints": list(merged.values())})
        except OSError as error:
            self.notice = f"breakpoints cannot be kept in {self.file.parent}: {error.strerror or error}"
            return
        self._saved = rows

    def news(self) -> tuple[list[BreakpointIntent], set[IntentKey]]:
        """What others have added or changed since the last look, and the keys of what they have taken away.

        Others are sessions of the program on other rungs, and other consoles. Ids are not those of this session.
        """
        intents = self._read()
        if intents is None:
            return [], set()
        before, now = self._saved or {}, _rows(intents)
        self._saved = now
        changed = [intent for intent in intents if now.get(key_of(intent)) != before.get(key_of(intent))]
        return changed, before.keys() - now.keys()

    def _read(self) -> list[BreakpointIntent] | None:
        try:
            return _intents(self._kept.read())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            why, aside = clean_line(str(error)), self._kept.put_aside()
            self.notice = f"kept breakpoints cannot be read: {why} — the file is now {aside}"
            return None

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other consoles from writing meanwhile; one that hangs with the lock is not waited for."""
        lock = os.open(self.file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            for _ in range(_LOCK_TRIES):
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(_LOCK_AGAIN)
                except OSError:
                    # Some network file systems have no locks.
                    break
            yield
        finally:
            os.close(lock)


def key_of(intent: BreakpointIntent) -> IntentKey:
    """What makes two intents one: kind, place, condition, thread or lane, and message."""
    who = (intent.thread, intent.block, intent.lane)
    return (intent.kind, intent.location, intent.condition, *who, intent.log)


def _merged(
    before: dict[IntentKey, _Row], ours: dict[IntentKey, _Row], theirs: dict[IntentKey, _Row]
) -> dict[IntentKey, _Row]:
    """What the file is to hold: ours, with what other consoles have added, changed and taken away meanwhile."""
    merged: dict[IntentKey, _Row] = {}
    for key, row in theirs.items():
        if key in ours:
            merged[key] = row if ours[key] == before.get(key) else ours[key]
        elif key not in before:
            merged[key] = row
    new = {key: row for key, row in ours.items() if key not in theirs and before.get(key) != row}
    return {**merged, **new}


def _rows(intents: Iterable[BreakpointIntent]) -> dict[IntentKey, _Row]:
    kept: dict[IntentKey, _Row] = {}
    for intent in intents:
        # An address means nothing in another build.
        if intent.temporary or not intent.location or intent.location.startswith("*"):
            continue
        anchor = intent.anchor
        row: _Row = {
            "kind": intent.kind.value,
            "location": intent.location,
            "condition": intent.condition,
            "enabled": intent.enabled,
            "ignore": intent.ignore,
            "once": intent.once,
            "log": intent.log,
            "commands": list(intent.commands),
            "thread": intent.thread,
            "scope": intent.scope,
            "block": list(intent.block) if intent.block else None,
            "lane": list(intent.lane) if intent.lane else None,
            "anchor": {name: getattr(anchor, name) for name in SourceAnchor.__slots__} if anchor else None,
        }
        kept.setdefault(key_of(intent), row)
    return kept


def _intents(document: object) -> list[BreakpointIntent]:
    if not isinstance(document, dict) or document.get("format") not in _FORMATS:
        raise ValueError("it is of another format")
    rows = document.get("breakpoints")
    if not isinstance(rows, list):
        raise ValueError("it lists no breakpoints")
    intents: list[BreakpointIntent] = []
    for row in rows[:_MOST]:
        intent = _intent(row, len(intents) + 1) if isinstance(row, dict) else None
        if intent is not None:
            intents.append(intent)
    return intents


def _intent(row: _Row, number: int) -> BreakpointIntent | None:
    location = _text(row.get("location"))
    kind = row.get("kind", BreakpointKind.CODE.value)
    if not location or kind not in [each.value for each in BreakpointKind]:
        return None
    commands = row.get("commands")
    ignore, thread = row.get("ignore"), row.get("thread")
    return BreakpointIntent(
        id=number,
        location=location,
        condition=_text(row.get("condition")),
        enabled=row.get("enabled") is not False,
        kind=BreakpointKind(kind),
        ignore=ignore if type(ignore) is int and 0 <= ignore < 1 << 31 else 0,
        once=row.get("once") is True,
        log=_text(row.get("log")),
        commands=tuple(map(_text, commands[:_MOST_COMMANDS])) if isinstance(commands, list) else (),
        thread=thread if type(thread) is int and thread > 0 else None,
        anchor=_anchor(row.get("anchor")),
        scope=_text(row.get("scope")),
        block=_dim3(row.get("block")),
        lane=_dim3(row.get("lane")),
    )


def _dim3(told: object) -> Dim3 | None:
    if not isinstance(told, list) or len(told) != 3 or any(type(one) is not int or one < 0 for one in told):
        return None
    return told[0], told[1], told[2]


def _anchor(told: object) -> SourceAnchor | None:
    if not isinstance(told, dict):
        return None
    file, line, text = _text(told.get("file")), told.get("line"), _text(told.get("text"))
    if not file.startswith("/") or type(line) is not int or line < 1 or not text:
        return None
    return SourceAnchor(file, line, text, _text(told.get("before")), _text(told.get("after")))


def _text(value: object) -> str:
    return clean_line(value) if isinstance(value, str) else ""

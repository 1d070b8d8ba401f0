"""What was opened last, for the start screen: `$XDG_STATE_HOME/ladder-tui/recent.json`."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from ladder_backends.debugger.target import CoreTarget, GpuDumpTarget, LaunchTarget
from ladder_backends.late_dataclass import dataclass
from ladder_backends.paths import state_dir
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole
from ladder_tui.opening import Opening

LIMIT = 20
"""Entries that are kept."""

_MAX_FILE = 256 << 10


@dataclass(frozen=True, slots=True)
class Recent:
    """Something that was opened before.

    Attributes:
        paths: A program, or the files that were opened together; absolute.
        arguments: Of a program.
        program: The first path was debugged as a program.
    """

    paths: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    program: bool = False

    @property
    def label(self) -> str:
        """The names without their folders, and a program's arguments; clean."""
        names = [Path(path).name for path in self.paths]
        return clean_line(" ".join([*names, *self.arguments]))

    @property
    def folder(self) -> str:
        """Where the first of them lies, the home folder as `~`; clean."""
        folder = str(Path(self.paths[0]).parent)
        home = str(Path.home())
        inside = folder == home or folder.startswith(home + "/")
        return clean_line("~" + folder[len(home) :] if inside else folder)

    @property
    def present(self) -> bool:
        """All of it is still there."""
        return all(os.path.exists(path) for path in self.paths)

    def opening(self) -> Opening:
        """What to open to have it back."""
        files = tuple(Path(path) for path in self.paths)
        if self.program:
            return Opening(target=LaunchTarget(files[0], self.arguments))
        return Opening(files=files)


def recent_file() -> Path:
    """Where the list is kept."""
    return state_dir() / "recent.json"


def read_recent() -> tuple[Recent, ...]:
    """What was opened last, newest first; nothing where the file is missing or broken."""
    import json

    try:
        with recent_file().open("rb") as stream:
            entries = json.loads(stream.read(_MAX_FILE))
    except (OSError, ValueError, RecursionError):
        return ()
    found = entries.get("recent") if isinstance(entries, dict) else None
    made = (_entry(entry) for entry in found) if isinstance(found, list) else ()
    return tuple(entry for entry in made if entry is not None)[:LIMIT]


def remember(opening: Opening) -> None:
    """Put what was opened at the front of the list; a list that cannot be written is left as it is."""
    import json

    entry = _recent_of(opening)
    if entry is None:
        return
    kept = [entry, *(other for other in read_recent() if other != entry)][:LIMIT]
    listed = [{"paths": list(one.paths), "arguments": list(one.arguments), "program": one.program} for one in kept]
    file = recent_file()
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with writing_whole(file) as stream:
            stream.write(json.dumps({"format": 1, "recent": listed}).encode("utf-8"))


def _recent_of(opening: Opening) -> Recent | None:
    target = opening.target
    if opening.files:
        return Recent(tuple(str(path.absolute()) for path in opening.files))
    if isinstance(target, LaunchTarget):
        return Recent((str(target.program.absolute()),), target.arguments, program=True)
    if isinstance(target, CoreTarget | GpuDumpTarget):
        first = target.core if isinstance(target, CoreTarget) else target.dump
        files = [first, *([target.executable] if target.executable is not None else [])]
        return Recent(tuple(str(path.absolute()) for path in files))
    return None


def _entry(entry: Any) -> Recent | None:
    if not isinstance(entry, dict):
        return None
    paths, arguments = entry.get("paths"), entry.get("arguments", [])
    if not (isinstance(paths, list) and paths and isinstance(arguments, list)):
        return None
    if not all(isinstance(text, str) and "\0" not in text for text in [*paths, *arguments]):
        return None
    if not all(path.startswith("/") for path in paths):
        return None
    return Recent(tuple(paths), tuple(arguments), entry.get("program") is True)

"""Source files as tools name them, found on this machine or not, and never guessed."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path


class SourceState(enum.StrEnum):
    """What became of a name."""

    FOUND = "found"
    MISSING = "missing"
    AMBIGUOUS = "ambiguous"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file and its lines.

    Attributes:
        name: As the tool wrote it.
        path: Where it was found, or None.
        lines: Its lines without newline, clean; empty where it is missing.
        candidates: Files of that name, where it is ambiguous: ask, never guess.
        note: One line for anything but FOUND: what is wrong and what to do.
    """

    name: str
    state: SourceState
    path: Path | None = None
    lines: tuple[str, ...] = ()
    candidates: tuple[Path, ...] = ()
    note: str = ""

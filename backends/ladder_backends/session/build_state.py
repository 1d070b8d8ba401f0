"""What is known of the build that is debugged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ladder_backends.late_dataclass import dataclass


class FileStamp(NamedTuple):
    """What tells one version of a file from another: times in nanoseconds, bytes, inode."""

    changed: int
    size: int
    inode: int


def stamp_of(file: Path) -> FileStamp | None:
    """The stamp of a file as it is now, or None where it is not there."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return FileStamp(status.st_mtime_ns, status.st_size, status.st_ino)


@dataclass(slots=True)
class BuildState:
    """The program's file and its sources.

    Attributes:
        program: The file, or None where the target was not started from one here.
        loaded: The version of it that the engine knows.
        rebuilt: Another, finished build of it has taken its place.
        versions: Grows when a source in use changes on disk.
        watching: How changes are seen: `events`, `polling`, or an empty string where nobody looks.
    """

    program: Path | None = None
    loaded: FileStamp | None = None
    rebuilt: bool = False
    versions: int = 0
    watching: str = ""

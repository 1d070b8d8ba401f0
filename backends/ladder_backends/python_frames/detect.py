"""Whether a process runs Python, from its memory map alone: no symbol is read and nothing is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_IMAGE = re.compile(
    r"(?:lib)?(?P<kind>python|pypy)-?(?P<version>\d(?:\.\d+)?)?(?:d|m|dm|t|td|u|-c|-intel64)?(?:\.so(?:\.[\d.]+)?)?"
)
_MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The image of an interpreter that a process has mapped.

    Attributes:
        path: Its file as the process sees it: an executable, or a libpython.
        version: `3.11` where the file's name tells, else an empty string.
        kind: `python` or `pypy`.
    """

    path: str
    version: str
    kind: str = "python"


def interpreter_of(pid: int) -> Interpreter | None:
    """The interpreter that a process has mapped, or None: no Python, or a map that may not be read.

    A libpython counts before an executable. Reads `/proc/PID/maps` (proc(5)); well below a millisecond for a small
    process, about two for one with a hundred libraries.
    """
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    return interpreter_in(text)


def interpreter_in(maps: str) -> Interpreter | None:
    """The same from the text of a memory map."""
    return interpreter_among(_mapped(maps))


def interpreter_among(paths: Iterable[str]) -> Interpreter | None:
    """The interpreter among the images of a process, by their names."""
    found: list[Interpreter] = []
    for path in dict.fromkeys(paths):
        match = _IMAGE.fullmatch(Path(path).name)
        if match is not None:
            found.append(Interpreter(path, match["version"] or "", match["kind"]))
    # The launcher of a shared build is named like the interpreter too, and holds nothing of it.
    return next((one for one in found if ".so" in one.path), found[0] if found else None)


def _mapped(maps: str) -> list[str]:
    paths = []
    for line in maps.splitlines():
        fields = line.split(None, 5)
        # A library is code only where it may be executed; a .so of data files is never.
        if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
            paths.append(fields[5].removesuffix(" (deleted)"))
    return paths

"""Breakpoints that follow their line's text when the source was edited and built again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ladder_backends.model.breakpoint import SourceAnchor
from ladder_backends.text import clean_line

_MOST_BYTES = 8 << 20
_MOST_TEXT = 400


def anchor_at(file: str, line: int) -> SourceAnchor | None:
    """The anchor of a 1-based line as the file is now; None where it cannot be read or the line says nothing."""
    lines = _lines_of(file)
    if not 0 < line <= len(lines) or not _tells(lines[line - 1]):
        return None
    return SourceAnchor(file, line, lines[line - 1], _near(lines, line - 1, -1), _near(lines, line - 1, 1))


def line_now(anchor: SourceAnchor) -> int | None:
    """The 1-based line on which the anchor's text is now; None where it is gone, or several have as good a claim.

    Of several lines with the text those count whose neighbours are the same, and of these the nearest.
    """
    lines = _lines_of(anchor.file)
    if (
        0 < anchor.line <= len(lines)
        and lines[anchor.line - 1] == anchor.text
        and _around(lines, anchor.line, anchor)
    ):
        return anchor.line
    found = [number for number, text in enumerate(lines, 1) if text == anchor.text]
    if not found:
        return None
    claims = [(-_around(lines, number, anchor), abs(number - anchor.line)) for number in found]
    best = min(claims)
    return found[claims.index(best)] if claims.count(best) == 1 else None


def is_older(file: str, program: Path | None) -> bool:
    """Whether a source is older than the program made from it, as far as their times tell."""
    if program is None:
        return False
    try:
        return os.stat(file).st_mtime <= os.stat(program).st_mtime
    except OSError:
        return False


def _around(lines: Sequence[str], line: int, anchor: SourceAnchor) -> int:
    return (_near(lines, line - 1, -1) == anchor.before) + (_near(lines, line - 1, 1) == anchor.after)


def _near(lines: Sequence[str], index: int, step: int) -> str:
    index += step
    while 0 <= index < len(lines):
        if lines[index]:
            return lines[index]
        index += step
    return ""


def _tells(text: str) -> bool:
    """Whether a line holds more than brackets: those are on every other line."""
    return any(character.isalnum() for character in text)


def _lines_of(file: str) -> tuple[str, ...]:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return ()
    return _read(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)
def _read(file: str, changed: int, size: int) -> tuple[str, ...]:
    """The lines of a file, clean and without the blanks round them."""
    if size > _MOST_BYTES or not os.path.isfile(file):
        return ()
    try:
        raw = Path(file).read_bytes()
    except OSError:
        return ()
    text = raw.decode("utf-8-sig", "backslashreplace").replace("\r\n", "\n").replace("\r", "\n")
    return tuple(clean_line(line.strip().expandtabs(1)[:_MOST_TEXT]) for line in text.split("\n"))

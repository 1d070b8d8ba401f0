"""Where a line of a source file went when the file was edited."""

from __future__ import annotations

from collections.abc import Sequence

_AROUND = 3
"""Neighbours on each side that speak for one of several equal lines."""


def line_now(before: Sequence[str], now: Sequence[str], line: int) -> int | None:
    """The 1-based number that a line has now, by its text and its neighbours'; None where it is gone or unclear.

    Args:
        before: The lines as they were.
        now: The lines as they are.
        line: Its 1-based number before.
    """
    if not 0 < line <= len(before):
        return None
    words = before[line - 1].split()
    if not words:
        return None
    places = [number for number, text in enumerate(now, 1) if text.split() == words]
    if not places:
        return None
    likeness = [(_likeness(before, now, line, place), -abs(place - line)) for place in places]
    best = max(likeness)
    return places[likeness.index(best)] if likeness.count(best) == 1 else None


def _likeness(before: Sequence[str], now: Sequence[str], line: int, place: int) -> int:
    """How many of the nearest lines with text, above and below, are the same."""
    same = 0
    for step in (-1, 1):
        for old, new in zip(_near(before, line, step), _near(now, place, step), strict=False):
            if old != new:
                break
            same += 1
    return same


def _near(lines: Sequence[str], line: int, step: int) -> list[str]:
    found: list[str] = []
    position = line - 1 + step
    while 0 <= position < len(lines) and len(found) < _AROUND:
        text = " ".join(lines[position].split())
        if text:
            found.append(text)
        position += step
    return found

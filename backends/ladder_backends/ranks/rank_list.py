"""Compressed lists of ranks: `0-2,4-7`, and with a step `0-63:8`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ladder_backends.errors import LadderError
from ladder_backends.text import clean_line

MOST_RANKS = 1 << 22
"""Ranks that one list may name."""

_SHORTEST_STEPPED = 4
"""Ranks from which on a run with a step is written as one: `0-24:8`, but `0,8,16`."""

_PART = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*(?::\s*(\d{1,9})\s*)?)?")


class RankListInvalid(LadderError):
    """A text that is no list of ranks.

    Attributes:
        text: The text, clean.
        column: 0-based place in it where it stops being one.
    """

    def __init__(self, text: str, column: int, why: str) -> None:
        self.text, self.column = clean_line(text), column
        super().__init__(f"{self.text!r} is no list of ranks", f"column {column + 1}: {why}", "write it as 0-2,4-7")


def fold(ranks: Iterable[int]) -> str:
    """Ranks as a list, ascending, each once; empty for none.

    Neighbours fold to `2-5`, four or more at an even distance to `0-63:8`.
    """
    left = sorted(set(ranks))
    parts: list[str] = []
    at = 0
    while at < len(left):
        first = left[at]
        length, step = 1, 1
        if at + 1 < len(left):
            step = left[at + 1] - first
            length = 2
            while at + length < len(left) and left[at + length] - left[at + length - 1] == step:
                length += 1
        if step == 1 and length > 1:
            parts.append(f"{first}-{first + length - 1}")
        elif length >= _SHORTEST_STEPPED:
            # A run of neighbours that begins at the last one is the better reading: 0,2,4,6,7,8.
            if at + length < len(left) and left[at + length] - left[at + length - 1] == 1:
                length -= 1
            if length < _SHORTEST_STEPPED:
                length = 1
                parts.append(str(first))
            else:
                parts.append(f"{first}-{first + (length - 1) * step}:{step}")
        else:
            length = 1
            parts.append(str(first))
        at += length
    return ",".join(parts)


def unfold(text: str) -> tuple[int, ...]:
    """The ranks of a list, ascending, each once; none for an empty text.

    Raises:
        RankListInvalid: It is no list, or names more than `MOST_RANKS`.
    """
    found: set[int] = set()
    if not text.strip():
        return ()
    at = 0
    while True:
        match = _PART.match(text, at)
        if match is None:
            raise RankListInvalid(text, _past_blanks(text, at), "a rank is expected")
        first = int(match[1])
        last = int(match[2]) if match[2] is not None else first
        step = int(match[3]) if match[3] is not None else 1
        if last < first:
            raise RankListInvalid(text, match.start(2), f"{last} is less than {first}")
        if step == 0:
            raise RankListInvalid(text, match.start(3), "a step of 0")
        if len(found) + (last - first) // step >= MOST_RANKS:
            raise RankListInvalid(text, match.start(1), f"more than {MOST_RANKS} ranks")
        found.update(range(first, last + 1, step))
        at = match.end()
        if at == len(text):
            return tuple(sorted(found))
        if text[at] != ",":
            raise RankListInvalid(text, at, "a comma is expected")
        at += 1


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at

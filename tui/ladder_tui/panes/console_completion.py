"""Tab: the engine's own completions, as far as they agree, then one after the other."""

from __future__ import annotations

from collections.abc import Sequence

MAX_SHOWN = 200
"""Candidates that are kept; an engine may know 100,000."""


class Completion:
    """One use of Tab, until another key is pressed.

    Attributes:
        candidates: Whole lines.
        chosen: Number of the one on the input line, or None while the common part stands there.
    """

    def __init__(self, typed: str, rest: str, candidates: Sequence[str]) -> None:
        self.typed = typed
        self.rest = rest
        self.more = max(0, len(candidates) - MAX_SHOWN)
        self.candidates = tuple(candidates[:MAX_SHOWN])
        self.chosen: int | None = None
        self._common = _common_start(min(candidates), max(candidates)) if candidates else typed

    @property
    def line(self) -> str:
        """What the input line reads before the cursor."""
        if self.chosen is not None:
            return self.candidates[self.chosen]
        if len(self.candidates) == 1 and not self.more:
            return self.candidates[0]
        return self._common if len(self._common) > len(self.typed) else self.typed

    @property
    def finished(self) -> bool:
        """There is nothing to choose from."""
        return len(self.candidates) <= 1

    def cycle(self, step: int = 1) -> None:
        """Put the next candidate on the line."""
        if self.candidates:
            start = -1 if step > 0 else 0
            self.chosen = ((start if self.chosen is None else self.chosen) + step) % len(self.candidates)

    def words(self) -> list[str]:
        """The candidates without what they share up to the last word's start, for showing."""
        start = max(self._common.rfind(" "), self._common.rfind("(")) + 1
        return [candidate[start:] for candidate in self.candidates]


def _common_start(one: str, other: str) -> str:
    length = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return min(one, other, key=len) if length is None else one[:length]

"""Keys that were meant as text or an answer, and whose place did not open or has closed: they are no commands."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual import events

from ladder_tui.widgets.line_editor import EDITOR_KEYS

PAUSE = 1.0
"""Seconds without a key after which the next one is a command again."""

_SHOWN = 40
"""Characters of what was typed that the notice repeats."""

_TEXT_KEYS = EDITOR_KEYS | {"enter", "tab", "space"}


class StrayKeys:
    """Swallows what is typed on, until a pause, Esc, or a key that no text has.

    Args:
        say: Tells the user what was not taken, and why.
        clock: Seconds, monotonic.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._why = ""
        self._typed = ""
        self._until = 0.0

    def begin(self, why: str) -> None:
        """What comes next was meant for what there is not.

        Args:
            why: Why it is not there.
        """
        self._why, self._typed = why, ""
        self._until = self._clock() + PAUSE

    def end(self) -> None:
        """What they were meant for is there now."""
        self._why = ""

    def takes(self, event: events.Key) -> bool:
        """Whether the key is swallowed."""
        if not self._why:
            return False
        text = event.is_printable or event.key in _TEXT_KEYS
        if self._clock() > self._until or not (text or event.key == "escape"):
            self._why = ""
            return False
        if event.key == "escape":
            self._why = ""
            return True
        self._until = self._clock() + PAUSE
        if event.is_printable and event.character is not None:
            self._typed += event.character
        shown = self._typed if len(self._typed) <= _SHOWN else f"{self._typed[: _SHOWN - 1]}…"
        self._say(f"{self._why} — not taken: {shown}" if shown.strip() else self._why)
        return True

"""A line of text being typed, with the keys that people's fingers know from readline."""

from __future__ import annotations

import copy
import re

_WORD_BEFORE = re.compile(r"\w+\W*$|\W+$")
_WORD_AFTER = re.compile(r"\W*\w+|\W+$")
_SPACED_WORD_BEFORE = re.compile(r"\S+\s*$|\s+$")

MAX_LENGTH = 4_000
"""Characters of a line; terminals cut longer ones."""


class LineEditor:
    """The text, and where in it the next character goes.

    Attributes:
        text: What was typed.
        position: Characters before the cursor.
    """

    def __init__(self) -> None:
        self.text = ""
        self.position = 0
        self._killed = ""

    def set(self, text: str, position: int | None = None) -> None:
        """Replace the line; the cursor goes to its end unless told."""
        self.text = text[:MAX_LENGTH]
        self.position = len(self.text) if position is None else min(max(position, 0), len(self.text))

    def insert(self, text: str) -> None:
        """Type text at the cursor."""
        text = text[: MAX_LENGTH - len(self.text)]
        self.text = self.text[: self.position] + text + self.text[self.position :]
        self.position += len(text)

    def press(self, key: str, character: str | None) -> bool:
        """Handle a key by its Textual name; False where it is none of an editor's."""
        edit = _KEYS.get(key)
        if edit is not None:
            edit(self)
            return True
        if character is not None and character.isprintable():
            self.insert(character)
            return True
        return False

    def edits(self, key: str) -> bool:
        """Whether a key of an editor would change the text or move the cursor now."""
        edit = _KEYS.get(key)
        if edit is None:
            return False
        trial = copy.copy(self)
        edit(trial)
        return (trial.text, trial.position) != (self.text, self.position)

    def _left(self) -> None:
        self.position = max(0, self.position - 1)

    def _right(self) -> None:
        self.position = min(len(self.text), self.position + 1)

    def _home(self) -> None:
        self.position = 0

    def _end(self) -> None:
        self.position = len(self.text)

    def _word_left(self) -> None:
        match = _WORD_BEFORE.search(self.text[: self.position])
        self.position = match.start() if match else 0

    def _word_right(self) -> None:
        match = _WORD_AFTER.match(self.text, self.position)
        self.position = match.end() if match else len(self.text)

    def _rub_out(self) -> None:
        if self.position:
            self.text = self.text[: self.position - 1] + self.text[self.position :]
            self.position -= 1

    def _delete(self) -> None:
        self.text = self.text[: self.position] + self.text[self.position + 1 :]

    def _kill(self, start: int, end: int) -> None:
        if start < end:
            self._killed = self.text[start:end]
            self.text = self.text[:start] + self.text[end:]
            self.position = start

    def _kill_to_start(self) -> None:
        self._kill(0, self.position)

    def _kill_to_end(self) -> None:
        self._kill(self.position, len(self.text))

    def _kill_word(self) -> None:
        match = _SPACED_WORD_BEFORE.search(self.text[: self.position])
        self._kill(match.start() if match else self.position, self.position)

    def _kill_word_left(self) -> None:
        end = self.position
        self._word_left()
        self._kill(self.position, end)

    def _kill_word_right(self) -> None:
        start = self.position
        self._word_right()
        self._kill(start, self.position)

    def _yank(self) -> None:
        self.insert(self._killed)

    def _transpose(self) -> None:
        at = min(self.position, len(self.text) - 1)
        if at > 0:
            self.text = self.text[: at - 1] + self.text[at] + self.text[at - 1] + self.text[at + 1 :]
            self.position = at + 1


_KEYS = {
    "left": LineEditor._left,
    "ctrl+b": LineEditor._left,
    "right": LineEditor._right,
    "ctrl+f": LineEditor._right,
    "home": LineEditor._home,
    "ctrl+a": LineEditor._home,
    "end": LineEditor._end,
    "ctrl+e": LineEditor._end,
    "ctrl+left": LineEditor._word_left,
    "alt+b": LineEditor._word_left,
    "alt+left": LineEditor._word_left,
    "ctrl+right": LineEditor._word_right,
    "alt+f": LineEditor._word_right,
    "alt+right": LineEditor._word_right,
    "backspace": LineEditor._rub_out,
    "ctrl+h": LineEditor._rub_out,
    "delete": LineEditor._delete,
    "ctrl+d": LineEditor._delete,
    "ctrl+u": LineEditor._kill_to_start,
    "ctrl+k": LineEditor._kill_to_end,
    "ctrl+w": LineEditor._kill_word,
    "alt+backspace": LineEditor._kill_word_left,
    "alt+d": LineEditor._kill_word_right,
    "ctrl+y": LineEditor._yank,
    "ctrl+t": LineEditor._transpose,
}

EDITOR_KEYS = frozenset(_KEYS)
"""Keys that edit, by their Textual names."""

"""The fields of a form: a line of text, a switch, a choice of few. Each draws itself and takes its keys."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from ladder_tui.widgets.line_editor import LineEditor
from ladder_tui.widgets.row import Cell, cut, printable, size_of


class Field(abc.ABC):
    """One labelled value.

    Attributes:
        name: Key of the value in what the form gives.
        label: What it is, in one or two words.
        note: A few words of explanation, shown while the field has the keys.
    """

    def __init__(self, name: str, label: str, note: str = "") -> None:
        self.name = name
        self.label = label
        self.note = note

    @property
    @abc.abstractmethod
    def value(self) -> str | bool:
        """What it holds now."""

    @abc.abstractmethod
    def cells(self, room: int, focused: bool) -> list[Cell]:
        """What it looks like in `room` terminal cells."""

    @abc.abstractmethod
    def press(self, key: str, character: str | None) -> bool:
        """Take a key by its Textual name; False where it means nothing here."""

    def edits(self, key: str) -> bool:
        """Whether a key edits the text of the field, as it stands now."""
        return False

    def paste(self, text: str) -> bool:
        """Take pasted text, one line; False where it takes none."""
        return False

    @abc.abstractmethod
    def click(self, column: int, room: int) -> None:
        """Take a click on a column of its cells."""


class TextField(Field):
    """A line of text with an editor's keys.

    Attributes:
        placeholder: What could be typed, shown while nothing is.
    """

    def __init__(self, name: str, label: str, initial: str = "", *, placeholder: str = "", note: str = "") -> None:
        super().__init__(name, label, note)
        self.placeholder = placeholder
        self._editor = LineEditor()
        self._editor.set(initial)
        self._start = 0

    @property
    def value(self) -> str:
        """The text as typed."""
        return self._editor.text

    def cells(self, room: int, focused: bool) -> list[Cell]:
        """The part of the text round its cursor; from its beginning while another field has the keys."""
        text, at = self._editor.text, self._editor.position
        if not text:
            hint = cut(printable(self.placeholder), room - 1) or " "
            head = Cell(hint[:1], "text-cursor" if focused else "muted")
            return [head, Cell(hint[1:], "muted")]
        if not focused:
            return [Cell(cut(printable(text[: 4 * room]), room), "input")]
        self._start = start = self._first_shown(text, at, room)
        after = text[at + 1 : start + room]
        while after and size_of(printable(text[start : at + 1] + after)) > room:
            after = after[:-1]
        return [Cell(text[start:at], "input"), Cell(text[at : at + 1] or " ", "text-cursor"), Cell(after, "input")]

    def press(self, key: str, character: str | None) -> bool:
        """Edit."""
        return self._editor.press(key, character)

    def edits(self, key: str) -> bool:
        """Whether a key edits the line, as it stands now."""
        return self._editor.edits(key)

    def paste(self, text: str) -> bool:
        """Insert."""
        self._editor.insert(text)
        return True

    def click(self, column: int, room: int) -> None:
        """Put the cursor there."""
        start = min(self._start, len(self._editor.text))
        position, width = start, 0
        for character in self._editor.text[start:]:
            width += size_of(printable(character))
            if width > column:
                break
            position += 1
        self._editor.set(self._editor.text, position)

    @staticmethod
    def _first_shown(text: str, at: int, room: int) -> int:
        start, width = at, size_of(printable(text[at : at + 1] or " "))
        while start > 0:
            width += size_of(printable(text[start - 1]))
            if width > room:
                break
            start -= 1
        return start


class Toggle(Field):
    """On or off; Space turns it."""

    def __init__(self, name: str, label: str, on: bool = False, *, note: str = "") -> None:
        super().__init__(name, label, note)
        self._on = on

    @property
    def value(self) -> bool:
        """Whether it is on."""
        return self._on

    def cells(self, room: int, focused: bool) -> list[Cell]:
        """A box, crossed or not, and the word for it."""
        return [
            Cell("[x]" if self._on else "[ ]", "key" if focused else "text"),
            Cell(" on" if self._on else " off"),
        ]

    def press(self, key: str, character: str | None) -> bool:
        """Space and the arrows turn it."""
        if key in ("space", "left", "right"):
            self._on = not self._on
            return True
        return False

    def click(self, column: int, room: int) -> None:
        """Turn it."""
        self._on = not self._on


class Select(Field):
    """One of a few values; the arrows and Space go through them, a letter goes to the next that begins with it.

    Args:
        options: Value and what it is called, in the order shown.
        value: Chosen at first; the first option where it is none of them.
    """

    def __init__(
        self, name: str, label: str, options: Sequence[tuple[str, str]], value: str = "", *, note: str = ""
    ) -> None:
        super().__init__(name, label, note)
        self._options = tuple(options)
        self._at = next((index for index, (each, _) in enumerate(self._options) if each == value), 0)

    @property
    def value(self) -> str:
        """The chosen value."""
        return self._options[self._at][0]

    def cells(self, room: int, focused: bool) -> list[Cell]:
        """The chosen one between arrows."""
        arrows = "key" if focused else "muted"
        shown = cut(printable(self._options[self._at][1]), max(1, room - 4))
        return [Cell("‹ ", arrows), Cell(shown), Cell(" ›", arrows)]

    def press(self, key: str, character: str | None) -> bool:
        """Go to another option."""
        if key in ("left", "right", "space"):
            self._turn(-1 if key == "left" else 1)
            return True
        if character is not None and character.isalnum():
            count = len(self._options)
            for distance in range(1, count + 1):
                label = self._options[(self._at + distance) % count][1]
                if label.casefold().startswith(character.casefold()):
                    self._turn(distance)
                    return True
        return False

    def click(self, column: int, room: int) -> None:
        """The left arrow goes back, the rest forward."""
        self._turn(-1 if column < 2 else 1)

    def _turn(self, by: int) -> None:
        self._at = (self._at + by) % len(self._options)

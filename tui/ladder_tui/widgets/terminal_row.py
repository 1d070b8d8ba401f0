"""Rows of a terminal screen: text and the renditions of its cells, as two strings of equal length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import get_character_cell_size

DEFAULT_COLOUR = -1
TRUE_COLOUR = 0x1000000
"""Bit that tells a 24-bit colour from one of the 256 of the palette."""

BOLD = 1
DIM = 2
ITALIC = 4
UNDERLINE = 8
REVERSE = 16
STRIKE = 32

CONTINUATION = "\0"
"""Stands in the second cell of a wide character."""

PLAIN = "\0"
"""Key of the default rendition."""

_MAX_RENDITIONS = 0xD000
_MAX_MARKS = 8


class Rendition(NamedTuple):
    """How a cell looks.

    Attributes:
        foreground: `DEFAULT_COLOUR`, 0 to 255 of the terminal's palette, or `TRUE_COLOUR | 0xRRGGBB`.
        background: The same.
        flags: BOLD, DIM, ITALIC, UNDERLINE, REVERSE and STRIKE, combined.
    """

    foreground: int = DEFAULT_COLOUR
    background: int = DEFAULT_COLOUR
    flags: int = 0


class RenditionTable:
    """Renditions by one-character keys, so that a row's looks are a string and slice as fast as its text."""

    def __init__(self) -> None:
        plain = Rendition()
        self._renditions = [plain]
        self._keys = {plain: PLAIN}

    def __getitem__(self, key: str) -> Rendition:
        return self._renditions[ord(key)]

    def __len__(self) -> int:
        return len(self._renditions)

    def key(self, rendition: Rendition) -> str:
        """The key of a rendition; once the table is full, new ones lose their colours."""
        key = self._keys.get(rendition)
        if key is None:
            if len(self._renditions) >= _MAX_RENDITIONS and rendition[:2] != (DEFAULT_COLOUR, DEFAULT_COLOUR):
                return self.key(Rendition(flags=rendition.flags))
            key = self._keys[rendition] = chr(len(self._renditions))
            self._renditions.append(rendition)
        return key


class TerminalRow:
    """One row; cells to the right of its text are blank.

    Attributes:
        text: One character a cell; `CONTINUATION` behind a wide one.
        looks: Keys into a `RenditionTable`, one a cell.
        marks: Combining characters by cell, or None.
        wide: The row has held a wide character.
        wrapped: The line goes on in the next row.
    """

    __slots__ = ("looks", "marks", "text", "wide", "wrapped")

    def __init__(self, text: str = "", looks: str = "") -> None:
        self.text = text
        self.looks = looks
        self.marks: dict[int, str] | None = None
        self.wide = False
        self.wrapped = False

    def write(self, column: int, text: str, look: str) -> None:
        """Put characters of one cell each at a column."""
        length = len(self.text)
        if column >= length:
            gap = column - length
            self.text += " " * gap + text
            self.looks += PLAIN * gap + look * len(text)
            return
        end = column + len(text)
        if self.wide or self.marks:
            self._cut(column, end)
        self.text = self.text[:column] + text + self.text[end:]
        self.looks = self.looks[:column] + look * len(text) + self.looks[end:]

    def write_wide(self, column: int, character: str, look: str) -> None:
        """Put a character of two cells at a column."""
        self.write(column, character + CONTINUATION, look)
        self.wide = True

    def add_mark(self, column: int, mark: str) -> None:
        """Let a combining character stand on a cell; a cell holds a few and ignores more."""
        if not 0 <= column < len(self.text):
            return
        if self.text[column] == CONTINUATION and column:
            column -= 1
        if self.marks is None:
            self.marks = {}
        held = self.marks.get(column, "")
        if len(held) < _MAX_MARKS:
            self.marks[column] = held + mark

    def insert(self, column: int, count: int, look: str, columns: int) -> None:
        """Shift the rest of the row right by `count` blanks; what passes the right edge is lost."""
        if column >= len(self.text):
            return
        self._cut(column, column)
        self._settle()
        count = min(count, columns - column)
        self.text = (self.text[:column] + " " * count + self.text[column:])[:columns]
        self.looks = (self.looks[:column] + look * count + self.looks[column:])[:columns]
        self._mend()

    def delete(self, column: int, count: int) -> None:
        """Take cells out; the rest of the row moves left."""
        self._cut(column, column + count)
        self._settle()
        self.text = self.text[:column] + self.text[column + count :]
        self.looks = self.looks[:column] + self.looks[column + count :]

    def erase(self, start: int, end: int, look: str) -> None:
        """Blank the cells from `start` to before `end`."""
        if end >= len(self.text):
            self.wrapped = False
        if self.wide or self.marks:
            self._cut(start, end)
        if look == PLAIN and end >= len(self.text):
            self.text = self.text[:start]
            self.looks = self.looks[:start]
        elif end > start:
            self.write(start, " " * (end - start), look)

    def runs(self, columns: int) -> Iterator[tuple[str, str]]:
        """Neighbouring cells of one look as `(text, look)`, up to `columns` cells."""
        text, looks = self.text[:columns], self.looks[:columns]
        if self.wide and len(self.text) > columns and self.text[columns] == CONTINUATION:
            text = text[:-1] + " "
        start, length = 0, len(text)
        while start < length:
            look = looks[start]
            end = start + 1
            while end < length and looks[end] == look:
                end += 1
            yield self._displayed(text, start, end), look
            start = end

    def part(self, start: int, end: int) -> TerminalRow:
        """The cells from `start` to before `end`; a wide character that is cut becomes a blank."""
        piece = TerminalRow(self.text[start:end], self.looks[start:end])
        piece.wide = self.wide
        if self.wide and piece.text:
            if piece.text[0] == CONTINUATION:
                piece.text = " " + piece.text[1:]
            if self.text[end : end + 1] == CONTINUATION:
                piece.text = piece.text[:-1] + " "
        if self.marks:
            piece.marks = {cell - start: mark for cell, mark in self.marks.items() if start <= cell < end}
        return piece

    def plain(self) -> str:
        """The row's text as a person reads it."""
        return self._displayed(self.text, 0, len(self.text)).rstrip()

    def _displayed(self, text: str, start: int, end: int) -> str:
        if self.marks:
            pieces = (text[cell] + self.marks.get(cell, "") for cell in range(start, end))
            return "".join(pieces).replace(CONTINUATION, "")
        part = text[start:end]
        return part.replace(CONTINUATION, "") if self.wide else part

    def _cut(self, start: int, end: int) -> None:
        """Blank the outer halves of wide characters that a change from `start` to `end` would split."""
        text = self.text
        if self.wide:
            if 0 < start < len(text) and text[start] == CONTINUATION:
                text = text[: start - 1] + " " + text[start:]
            if start < end < len(text) and text[end] == CONTINUATION:
                text = text[:end] + " " + text[end + 1 :]
            if start == end < len(text) and text[end] == CONTINUATION:
                text = text[:end] + " " + text[end + 1 :]
            self.text = text
        if self.marks:
            self.marks = {cell: mark for cell, mark in self.marks.items() if not start <= cell < end} or None

    def _settle(self) -> None:
        # Marks are kept by cell; cells are about to move, which no text with marks does in practice.
        self.marks = None

    def _mend(self) -> None:
        # The right half of a wide character may have gone over the edge.
        if self.wide and self.text and get_character_cell_size(self.text[-1]) == 2:
            self.text = self.text[:-1] + " "

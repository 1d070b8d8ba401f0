"""The screen of a program's terminal: what is where, without any drawing.

The operations are those of ECMA-48 and xterm that programs in the field use. The screen is for looking at: it
rings no bell and sets no title.
"""

from __future__ import annotations

from collections import deque

from rich.cells import get_character_cell_size

from ladder_backends.text import clean_line
from ladder_tui.widgets.terminal_row import PLAIN, Rendition, RenditionTable, TerminalRow

_TAB = 8


class _Cursor:
    """Where the next character goes, and how it looks."""

    __slots__ = ("column", "graphics", "rendition", "row")

    def __init__(self) -> None:
        self.row = 0
        self.column = 0
        self.rendition = Rendition()
        self.graphics = False

    def copy(self) -> _Cursor:
        other = _Cursor()
        other.row, other.column, other.rendition, other.graphics = (
            self.row,
            self.column,
            self.rendition,
            self.graphics,
        )
        return other


class TerminalScreen:
    """A screen of `rows` x `columns` cells with history above it.

    Attributes:
        lines: The rows on screen, top first.
        history: Rows that scrolled off the top, oldest first, bounded.
        scrolled: How many rows ever went into the history.
        looks: The renditions that the rows' keys stand for.
        cursor_visible: The program shows its cursor.
        application_keys: The program wants arrow keys as `ESC O A`.
        bracketed_paste: The program wants pasted text marked.
        mouse: What it wants to know of the mouse, as xterm numbers it: 0 nothing, 1000 buttons, 1002 also moves
            with a button held, 1003 every move.
        mouse_sgr: It reads mouse reports in the form that knows no limit of columns (1006).
        focus_reports: It wants to know when it gains and loses the keys.
        revision: Grows with every change.
    """

    def __init__(self, columns: int = 80, rows: int = 24, history: int = 5_000) -> None:
        self.columns = max(1, columns)
        self.rows = max(1, rows)
        self.looks = RenditionTable()
        self.history: deque[TerminalRow] = deque(maxlen=history)
        self.scrolled = 0
        self.revision = 0
        self.reset()

    def reset(self) -> None:
        """Back to an empty screen with all modes at their defaults; the history stays."""
        self.lines = [TerminalRow() for _ in range(self.rows)]
        self._main: list[TerminalRow] | None = None
        self._cursor = _Cursor()
        self._saved = _Cursor()
        self._look = PLAIN
        self.top, self.bottom = 0, self.rows - 1
        self.cursor_visible = True
        self.application_keys = False
        self.bracketed_paste = False
        self.mouse = 0
        self.mouse_sgr = False
        self.focus_reports = False
        self.autowrap = True
        self.insert_mode = False
        self.origin_mode = False
        self._wrap_next = False
        self._last_character = " "
        self.revision += 1

    @property
    def alternate(self) -> bool:
        """The program draws on the alternate screen, which has no history."""
        return self._main is not None

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column, 0-based."""
        return self._cursor.row, self._cursor.column

    @property
    def dropped_rows(self) -> int:
        """Rows that fell out of the history."""
        return self.scrolled - len(self.history)

    # Text

    def write(self, text: str) -> None:
        """Put text without control characters at the cursor; unsafe characters are made visible."""
        if text.isascii():
            self._write_narrow(text)
            return
        run: list[str] = []
        for character in clean_line(text):
            width = 1 if character.isascii() else get_character_cell_size(character)
            if width == 1:
                run.append(character)
                continue
            if run:
                self._write_narrow("".join(run))
                run.clear()
            if width == 0:
                column = self._cursor.column - (0 if self._wrap_next else 1)
                self.lines[self._cursor.row].add_mark(column, character)
            else:
                self._write_wide(character)
        if run:
            self._write_narrow("".join(run))

    def _write_narrow(self, text: str) -> None:
        cursor = self._cursor
        start, length = 0, len(text)
        while start < length:
            if self._wrap_next:
                self._wrap()
            column = cursor.column
            part = text[start : start + self.columns - column]
            start += len(part)
            line = self.lines[cursor.row]
            if self.insert_mode:
                line.insert(column, len(part), PLAIN, self.columns)
            line.write(column, part, self._look)
            column += len(part)
            if column < self.columns:
                cursor.column = column
                continue
            cursor.column = self.columns - 1
            if self.autowrap:
                self._wrap_next = True
            elif start < length:
                line.write(self.columns - 1, text[-1], self._look)
                break
        if text:
            self._last_character = text[-1]

    def _write_wide(self, character: str) -> None:
        if self.columns < 2:
            return
        if self._wrap_next or (self.autowrap and self._cursor.column > self.columns - 2):
            self._wrap()
        column = min(self._cursor.column, self.columns - 2)
        line = self.lines[self._cursor.row]
        if self.insert_mode:
            line.insert(column, 2, PLAIN, self.columns)
        line.write_wide(column, character, self._look)
        self._last_character = character
        if column + 2 < self.columns:
            self._cursor.column = column + 2
        else:
            self._cursor.column = self.columns - 1
            self._wrap_next = self.autowrap

    def repeat(self, count: int) -> None:
        """Write the last character again, at most a row full."""
        self.write(self._last_character * min(count, self.columns))

    def _wrap(self) -> None:
        self.lines[self._cursor.row].wrapped = True
        self._cursor.column = 0
        self._wrap_next = False
        self.line_feed()

    # Moving the cursor

    def move_to(self, row: int | None = None, column: int | None = None) -> None:
        """Go to a row or a column of the screen, 0-based; with origin mode on, of the scroll region."""
        if row is not None:
            low, high = (self.top, self.bottom) if self.origin_mode else (0, self.rows - 1)
            self._cursor.row = min(max(row + low, low), high)
        if column is not None:
            self._cursor.column = min(max(column, 0), self.columns - 1)
        self._wrap_next = False

    def move_by(self, rows: int = 0, columns: int = 0) -> None:
        """Go up or down, stopping at the scroll region's edge, and left or right."""
        row = self._cursor.row
        if rows:
            low = self.top if row >= self.top else 0
            high = self.bottom if row <= self.bottom else self.rows - 1
            self._cursor.row = min(max(row + rows, low), high)
        if columns:
            self._cursor.column = min(max(self._cursor.column + columns, 0), self.columns - 1)
        self._wrap_next = False

    def carriage_return(self) -> None:
        """Go to column 0."""
        self._cursor.column = 0
        self._wrap_next = False

    def tab(self, count: int = 1) -> None:
        """Go to the next stop of eight columns, or back with a negative count."""
        stop = (self._cursor.column // _TAB + count) * _TAB
        if count < 0 and self._cursor.column % _TAB:
            stop += _TAB
        self.move_to(column=stop)

    def line_feed(self) -> None:
        """Go down a row; at the bottom of the scroll region its rows move up."""
        if self._cursor.row == self.bottom:
            self.scroll_up(1)
        elif self._cursor.row < self.rows - 1:
            self._cursor.row += 1

    def reverse_line_feed(self) -> None:
        """Go up a row; at the top of the scroll region its rows move down."""
        if self._cursor.row == self.top:
            self.scroll_down(1)
        elif self._cursor.row > 0:
            self._cursor.row -= 1

    def save_cursor(self) -> None:
        """Keep the cursor's place and rendition."""
        self._saved = self._cursor.copy()

    def restore_cursor(self) -> None:
        """Back to the kept place and rendition."""
        self._cursor = self._saved.copy()
        self._cursor.row = min(self._cursor.row, self.rows - 1)
        self._cursor.column = min(self._cursor.column, self.columns - 1)
        self._look = self.looks.key(self._cursor.rendition)
        self._wrap_next = False

    # Scrolling

    def set_region(self, top: int, bottom: int) -> None:
        """Let rows `top` to `bottom` scroll; the cursor goes home. A region under two rows is refused."""
        bottom = min(bottom, self.rows - 1)
        if 0 <= top < bottom:
            self.top, self.bottom = top, bottom
            self.move_to(0, 0)

    def scroll_up(self, count: int) -> None:
        """Move the scroll region's rows up; from the top of the main screen they go into the history."""
        for _ in range(min(count, self.bottom - self.top + 1)):
            row = self.lines.pop(self.top)
            if self.top == 0 and self._main is None:
                self.history.append(row)
                self.scrolled += 1
            self.lines.insert(self.bottom, self._blank())

    def scroll_down(self, count: int) -> None:
        """Move the scroll region's rows down."""
        for _ in range(min(count, self.bottom - self.top + 1)):
            del self.lines[self.bottom]
            self.lines.insert(self.top, self._blank())

    def insert_lines(self, count: int) -> None:
        """Put blank rows at the cursor; rows below move down within the scroll region."""
        row = self._cursor.row
        if self.top <= row <= self.bottom:
            for _ in range(min(count, self.bottom - row + 1)):
                del self.lines[self.bottom]
                self.lines.insert(row, self._blank())
            self.carriage_return()

    def delete_lines(self, count: int) -> None:
        """Take rows out at the cursor; rows below move up within the scroll region."""
        row = self._cursor.row
        if self.top <= row <= self.bottom:
            for _ in range(min(count, self.bottom - row + 1)):
                del self.lines[row]
                self.lines.insert(self.bottom, self._blank())
            self.carriage_return()

    # Erasing

    def erase_in_line(self, mode: int) -> None:
        """0: from the cursor on; 1: up to the cursor; 2: the whole row."""
        column = self._cursor.column
        start, end = {0: (column, self.columns), 1: (0, column + 1)}.get(mode, (0, self.columns))
        self.lines[self._cursor.row].erase(start, end, self._erase_look())

    def erase_in_screen(self, mode: int) -> None:
        """0: from the cursor on; 1: up to the cursor; 2: the whole screen; 3: the history."""
        row = self._cursor.row
        if mode == 3:
            self.history.clear()
            self.scrolled = 0
            return
        if mode in (0, 1):
            self.erase_in_line(mode)
        cleared = {0: range(row + 1, self.rows), 1: range(row)}.get(mode, range(self.rows))
        for number in cleared:
            self.lines[number] = self._blank()

    def erase_characters(self, count: int) -> None:
        """Blank cells from the cursor on; nothing moves."""
        column = self._cursor.column
        self.lines[self._cursor.row].erase(column, min(column + count, self.columns), self._erase_look())

    def insert_characters(self, count: int) -> None:
        """Put blanks at the cursor; the rest of the row moves right."""
        self.lines[self._cursor.row].insert(self._cursor.column, count, self._erase_look(), self.columns)

    def delete_characters(self, count: int) -> None:
        """Take cells out at the cursor; the rest of the row moves left."""
        self.lines[self._cursor.row].delete(self._cursor.column, count)

    def _erase_look(self) -> str:
        background = self._cursor.rendition.background
        return self.looks.key(Rendition(background=background)) if background >= 0 else PLAIN

    def _blank(self) -> TerminalRow:
        look = self._erase_look() if self._look != PLAIN else PLAIN
        return TerminalRow() if look == PLAIN else TerminalRow(" " * self.columns, look * self.columns)

    # Modes

    @property
    def rendition(self) -> Rendition:
        """How the next character looks."""
        return self._cursor.rendition

    @rendition.setter
    def rendition(self, rendition: Rendition) -> None:
        self._cursor.rendition = rendition
        self._look = self.looks.key(rendition)

    @property
    def graphics(self) -> bool:
        """Lower-case letters draw lines (DEC special graphics)."""
        return self._cursor.graphics

    @graphics.setter
    def graphics(self, graphics: bool) -> None:
        self._cursor.graphics = graphics

    def use_alternate(self, on: bool, *, save_cursor: bool = False) -> None:
        """Switch between the main screen and the alternate one, which starts empty."""
        if on == self.alternate:
            return
        if on:
            if save_cursor:
                self.save_cursor()
            self._main, self.lines = self.lines, [TerminalRow() for _ in range(self.rows)]
        else:
            assert self._main is not None
            self.lines, self._main = self._main, None
            if save_cursor:
                self.restore_cursor()
        self.top, self.bottom = 0, self.rows - 1

    def resize(self, columns: int, rows: int) -> None:
        """Take another size; rows are cut, not folded, and come back when the screen grows again."""
        columns, rows = max(1, columns), max(1, rows)
        if (columns, rows) == (self.columns, self.rows):
            return
        self.columns = columns
        if self._main is not None:
            self.lines = (self.lines + [TerminalRow() for _ in range(rows)])[:rows]
        self._resize_main(rows)
        self.rows = rows
        self.top, self.bottom = 0, rows - 1
        self._cursor.row = min(self._cursor.row, rows - 1)
        self._cursor.column = min(self._cursor.column, columns - 1)
        self._wrap_next = False
        self.revision += 1

    def _resize_main(self, rows: int) -> None:
        main = self.lines if self._main is None else self._main
        cursor = self._cursor if self._main is None else self._saved
        while len(main) > rows:
            if cursor.row < len(main) - 1:
                main.pop()
            else:
                self.history.append(main.pop(0))
                self.scrolled += 1
                cursor.row -= 1
        while len(main) < rows:
            if self.history:
                main.insert(0, self.history.pop())
                self.scrolled -= 1
                cursor.row += 1
            else:
                main.append(TerminalRow())

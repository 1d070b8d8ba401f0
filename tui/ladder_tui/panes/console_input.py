"""The input line of a console: keys in, and what the pane has to do about them out."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from ladder_tui.panes.console_completion import Completion
from ladder_tui.panes.console_history import ConsoleHistory
from ladder_tui.widgets.line_editor import LineEditor
from ladder_tui.widgets.row import Cell

_GAP = "  "


class Ask(enum.Enum):
    """What the input line asks of its pane."""

    NOTHING = enum.auto()
    """The key is none of the line's."""
    DRAW = enum.auto()
    """The line looks different."""
    SEND = enum.auto()
    """Send the line."""
    COMPLETE = enum.auto()
    """Ask the engine for completions."""
    LEAVE = enum.auto()
    """Give the keys back."""


class ConsoleInput:
    """A line editor with history, search in it, and completion.

    Attributes:
        history: Lines typed before.
    """

    def __init__(self, history: ConsoleHistory) -> None:
        self.history = history
        self._editor = LineEditor()
        self._completion: Completion | None = None
        self._needle: str | None = None
        self._found: int | None = None

    @property
    def text(self) -> str:
        """What stands on the line."""
        return self._editor.text

    @property
    def before_cursor(self) -> str:
        """The part that Tab completes."""
        return self._editor.text[: self._editor.position]

    def edits(self, key: str) -> bool:
        """Whether a key edits the line, as it stands now."""
        return self._editor.edits(key)

    def take(self) -> str:
        """The line to send; the input is empty after."""
        line = self._editor.text
        self._editor.set("")
        self._end_search()
        self._completion = None
        self.history.add(line)
        return line

    def paste(self, text: str) -> list[str]:
        """Put text on the line; of several lines, all but the last are to be sent, in order."""
        self._completion = None
        self._end_search()
        *lines, last = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").split("\n")
        sent: list[str] = []
        for line in lines:
            self._editor.insert(_printable(line))
            sent.append(self.take())
        self._editor.insert(_printable(last))
        return sent

    def offer(self, typed: str, candidates: Sequence[str]) -> bool:
        """Take the engine's completions of `typed`.

        Returns:
            Whether they fit what stands on the line by now.
        """
        if typed != self.before_cursor:
            return False
        rest = self._editor.text[self._editor.position :]
        completion = Completion(typed, rest, candidates)
        self._editor.set(completion.line + rest, len(completion.line))
        self._completion = None if completion.finished else completion
        return True

    def press(self, key: str, character: str | None) -> Ask:
        """Handle a key."""
        if self._needle is not None:
            asked = self._press_in_search(key, character)
            if asked is not None:
                return asked
        if key in ("tab", "shift+tab"):
            return self._tab(-1 if key == "shift+tab" else 1)
        if key == "escape" and self._completion is not None:
            self._completion = None
            return Ask.DRAW
        self._completion = None
        if key in ("escape", "ctrl+g"):
            return Ask.LEAVE
        if key == "enter":
            return Ask.SEND
        if key == "ctrl+r":
            self._needle, self._found = "", None
            return Ask.DRAW
        if key in ("up", "ctrl+p", "down", "ctrl+n"):
            line = self.history.walk(-1 if key in ("up", "ctrl+p") else 1, self._editor.text)
            if line is not None:
                self._editor.set(line)
            return Ask.DRAW
        if character == ":" and not self._editor.text:
            # It leads here from everywhere else; no command of an engine begins with it.
            return Ask.DRAW
        return Ask.DRAW if self._editor.press(key, character) else Ask.NOTHING

    def _tab(self, step: int) -> Ask:
        completion = self._completion
        if completion is None:
            return Ask.COMPLETE if step > 0 else Ask.DRAW
        completion.cycle(step)
        self._editor.set(completion.line + completion.rest, len(completion.line))
        return Ask.DRAW

    def _press_in_search(self, key: str, character: str | None) -> Ask | None:
        """Keys of the search; None for one that ends it and counts for the line."""
        assert self._needle is not None
        if key in ("escape", "ctrl+g"):
            self._end_search()
            return Ask.DRAW
        if key == "ctrl+r":
            self._look(self._found)
            return Ask.DRAW
        if key == "backspace":
            self._needle = self._needle[:-1]
            self._look(None)
            return Ask.DRAW
        if character is not None and character.isprintable() and key not in ("enter", "tab"):
            self._needle += character
            self._look(None if self._found is None else self._found + 1)
            return Ask.DRAW
        self._end_search()
        return None

    def _look(self, before: int | None) -> None:
        found = self.history.search(self._needle or "", before) if self._needle else None
        if found is not None:
            self._found = found
            self._editor.set(self.history.lines[found])

    def _end_search(self) -> None:
        self._needle = self._found = None

    # Drawing

    def cells(self, prompt: str, width: int, *, lit: bool) -> tuple[Cell, ...]:
        """The line with its prompt, shifted so that the cursor shows.

        Args:
            prompt: What the engine wrote before it.
            width: Terminal cells.
            lit: The line has the keys: draw the cursor.
        """
        if self._needle is not None:
            prompt = f"(search “{self._needle}”) "
        text, position = self._editor.text, self._editor.position
        room = max(8, width - len(prompt) - 1)
        start = max(0, position - room + 1)
        before, at, after = text[start:position], text[position : position + 1] or " ", text[position + 1 :]
        cells = [Cell(prompt, "prompt"), Cell("…" + before[1:] if start else before, "input")]
        cells.append(Cell(at, "text-cursor" if lit else "input"))
        cells.append(Cell(after, "input"))
        return tuple(cell for cell in cells if cell.text)

    def candidate_cells(self, width: int) -> tuple[Cell, ...]:
        """What Tab goes through, the chosen one in sight; nothing while there is nothing to choose."""
        completion = self._completion
        if completion is None:
            return ()
        words = completion.words()
        first = 0
        if completion.chosen is not None:
            used = 0
            for number in range(completion.chosen, -1, -1):
                used += len(words[number]) + len(_GAP)
                if used > width // 2 and number < completion.chosen:
                    break
                first = number
        cells: list[Cell] = []
        for number in range(first, min(len(words), first + width)):
            cells.append(Cell(words[number], "match" if number == completion.chosen else "muted"))
            cells.append(Cell(_GAP, "muted"))
        if completion.more:
            cells.append(Cell(f"and {completion.more:,} more", "muted"))
        return tuple(cells)


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())

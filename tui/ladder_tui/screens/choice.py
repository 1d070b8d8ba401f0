"""A small dialog: one question, a few answers, each with its own letter."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from ladder_tui.screens.dialog import Dialog
from ladder_tui.theming import Depth, Palette
from ladder_tui.widgets.row import Cell, Row, compose, cut, printable, width_of


class Option(NamedTuple):
    """One answer.

    Attributes:
        key: The letter that chooses it.
        value: What the dialog returns.
        note: A few more words, muted.
        also: Another letter that chooses it.
    """

    key: str
    label: str
    value: str
    note: str = ""
    also: str = ""


class ChoiceList(Widget, can_focus=True):
    """The question and its answers, as lines."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "ChoiceList { width: auto; height: auto; }"

    def __init__(self, question: str, why: str, options: tuple[Option, ...], palette: Palette) -> None:
        super().__init__()
        self.question = question
        self.why = why
        self.options = options
        self.palette = palette
        self.cursor = 0

    def _rows(self) -> list[Row]:
        rows = [self._rule, Row((Cell("  "), Cell(self.question, "strong")))]
        # What becomes of things stands there: none of it may be cut.
        lines = textwrap.wrap(printable(self.why), max(8, self.app.size.width - 8))
        rows += [Row((Cell("  "), Cell(line, "muted"))) for line in lines]
        rows.append(Row())
        for index, option in enumerate(self.options):
            mark = "▸ " if index == self.cursor else "  "
            cells = (Cell("  "), Cell(mark, "focus"), Cell(f"{option.key}  ", "key"), Cell(option.label))
            rows.append(Row((*cells, Cell(f"   {option.note}" if option.note else "", "muted")), target=option))
        return [*rows, self._rule]

    @property
    def _rule(self) -> Row:
        """The dialog's first and last line: a line where no ground of its own tells it from what is below."""
        plain = self.palette.depth is not Depth.FULL
        return Row((Cell("━" * self.size.width, "rule-focus"),)) if plain else Row()

    def get_content_width(self, container: object, viewport: object) -> int:
        """As wide as the widest line, within the screen."""
        widest = max(width_of(row.cells) for row in self._rows()[1:-1]) + 3
        return max(10, min(widest, self.app.size.width - 4))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """One line each."""
        return min(len(self._rows()), max(3, self.app.size.height - 2))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines on the raised surface."""
        width, height = self.size
        rows = self._rows()
        overflow = max(0, len(rows) - height)
        if overflow:
            start = max(0, min(self.cursor, overflow))
            rows = rows[start : start + height]
        lines = [compose(row, width, self.palette.on_surface) for row in rows]
        lines += [Strip([Segment(" " * width, self.palette.surface)], width)] * (height - len(lines))
        return [line.crop(crop.x, crop.right) for line in lines[crop.y : crop.bottom]]

    def on_click(self, event: events.Click) -> None:
        """A click on an answer chooses it."""
        rows = self._rows()
        if 0 <= event.y < len(rows) and isinstance(option := rows[event.y].target, Option):
            self.screen.dismiss(option.value)


class ChoiceScreen(Dialog, ModalScreen[str]):
    """Asks; the letter, Enter or a click answers, Esc answers nothing (an empty string)."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "ChoiceScreen { align: center middle; background: $background 50%; }"

    def __init__(self, question: str, options: tuple[Option, ...], palette: Palette, *, why: str = "") -> None:
        super().__init__()
        self.options = options
        self._list = ChoiceList(cut(question, 200), why, options, palette)

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield self._list

    def on_key(self, event: events.Key) -> None:
        """Letters choose, arrows move."""
        event.stop()
        event.prevent_default()
        if event.key in ("escape", "ctrl+g"):
            self.dismiss("")
        elif event.key == "enter":
            self.dismiss(self.options[self._list.cursor].value)
        elif event.key in ("up", "down"):
            step = 1 if event.key == "down" else -1
            self._list.cursor = (self._list.cursor + step) % len(self.options)
            self._list.refresh()
        else:
            for option in self.options:
                if event.key == option.key or (event.character or event.key) in (option.key, option.also):
                    self.dismiss(option.value)
                    return

"""Every key, by group."""

from __future__ import annotations

import textwrap

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from ladder_tui.actions import ACTIONS, key_label, key_of
from ladder_tui.panes import PANES
from ladder_tui.screens.dialog import Dialog
from ladder_tui.theming import Palette
from ladder_tui.widgets.line_view import LineView, Title
from ladder_tui.widgets.row import Cell, Row, width_of

_KEYS = 22
"""Columns of the keys, before what they do."""


class KeyList(LineView):
    """The registry as lines, those of one view first, and only those with all words that were typed.

    Attributes:
        words: What was typed.
    """

    HAS_CURSOR = False

    def __init__(self, scope: str, *, palette: Palette) -> None:
        super().__init__(id="key-list", palette=palette)
        self.words = ""
        self._scope = scope
        self._rows: list[Row] = []
        self._laid_out: tuple[str, int] | None = None

    def _lay_out(self) -> list[Row]:
        wanted = (self.words, self.body_width)
        if self._laid_out != wanted:
            self._laid_out = wanted
            self._rows = _beside(_rows(self._scope, self.words, self.body_width), self.body_width)
        return self._rows

    @property
    def row_count(self) -> int:
        """All keys and headings."""
        return len(self._lay_out())

    def row(self, index: int) -> Row:
        """A heading, a key or a blank line; several beside each other where there is room."""
        return self._lay_out()[index]

    def title(self) -> Title:
        """What was typed, and how to leave."""
        state = (Cell(f"/{self.words}", "input"),) if self.words else (Cell("type to search", "muted"),)
        closes = "shows all" if self.words else "closes"
        return Title("Keys", state, (Cell("Esc", "key"), Cell(f" {closes}", "muted")))

    def empty_text(self) -> str:
        """Nothing has these words."""
        return f"no key and no command has: {self.words}"


def _described(keys: str, description: str, width: int) -> list[Row]:
    """Keys and what they do, on several lines where the view is too narrow for one."""
    lines = textwrap.wrap(description, max(20, width - _KEYS - 1), break_on_hyphens=False)
    heads = [f"    {keys}".ljust(_KEYS), *[" " * _KEYS] * len(lines)]
    return [Row((Cell(head, "key"), Cell(f" {line}"))) for head, line in zip(heads, lines, strict=False)]


def _rows(scope: str, words: str, width: int) -> list[Row]:
    wanted = words.lower().split()
    groups: dict[str, list[Row]] = {}
    for action in sorted(ACTIONS, key=lambda one: one.scope != scope):
        # What has no key of its own is found by name.
        keys = "  ".join(key_label(key) for key in action.bound) or f"{key_of('palette')} …"
        text = f"{keys} {action.hint} {action.description} {action.group}".lower()
        if all(word in text for word in wanted):
            groups.setdefault(action.group, []).extend(_described(keys, action.description, width))
    for entry in PANES.values():
        if all(word in f"w {entry.letter} {entry.name}".lower() for word in wanted):
            groups.setdefault("Panes, after w", []).extend(_described(f"w {entry.letter}", entry.name, width))
    rows: list[Row] = []
    for group, members in groups.items():
        rows += [Row(), Row((Cell("  "), Cell(group, "strong"))), *members]
    return rows[1:]


def _beside(rows: list[Row], width: int) -> list[Row]:
    """The rows in as many columns as there is room for, read downwards."""
    column = max((width_of(row.cells) for row in rows), default=1) + 2
    count = max(1, width // column)
    height = -(-len(rows) // count)
    beside: list[Row] = []
    for index in range(height):
        cells: list[Cell] = []
        for number, row in enumerate(rows[index::height]):
            cells += [Cell(" " * max(0, number * column - width_of(cells))), *row.cells]
        beside.append(Row(tuple(cells)))
    return beside


class HelpScreen(Dialog, ModalScreen[None]):
    """The keys, over everything: those of the view that had the focus first; typing searches.

    Args:
        scope: The view whose keys come first.
    """

    BLANK = True
    ALLOW_SELECT = False
    DEFAULT_CSS = "HelpScreen { background: $background; } HelpScreen KeyList { width: 1fr; height: 1fr; }"

    def __init__(self, palette: Palette, scope: str = "") -> None:
        super().__init__()
        self._list = KeyList(scope, palette=palette)

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield self._list

    def on_mount(self) -> None:
        """Arrows scroll."""
        self._list.focus()

    def on_key(self, event: events.Key) -> None:
        """Text searches; Esc takes the search away, then closes, as q and ? do where nothing was typed."""
        words = self._list.words
        if event.key in ("escape", "ctrl+g") and words:
            self._search("")
        elif event.key in ("escape", "ctrl+g") or (not words and event.key in ("q", "question_mark")):
            self.dismiss()
        elif event.key == "backspace":
            self._search(words[:-1])
        elif event.key == "slash" and not words:
            # Elsewhere it begins a search: here typing does.
            pass
        elif event.character is not None and event.is_printable:
            self._search(words + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def _search(self, words: str) -> None:
        self._list.words = words
        self._list.action_edge("first")
        self._list.update()

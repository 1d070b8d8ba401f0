"""Every key, by group."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from ladder_tui.actions import ACTIONS, key_label, key_of
from ladder_tui.panes import PANES
from ladder_tui.theming import Palette
from ladder_tui.widgets.line_view import LineView, Title
from ladder_tui.widgets.row import Cell, Row


class KeyList(LineView):
    """The registry as lines."""

    HAS_CURSOR = False

    def __init__(self, *, palette: Palette) -> None:
        super().__init__(id="key-list", palette=palette)
        self._rows = _rows()

    @property
    def row_count(self) -> int:
        """All keys and headings."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """A heading, a key or a blank line."""
        return self._rows[index]

    def title(self) -> Title:
        """What this is and how to leave."""
        return Title("Keys", end=(Cell("Esc", "key"), Cell(" closes", "muted")))


def _rows() -> list[Row]:
    rows: list[Row] = []
    for group in dict.fromkeys(action.group for action in ACTIONS):
        rows += [Row(), Row((Cell("  "), Cell(group, "strong")))]
        for action in ACTIONS:
            if action.group == group:
                # What has no key of its own is found by name.
                keys = "  ".join(key_label(key) for key in action.bound) or f"{key_of('palette')} …"
                rows.append(Row((Cell(f"    {keys:<18}", "key"), Cell(action.description))))
    rows += [Row(), Row((Cell("  "), Cell("Panes, after w", "strong")))]
    rows += [Row((Cell(f"    {'w ' + entry.letter:<18}", "key"), Cell(entry.name))) for entry in PANES.values()]
    return [*rows[1:], Row()]


class HelpScreen(ModalScreen[None]):
    """The keys, over everything; `/` is not needed, it is one page or two."""

    BLANK = True
    ALLOW_SELECT = False
    DEFAULT_CSS = "HelpScreen { background: $background; } HelpScreen KeyList { width: 1fr; height: 1fr; }"

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._list = KeyList(palette=palette)

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield self._list

    def on_mount(self) -> None:
        """Arrows scroll."""
        self._list.focus()

    def on_key(self, event: events.Key) -> None:
        """Esc, q and ? close."""
        if event.key in ("escape", "q", "question_mark", "ctrl+g"):
            event.stop()
            event.prevent_default()
            self.dismiss()

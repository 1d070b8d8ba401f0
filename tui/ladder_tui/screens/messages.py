"""What was said so far, whole: a notice is gone with the next key, and a long one does not fit on its line."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from ladder_backends.session.state import Notice
from ladder_tui.screens.dialog import Dialog
from ladder_tui.theming import Palette
from ladder_tui.widgets.line_view import LineView, Title
from ladder_tui.widgets.notice_line import LOOKS
from ladder_tui.widgets.row import Cell, Row, printable


class MessageList(LineView):
    """Notices, the newest first, each on as many lines as it takes."""

    def __init__(self, notices: Sequence[Notice], *, palette: Palette) -> None:
        super().__init__(id="messages", palette=palette)
        self._notices = tuple(reversed(notices))
        self._rows: list[Row] = []

    def sized(self) -> None:
        """Wrap for this width."""
        self._rows = [row for notice in self._notices for row in _told(notice, max(8, self.body_width - 2))]

    @property
    def row_count(self) -> int:
        """Lines of all notices."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """A line of a notice."""
        return self._rows[index]

    def title(self) -> Title:
        """How many, and how to leave."""
        keys = (Cell("y", "key"), Cell(" copies  ", "muted"), Cell("Esc", "key"), Cell(" closes", "muted"))
        return Title("Messages", (Cell(f"{len(self._notices)}, newest first", "muted"),), keys)

    def empty_text(self) -> str:
        """Why there are none."""
        return "nothing was said yet"

    def copy_text(self, index: int) -> str:
        """The whole notice."""
        target = self._rows[index].target
        return target.text if isinstance(target, Notice) else ""


class MessageScreen(Dialog, ModalScreen[None]):
    """The notices, over everything.

    Args:
        notices: The oldest first.
    """

    BLANK = True
    ALLOW_SELECT = False
    DEFAULT_CSS = (
        "MessageScreen { background: $background; } MessageScreen MessageList { width: 1fr; height: 1fr; }"
    )

    def __init__(self, palette: Palette, notices: Sequence[Notice]) -> None:
        super().__init__()
        self._list = MessageList(notices, palette=palette)

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield self._list

    def on_mount(self) -> None:
        """Arrows move, `y` copies."""
        self._list.take_focus()

    def on_key(self, event: events.Key) -> None:
        """Esc closes, as q and the key that opened it do."""
        if event.key in ("escape", "ctrl+g", "q", "exclamation_mark"):
            event.stop()
            event.prevent_default()
            self.dismiss()


def _told(notice: Notice, width: int) -> list[Row]:
    glyph, style = LOOKS.get(notice.severity, LOOKS["information"])
    lines = textwrap.wrap(printable(notice.text), width) or [""]
    return [
        Row((Cell(f"{'' if number else glyph:<2}", style), Cell(line)), target=notice)
        for number, line in enumerate(lines)
    ]

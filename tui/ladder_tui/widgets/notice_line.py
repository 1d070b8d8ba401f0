"""A line over the last rows of the panes: what happened, why, what to do."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from textual import events

from ladder_backends.session.state import Notice
from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

_MOST_LINES = 4
_LOOK = {"information": ("·", "ok"), "warning": ("!", "warn"), "error": ("✗", "fault")}


class NoticeLine(LineView, can_focus=False):
    """Shows the newest notice until a key is pressed, on several lines where it is long: the remedy comes last."""

    HAS_TITLE = False
    HAS_CURSOR = False
    DEFAULT_CSS = """
    NoticeLine { layer: notice; dock: bottom; width: 1fr; height: 1; margin-bottom: 1; display: none; }
    """

    def __init__(self, *, palette: Palette) -> None:
        super().__init__(id="notice-line", palette=palette)
        self.notice: Notice | None = None
        self._lines: list[str] = []

    @property
    def row_count(self) -> int:
        """As many lines as the notice takes at this width."""
        return len(self._lines) if self.notice is not None else 0

    def row(self, index: int) -> Row:
        """Glyph and text."""
        assert self.notice is not None
        glyph, style = _LOOK.get(self.notice.severity, _LOOK["information"])
        words = Cell(self._lines[index], style if style == "fault" else "strong")
        return Row((Cell(" " * 3 if index else f" {glyph} ", style), words))

    def show(self, notice: Notice) -> None:
        """Put a notice on the screen."""
        self.notice = notice
        self._lay_out(self.app.size.width)
        self.display = True
        self.repaint()

    def _lay_out(self, width: int) -> None:
        text = self.notice.text if self.notice is not None else ""
        room = max(8, width - 4)
        self._lines = textwrap.wrap(text, room, max_lines=_MOST_LINES, placeholder="…") or [""]
        self.styles.height = len(self._lines)

    def on_resize(self, event: events.Resize) -> None:
        """Another width takes other lines."""
        self._lay_out(event.size.width)
        self.repaint()

    def hide(self) -> None:
        """Take it away."""
        if self.display:
            self.display = False

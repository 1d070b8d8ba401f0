"""One line over the last rows of the panes: what happened, why, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.session.state import Notice
from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

_LOOK = {"information": ("·", "ok"), "warning": ("!", "warn"), "error": ("✗", "fault")}


class NoticeLine(LineView, can_focus=False):
    """Shows the newest notice until a key is pressed."""

    HAS_TITLE = False
    HAS_CURSOR = False
    DEFAULT_CSS = """
    NoticeLine { layer: notice; dock: bottom; width: 1fr; height: 1; margin-bottom: 1; display: none; }
    """

    def __init__(self, *, palette: Palette) -> None:
        super().__init__(id="notice-line", palette=palette)
        self.notice: Notice | None = None

    @property
    def row_count(self) -> int:
        """One line while there is a notice."""
        return 1 if self.notice is not None else 0

    def row(self, index: int) -> Row:
        """Glyph and text."""
        assert self.notice is not None
        glyph, style = _LOOK.get(self.notice.severity, _LOOK["information"])
        return Row((Cell(f" {glyph} ", style), Cell(self.notice.text, style if style == "fault" else "strong")))

    def show(self, notice: Notice) -> None:
        """Put a notice on the screen."""
        self.notice = notice
        self.display = True
        self.repaint()

    def hide(self) -> None:
        """Take it away."""
        if self.display:
            self.display = False

"""The registers of the selected frame, by groups."""

from __future__ import annotations

from ladder_backends.session.state import Change
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.row import Row


class RegistersPane(Pane):
    """The registers of the selected frame, by groups."""

    INTEREST = Change.FRAMES | Change.FOCUS | Change.RUN | Change.MACHINE

    @property
    def row_count(self) -> int:
        """Rows."""
        return 0

    def row(self, index: int) -> Row:
        """One row."""
        return Row()

    def empty_text(self) -> str:
        """Why there is nothing."""
        return self.not_standing() or "nothing to show"

"""What the console keeps from the engine or forces on it, and how to change that."""

from __future__ import annotations

from ladder_backends.session.state import Change
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.row import Row


class EnvironmentPane(Pane):
    """What the console keeps from the engine or forces on it, and how to change that."""

    INTEREST = Change.RUN | Change.LEDGER

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

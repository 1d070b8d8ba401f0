"""The threads of the target, grouped by where they stand."""

from __future__ import annotations

from ladder_backends.session.state import Change
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.row import Row


class ThreadsPane(Pane):
    """The threads of the target, grouped by where they stand."""

    INTEREST = Change.FRAMES | Change.FOCUS | Change.RUN | Change.THREADS

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

"""What is shown where nothing else fits."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ladder_tui.screens.layouts import MINIMUM
from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette


class TooSmall(LineView, can_focus=False):
    """One line that says how large the terminal is and has to be."""

    HAS_TITLE = False
    HAS_CURSOR = False
    DEFAULT_CSS = "TooSmall { width: 1fr; height: 1fr; display: none; }"

    def __init__(self, *, palette: Palette) -> None:
        super().__init__(id="too-small", palette=palette)

    def _lines(self) -> list[str]:
        width, height = self.app.size
        text = f"terminal too small ({width}x{height}): needs {MINIMUM[0]}x{MINIMUM[1]}"
        return textwrap.wrap(text, max(1, width - 1))

    @property
    def row_count(self) -> int:
        """One line, or as many as it is broken into."""
        return len(self._lines())

    def row(self, index: int) -> Row:
        """What is and what should be."""
        return Row((Cell(self._lines()[index], "warn"),))

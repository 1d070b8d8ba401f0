"""The first line: the rungs of the ladder, and what is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ladder_backends.rungs import Rung, rungs
from ladder_backends.session.state import LadderState
from ladder_tui.widgets.line_view import Hit, LineView
from ladder_tui.widgets.row import Cell, Row, width_of

if TYPE_CHECKING:
    from ladder_tui.theming import Palette


class RungBar(LineView, can_focus=False):
    """Shows the rungs; a click or the digit goes to one. The active rung is in capitals."""

    HAS_TITLE = False
    HAS_CURSOR = False
    DEFAULT_CSS = "RungBar { width: 1fr; height: 1; }"

    def __init__(self, state: LadderState, choose: Callable[[str], None], *, palette: Palette) -> None:
        super().__init__(id="rung-bar", palette=palette)
        self.choose = choose
        self.state = state

    @property
    def row_count(self) -> int:
        """One line."""
        return 1

    def row(self, index: int) -> Row:
        """Rungs at the left, the case or target at the right."""
        wide = self.size.width >= 100
        gap = "  " if wide else ""
        cells: list[Cell] = []
        for rung in rungs():
            active = rung.name == self.state.rung
            name = rung.name if wide else rung.short
            held = rung.name in self.state.debug or (rung.findings and self.state.report is not None)
            mark = "·" if held and not active else " "
            style = "rung-active" if active else "rung-missing" if rung.missing else "rung"
            cells.append(Cell(f" {rung.key}{mark}{name.upper() if active else name} ", style, rung))
            cells.append(Cell(gap))
        room = max(0, self.size.width - width_of(cells) - 2)
        title = self._what_is_open()
        return Row(tuple(cells), (Cell(title, "muted"),) if room > 8 and title else ())

    def _what_is_open(self) -> str:
        if self.state.case_title:
            return self.state.case_title
        debug = self.state.debug.get(self.state.rung)
        return debug.title if debug is not None else ""

    def activate(self, hit: Hit) -> None:
        """Go to the rung that was clicked."""
        if isinstance(hit.target, Rung):
            self.choose(hit.target.name)

"""Values of expressions under the mouse, or of the cursor's line, over the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from ladder_backends.session.state import Run
from ladder_tui.widgets.row import size_of, skip_cells

if TYPE_CHECKING:
    from ladder_tui.panes.source_pane import SourcePane
    from ladder_tui.widgets.value_popup import ValuePopup

DWELL = 0.35
"""Seconds that the mouse rests on an expression before its value is asked for."""


class SourcePeek:
    """Looks for expressions in a source pane's lines, asks for their values and shows them in a popup."""

    def __init__(self, pane: SourcePane) -> None:
        self._pane = pane
        self._under: tuple[int, str] | None = None
        self._timer: Timer | None = None
        self._line, self._number = -1, 0
        self._asked = 0

    # The mouse -------------------------------------------------------------------------------------------------

    def moved(self, x: int, y: int) -> None:
        """The mouse moved over the pane."""
        hit = self._pane.hit(x, y)
        column = self._pane.code_column(hit.column) if hit is not None and hit.column is not None else -1
        found = None
        if hit is not None and column >= 0 and self._stands():
            from ladder_tui.panes.source_expressions import expression_at

            line = self._pane.row_text(hit.index)
            # Columns are cells; of a line with wide characters, the text before them tells where that is.
            column = column if line.isascii() else len(line) - len(skip_cells(line, column))
            found = expression_at(line, column)
        under = (hit.index, found[1]) if hit is not None and found is not None else None
        if under == self._under:
            return
        self.leave()
        self._under = under
        if hit is not None and found is not None:
            index, (start, text) = hit.index, found
            self._timer = self._pane.set_timer(DWELL, lambda: self._ask(index, start, text, quiet=True))

    def leave(self) -> None:
        """The mouse is elsewhere, or what was under it has changed; on the popup itself it stays."""
        popup = self._popup
        if popup is not None and popup.display and popup.region.contains(*self._pane.app.mouse_position):
            return
        self._under = None
        self._asked += 1
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if popup is not None:
            popup.hide()

    # The key ---------------------------------------------------------------------------------------------------

    def next(self, index: int) -> None:
        """Show the value of the next expression of a line, from its first one on."""
        from ladder_tui.panes.source_expressions import expressions_on

        self._number = self._number + 1 if index == self._line else 0
        self._line = index
        found = expressions_on(self._pane.row_text(index))
        if not found:
            self._pane.ladder_app.say("no expression on this line", "information")
            return
        if not self._stands():
            self._pane.ladder_app.say(f"no value: {self._pane.not_standing()}", "information")
            return
        start, text = found[self._number % len(found)]
        self._ask(index, start, text, quiet=False)

    def pin(self) -> bool:
        """Open among the variables what was shown until this key; False where nothing was."""
        popup = self._popup
        if popup is None or not popup.left:
            return False
        self._open(popup.left)
        return True

    # Within ----------------------------------------------------------------------------------------------------

    @property
    def _popup(self) -> ValuePopup | None:
        return self._pane.ladder_app.workspace.value_popup

    def _stands(self) -> bool:
        debug = self._pane.debug
        return debug is not None and debug.run in (Run.STOPPED, Run.DUMP)

    def _ask(self, index: int, start: int, text: str, *, quiet: bool) -> None:
        self._timer = None
        self._asked += 1
        self._pane.work(self._show(index, start, text, self._asked, quiet))

    async def _show(self, index: int, start: int, text: str, asked: int, quiet: bool) -> None:
        pane, session = self._pane, self._pane.session
        if session is None:
            return
        variable = await session.values.peek(text)
        # Something else may be under the mouse by now; a word that is no value there is no news.
        if asked != self._asked or not pane.display or (quiet and variable.error):
            return
        place = pane.place_of(index, size_of(pane.row_text(index)[:start]))
        if place is None:
            return
        workspace = pane.ladder_app.workspace
        popup = workspace.value_popup
        if popup is None:
            from ladder_tui.widgets.value_popup import ValuePopup

            popup = workspace.value_popup = ValuePopup(self._open, palette=pane.palette)
            await workspace.mount(popup)
        popup.show(text, variable, *place)

    def _open(self, expression: str) -> None:
        from ladder_tui.panes.variables_pane import VariablesPane

        variables = self._pane.ladder_app.workspace.show_pane("variables", focus=False)
        if isinstance(variables, VariablesPane):
            variables.open(expression)

"""One line over the panes: an expression, its value and its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events

from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.row import Cell, Row, Styler, cut, width_of

if TYPE_CHECKING:
    from ladder_backends.model.variable import Variable
    from ladder_tui.theming import Palette

VALUE_ROOM = 200
"""Columns of a value that are shown at most."""
_LEAST_ROOM = 20


class ValuePopup(LineView, can_focus=False):
    """Shows a value beside the place in the source that names it, until a key is pressed or the mouse leaves.

    Attributes:
        expression: What is shown, or an empty string.
        left: What was shown until the key that is being handled now took it away.
    """

    HAS_TITLE = False
    HAS_CURSOR = False
    DEFAULT_CSS = "ValuePopup { layer: notice; dock: top; width: 10; height: 1; display: none; }"

    def __init__(self, clicked: Callable[[str], None], *, palette: Palette) -> None:
        super().__init__(id="value-popup", palette=palette)
        self.expression = ""
        self.left = ""
        self._clicked = clicked
        self._row = Row()

    @property
    def row_count(self) -> int:
        """One line."""
        return 1

    def row(self, index: int) -> Row:
        """Expression, value, type."""
        return self._row

    def styler(self, lit: bool) -> Styler:
        """Raised above what lies below."""
        return self.palette.on_surface

    def show(self, expression: str, variable: Variable, x: int, y: int) -> None:
        """Put a value on the screen, at `x` where there is room for it, else further left.

        Args:
            expression: What it is the value of.
            variable: The value, or why there is none.
            x: Column of the screen.
            y: Line of the screen.
        """
        room = min(VALUE_ROOM, self.app.size.width - 4)
        name = cut(expression, max(_LEAST_ROOM, room // 3))
        cells = [Cell(" "), Cell(name, "name"), Cell(" = " if not variable.error else "  ", "muted")]
        text = variable.value + ("…" if variable.cut else "")
        kind = f"  {variable.type}" if variable.type and not variable.error else ""
        rest = room - width_of(cells) - 1
        if width_of([Cell(text), Cell(kind)]) > rest:
            kind = f"  {cut(variable.type, max(8, rest // 4))}" if kind else ""
        value = cut(text or "{…}", max(8, rest - width_of([Cell(kind)])))
        told = Cell(value, "value") if not variable.error else Cell(cut(variable.error, rest), "muted")
        self._row = Row((*cells, told, Cell(kind, "type"), Cell(" ")))
        width = min(self.app.size.width, width_of(self._row.cells) + 1)
        self.expression, self.left = expression, ""
        self.styles.width = width
        self.styles.offset = (max(0, min(x, self.app.size.width - width)), y)
        self.display = True
        self.repaint()

    def hide(self) -> None:
        """Take it away."""
        self.left, self.expression = self.expression, ""
        if self.display:
            self.display = False

    def on_click(self, event: events.Click) -> None:
        """A click opens the value among the variables."""
        event.stop()
        expression = self.expression
        self.hide()
        if expression:
            self._clicked(expression)

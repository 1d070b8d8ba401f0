"""Arguments and locals of the selected frame, and expressions that were asked for."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ladder_backends.errors import LadderError
from ladder_backends.model.variable import Variable
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row, width_of

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

_NAME_ROOM = 24


class _Line(NamedTuple):
    """One row: a variable, or a further line of its whole value."""

    variable: Variable
    watched: bool
    rest: str = ""


class VariablesPane(Pane):
    """Name, value, type; what changed since the last stop has a mark. Expressions stand above, after `=`."""

    INTEREST = Change.VARIABLES | Change.FRAMES | Change.FOCUS | Change.RUN
    BINDINGS: ClassVar = bindings_for("variables")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._watched: dict[str, Variable] = {}
        self._open: set[str] = set()
        self._shown: list[_Line] = []
        self._name_width = 1

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Take over the values; ask again for the expressions."""
        debug = self.debug
        if self._watched and change & Change.VARIABLES and debug is not None and debug.run is not Run.RUNNING:
            self.work(self._ask_again())
        self._lay_out()
        self.update()

    async def _ask_again(self) -> None:
        for expression in list(self._watched):
            await self._ask(expression)

    async def _ask(self, expression: str) -> None:
        session = self.session
        if session is None:
            return
        try:
            answer = await session.evaluate(expression)
        except LadderError as error:
            answer = Variable(expression, "", error=error.line())
        before = self._watched.get(expression)
        changed = before is not None and before.value != answer.value
        self._watched[expression] = Variable(
            expression, answer.value, answer.type, changed=changed, cut=answer.cut, error=answer.error
        )
        self._lay_out()
        self.update()

    def _lay_out(self) -> None:
        debug = self.debug
        variables = debug.variables.variables if debug is not None and debug.run is not Run.RUNNING else ()
        lines: list[_Line] = []
        for watched, variable in [
            *((True, variable) for variable in self._watched.values()),
            *((False, variable) for variable in variables),
        ]:
            lines.append(_Line(variable, watched))
            if variable.name in self._open:
                wrapped = textwrap.wrap(variable.value, max(16, self.body_width - 6))
                lines += [_Line(variable, watched, rest) for rest in wrapped]
        self._shown = lines
        widest = max((width_of([Cell(line.variable.name)]) for line in lines), default=1)
        self._name_width = min(_NAME_ROOM, widest)

    @property
    def row_count(self) -> int:
        """Variables, and a line that says when there are more."""
        debug = self.debug
        return len(self._shown) + (1 if debug is not None and debug.variables.more else 0)

    def row(self, index: int) -> Row:
        """Mark, name, value, type."""
        if index >= len(self._shown):
            return Row((Cell("  … more", "muted"),))
        variable, watched, rest = self._shown[index]
        if rest:
            return Row((Cell("    "), Cell(rest, "value")), target=variable)
        mark = Cell("• ", "changed") if variable.changed else Cell("= ", "focus") if watched else Cell("  ")
        padding = " " * max(0, self._name_width - width_of([Cell(variable.name)]))
        cells = [mark, Cell(variable.name + padding, "name"), Cell("  ")]
        if variable.error:
            cells.append(Cell(f"<{variable.error}>", "warn"))
        else:
            text = variable.value + ("…" if variable.cut else "")
            cells.append(Cell(text or "{…}", "changed" if variable.changed else "value"))
        room = self.body_width - width_of(cells) - 2
        fits = variable.type and width_of([Cell(variable.type)]) <= room
        return Row(tuple(cells), (Cell(variable.type, "type"),) if fits else (), target=variable)

    def title(self) -> Title:
        """Whose variables these are, and where they come from if not from an engine."""
        debug = self.debug
        state: tuple[Cell, ...] = ()
        if debug is not None and debug.python.frame is not None:
            state = (Cell(f"of {debug.python.frame.function} · {debug.python.source}", "muted"),)
        elif debug is not None and debug.variables.frame_level:
            state = (Cell(f"of frame {debug.variables.frame_level}", "muted"),)
        return Title(self.pane_name, state, self.tab_cells())

    def empty_text(self) -> str:
        """Why there are none."""
        debug = self.debug
        return self.not_standing() or (debug.variables.note if debug is not None else "") or "none here"

    def activate(self, hit: Hit) -> None:
        """Show the whole value, or one line of it again."""
        if isinstance(hit.target, Variable):
            self._open ^= {hit.target.name}
            self._lay_out()
            self.update()

    def copy_text(self, index: int) -> str:
        """The value."""
        return self._shown[index].variable.value if index < len(self._shown) else ""

    def action_expand(self) -> None:
        """Show the whole value of the selected row."""
        self.action_act()

    def evaluate(self, expression: str) -> None:
        """Evaluate an expression now and again at every stop."""
        self.work(self._ask(expression))

    def action_forget(self) -> None:
        """Forget the selected expression."""
        if self.cursor < len(self._shown) and self._shown[self.cursor].watched:
            del self._watched[self._shown[self.cursor].variable.name]
            self._lay_out()
            self.update()

"""Arguments and locals of the selected frame, and expressions that were asked for, as trees."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, ClassVar

from ladder_backends.debugger.facets.values import CALLS, Form
from ladder_backends.session.faulting import reuses_registers
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.lane_words import device_to_name, kernel_of, lane_words
from ladder_backends.session.state import Change, LadderState, Run
from ladder_backends.session.value_rows import WATCHED, Key, Sort, ValueRow
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.value_lines import ValueLine, lines_of, prefill, read_range, short_value
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row, width_of

if TYPE_CHECKING:
    from ladder_backends.session.values import SessionValues
    from ladder_tui.panes.lane_glyphs import Sparkline
    from ladder_tui.theming import Palette

_FORMS = (
    Form.NATURAL,
    Form.HEX,
    Form.DECIMAL,
    Form.UNSIGNED,
    Form.BINARY,
    Form.OCTAL,
    Form.CHAR,
    Form.FLOAT,
    Form.RAW,
)
_UNREAD = "…"
_SPACES = re.compile(r"@\w+|\*")
_OPTIMIZED_OUT = "<optimized out>"
_LEAST_HEIGHT = 5
"""Lines of a view that has one to spare for what stands above its rows."""
_INSIDE_SHOWN = 3
"""Rows of what is inside a value that come into sight when it is opened, however small the view."""


class VariablesPane(Pane):
    """Name, value, type; what changed since the last stop has a mark, what can be opened an arrow."""

    INTEREST = Change.VARIABLES | Change.FRAMES | Change.FOCUS | Change.RUN | Change.LANES
    BINDINGS: ClassVar = bindings_for("variables")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._rows: list[ValueRow] = []
        self._lines: list[ValueLine] = []
        self._width = 0
        self._sparkline: Sparkline | None = None
        self._selected: tuple[Key, Sort] | None = None

    @property
    def _values(self) -> SessionValues | None:
        session = self.session
        return session.values if session is not None else None

    @property
    def _in_lane(self) -> bool:
        debug = self.debug
        return debug is not None and debug.focus is not None and "block" in debug.focus

    # Following -------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Take over the values."""
        self._lay_out()
        self.update()

    def _lay_out(self) -> None:
        values = self._values
        rows = values.rows() if values is not None else []
        if rows is self._rows and self._width == self.body_width:
            return
        self._rows, self._width = rows, self.body_width
        self._lines = lines_of(rows, self._width)
        # The selected value stays selected wherever it stands now.
        if self._selected is not None and not self._is_selected(self.cursor):
            found = next((index for index in range(len(self._lines)) if self._is_selected(index)), None)
            if found is not None:
                self.cursor = found

    def _is_selected(self, index: int) -> bool:
        if index >= len(self._lines):
            return False
        row = self._lines[index].row
        return (row.key, row.sort) == self._selected

    def sized(self) -> None:
        """Long texts are laid out for this width."""
        self._lay_out()

    def update(self) -> None:
        """Build the visible rows again, and see to it that what is visible is known."""
        super().update()
        self._tell_visible()

    def _rebuild(self) -> None:
        super()._rebuild()
        # Only now does a view that comes back into sight know how much of it is seen.
        self._tell_visible()

    def _tell_visible(self) -> None:
        values = self._values
        if values is None or not self.display or not self._lines:
            if values is not None:
                values.show(0, self.body_height if self.display else 0)
            return
        first, last = self.top, min(self.top + self.body_height, len(self._lines)) - 1
        if len(self._lines) != len(self._rows):
            # Lines of one text are one row.
            first = self._rows.index(self._lines[first].row)
            last = self._rows.index(self._lines[max(0, last)].row)
        values.show(first, max(self.body_height, last - first + 1))

    def cursor_moved(self) -> None:
        """Remember what is selected."""
        line = self._line
        self._selected = (line.row.key, line.row.sort) if line is not None else None

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Variables, what is open below them, and a line that says when there are more."""
        debug = self.debug
        return len(self._lines) + (1 if debug is not None and debug.variables.more else 0)

    def row(self, index: int) -> Row:
        """Mark, arrow, name, value; form and type at the right."""
        if index >= len(self._lines):
            return Row((Cell("  … more", "muted"),))
        line = self._lines[index]
        row, variable = line.row, line.row.variable
        indent = " " * line.indent
        if row.sort is Sort.TEXT:
            return Row((Cell(f"  {indent}"), Cell(line.text, "value")), target=row)
        if row.sort is Sort.ELSEWHERE:
            return Row((Cell(" ▾" if row.opened else " ▸", "muted"), Cell(line.text, "muted")), target=row)
        if row.sort is not Sort.VALUE:
            style = "warn" if row.sort is Sort.NOTE and line.text == "timed out" else "muted"
            return Row((Cell(f"  {indent}"), Cell(line.text, style)), target=row)
        unchanged = Cell("=", "focus") if row.watched else Cell(" ")
        mark = Cell("•", "changed") if variable.changed else unchanged
        values = self._values
        opens = variable.children and values is not None and values.opens
        arrow = "▾" if row.opened else "▸" if opens else " "
        padding = " " * max(0, line.name_width - width_of([Cell(variable.name)]))
        name_style = "muted" if variable.kind in ("static", "base") else "name"
        cells = [mark, Cell(indent + arrow, "muted"), Cell(variable.name + padding, name_style), Cell("  ")]
        cells.append(self._value_cell(row))
        room = self.body_width - width_of(cells) - 2
        end: list[Cell] = []
        if row.form != Form.NATURAL:
            end.append(Cell(row.form, "focus"))
            room -= len(row.form) + 1
        over_lanes = self._over_lanes(variable.expression, room - 1)
        if over_lanes:
            return Row(
                tuple(cells), (*over_lanes, *(Cell(f" {cell.text}", cell.style) for cell in end)), target=row
            )
        kind = variable.type
        if "@" in kind and width_of([Cell(kind)]) > room:
            # Where there is no room for the type, its address spaces alone: those were asked for.
            kind = " ".join(_SPACES.findall(kind))
        if kind and width_of([Cell(kind)]) <= room:
            end.append(Cell((" " if end else "") + kind, "type"))
        return Row(tuple(cells), tuple(end), target=row)

    def _over_lanes(self, expression: str, room: int) -> tuple[Cell, ...]:
        """The value in the lanes beside the focused one, where it was asked of them."""
        debug = self.debug
        if debug is None or debug.lane_values.expression != expression:
            return ()
        if self._sparkline is None:
            from ladder_tui.panes.lane_glyphs import Sparkline

            self._sparkline = Sparkline()
        return self._sparkline.cells(debug, expression, room)

    def _value_cell(self, row: ValueRow) -> Cell:
        variable = row.variable
        if variable.error == CALLS:
            return Cell(f"<calls a function; {key_of('list.act')} runs it>", "muted")
        if variable.error:
            return Cell(f"<{variable.error}>", "warn")
        if variable.value == _OPTIMIZED_OUT and self._in_lane:
            return Cell("<optimized out: not set yet, or no longer>", "muted")
        if not variable.value and row.watched:
            return Cell(_UNREAD, "muted")
        if (
            not (variable.value or variable.children)
            and self._in_lane
            and self.debug
            and self.debug.run is Run.DUMP
        ):
            # As of a dump without memory: the engine tells nothing, not even why.
            return Cell("<not in the dump>", "warn")
        text = short_value(variable.value) + ("…" if variable.cut else "")
        standing = self.debug is not None and self.debug.run in (Run.STOPPED, Run.DUMP)
        style = ("changed" if variable.changed else "value") if standing else "muted"
        return Cell(text or "{…}", style)

    def title(self) -> Title:
        """Whose variables these are, and where they come from if not from an engine."""
        debug = self.debug
        state: tuple[Cell, ...] = ()
        if debug is not None and debug.python.frame is not None:
            state = (Cell(f"of {debug.python.frame.function} · {debug.python.source}", "muted"),)
        elif debug is not None and debug.variables.frame_level:
            state = (Cell(f"of frame {debug.variables.frame_level}", "muted"),)
        return Title(self.pane_name, state, self.tab_cells())

    def heading(self) -> Row | None:
        """The lane whose values these are, with its place in the grid and on the device."""
        debug = self.debug
        if debug is None or not self._in_lane or self.size.height < _LEAST_HEIGHT:
            return None
        if debug.selected_frame and (callee := reuses_registers(debug.frames.frames, debug.selected_frame)):
            # The lane is told in the last line, too.
            return Row((Cell(f"may be stale after {callee}", "warn"),))
        words = lane_words(debug.focus, kernel_of(debug), self.body_width, device_to_name(debug))
        return Row((Cell(words, "muted"),)) if words and not self.not_standing() else None

    def empty_text(self) -> str:
        """Why there are none."""
        debug = self.debug
        return self.not_standing() or (debug.variables.note if debug is not None else "") or "none here"

    def copy_text(self, index: int) -> str:
        """The value, or the whole text of which the row shows a part."""
        if index >= len(self._lines):
            return ""
        row = self._lines[index].row
        return row.text if row.sort in (Sort.TEXT, Sort.ELSEWHERE) else row.variable.value

    # Acting ----------------------------------------------------------------------------------------------------

    @property
    def _line(self) -> ValueLine | None:
        return self._lines[self.cursor] if self.cursor < len(self._lines) else None

    def _selected_value(self) -> ValueRow | None:
        """The selected row where it is a value; else nothing, and a word about it."""
        line = self._line
        if line is None or line.row.sort is not Sort.VALUE:
            self.ladder_app.refuse("no value is selected")
            return None
        return line.row

    def activate(self, hit: Hit) -> None:
        """Open a value or close it; load more of it; run what was not run by itself."""
        row, values = hit.target, self._values
        if not isinstance(row, ValueRow) or values is None:
            return
        self.cursor_moved()
        if row.sort is Sort.ELSEWHERE:
            values.fold_elsewhere()
            self._bring_inside(row)
        elif row.sort in (Sort.MORE, Sort.BEFORE):
            self.work(values.page(row))
        elif row.watched and row.variable.error == CALLS:
            self.work(values.watch(row.variable.name))
        elif row.sort is not Sort.NOTE:
            self.work(self._toggle(values, row))

    async def _toggle(self, values: SessionValues, row: ValueRow) -> None:
        """Open a value or close it; of one opened at the lower edge, bring some of its inside into sight."""
        await values.toggle(row)
        if self._bring_inside(row):
            # What was out of sight was not asked for.
            await values.look_again()
            self._bring_inside(row)

    def _bring_inside(self, row: ValueRow) -> bool:
        """Scroll as far as that takes; returns whether it took any."""
        self._lay_out()
        at = next((i for i, line in enumerate(self._lines) if line.row.key == row.key), None)
        if at is None:
            return False
        below = itertools.takewhile(lambda line: line.row.key[: len(row.key)] == row.key, self._lines[at + 1 :])
        shown = min(sum(1 for _ in below), max(_INSIDE_SHOWN, self.body_height // 2))
        top = min(at, at + shown - self.body_height + 1)
        if top <= self.top:
            return False
        self.top = top
        self.update()
        return True

    def action_expand(self) -> None:
        """Open the selected value, or close it."""
        self.action_act()

    def action_elements(self) -> None:
        """Ask which elements of an array, container or pointer are shown."""
        row, values = self._selected_value(), self._values
        if row is None or values is None:
            return

        def choose(text: str) -> None:
            if not text.strip():
                return
            try:
                first, last = read_range(text)
            except ValueError as error:
                self.ladder_app.say(str(error))
                return
            self.work(values.choose_elements(row, first, last))

        self.ladder_app.workspace.prompt.ask(
            f"elements of {row.variable.name}", choose, placeholder="500..520, or 500 for a page from there"
        )

    def action_assign(self) -> None:
        """Ask for a new value."""
        row, values = self._selected_value(), self._values
        if row is None or values is None:
            return
        why = values.read_only()
        if why:
            self.ladder_app.refuse(f"{row.variable.name} stays as it is: {why}")
            return

        def assign(text: str) -> None:
            if text.strip():
                self.work(values.assign(row, text.strip()))

        self.ladder_app.workspace.prompt.ask(
            f"{row.variable.name} =",
            assign,
            initial=prefill(row.variable.value),
            placeholder="an expression",
            typed_over=True,
        )

    def action_form(self) -> None:
        """Write the selected value in the next form."""
        row, values = self._selected_value(), self._values
        if row is not None and values is not None:
            forms = [form for form in _FORMS if form is not Form.RAW or row.variable.children]
            here = forms.index(Form(row.form)) if row.form in forms else 0
            self.work(values.write_as(row, forms[(here + 1) % len(forms)]))

    def action_storage(self) -> None:
        """Show address spaces in types, or leave them out."""
        values = self._values
        if values is None or not values.show_storage():
            self.ladder_app.refuse("address spaces: this engine tells none in types")

    def action_watch(self) -> None:
        """Watch the selected value as an expression."""
        row, values = self._selected_value(), self._values
        if row is not None and values is not None and not row.watched:
            self.work(values.watch(row.variable.expression, calls=False))

    def action_copy_expression(self) -> None:
        """Copy the expression that names the selected value."""
        row = self._selected_value()
        if row is not None:
            self.app.copy_to_clipboard(row.variable.expression)
            self.ladder_app.say(f"copied: {row.variable.expression}", "information")

    def expression_at_cursor(self) -> str:
        """The expression that names the selected value, or an empty string."""
        line = self._line
        return line.row.variable.expression if line is not None and line.row.sort is Sort.VALUE else ""

    def evaluate(self, expression: str) -> None:
        """Evaluate an expression now and again at every stop."""
        values = self._values
        if values is not None:
            self.work(values.watch(expression))

    def open(self, expression: str) -> None:
        """Watch an expression, and show what is inside its value."""
        self.work(self._open(expression))

    async def _open(self, expression: str) -> None:
        values = self._values
        if values is None:
            return
        await values.watch(expression, calls=False)
        row = next((row for row in values.rows() if row.watched and row.variable.name == expression), None)
        if row is not None:
            self._selected = (row.key, row.sort)
            if row.variable.children and not row.opened:
                await values.toggle(row)

    def action_forget(self) -> None:
        """Forget the expression that the selected row belongs to."""
        line, values = self._line, self._values
        if line is None or values is None:
            return
        if line.row.sort is Sort.ELSEWHERE:
            self.ladder_app.say(
                f"{key_of('variables.expand')} lists them, to be forgotten one by one", "information"
            )
        elif line.row.key[0] == WATCHED:
            values.forget(line.row.key[1])
        else:
            self.ladder_app.say("only expressions that were asked for can be forgotten", "information")

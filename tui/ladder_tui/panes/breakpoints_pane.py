"""Breakpoints as they were asked for, and what the engine of this rung made of each."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ladder_backends.model.breakpoint import BreakpointBinding
from ladder_backends.session.state import Change, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.breakpoint_rows import Act, BreakpointLine, lines_of, number_room, row_of
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row


class BreakpointsPane(Pane):
    """One row each, and one for each place where there are several: number, glyph, kind, place, state, options."""

    INTEREST = Change.BREAKPOINTS | Change.RUN | Change.RUNG
    BINDINGS: ClassVar = bindings_for("breakpoints")

    _laid_out: tuple[BreakpointBinding, ...] | None = None
    _lines: tuple[BreakpointLine, ...] = ()
    _digits = 1

    @property
    def _breakpoints(self) -> tuple[BreakpointBinding, ...]:
        debug = self.debug
        return debug.breakpoints if debug is not None else ()

    def _rows(self) -> tuple[BreakpointLine, ...]:
        bindings = self._breakpoints
        if bindings is not self._laid_out:
            self._laid_out = bindings
            self._lines, self._digits = tuple(lines_of(bindings)), number_room(bindings)
        return self._lines

    @property
    def row_count(self) -> int:
        """One each, and one for each place of those that have several."""
        return len(self._rows())

    def row(self, index: int) -> Row:
        """Number, glyph, kind, place, state and options; hits at the right."""
        lines, debug = self._rows(), self.debug
        return row_of(lines[index], debug.logged.last if debug is not None else {}, self._digits)

    def title(self) -> Title:
        """How many."""
        count = len(self._breakpoints)
        return Title(self.pane_name, (Cell(str(count), "muted"),) if count else (), self.tab_cells())

    def empty_text(self) -> str:
        """How to set one."""
        debug = self.debug
        if debug is not None and debug.run is Run.DUMP:
            return "a dump takes no breakpoints"
        toggle, new = key_of("breakpoint.toggle"), key_of("breakpoint.new")
        return f"none; {toggle} on a line of the source sets one, {new} one of any kind"

    @property
    def _selected(self) -> BreakpointLine | None:
        lines = self._rows()
        return lines[self.cursor] if self.cursor < len(lines) else None

    # Acting ----------------------------------------------------------------------------------------------------

    def activate(self, hit: Hit) -> None:
        """Enter edits; a click on the number or glyph switches, on the place shows its line, elsewhere edits."""
        if not isinstance(hit.target, Act):
            return
        if hit.target.what == "switch":
            self._switch(hit.target.line)
        elif hit.target.what == "show":
            self._show(hit.target.line)
        else:
            self.ladder_app.workspace.edit_breakpoint(hit.target.line.binding)

    def action_switch(self) -> None:
        """On or off: the breakpoint, or one of its places; what waits is tried again."""
        if (line := self._selected) is not None:
            self._switch(line)

    def _switch(self, line: BreakpointLine) -> None:
        session, binding = self.session, line.binding
        if session is None:
            return
        if line.location is not None:
            self.work(session.enable_location(line.location.number, not line.location.enabled))
        else:
            self.work(session.enable_breakpoint(binding, not binding.intent.enabled or not binding.number))

    def action_delete(self) -> None:
        """Take it away."""
        if (line := self._selected) is not None and self.session is not None:
            self.work(self.session.remove_breakpoint(line.binding))

    def action_temporary(self) -> None:
        """Take it away at its next hit, or keep it."""
        if (line := self._selected) is not None and self.session is not None:
            binding = line.binding
            wish = replace(binding.intent, temporary=not binding.intent.temporary, once=False)
            self.work(self.session.change_breakpoint(binding, wish))

    def action_line(self) -> None:
        """Show its line of source."""
        if (line := self._selected) is not None:
            self._show(line)

    def _show(self, line: BreakpointLine) -> None:
        place = line.location.place if line.location is not None else next(iter(line.binding.places), None)
        if place is None:
            self.ladder_app.say("this breakpoint is on no line of source", "information")
            return
        self.ladder_app.workspace.show_source(place.file, place.line, place.fullname)

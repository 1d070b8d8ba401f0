"""Breakpoints as they were asked for, and what the engine of this rung made of each."""

from __future__ import annotations

from typing import ClassVar

from ladder_backends.model.breakpoint import BindingState, BreakpointBinding
from ladder_backends.model.frame import file_name
from ladder_backends.session.state import Change, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.source_gutter import breakpoint_mark
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row


class BreakpointsPane(Pane):
    """One row each: glyph and word of its state, place, condition, hits."""

    INTEREST = Change.BREAKPOINTS | Change.RUN | Change.RUNG
    BINDINGS: ClassVar = bindings_for("breakpoints")

    @property
    def _breakpoints(self) -> tuple[BreakpointBinding, ...]:
        debug = self.debug
        return debug.breakpoints if debug is not None else ()

    @property
    def row_count(self) -> int:
        """One each."""
        return len(self._breakpoints)

    def row(self, index: int) -> Row:
        """State, place, condition; hits or the reason at the right."""
        binding = self._breakpoints[index]
        word = str(binding.state) if binding.intent.enabled else "off"
        mark = breakpoint_mark(binding)
        cells = [Cell(f"{mark.text} ", mark.style), Cell(f"{word:<11}", mark.style), Cell(_where(binding))]
        if binding.intent.condition:
            cells.append(Cell(f"  if {binding.intent.condition}", "muted"))
        if binding.intent.temporary:
            cells.append(Cell("  once", "muted"))
        if binding.why and binding.state is not BindingState.SET:
            cells.append(Cell(f"  {binding.why}", "warn"))
        hits = f"{binding.hits} hit{'s' if binding.hits != 1 else ''}" if binding.hits else ""
        return Row(tuple(cells), (Cell(hits, "number"),) if hits else (), target=binding)

    def title(self) -> Title:
        """How many."""
        count = len(self._breakpoints)
        return Title(self.pane_name, (Cell(str(count), "muted"),) if count else (), self.tab_cells())

    def empty_text(self) -> str:
        """How to set one."""
        debug = self.debug
        if debug is not None and debug.run is Run.DUMP:
            return "a dump takes no breakpoints"
        return f"none; {key_of('breakpoint.toggle')} on a line of the source sets one"

    @property
    def _selected(self) -> BreakpointBinding | None:
        bindings = self._breakpoints
        return bindings[self.cursor] if self.cursor < len(bindings) else None

    def activate(self, hit: Hit) -> None:
        """Show its line."""
        if isinstance(hit.target, BreakpointBinding) and hit.target.places:
            place = hit.target.places[0]
            self.ladder_app.workspace.show_source(place.file, place.line, place.fullname)

    def action_switch(self) -> None:
        """On or off."""
        if (binding := self._selected) is not None and self.session is not None:
            self.work(self.session.enable_breakpoint(binding, not binding.intent.enabled))

    def action_delete(self) -> None:
        """Take it away."""
        if (binding := self._selected) is not None and self.session is not None:
            self.work(self.session.remove_breakpoint(binding))


def _where(binding: BreakpointBinding) -> str:
    if not binding.places:
        file, colon, line = binding.intent.location.rpartition(":")
        return f"{file_name(file)}{colon}{line}" if colon else binding.intent.location
    more = f" +{len(binding.places) - 1}" if len(binding.places) > 1 else ""
    return f"{binding.places[0]}{more}"

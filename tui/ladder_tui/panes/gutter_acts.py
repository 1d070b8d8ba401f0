"""What keys and clicks do with the breakpoints beside the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from ladder_tui.panes.source_gutter import breakpoint_on

if TYPE_CHECKING:
    from ladder_backends.model.breakpoint import BreakpointBinding
    from ladder_tui.panes.source_pane import SourcePane


def breakpoint_at(pane: SourcePane, index: int) -> BreakpointBinding | None:
    """The breakpoint on a 0-based line of the file that a pane shows, or None."""
    debug = pane.debug
    return breakpoint_on(debug.breakpoints, pane.names, index + 1) if debug is not None else None


def edit_at(pane: SourcePane, index: int) -> None:
    """Open the dialog of the breakpoint on a line, where there is one."""
    binding = breakpoint_at(pane, index)
    if binding is not None:
        pane.ladder_app.workspace.edit_breakpoint(binding)


def take_click(pane: SourcePane, event: events.Click) -> bool:
    """Ask for a condition where the gutter was clicked with the right button or Ctrl; False for any other click."""
    hit = pane.hit(event.x, event.y)
    if hit is None or hit.column is None or not (event.button == 3 or event.ctrl):
        return False
    if not pane.in_gutter(hit.column):
        return False
    pane.move_cursor(hit.index)
    location = pane.location_at_cursor()
    if location:
        pane.ladder_app.workspace.ask_condition(breakpoint_at(pane, hit.index), location)
    return True

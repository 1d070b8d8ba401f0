"""What the workspace's keys do with breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ladder_backends.model.breakpoint import BreakpointBinding
    from ladder_tui.screens.workspace import Workspace


class BreakpointCommands:
    """Actions on breakpoints, whichever pane is shown."""

    def edit_breakpoint(self, binding: BreakpointBinding) -> None:
        """Ask for all options of a breakpoint."""
        from ladder_tui.screens.breakpoint_form import edit_breakpoint

        edit_breakpoint(cast("Workspace", self), binding)

    def ask_condition(self, binding: BreakpointBinding | None, location: str) -> None:
        """Ask for the condition of a breakpoint, or of a new one at a location."""
        from ladder_tui.screens.breakpoint_form import ask_condition

        ask_condition(cast("Workspace", self), binding, location)

    def action_new_breakpoint(self) -> None:
        """Ask for a breakpoint of any kind; the cursor's line of the source is offered."""
        home = cast("Workspace", self)
        if home._refused("new_breakpoint"):
            return
        from ladder_backends.model.breakpoint import BreakpointIntent
        from ladder_tui.screens.breakpoint_form import new_breakpoint

        source = home._source
        new_breakpoint(home, BreakpointIntent(0, source.location_at_cursor() if source is not None else ""))

    def action_watch_data(self) -> None:
        """Ask for an expression at whose change the program stops; the value under the cursor is offered."""
        home = cast("Workspace", self)
        if home._refused("watch_data"):
            return
        from ladder_backends.model.breakpoint import BreakpointIntent, BreakpointKind

        kinds = {"-r": BreakpointKind.READ, "-a": BreakpointKind.ACCESS, "-w": BreakpointKind.WRITE}
        session, pane = home.ladder.active, home._focused_pane
        offered = pane.expression_at_cursor() if pane is not None else ""

        def give(text: str) -> None:
            option, _, rest = text.strip().partition(" ")
            kind = kinds.get(option)
            expression = (rest if kind is not None else text).strip() or offered
            if expression and session is not None:
                wish = BreakpointIntent(0, expression, kind=kind or BreakpointKind.WRITE)
                home.ladder_app.work(session.place_breakpoint(wish))

        hint = f"⏎ alone: {offered}; " if offered else "an expression; "
        home.prompt.ask("stop at writes of", give, placeholder=f"{hint}-r X: reads, -a X: both, -l X: its place")

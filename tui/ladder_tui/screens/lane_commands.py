"""An expression over lanes, from wherever one is."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ladder_tui.widgets.line_view import LineView

if TYPE_CHECKING:
    from ladder_tui.screens.workspace import Workspace


class LaneCommands:
    """Actions of the workspace that ask many lanes."""

    def action_over_lanes(self) -> None:
        """Ask for an expression, that under the cursor first; then show it over all lanes of the warp."""
        home = cast("Workspace", self)
        session = home.ladder.active
        if home._refused("over_lanes") or session is None:
            return
        if not session.lane_values.spans:
            home.ladder_app.refuse("over lanes: this engine knows no lanes")
            return
        from ladder_tui.panes.pane import Pane

        focused = home.focused if isinstance(home.focused, LineView) else None
        here = focused.expression_at_cursor() if isinstance(focused, Pane) else ""

        def evaluate(text: str) -> None:
            if not text.strip():
                return
            if home.show_pane("lanes") is None:
                home.ladder_app.say("Lanes has no place on this rung")
            session.lane_values.evaluate(text)

        home.prompt.ask(
            "over lanes",
            evaluate,
            initial=here or session.state.lane_values.expression,
            placeholder="an expression: i, &a[i], $R4, threadIdx.x",
            typed_over=True,
        )

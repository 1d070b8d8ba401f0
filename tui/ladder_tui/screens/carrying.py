"""The program at hand on another rung: opened there as it was started, and not run unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_tui.actions import key_of

if TYPE_CHECKING:
    from ladder_tui.screens.workspace import Workspace


async def carry(home: Workspace, rung: str, otherwise: str = "") -> None:
    """Open the program at hand live on a rung, and tell what came along; say `otherwise` where there is none.

    Raises:
        LadderError: It cannot be opened there.
    """
    carried = await home.ladder.carry_to(rung)
    if carried is None:
        if otherwise and home.ladder.state.rung == rung:
            home.ladder_app.say(otherwise)
        return
    words = f"; {carried.words}" if carried.words else ""
    home.ladder_app.say(f"{key_of('run.continue')} runs {carried.title} here{words}")
    source = home.panes.get("source")
    if carried.place is not None and source is not None:
        from ladder_tui.panes.source_pane import SourcePane

        if isinstance(source, SourcePane):
            source.look_at(carried.place)

"""From a rank to its debugger."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ladder_tui.screens.workspace import Workspace


class RankCommands:
    """What the workspace does with ranks."""

    def debug_rank(self, rank: int) -> None:
        """Put a debugger on a rank; a program that is open on that rung is asked about first."""
        from ladder_tui.screens.attaching import ask_before_attaching

        home = cast("Workspace", self)
        ask_before_attaching(
            home, f"Attach to rank {rank}?", lambda: home.ladder_app.work(home.ladder.ranks.debugger(rank))
        )

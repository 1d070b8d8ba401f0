"""What the workspace's keys do with threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ladder_backends.model.focus import Focus
    from ladder_tui.screens.workspace import Workspace


class ThreadCommands:
    """Actions on all threads of the target, whichever pane is shown."""

    def went_to_thread(self, place: Focus) -> bool:
        """Go to what was typed as `thread 7` of a host program; False where a place in a grid is meant."""
        home = cast("Workspace", self)
        session, thread = home.ladder.active, place.dim3("thread")
        stands = session.state.focus if session is not None else None
        if (
            session is None
            or stands is None
            or stands.index("thread") is None
            or thread is None
            or "block" in place
        ):
            return False
        home.ladder_app.work(session.threads.focus(thread[0]))
        return True

    def action_run_alone(self) -> None:
        """Let only the focused thread run, or all of them again."""
        home = cast("Workspace", self)
        if not home._refused("run_alone") and (session := home.ladder.active) is not None:
            home.ladder_app.work(session.threads.run_alone())

    def action_all_threads_go_on(self) -> None:
        """Let every thread go on that is not frozen."""
        home = cast("Workspace", self)
        if not home._refused("all_threads_go_on") and (session := home.ladder.active) is not None:
            home.ladder_app.work(session.threads.all_go_on())

    def action_all_threads_hold(self) -> None:
        """Stop every thread."""
        home = cast("Workspace", self)
        if not home._refused("all_threads_hold") and (session := home.ladder.active) is not None:
            home.ladder_app.work(session.threads.all_hold())

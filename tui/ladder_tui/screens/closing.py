"""Ending one session while the others stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.session.state import Run
from ladder_tui.screens.attaching import what_becomes
from ladder_tui.screens.choice import ChoiceScreen, Option

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_tui.screens.workspace import Workspace


def ask_to_close(home: Workspace, session: DebugSession) -> None:
    """End a session; where a process is held, say first what becomes of it."""
    debug = session.state

    def close() -> None:
        home.ladder_app.work(home.ladder.close_seat(debug.rung, debug.seat))

    if debug.run not in (Run.RUNNING, Run.STOPPED, Run.STARTING):
        close()
        return
    question = ChoiceScreen(
        f"Close {debug.title or debug.rung}?",
        (Option("c", "close", "close", also="y"), Option("n", "stay", "")),
        home.palette,
        why=what_becomes([session]).replace("Leaving", "Closing", 1),
    )
    home.app.push_screen(question, lambda answer: close() if answer else None)

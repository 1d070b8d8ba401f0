"""From the workspace to another process, and what becomes of those that are open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import AttachTarget, LaunchTarget
from ladder_backends.rungs import host_rung
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Run
from ladder_tui.widgets.row import cut

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_tui.screens.workspace import Workspace

_LIVE = (Run.RUNNING, Run.STOPPED, Run.STARTING)
_TITLE_ROOM = 32
"""Characters of a title in a dialog's answer."""

_RULE = "Launched programs end with the console; attached ones live on."


def what_becomes(sessions: Iterable[DebugSession]) -> str:
    """A sentence on the processes of sessions that are left: which end and which live on."""
    launched: list[str] = []
    attached: list[str] = []
    for session in sessions:
        if session.state.run in _LIVE:
            if session.target is None:
                return _RULE
            kind = launched if isinstance(session.target, LaunchTarget) else attached
            kind.append(session.state.title or session.state.rung)
    parts = []
    if launched:
        # Names stand as they are written: none begins the sentence.
        parts.append(f"leaving ends {', '.join(launched)}")
    if attached:
        parts.append(f"{', '.join(attached)} {'lives' if len(attached) == 1 else 'live'} on")
    words = "; ".join(parts)
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def what_ends_with_the_engine(session: DebugSession) -> str:
    """A few words on what ending its engine does to the process of a session; empty where there is none."""
    if session.state.run not in _LIVE or session.target is None:
        return ""
    name = cut(session.state.title or "the program", _TITLE_ROOM)
    return f"{name} ends with it" if isinstance(session.target, LaunchTarget) else f"{name} lives on"


def pick_process(home: Workspace) -> None:
    """Show the processes; the chosen one takes the place of what is open on its rung, after a question."""
    from ladder_tui.screens.processes import ProcessScreen

    def chosen(pid: int | None) -> None:
        if pid is not None:
            _ask_and_attach(home, pid)

    home.app.push_screen(ProcessScreen(home.palette), chosen)


def _ask_and_attach(home: Workspace, pid: int) -> None:
    ask_before_attaching(
        home,
        f"Attach to process {pid}?",
        lambda: home.ladder_app.work(home.ladder.open_target(AttachTarget(pid))),
    )


def ask_before_attaching(home: Workspace, asked: str, attach: Callable[[], None]) -> None:
    """Attach; where something live is open on that rung, only after a question."""
    # A core beside it stays.
    live = (one for one in home.ladder.every_session() if one.state.seat is Seat.LIVE)
    open_now = next((one for one in live if one.state.rung == host_rung().name), None)
    if open_now is None or open_now.state.run not in _LIVE:
        attach()
        return
    from ladder_tui.screens.choice import ChoiceScreen, Option

    ends = isinstance(open_now.target, LaunchTarget)
    title = open_now.state.title
    why = f"{title}, which is open on this rung, {'ends' if ends else 'is let go and lives on'}."
    question = ChoiceScreen(
        asked,
        (Option("a", "attach", "attach", also="y"), Option("n", "stay here", "")),
        home.palette,
        why=why,
    )
    home.app.push_screen(question, lambda answer: attach() if answer else None)

"""What passes from rung to rung: the program, how it is started, its breakpoints and watches, and the place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.session.seat import Seat
from ladder_backends.session.target_program import program_of

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.ladder import Ladder


class Carrying:
    """Knows what a rung can take over from the others."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder

    def program_at_hand(self) -> LaunchTarget | None:
        """The program of the session on screen, else of another one, else of the files that are open.

        Arguments, environment, folder and input are those that its next start would have.
        """
        ladder = self._ladder
        active = ladder.active
        sessions = [session for session in ladder.every_session() if session is not active]
        live = [session for session in sessions if session.state.seat is Seat.LIVE]
        first = [active] if active is not None else []
        for session in (*first, *reversed(live)):
            if (target := launch_of(session)) is not None:
                return target
        for session in (*first, *sessions):
            program = program_of(session.target) if session.target is not None else None
            if program is not None:
                return LaunchTarget(program.absolute())
        return None


def launch_of(session: DebugSession) -> LaunchTarget | None:
    """The program of a live session as its next start would have it; None where it was not started here."""
    target = session.target
    if not isinstance(target, LaunchTarget):
        return None
    chosen = session.control.as_chosen(target)
    assert isinstance(chosen, LaunchTarget)
    return chosen

"""What is said and offered when the program is built again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ladder_backends.model.frame import file_name
from ladder_backends.session.state import Change, Run
from ladder_backends.text import clean_line
from ladder_tui.actions import key_of

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.debug_state import DebugState
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.screens.choice import Option


BEGIN_AFTER = 0.5
"""Seconds after the first stop, or the end, from which on the build is watched: what is shown first comes first."""


class RebuildOffer:
    """Has the build watched once there is something on screen, and tells of a new one once."""

    def __init__(self) -> None:
        self._told: DebugState | None = None
        self._begun: DebugState | None = None

    def note(self, session: DebugSession | None, change: Change) -> str:
        """Take in a change; returns what to say, or an empty string."""
        if session is None or session.state.build.program is None:
            return ""
        debug = session.state
        if change & Change.RUN and self._begun is not debug and debug.run not in (Run.NOTHING, Run.STARTING):
            self._begun = debug
            asyncio.get_running_loop().call_later(BEGIN_AFTER, session.rebuild.begin)
        if not debug.build.rebuilt:
            if self._told is debug:
                self._told = None
            return ""
        if self._told is debug:
            return ""
        self._told = debug
        name, key = clean_line(file_name(str(debug.build.program))), key_of("run.start")
        if debug.run is Run.RUNNING:
            return f"{name} was rebuilt; what runs is the build before — {key} starts the new one once it stands"
        return f"{name} was rebuilt: {key} starts it again"


def ways_to_start(ladder: Ladder, debug: DebugState) -> tuple[tuple[Option, ...], str]:
    """How the program that stands can be started again, and the `file:line` where it stands, as that is now."""
    from ladder_tui.screens.choice import Option

    options = [Option("r", "start again", "start", also="y"), Option("n", "stay here", "")]
    place = debug.place
    now = ladder.place_now(place) if place is not None and debug.build.program is not None else None
    if now is None:
        return tuple(options), ""
    where = f"{clean_line(file_name(now.fullname or now.file))}:{now.line}"
    options.insert(1, Option("h", "start again, stop here", "here", f"at {where}"))
    return tuple(options), f"{now.fullname or now.file}:{now.line}"

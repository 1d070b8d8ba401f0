"""Run a program, or open a core, without a screen, and print where it stands."""

from __future__ import annotations

import asyncio

from ladder_backends.debugger.contract import StepKind
from ladder_backends.debugger.target import LaunchTarget, Target
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, DebugState, Run
from ladder_tui.cli.headless import with_ladder
from ladder_tui.cli.output import print_json, print_lines
from ladder_tui.cli.session_text import session_json, session_lines

_FRAMES = 50
_VARIABLES = 100
_RESTING = frozenset({Run.STOPPED, Run.EXITED, Run.DUMP, Run.DEAD})


def run_to_the_end(target: LaunchTarget, *, debugger: str | None, json_wanted: bool, record: str | None) -> int:
    """Run a program until it ends or stops; exit code 1 where a signal or an error status ended it."""

    async def work(ladder: Ladder) -> DebugState:
        session = await ladder.open_target(target, debugger=debugger)
        session.show_rows(frames=_FRAMES, variables=_VARIABLES)
        await _rest(session)
        return session.state

    state = with_ladder(work, record=record)
    _print(state, json_wanted=json_wanted)
    well = state.run is Run.EXITED and state.run_detail in ("", "exited normally", "code 0")
    return 0 if well else 1


def open_and_print(target: Target, *, json_wanted: bool, record: str | None) -> int:
    """Open a core or dump and print where it stands."""

    async def work(ladder: Ladder) -> DebugState:
        session = await ladder.open_target(target)
        session.show_rows(frames=_FRAMES, variables=_VARIABLES)
        await session.load_frames(0, _FRAMES)
        await _rest(session)
        return session.state

    state = with_ladder(work, record=record)
    _print(state, json_wanted=json_wanted)
    return 0 if state.run is not Run.DEAD else 2


async def _rest(session: DebugSession) -> None:
    """Wait until the target no longer runs and its stack and variables are known."""
    moved = asyncio.Event()
    stop = session.subscribe(lambda change: moved.set())
    try:
        while session.state.run not in _RESTING:
            await moved.wait()
            moved.clear()
    finally:
        stop()


def _print(state: DebugState, *, json_wanted: bool) -> None:
    if json_wanted:
        print_json(session_json(state))
    else:
        print_lines(session_lines(state))


__all__ = ["Change", "StepKind", "open_and_print", "run_to_the_end"]

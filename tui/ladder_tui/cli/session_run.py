"""Run a program, open a core, or play a recording without a screen, and print where it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ladder_backends.debugger.contract import StepKind
from ladder_backends.debugger.target import LaunchTarget, Target
from ladder_backends.errors import RecordingInvalid
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import DebugState, Run
from ladder_tui.cli.headless import with_ladder
from ladder_tui.cli.interruption import interrupting
from ladder_tui.cli.output import print_json, print_lines
from ladder_tui.cli.program_input import passing_input
from ladder_tui.cli.session_text import session_json, session_lines

Show: TypeAlias = Callable[[DebugState], None]

_FRAMES = 50
_VARIABLES = 100
_RECORDED_STOP = 1.0
"""Seconds in which a recording comes to its first stop: it answers at once."""


def show_json(state: DebugState) -> None:
    """Print a session for a machine."""
    print_json(session_json(state))


def show_text(state: DebugState) -> None:
    """Print a session for a person."""
    print_lines(session_lines(state))


def show_nothing(state: DebugState) -> None:
    """Keep quiet, where something else is printed."""


def run_to_the_end(
    target: LaunchTarget, show: Show, *, debugger: str | None = None, record: Path | None = None
) -> int:
    """Run a program to its end or stop.

    Returns:
        0 where it ended well or stands at a breakpoint of the user's, 1 where a signal or an error status ended it,
        2 where it never began, or the debugger died on it.
    """
    state = _stand(lambda ladder: ladder.open_target(target, debugger=debugger), show, record, runs=True)
    if state.run is Run.DEAD:
        return 2
    if state.run is Run.EXITED and state.exit_code is None and not state.fault:
        # Neither a status nor a signal: it never was there.
        return 2
    if state.run is Run.EXITED:
        return 0 if state.exit_code == 0 else 1
    asked = state.run is Run.STOPPED and state.run_detail.startswith(("breakpoint", "watchpoint"))
    return 0 if asked and not state.fault else 1


def open_and_show(target: Target, show: Show, *, record: Path | None = None) -> int:
    """Open a core or dump and show where it stands."""
    state = _stand(lambda ladder: ladder.open_target(target), show, record)
    return 2 if state.run is Run.DEAD else 0


def replay_and_show(recording: Path, show: Show) -> int:
    """Play a recording back and show where it ends."""

    async def play(ladder: Ladder) -> DebugSession:
        await ladder.open_files((recording,))
        session = ladder.active
        if session is None:
            raise RecordingInvalid(f"{recording.name} opened nothing")
        await _stop_running(session)
        return session

    _stand(play, show)
    return 0


async def _stop_running(session: DebugSession) -> None:
    """Interrupt a recorded program that stops by an interrupt only, as somebody did when it was recorded."""
    for _ in range(2):
        with suppress(TimeoutError):
            async with asyncio.timeout(_RECORDED_STOP):
                await session.at_rest()
                return
        await session.interrupt()


def _stand(
    start: Callable[[Ladder], Awaitable[DebugSession]],
    show: Show,
    record: Path | None = None,
    *,
    runs: bool = False,
) -> DebugState:
    """Open something, wait until it stands or has ended, show what is there; returns the state as it was then."""

    async def work(ladder: Ladder) -> DebugState:
        session = await start(ladder)
        session.show_rows(frames=_FRAMES, variables=_VARIABLES)
        with ExitStack() as stack:
            if runs:
                stack.enter_context(passing_input(session.type_to_program))
                stack.enter_context(interrupting(session))
            await session.at_rest()
            while runs and session.control.one_of_several_ended:
                await session.resume(StepKind.CONTINUE)
                await session.at_rest()
        state = session.state
        if state.frames.more:
            with session.told():
                await session.stack.show(0, _FRAMES)
        if session.python.readable:
            await session.python.look()
        if state.variables.more:
            await session.select_frame(state.selected_frame)
            await session.at_rest()
        show(state)
        # Closing the engine changes the state that is shown above.
        return replace(state)

    return with_ladder(work, record=record)

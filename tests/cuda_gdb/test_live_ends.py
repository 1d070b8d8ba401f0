"""A live engine that ends, or refuses, whatever it was asked last; a stand-in says what cuda-gdb said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.mi.transport import Channel
from ladder_backends.model.focus import Focus
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.jump import JumpOutcome
from ladder_backends.session.live_jump import LiveJump
from ladder_backends.session.live_wish import LiveLimits, LiveWish
from ladder_backends.session.state import Run

from .stand_in import StandIn
from .test_live_jumping import SET

REFUSAL = "Error: Internal error reported by CUDA debugger API (error=CUDBG_ERROR_INTERNAL(0xa))."
WISH = LiveWish(Focus.of(block=(3, 0, 0), thread=(232, 0, 0)), "vadd", "vector_add_oob.cu:10")


class Failing(StandIn):
    """Ends, or refuses, instead of its answer to one command.

    Attributes:
        fails_at: Which command, counted from when this was set.
        failed: That command, where it came.
    """

    def __init__(self, *, ends: bool) -> None:
        super().__init__("live-oob")
        self.answer(SET, '^done,bkpt={number="2",type="breakpoint",disp="del",enabled="y",addr="0x7ffddb7a1770"}')
        self.fails_at = 0
        self.failed = ""
        self._ends = ends

    def _reply(self, token: str, command: str) -> None:
        self.fails_at -= 1
        if self.fails_at:
            super()._reply(token, command)
            return
        self.failed = command
        if self._ends:
            self._ended(-6)
        else:
            self._receive(Channel.MI, f'{token}^error,msg="{REFUSAL}"\n(gdb) \n'.encode())


async def jumped(engine: Failing, program: Path, at: int) -> tuple[DebugSession, JumpOutcome]:
    """Jump, then look at everything again."""
    session = DebugSession(CudaGdbDebugger(engine))
    await session.open(LaunchTarget(program), run=False)
    engine.fails_at = at
    jump = LiveJump(session, WISH, lambda line: None, LiveLimits(seconds=5, launch=5))
    async with asyncio.timeout(20):
        outcome = await jump.go()
        session.look_again()
        await session.at_rest()
    engine.fails_at = 0
    return session, outcome


async def test_it_ends_at_any_command_of_a_jump(compiled: Callable[[str], Path]) -> None:
    """The end is the answer, told once; nothing is left that nobody waits for."""
    unheard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: unheard.append(what))
    at = 0
    while True:
        at += 1
        engine = Failing(ends=True)
        session, outcome = await jumped(engine, compiled("steps"), at)
        run, detail = session.state.run, session.state.run_detail
        await session.close()
        if not engine.failed:
            break
        assert (run, detail) == (Run.DEAD, "cuda-gdb died (signal 6)"), engine.failed
        assert [notice.text for notice in session.state.notices if "died" in notice.text] == [
            "cuda-gdb died (signal 6) — continue to start it again"
        ], engine.failed
        if outcome.reached is None:
            assert "ended" in outcome.reason, engine.failed
    assert at > 15
    await asyncio.sleep(0)
    assert unheard == []


async def test_it_refuses_any_command_of_a_jump(compiled: Callable[[str], Path]) -> None:
    """It stands somewhere then, and the reason is what it said."""
    at = 0
    while True:
        at += 1
        engine = Failing(ends=False)
        session, outcome = await jumped(engine, compiled("steps"), at)
        run = session.state.run
        await session.close()
        if not engine.failed:
            break
        assert run is (Run.EXITED if at <= 2 else Run.STOPPED), engine.failed
        assert outcome.reached is not None or "CUDBG_ERROR_INTERNAL" in outcome.reason, engine.failed
    assert at > 15


@pytest.mark.parametrize(("command", "words"), [("-exec-run", "start it"), ("-exec-continue", "let it run on")])
async def test_what_was_refused_is_said(compiled: Callable[[str], Path], command: str, words: str) -> None:
    engine = Failing(ends=False)
    engine.answer(command, f'^error,msg="{REFUSAL}"')
    session, outcome = await jumped(engine, compiled("steps"), 0)
    await session.close()
    assert f"cuda-gdb cannot {words}: cuda-gdb gave up: CUDBG_ERROR_INTERNAL" in outcome.reason


@pytest.mark.parametrize("runs", [False, True])
async def test_fatal_words_of_another_program_end_nothing(compiled: Callable[[str], Path], runs: bool) -> None:
    """`shell git status` and `make` say `fatal: ...` of themselves."""
    engine = StandIn("live-hang")
    session = DebugSession(CudaGdbDebugger(engine))
    await session.open(LaunchTarget(compiled("steps")), run=False)
    await session.resume(StepKind.RUN)
    while session.state.run is not Run.RUNNING:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    if not runs:
        await session.interrupt()
        await session.at_rest()
    before = session.state.run
    types = engine._type

    def answers(line: str) -> None:
        engine.write(f"{line}\r\nfatal: not a git repository (or any of the parent directories): .git\r\n")
        types(line)

    engine._type = answers  # type: ignore[method-assign]
    await session.console("shell git status")
    await session.at_rest() if not runs else await asyncio.sleep(0.05)
    assert session.state.run is before
    assert not [notice for notice in session.state.notices if "gave up" in notice.text]
    # Its own words are heard all the same, and so are those behind `run`.
    engine._type = lambda line: engine.write(f"{line}\r\nfatal: something new\r\n(cuda-gdb) ")  # type: ignore[method-assign]
    await session.console("run")
    assert [notice for notice in session.state.notices if "gave up: something new" in notice.text]
    await session.close()

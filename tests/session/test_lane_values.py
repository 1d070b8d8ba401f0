"""A session asks an expression of many lanes of a real dump: bounded, cancelled, gone on with, followed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from ladder_backends.case import open_files
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.cuda_gdb import lanes as lanes_module
from ladder_backends.debugger import GpuDumpTarget, LaunchTarget
from ladder_backends.gdb import GdbDebugger
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.model.focus import Focus
from ladder_backends.model.provenance import Provenance
from ladder_backends.recording import ReplayTransport, read_recording
from ladder_backends.session import lane_values
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.jump import JumpOutcome
from ladder_backends.session.state import Change
from ladder_demos.catalogue import find_demo

RECORDING = Path(__file__).parents[1] / "cuda_gdb" / "recordings" / "vector-add-13.0.jsonl.gz"

Open = Callable[..., Awaitable[DebugSession]]


def target(name: str) -> GpuDumpTarget:
    opened = open_files([find_demo(name).path])
    assert opened.dump is not None
    return GpuDumpTarget(opened.dump, opened.executable)


@pytest.fixture
async def on_dump(cuda_gdb: Path) -> AsyncIterator[Open]:
    """Opens a session on a demo's dump, in a lane of it."""
    made: list[DebugSession] = []

    async def opened(name: str, block: int = 0, thread: int = 0) -> DebugSession:
        session = DebugSession(CudaGdbDebugger())
        made.append(session)
        await session.open(target(name))
        await session.at_rest()
        assert await session.switch(Focus.of(kernel=0, block=(block, 0, 0), thread=(thread, 0, 0))) is not None
        await session.at_rest()
        return session

    yield opened
    for one in made:
        await one.close()


async def ask(session: DebugSession, expression: str, span: str = "") -> None:
    session.lane_values.evaluate(expression, span)
    await session.lane_values.at_rest()


@pytest.mark.cuda_gdb
async def test_the_nearest_lanes_first_then_further(on_dump: Open) -> None:
    session = await on_dump("hang", 1, 40)
    state = session.state.lane_values
    await ask(session, "  threadIdx.x  ")
    assert (state.expression, state.span, state.answered_words()) == ("threadIdx.x", "warp", "32 lanes")
    assert sorted(value.number for value in state.values.values()) == list(range(32, 64))
    counts = []
    for _ in range(3):
        session.lane_values.next_span()
        await session.lane_values.at_rest()
        counts.append((state.span, len(state.values), state.whole))
    assert counts == [("block", 64, True), ("grid", 128, True), ("warp", 32, True)]
    assert state.provenance is Provenance.ENGINE
    assert session.state.focus is not None
    assert session.state.focus["thread"] == (40, 0, 0)


@pytest.mark.cuda_gdb
async def test_the_first_answers_are_told_before_the_last(on_dump: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "MOST_AT_ONCE", 8)
    session = await on_dump("hang")
    seen: list[int] = []
    session.subscribe(lambda change: seen.append(len(session.state.lane_values.values)))
    await ask(session, "threadIdx.x", "grid")
    assert 0 < min(count for count in seen if count) <= 16
    assert seen[-1] == 128 or len(session.state.lane_values.values) == 128


@pytest.mark.cuda_gdb
async def test_when_the_time_is_over_it_waits_to_be_told_to_go_on(
    on_dump: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await on_dump("hang")
    state = session.state.lane_values
    monkeypatch.setattr(lane_values, "LIMIT", 0.0)
    await ask(session, "threadIdx.x", "grid")
    assert (state.failed, state.values) == ("0 s are over", {})
    session.lane_values.go_on()
    await session.lane_values.at_rest()
    assert (state.whole, state.failed, len(state.values)) == (True, "", 128)


@pytest.mark.cuda_gdb
async def test_what_has_come_stays_when_it_goes_on(on_dump: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_values, "MOST", 40)
    session = await on_dump("hang")
    state = session.state.lane_values
    await ask(session, "threadIdx.x", "grid")
    assert state.answered_words() == "answered 40 of 128 lanes, 40 at a time"
    for answered in (80, 120, 128):
        before = dict(state.values)
        session.lane_values.go_on()
        await session.lane_values.at_rest()
        assert len(state.values) == answered
        assert before.items() <= state.values.items()
    assert (state.whole, state.reason) == (True, "")
    assert state.distribution.pattern is not None
    assert state.distribution.pattern.words == "0..63 step 1 in each block"


@pytest.mark.cuda_gdb
async def test_no_more_than_a_bounded_number_are_asked_at_once(
    on_dump: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane_values, "MOST", 64)
    session = await on_dump("hang")
    await ask(session, "threadIdx.x", "grid")
    state = session.state.lane_values
    assert state.answered_words() == "answered 64 of 128 lanes, 64 at a time"


@pytest.mark.cuda_gdb
async def test_a_cancelled_question_keeps_its_answers(on_dump: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "MOST_AT_ONCE", 8)
    session = await on_dump("hang")
    state = session.state.lane_values
    cancelled: list[bool] = []

    def look(change: Change) -> None:
        if state.values and not cancelled:
            cancelled.append(session.lane_values.cancel())

    session.subscribe(look)
    await ask(session, "threadIdx.x", "grid")
    await session.lane_values.at_rest()
    assert cancelled == [True]
    assert 0 < len(state.values) < 128
    assert (state.running, state.reason) == (False, "cancelled")
    assert not session.lane_values.cancel()
    # The focus is where it was, and so is everybody else's answer.
    assert (await session.evaluate("threadIdx.x")).value == "0"


@pytest.mark.cuda_gdb
async def test_an_interrupt_ends_the_question_and_nothing_else(
    on_dump: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes_module, "MOST_AT_ONCE", 8)
    session = await on_dump("hang")
    state = session.state.lane_values
    some = asyncio.Event()
    session.subscribe(lambda change: some.set() if state.values else None)
    session.lane_values.evaluate("threadIdx.x", "grid")
    await some.wait()
    await session.interrupt()
    assert state.reason == "cancelled"
    assert {value.error for value in state.values.values()} == {""}
    assert (await session.evaluate("threadIdx.x")).value == "0"


@pytest.mark.cuda_gdb
async def test_a_stop_that_a_jump_pushed_aside_is_told_all_the_same(cuda_gdb: Path) -> None:
    session = DebugSession(CudaGdbDebugger())
    told: list[Change] = []
    session.subscribe(told.append)
    await session.open(target("hang"))
    # What is to be seen at the stop is still being read.
    session.show_jump(JumpOutcome(Focus(), session.debugger.standing.focus))  # type: ignore[attr-defined]
    await session.at_rest()
    told.clear()
    session.tell(Change.LANES)
    await asyncio.sleep(0.01)
    assert told
    await session.close()


@pytest.mark.cuda_gdb
async def test_an_expression_that_is_wrong_everywhere_is_not_asked_everywhere(on_dump: Open) -> None:
    session = await on_dump("hang")
    await ask(session, "nosuch", "grid")
    state = session.state.lane_values
    assert len(state.values) < 128
    assert "the others would say the same" in state.answered_words()
    await ask(session, "i = 1", "grid")
    assert state.failed.endswith("ask for a value without it")
    assert state.values == {}


@pytest.mark.cuda_gdb
async def test_who_looks_asks_again_only_where_something_moved(on_dump: Open) -> None:
    session = await on_dump("uninit", 0, 3)
    state = session.state.lane_values
    await ask(session, "i", "warp")
    turn = state.turn

    async def looked(thread: int) -> bool:
        await session.switch(Focus.of(kernel=0, block=(0, 0, 0), thread=(thread, 0, 0)))
        await session.at_rest()
        session.lane_values.look()
        await session.lane_values.at_rest()
        return state.turn != turn

    session.lane_values.look()
    assert state.turn == turn
    assert not await looked(20)
    assert await looked(40)
    assert sorted(value.number for value in state.values.values()) == list(range(32, 64))


@pytest.mark.cuda_gdb
async def test_answers_to_one_expression_are_never_shown_under_another(on_dump: Open) -> None:
    session = await on_dump("uninit")
    await ask(session, "i")
    session.lane_values.evaluate("threadIdx.x")
    assert session.state.lane_values.values == {}
    await session.lane_values.at_rest()
    assert len(session.state.lane_values.values) == 32


@pytest.mark.cuda_gdb
async def test_an_engine_that_dies_meanwhile(cuda_gdb: Path) -> None:
    transports: list[PtyTransport] = []

    def transport(command):
        transports.append(PtyTransport(command))
        return transports[-1]

    session = DebugSession(CudaGdbDebugger(transport))
    await session.open(target("hang"))
    await session.at_rest()
    state = session.state.lane_values
    killed: list[int] = []

    def look(change: Change) -> None:
        pid = transports[0].pid
        if state.values and not killed and pid is not None:
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    session.subscribe(look)
    await ask(session, "threadIdx.x", "grid")
    assert killed
    assert not state.running
    assert 0 < len(state.values) <= 128
    await session.close()


@pytest.mark.cuda_gdb
async def test_a_recording_that_does_not_hold_it_says_so(vector_add) -> None:
    held = read_recording(RECORDING)
    session = DebugSession(CudaGdbDebugger(lambda command: ReplayTransport(held), provenance=Provenance.RECORDING))
    assert vector_add.dump is not None
    await session.open(GpuDumpTarget(vector_add.dump, vector_add.executable))
    await session.at_rest()
    await ask(session, "i")
    assert "not in this recording" in session.state.lane_values.failed
    assert session.state.lane_values.values == {}
    await session.close()


async def test_a_debugger_of_the_host_knows_no_lanes(gdb: object, compiled) -> None:
    session = DebugSession(GdbDebugger())
    await session.open(LaunchTarget(compiled("steps")), run=False)
    assert session.lane_values.spans == ()
    await ask(session, "i")
    assert session.state.lane_values.failed == "this engine knows no lanes"
    await session.close()

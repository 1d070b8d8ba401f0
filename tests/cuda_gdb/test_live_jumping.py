"""Live jumps through the debugger itself; a stand-in says what cuda-gdb 13.0 said on an H200."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget
from ladder_backends.model.focus import Dim3, Focus
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.live_jump import LiveJump
from ladder_backends.session.live_wish import LiveLimits, LiveWish
from ladder_backends.session.state import Run

from .stand_in import StandIn

CONDITION = (
    "blockIdx.x == 3 && blockIdx.y == 0 && blockIdx.z == 0"
    " && threadIdx.x == 232 && threadIdx.y == 0 && threadIdx.z == 0"
)
SET = f'-break-insert -t -c "{CONDITION}" "vector_add_oob.cu:10"'

Start = Callable[[StandIn], Awaitable[DebugSession]]


@pytest.fixture
async def start(compiled) -> AsyncIterator[Start]:
    """Opens a session over a stand-in; the program does not run yet."""
    made: list[DebugSession] = []

    async def start(engine: StandIn) -> DebugSession:
        session = DebugSession(CudaGdbDebugger(engine))
        made.append(session)
        await session.open(LaunchTarget(compiled("steps")), run=False)
        return session

    yield start
    for session in made:
        await session.close()


def wish(block: Dim3, thread: Dim3, kernel: str, location: str) -> LiveWish:
    return LiveWish(Focus.of(block=block, thread=thread), kernel, location)


async def test_a_breakpoint_for_the_lane_and_what_it_sees(start: Start) -> None:
    engine = StandIn("live-oob")
    # In the transcript it had another condition, and the number 2.
    engine.answer(SET, '^done,bkpt={number="2",type="breakpoint",disp="del",enabled="y",addr="0x7ffddb7a1770"}')
    session = await start(engine)
    told: list[str] = []
    jump = LiveJump(session, wish((3, 0, 0), (232, 0, 0), "vadd", "vector_add_oob.cu:10"), told.append)
    outcome = await jump.go()
    assert outcome.exact, (outcome.reason, told)
    assert outcome.reason == ""
    assert {each.name: each.value for each in outcome.variables}["i"] == "1000"
    assert outcome.frame is not None
    assert outcome.frame.place is not None
    assert (outcome.frame.function, outcome.frame.place.line) == ("vadd", 10)
    sent = [
        command
        for command in engine.sent
        if command.startswith(("-exec", "-break-insert", "-break-delete", "-gdb-set cuda break_on_launch"))
    ]
    assert sent == [
        "-gdb-set cuda break_on_launch application",
        "-exec-run",
        "-gdb-set cuda break_on_launch none",
        SET,
        "-exec-continue",
    ]
    state = session.state
    assert (state.run, state.run_detail) == (Run.STOPPED, "lane reached")
    del engine.sent[:]
    other = LiveJump(session, wish((3, 0, 0), (240, 0, 0), "vadd", "vector_add_oob.cu:10"), told.append)
    again = await other.go()
    assert again.exact, (again.reason, told)
    assert not [command for command in engine.sent if command.startswith(("-exec", "-break"))]


async def test_the_lane_of_a_big_grid_is_stepped_to_its_line(start: Start) -> None:
    engine = StandIn("live-grid")
    session = await start(engine)
    told: list[str] = []
    jump = LiveJump(session, wish((0, 0, 0), (0, 0, 0), "tile", "divergent_grid.cu:19"), told.append)
    outcome = await jump.go()
    assert outcome.exact, (outcome.reason, told)
    # Line 17 is that of the launch, 18 and 19 come with each step.
    assert engine.sent.count("-exec-next") == 2
    assert "launch 1 of tile reached · (250,1000,1) blocks of (32,8,1)" in told[1]


async def test_a_lane_that_does_not_come_in_time(start: Start) -> None:
    engine = StandIn("live-oob")
    engine.answer(SET, '^done,bkpt={number="2",type="breakpoint",disp="del",enabled="y",addr="0x7ffddb7a1770"}')
    engine.answer("-exec-continue", "^running", '*running,thread-id="all"')
    stop = (
        '*stopped,reason="signal-received",signal-name="SIGINT",signal-meaning="Interrupt",'
        'frame={addr="0x1",func="main",args=[],file="m.cu",line="19"},thread-id="1",stopped-threads="all"'
    )
    engine.answer("-exec-interrupt", "^done", stop)
    session = await start(engine)
    told: list[str] = []
    jump = LiveJump(
        session,
        wish((3, 0, 0), (232, 0, 0), "vadd", "vector_add_oob.cu:10"),
        told.append,
        LiveLimits(seconds=0.3),
    )
    outcome = await jump.go()
    assert outcome.reached is None
    assert "are over before the lane came to vector_add_oob.cu:10" in outcome.reason, told
    assert session.state.run is Run.STOPPED
    await jump.stay()
    assert engine.sent[-1] == "-break-delete 2" or "-break-delete 2" in engine.sent


async def test_a_gpu_that_is_not_there_is_the_reason(start: Start) -> None:
    engine = StandIn("live-oob")
    engine.answer(
        "-exec-run",
        "^running",
        '*running,thread-id="all"',
        '&"fatal:  The CUDA driver has hit an internal error. Error code: 0x1f400000002\\n"',
        '=thread-group-exited,id="i1",exit-code="0"',
        '*stopped,reason="exited-normally"',
    )
    session = await start(engine)
    jump = LiveJump(session, wish((0, 0, 0), (0, 0, 0), "vadd", ""), lambda line: None, LiveLimits(seconds=5))
    outcome = await jump.go()
    assert outcome.reached is None
    assert "before the kernel was launched" in outcome.reason

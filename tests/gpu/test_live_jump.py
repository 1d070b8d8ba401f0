"""Live jumps on hardware: to lanes of small and big launches, again in the same launch, and where none comes.

Each prints what it took beside the engine's own commands, given one after the other without a session.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget
from ladder_backends.model.focus import Dim3, Focus
from ladder_backends.sanitizer import read_report
from ladder_backends.session.alternatives import Act, Way
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.jump import JumpOutcome
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.live_jump import LiveJump
from ladder_backends.session.live_wish import LiveLimits, LiveWish
from ladder_backends.session.state import Run

Build = Callable[..., Path]

EXTRA = 0.3
"""Seconds that a jump may take longer than the engine's own commands, in the same run."""


def lane(block: Dim3, thread: Dim3) -> Focus:
    return Focus.of(block=block, thread=thread)


class Jumper:
    """A session on a program, and jumps in it."""

    def __init__(self) -> None:
        self.session = DebugSession(CudaGdbDebugger(), replacement=CudaGdbDebugger)
        self.told: list[str] = []
        self.last: LiveJump | None = None

    async def load(self, program: Path, *arguments: str) -> None:
        await self.session.open(LaunchTarget(program, arguments), run=False)

    async def to(
        self,
        asked: Focus,
        kernel: str = "",
        location: str = "",
        *,
        anew: bool = False,
        launch: int | None = None,
        seconds: float = 40.0,
    ) -> JumpOutcome:
        wish = LiveWish(asked, kernel, location, launch)
        self.last = LiveJump(self.session, wish, self.told.append, LiveLimits(seconds=seconds))
        outcome = await self.last.go(anew=anew)
        print(f"\n--- to {wish.words}: {outcome.seconds * 1e3:.1f} ms, {outcome.reason or 'exact'}")
        for text, at in outcome.phases:
            print(f"    {at * 1e3:8.1f} ms  {text}")
        for way in outcome.alternatives:
            print(f"    instead: {way.act.value} {way.label}")
        return outcome

    def story(self) -> str:
        state = self.session.state
        lines = [f"run={state.run} {state.run_detail!r} focus={state.focus} place={state.place}", *self.told]
        lines += [f"notice {one.severity}: {one.text}" for one in state.notices]
        return "\n".join([*lines, f"program: {b''.join(state.program)!r}", *list(state.console)[-10:]])


@pytest.fixture
async def jumper() -> AsyncIterator[Jumper]:
    one = Jumper()
    yield one
    print(f"\n{one.story()}")
    await one.session.close()


def values(outcome: JumpOutcome) -> dict[str, str]:
    return {each.name: each.value for each in outcome.variables}


def raw_seconds(program: Path, *, line: str, condition: str) -> float:
    """From the run to the lane by the engine's own commands, each after the answer to the last."""
    command = ["cuda-gdb", "--interpreter=mi3", "-q", "-nx", str(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None

        def ask(text: str, until: str = r"\^(done|running|error)") -> str:
            assert engine.stdin is not None
            assert engine.stdout is not None
            engine.stdin.write(text + "\n")
            engine.stdin.flush()
            for answer in engine.stdout:
                if re.match(until, answer):
                    return answer
            raise AssertionError(f"the engine has ended at {text}")

        for setting in ("confirm off", "pagination off", "mi-async on", "cuda break_on_launch application"):
            ask(f"-gdb-set {setting}")
        began = time.perf_counter()
        ask("-exec-run", r"\*stopped")
        ask(f'-break-insert -t -c "{condition}" {line}')
        ask("-gdb-set cuda break_on_launch none")
        ask("-exec-continue", r"\*stopped")
        ask("-stack-list-frames 0 32")
        ask("-stack-list-variables --all-values")
        took = time.perf_counter() - began
        engine.stdin.write("-gdb-exit\n")
        engine.stdin.flush()
        engine.stdin.close()
        engine.stdout.read()
    return took


async def test_to_a_lane_and_again_in_the_same_launch(jumper: Jumper, cuda_program: Build) -> None:
    program = cuda_program("vector_add_oob")
    raw = await asyncio.to_thread(
        raw_seconds,
        program,
        line="vector_add_oob.cu:10",
        condition="blockIdx.x==3 && blockIdx.y==0 && blockIdx.z==0 && threadIdx.x==240",
    )
    await jumper.load(program)
    first = await jumper.to(lane((3, 0, 0), (240, 0, 0)), "vadd", "vector_add_oob.cu:10")
    assert first.exact, jumper.story()
    assert first.reason == "", jumper.story()
    assert values(first)["i"] == "1008"
    assert first.warp is not None
    assert first.kernel is not None
    print(f"live jump {first.seconds * 1e3:.1f} ms, raw commands {raw * 1e3:.1f} ms")
    assert first.seconds < raw + EXTRA
    second = await jumper.to(lane((3, 0, 0), (250, 0, 0)), "vadd", "vector_add_oob.cu:10")
    assert second.exact, jumper.story()
    assert values(second)["i"] == "1018"
    assert second.seconds < 0.2
    assert jumper.session.state.run is Run.STOPPED
    stops = jumper.session.debugger.device_stops
    assert stops is not None
    assert stops.launches.value == "none"
    assert jumper.session.state.breakpoints == ()


async def test_every_erring_lane_of_a_report(jumper: Jumper, sanitized: Callable[..., Any]) -> None:
    run = sanitized("vector_add_oob")
    report = read_report([run.log])
    await jumper.load(run.program)
    from ladder_backends.session.jump import asked_by
    from ladder_backends.session.live_wish import wish_of

    took = []
    for finding in (report.findings[0], report.findings[8], report.findings[23]):
        wish = wish_of(finding, asked_by(finding))
        outcome = await jumper.to(wish.asked, wish.kernel, wish.location)
        assert outcome.exact, jumper.story()
        assert finding.block is not None
        assert finding.thread is not None
        assert values(outcome)["i"] == str(finding.block[0] * 256 + finding.thread[0])
        assert outcome.frame is not None
        assert outcome.frame.place is not None
        assert outcome.frame.place.line == 10
        took.append(outcome.seconds)
    print("seconds:", " ".join(f"{each:.3f}" for each in took))
    assert max(took[1:]) < 0.3


async def test_a_lane_that_needs_another_run(jumper: Jumper, cuda_program: Build) -> None:
    await jumper.load(cuda_program("vector_add_oob"))
    await jumper.to(lane((3, 0, 0), (240, 0, 0)), "vadd", "vector_add_oob.cu:10")
    elsewhere = await jumper.to(lane((0, 0, 0), (5, 0, 0)), "vadd", "vector_add_oob.cu:10")
    print(f"exact={elsewhere.exact} reached={elsewhere.reached} reason={elsewhere.reason!r}")
    again = await jumper.to(lane((0, 0, 0), (5, 0, 0)), "vadd", "vector_add_oob.cu:10", anew=True)
    assert again.exact, jumper.story()
    assert values(again)["i"] == "5"


async def test_a_big_grid_near_and_far(jumper: Jumper, cuda_program: Build) -> None:
    await jumper.load(cuda_program("divergent_grid"))
    near = await jumper.to(lane((5, 1, 0), (3, 2, 0)), "tile", "divergent_grid.cu:18")
    assert near.exact, jumper.story()
    assert near.frame is not None
    assert near.frame.place is not None
    assert near.frame.place.line == 18, jumper.story()


async def test_a_block_that_comes_late_in_a_big_grid(jumper: Jumper, cuda_program: Build) -> None:
    """It may take minutes: it tells its age, gives up in time, and leaves the ways on."""
    await jumper.load(cuda_program("divergent_grid"))
    began = time.perf_counter()
    outcome = await jumper.to(lane((200, 900, 0), (0, 0, 0)), "tile", "divergent_grid.cu:18", seconds=10)
    took = time.perf_counter() - began
    print(f"gave up or arrived after {took:.1f} s: {outcome.reason or 'exact'}")
    assert took < 40
    if not outcome.exact:
        assert Act.WAIT in {each.act for each in outcome.alternatives}, jumper.story()
    assert any("is not on the device yet" in line for line in jumper.told), jumper.story()
    assert jumper.session.state.run in (Run.STOPPED, Run.RUNNING)
    assert jumper.last is not None
    await jumper.last.stay()


async def test_ctrl_c_gives_up_at_once(jumper: Jumper, cuda_program: Build) -> None:
    await jumper.load(cuda_program("divergent_grid"))
    going = asyncio.create_task(jumper.to(lane((200, 900, 0), (0, 0, 0)), "tile", "divergent_grid.cu:18"))
    async with asyncio.timeout(60):
        while not any("is not on the device yet" in line for line in jumper.told):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await asyncio.sleep(1)
    assert jumper.last is not None
    began = time.perf_counter()
    await jumper.last.interrupt()
    outcome = await going
    print(f"stopped after {time.perf_counter() - began:.2f} s: {outcome.reason}")
    assert outcome.reason.startswith("you stopped it"), jumper.story()


async def test_the_second_kernel_and_one_that_is_never_launched(jumper: Jumper, cuda_program: Build) -> None:
    await jumper.load(cuda_program("two_kernels"))
    second = await jumper.to(lane((0, 0, 0), (1, 0, 0)), "second")
    assert second.exact, jumper.story()
    assert second.kernel is not None
    assert second.kernel.name.startswith("second")
    never = await jumper.to(lane((0, 0, 0), (1, 0, 0)), "third", anew=True)
    assert never.reached is None
    assert "no launch of third was seen" in never.reason, jumper.story()


async def test_the_users_breakpoints_are_run_over(jumper: Jumper, cuda_program: Build) -> None:
    await jumper.load(cuda_program("vector_add_oob"))
    await jumper.session.set_breakpoint("main")
    outcome = await jumper.to(lane((3, 0, 0), (240, 0, 0)), "vadd", "vector_add_oob.cu:10")
    assert outcome.exact, jumper.story()
    assert len(jumper.session.state.breakpoints) == 1


async def test_a_finding_is_jumped_to_over_the_ladder_and_back(sanitized: Callable[..., Any]) -> None:
    run = sanitized("vector_add_oob")
    ladder = Ladder()
    notices: list[str] = []
    ladder.subscribe(lambda change: notices.append(ladder.state.notice.text) if ladder.state.notice else None)
    try:
        await ladder.open_files((run.log, run.dump, run.program))
        report = ladder.state.report
        assert report is not None
        dumped = await ladder.jump(report.findings[8])
        assert (dumped.exact, dumped.way) == (True, Way.DUMP)
        live = await ladder.jumps.to_finding(report.findings[8], way=Way.LIVE)
        assert (live.exact, live.way) == (True, Way.LIVE), live
        other = await ladder.jumps.to_finding(report.findings[10], way=Way.LIVE)
        assert other.exact
        history = ladder.jumps.history
        assert [place.seat.value for place in history.places] == ["dump", "live", "live"]
        for expected, name in ((live, "live"), (dumped, "dump")):
            began = time.perf_counter()
            assert await history.back()
            print(f"back into the {name}: {(time.perf_counter() - began) * 1e3:.1f} ms")
            assert ladder.active is not None
            assert expected.reached is not None
            assert ladder.active.state.focus is not None
            assert ladder.active.state.focus["thread"] == expected.reached["thread"]
        print(list(dict.fromkeys(notices)))
    finally:
        await ladder.close()


def headless(*arguments: object) -> tuple[int, dict[str, Any], str]:
    command = [sys.executable, "-m", "ladder_tui", "jump", "--live", "--json", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def test_from_the_command_line(sanitized: Callable[..., Any]) -> None:
    run = sanitized("vector_add_oob")
    code, jump, said = headless("--report", run.log, "--finding", 8, "--", run.program)
    print(json.dumps(jump["phases"], indent=1), said)
    assert code == 0, (jump, said)
    assert (jump["way"], jump["reached"]["thread"], jump["frame"]["line"]) == ("live", [240, 0, 0], 10)
    assert {row["name"]: row["value"] for row in jump["locals"]}["i"] == "1008"
    code, jump, said = headless("--kernel", "nothing", "--block", "0", "--", run.program)
    assert code == 1, (jump, said)
    assert "no launch of nothing was seen" in jump["reason"]
    code, jump, said = headless("--kernel", "vadd", "--block", "3", "--thread", "1", "--", run.program)
    assert code == 0, (jump, said)
    assert jump["reached"]["thread"] == [1, 0, 0]

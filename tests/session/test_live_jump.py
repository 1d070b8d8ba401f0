"""The live jump on a simulated GPU: from launch to launch to a lane, and what it does where that does not come."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.cuda_gdb.lane_runs import CudaLaneRuns
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.debugger.facets import LaunchStops
from ladder_backends.errors import CommandFailed
from ladder_backends.model.focus import Focus
from ladder_backends.session.alternatives import Act, Way
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.live_jump import LiveJump
from ladder_backends.session.live_wish import LiveLimits, LiveWish, changed_since
from ladder_backends.session.state import Run

from .simulated_gpu import Heard, Launch, SimulatedGpu

LANE = Focus.of(block=(3, 0, 0), thread=(232, 0, 0))
WISH = LiveWish(LANE, "vadd(const float *, const float *, float *, int)", "/src/vector_add_oob.cu:10")
BIG = (250, 1000, 1)


class Stand:
    """A session on a simulated program, and a jump in it."""

    def __init__(self, gpu: SimulatedGpu, wish: LiveWish = WISH, limits: LiveLimits | None = None) -> None:
        self.gpu, self.told = gpu, Heard()
        self.session = DebugSession(gpu)
        self.jump = LiveJump(self.session, wish, self.told, limits or LiveLimits(seconds=5))

    async def open(self) -> Stand:
        await self.session.open(LaunchTarget(Path("/bin/true")), run=False)
        return self

    @property
    def words(self) -> str:
        return "\n".join(self.told.lines)


async def stand(*launches: Launch, wish: LiveWish = WISH, limits: LiveLimits | None = None) -> Stand:
    return await Stand(SimulatedGpu(*launches), wish, limits).open()


async def test_a_small_launch_is_waited_for_with_a_breakpoint_for_the_lane() -> None:
    one = await stand(Launch())
    outcome = await one.jump.go()
    assert outcome.exact
    assert (outcome.reason, outcome.way) == ("", Way.LIVE)
    assert outcome.frame is not None
    assert str(outcome.frame.place) == "vector_add_oob.cu:10"
    assert {each.name: each.value for each in outcome.variables} == {"i": "1000"}
    assert one.gpu.asked == [
        "launches application",
        "run",
        "launches none",
        "wait /src/vector_add_oob.cu:10 (3, 0, 0) (232, 0, 0)",
        "continue",
    ]
    state = one.session.state
    assert (state.run, state.focus, state.asked) == (Run.STOPPED, outcome.reached, LANE)
    assert [variable.name for variable in state.variables.variables] == ["i"]
    assert "launch 1 of vadd reached · (4,1,1) blocks of (256,1,1) · 0.0 s" in one.told.lines
    assert [text for text, _ in outcome.phases][-1] == "block (3,0,0) thread (232,0,0) reached"


async def test_launches_of_others_and_of_other_sizes_are_passed() -> None:
    one = await stand(Launch("fill(int*)"), Launch(grid=(1, 1, 1)), Launch(block=(32, 1, 1)), Launch())
    outcome = await one.jump.go()
    assert outcome.exact
    assert one.gpu.here.launch == 3
    assert "passed 1 of other kernels: fill" in one.words
    assert "launch 1: block (3,0,0) is outside the grid of vadd, of (1,1,1) blocks" in one.words
    assert "launch 3 of vadd reached" in one.words


async def test_a_launch_by_its_number() -> None:
    wish = LiveWish(LANE, "vadd", "vector_add_oob.cu:10", launch=3)
    one = await stand(Launch(), Launch("fill()"), Launch(), Launch(), wish=wish)
    assert (await one.jump.go()).exact
    assert one.gpu.here.launch == 3
    assert "passed launch 2 of vadd" in one.words


async def test_a_kernel_that_is_never_launched() -> None:
    one = await stand(Launch("fill()"), Launch("scale()"))
    outcome = await one.jump.go()
    assert outcome.reached is None
    assert outcome.reason == (
        "the program ended before the kernel was launched: exited normally; no launch of vadd was seen, 2 of others"
    )
    assert [each.act for each in outcome.alternatives] == [Act.LIVE]
    assert one.gpu.device_stops.launches is LaunchStops.NONE


async def test_a_big_launch_is_stepped_in_the_block_that_is_there() -> None:
    one = await stand(Launch(grid=BIG))
    outcome = await one.jump.go()
    assert outcome.exact
    assert outcome.frame is not None
    assert outcome.frame.place is not None
    assert outcome.frame.place.line == 10
    assert one.gpu.asked[2:] == ["launches none", "switch kernel 0 block (3,0,0) thread (232,0,0)", "next"]
    assert "block (3,0,0): steps from line 9 to 10" in one.words


async def test_a_block_that_is_not_there_yet_is_waited_for_at_the_entry() -> None:
    one = await stand(Launch(grid=BIG, resident={(0, 0, 0)}))
    outcome = await one.jump.go()
    assert outcome.exact
    assert "wait vector_add_oob.cu:9 (3, 0, 0) (232, 0, 0)" in one.gpu.asked
    assert "block (3,0,0) is not on the device yet: waits for it among 2,000,000 warps" in one.words
    assert outcome.frame is not None
    assert outcome.frame.place is not None
    assert outcome.frame.place.line == 10


async def test_time_is_over_and_one_waits_on() -> None:
    one = await stand(Launch(comes=False), limits=LiveLimits(seconds=0.2))
    outcome = await one.jump.go()
    assert outcome.reached is None
    assert outcome.reason.startswith("0 s are over before the lane came to vector_add_oob.cu:10")
    assert [each.act for each in outcome.alternatives] == [Act.WAIT, Act.STAY]
    assert one.gpu.lane_runs.waiting
    assert one.session.state.run is Run.STOPPED
    one.gpu.script[0].comes = True
    assert (await one.jump.wait_on()).exact


async def test_a_launch_has_a_limit_of_its_own() -> None:
    one = await stand(Launch(), limits=LiveLimits(seconds=5, launch=0.1))
    one.gpu.hangs = True
    outcome = await one.jump.go()
    assert outcome.reason == "0 s are over before the kernel was launched"
    assert [each.act for each in outcome.alternatives] == [Act.WAIT, Act.STAY]
    one.gpu.hangs = False
    assert (await one.jump.wait_on()).exact


async def test_a_lane_that_comes_while_it_is_given_up_is_reached() -> None:
    one = await stand(Launch(comes=False), limits=LiveLimits(seconds=0.2))
    one.gpu.comes_late = True
    outcome = await one.jump.go()
    assert "interrupt" in one.gpu.asked
    assert outcome.exact, outcome.reason


async def test_an_engine_that_does_not_run_on_is_the_reason() -> None:
    one = await stand(Launch())
    one.gpu.refuses = "CUDBG_ERROR_RUNNING_DEVICE"
    outcome = await one.jump.go()
    assert outcome.reached is None
    assert outcome.reason == "it did not run on: CUDBG_ERROR_RUNNING_DEVICE"
    assert one.gpu.asked.count("continue") == 1


async def test_ctrl_c_stops_it() -> None:
    one = await stand(Launch(comes=False))
    going = asyncio.create_task(one.jump.go())
    while "continue" not in one.gpu.asked:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    await one.jump.interrupt()
    outcome = await going
    assert outcome.reason == "you stopped it before the lane came to vector_add_oob.cu:10"
    assert one.session.state.run is Run.STOPPED
    await one.jump.stay()
    assert not one.gpu.lane_runs.waiting


@pytest.mark.parametrize(("question", "grid"), [("kernels", (4, 1, 1)), ("kernels", BIG), ("frames", BIG)])
async def test_ctrl_c_where_it_stands_for_a_moment(monkeypatch: Any, question: str, grid: Any) -> None:
    """Between two runs nothing is there to be stopped; it does not run on all the same."""
    one = await stand(Launch("fill()"), Launch(grid=grid, comes=False))
    ask = getattr(one.gpu, question)

    async def pressed(*given: Any) -> Any:
        monkeypatch.setattr(one.gpu, question, ask)
        await one.jump.interrupt()
        return await ask(*given)

    monkeypatch.setattr(one.gpu, question, pressed)
    async with asyncio.timeout(2):
        outcome = await one.jump.go()
    assert outcome.reason.startswith("you stopped it before block (3,0,0) thread (232,0,0)")
    assert one.session.state.run is Run.STOPPED
    assert [each.act for each in outcome.alternatives] == [Act.WAIT, Act.STAY]
    one.gpu.script[1].comes = True
    assert (await one.jump.wait_on()).exact


async def test_ctrl_c_in_the_instant_of_the_launch() -> None:
    """The launch that is meant was not looked at yet: who waits on does not run past it."""
    one = await stand(Launch())
    resume = one.gpu.resume

    async def pressed(kind: StepKind, location: str = "") -> None:
        await resume(kind, location)
        if kind is StepKind.RUN:
            one.jump._stopped_by_user = True

    one.gpu.resume = pressed  # type: ignore[method-assign]
    outcome = await one.jump.go()
    assert outcome.reason == "you stopped it before the kernel was launched"
    assert (await one.jump.wait_on()).exact


async def test_who_stands_at_the_place_already_is_not_waited_for() -> None:
    for location in ("", "vector_add_oob.cu:9"):
        one = await stand(Launch(), wish=LiveWish(LANE, "vadd", location))
        outcome = await one.jump.go()
        assert outcome.exact
        assert one.gpu.asked[2:] == ["launches none", "switch kernel 0 block (3,0,0) thread (232,0,0)"]
    one = await stand(Launch(resident={(0, 0, 0)}), wish=LiveWish(LANE, "vadd"))
    assert (await one.jump.go()).exact
    assert one.gpu.asked[-2].startswith("wait vector_add_oob.cu:9")


async def test_a_fault_on_the_way_is_where_it_ends() -> None:
    one = await stand(Launch(faults=True))
    outcome = await one.jump.go()
    assert outcome.reached is None
    assert outcome.reason == "Warp Illegal Address before the lane came to vector_add_oob.cu:10"


async def test_stops_elsewhere_are_run_over_so_often_and_no_more() -> None:
    one = await stand(Launch(elsewhere=2))
    assert (await one.jump.go()).exact
    assert "ran over: breakpoint 1" in one.words
    one = await stand(Launch(elsewhere=100, resident={(0, 0, 0)}), limits=LiveLimits(seconds=5, stops=4))
    outcome = await one.jump.go()
    assert outcome.reason == "it stopped 4 times elsewhere on the way"


async def test_a_line_without_code() -> None:
    one = await stand(Launch())
    one.gpu.no_places.add(WISH.location)
    outcome = await one.jump.go()
    assert outcome.reason == "cannot stop at vector_add_oob.cu:10: No line 10 in file"
    assert one.session.state.run is Run.STOPPED


async def test_a_second_finding_of_the_launch_is_a_move_of_the_focus() -> None:
    one = await stand(Launch())
    await one.jump.go()
    del one.gpu.asked[:]
    other = Focus.of(block=(3, 0, 0), thread=(240, 0, 0))
    jump = LiveJump(one.session, LiveWish(other, "vadd", "vector_add_oob.cu:10"), one.told)
    outcome = await jump.go()
    assert outcome.exact
    assert one.gpu.asked == ["switch kernel 0 block (3,0,0) thread (240,0,0)"]
    assert {each.name: each.value for each in outcome.variables} == {"i": "1008"}


async def test_a_lane_that_is_gone_asks_for_another_run() -> None:
    one = await stand(Launch(resident={(3, 0, 0)}))
    await one.jump.go()
    gone = LiveJump(one.session, LiveWish(Focus.of(block=(1, 0, 0), thread=(0, 0, 0)), "vadd", "f.cu:10"), one.told)
    outcome = await gone.go()
    assert outcome.reached is None
    assert outcome.reason.endswith("that moment of the launch has passed, or is yet to come")
    assert [each.act for each in outcome.alternatives] == [Act.LIVE, Act.WAIT]
    assert (await gone.wait_on()).exact


def test_a_program_that_is_newer_than_its_report(tmp_path: Path) -> None:
    program, report = tmp_path / "vadd", tmp_path / "report.log"
    for number, path in enumerate((program, report)):
        path.touch()
        os.utime(path, (1000 + number, 1000 + number))
    assert changed_since(program, (report,)) == ""
    os.utime(program, (2000, 2000))
    assert changed_since(program, (report,)).startswith("vadd was built after the report was written")
    assert changed_since(tmp_path / "none", (report,)) == ""
    assert changed_since(program, ()) == ""


# -- the engine's own commands


class Answers:
    """Answers of an engine to commands that set breakpoints."""

    def __init__(self, row: dict[str, str] | None) -> None:
        self.row = row
        self.asked: list[str] = []

    async def command(self, text: str, **options: object):
        from ladder_backends.mi.records import ResultRecord

        self.asked.append(text)
        results = {"bkpt": self.row} if self.row is not None and text.startswith("-break-insert") else {}
        return ResultRecord(None, "done", results)


async def test_the_breakpoint_for_a_lane_is_in_no_list() -> None:
    stops: dict[str, str] = {}
    engine = Answers({"number": "7"})
    runs = CudaLaneRuns(engine, stops)  # type: ignore[arg-type]
    await runs.wait_at("vector_add_oob.cu:10", (3, 0, 0), (232, 0, 0))
    condition = "blockIdx.x == 3 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x == 232"
    assert engine.asked[0].startswith(f'-break-insert -t -c "{condition}')
    assert (runs.waiting, stops) == (True, {"7": "lane reached"})
    await runs.drop()
    assert (runs.waiting, stops, engine.asked[-1]) == (False, {}, "-break-delete 7")
    await runs.wait_at("*0x10", (3, 0, 0), None)
    stops.clear()
    assert not runs.waiting
    await runs.drop()
    assert engine.asked[-1].startswith("-break-insert")


async def test_a_file_that_is_known_by_its_name_alone() -> None:
    class Particular(Answers):
        async def command(self, text: str, **options: object):
            if '"/src/' in text:
                self.asked.append(text)
                raise CommandFailed(text, "No source file named /src/vector_add_oob.cu.")
            return await super().command(text, **options)

    engine = Particular({"number": "7"})
    runs = CudaLaneRuns(engine, {})  # type: ignore[arg-type]
    await runs.wait_at("/src/vector_add_oob.cu:10", (3, 0, 0), None)
    assert runs.waiting
    assert [text.rpartition(" ")[2] for text in engine.asked] == [
        '"/src/vector_add_oob.cu:10"',
        '"vector_add_oob.cu:10"',
    ]


async def test_a_condition_that_was_swallowed_is_no_breakpoint() -> None:
    runs = CudaLaneRuns(Answers(None), {})  # type: ignore[arg-type]
    with pytest.raises(CommandFailed, match="set no breakpoint"):
        await runs.wait_at("vector_add_oob.cu:10", (3, 0, 0), (232, 0, 0))


def test_a_live_cuda_gdb_has_it() -> None:
    assert CudaGdbDebugger().lane_runs is None

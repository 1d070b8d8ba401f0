"""Which way a jump takes, what is offered beside it, and back and forth: real dumps, a simulated live program."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.case import open_files
from ladder_backends.debugger import LaunchTarget, StepKind, Target
from ladder_backends.model.finding import CodeLocation, Finding, FindingKind, LaneAnswer, Report, Side
from ladder_backends.model.focus import Focus
from ladder_backends.rungs import device_rung
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.session import device_here
from ladder_backends.session.alternatives import Act, Way
from ladder_backends.session.jump_ways import goal_here, goal_of_finding, ways
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sanitizer_state import RunPhase, SanitizerRunState
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Run
from ladder_demos.catalogue import find_demo

from .simulated_gpu import Launch, SimulatedGpu

CASE = find_demo("vector-add").path
PROGRAM = Path("/bin/true")


class Rig:
    """A ladder on which a live program is simulated."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ladder = Ladder()
        self.waiting: list[SimulatedGpu] = []
        self.notices: list[str] = []
        self.ladder.subscribe(lambda change: self._hear())
        engines = self.ladder.engines
        take, missing = engines.take, engines.missing

        async def take_simulated(name: str):
            return self.waiting.pop(0) if self.waiting else await take(name)

        monkeypatch.setattr(engines, "take", take_simulated)
        monkeypatch.setattr(engines, "missing", lambda name: "" if self.waiting else missing(name))
        monkeypatch.setattr(device_here, "live_device_rung", lambda: device_rung("CUDA"))

    def _hear(self) -> None:
        notice = self.ladder.state.notice
        if notice is not None and (not self.notices or self.notices[-1] != notice.text):
            self.notices.append(notice.text)

    @property
    def said(self) -> str:
        """The last line for the user."""
        notice = self.ladder.state.notice
        return notice.text if notice is not None else ""

    def program(self, *launches: Launch) -> SimulatedGpu:
        """The program that the next live jump runs."""
        self.waiting.append(SimulatedGpu(*launches))
        return self.waiting[-1]

    def ran(self, *, here: bool = True) -> None:
        """The sanitizer was run on it, in this console or before."""
        since = time.monotonic() if here else 0.0
        self.ladder.state.sanitizer = SanitizerRunState(RunPhase.ENDED, Plan(PROGRAM, ("-n", "5")), since=since)


@pytest.fixture
async def rig(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    rig = Rig(monkeypatch)
    yield rig
    await rig.ladder.close()


def found(thread: int = 232, **changes: object) -> Finding:
    lane = {"block": (3, 0, 0), "thread": (thread, 0, 0)}
    finding = Finding(
        0,
        FindingKind.OOB,
        tool="memcheck",
        kernel="vadd(const float *, const float *, float *, int)",
        src_file="/src/vector_add_oob.cu",
        line=10,
        sides=(Side("read", CodeLocation("vadd", "/src/vector_add_oob.cu", 10), **lane),),
        host_frames=(CodeLocation("main", "/src/vector_add_oob.cu", 19),),
        lane=LaneAnswer.EXACT,
        **lane,
    )
    return replace(finding, **changes)


RACE = found(
    kind=FindingKind.RACE_ANALYSIS,
    tool="racecheck",
    block=None,
    thread=None,
    sides=(),
    lane=LaneAnswer.NONE,
    why="an analysis names no lane; run again with the hazard report",
)
HAZARD = found(
    kind=FindingKind.RACE_HAZARD,
    tool="racecheck",
    sides=(
        Side("write", CodeLocation("k", "race.cu", 8), (0, 0, 0), (31, 0, 0)),
        Side("read", CodeLocation("k", "race.cu", 9), (0, 0, 0), (30, 0, 0)),
    ),
)


@pytest.mark.cuda_gdb
async def test_back_and_forth_over_dump_and_live(rig: Rig, cuda_gdb: Path) -> None:
    ladder = rig.ladder
    await ladder.open_files((CASE,))
    assert ladder.state.report is not None
    first, other = ladder.state.report.findings[0], ladder.state.report.findings[8]
    dumped = await ladder.jump(first)
    assert (dumped.exact, dumped.way) == (True, Way.DUMP)
    rig.program(Launch())
    live = await ladder.jumps.to_finding(other, way=Way.LIVE)
    assert (live.exact, live.way, live.reason) == (True, Way.LIVE, "")
    assert any(text.startswith("runs vector_add_oob again, ~0.7 s") for text in rig.notices)
    assert ladder.active is not None
    assert ladder.active.state.seat is Seat.LIVE
    history = ladder.jumps.history
    assert [(place.seat, place.is_held) for place in history.places] == [(Seat.DUMP, True), (Seat.LIVE, True)]
    assert history.places[1].label == "live  block (3,0,0) thread (240,0,0)  vadd vector_add_oob.cu:10"
    assert await history.back()
    assert ladder.active.state.seat is Seat.DUMP
    assert ladder.active.state.focus is not None
    assert ladder.active.state.focus["thread"] == (232, 0, 0)
    assert ladder.state.selected_finding == 0
    assert not await history.back()
    assert await history.forward()
    assert ladder.active.state.seat is Seat.LIVE
    assert ladder.state.selected_finding == 8
    # It runs on: that moment is gone, and nothing runs again unasked.
    session = ladder.active
    await session.resume(StepKind.CONTINUE)
    await session.at_rest()
    await history.back()
    assert await history.forward()
    assert rig.said.startswith("that moment is gone (live block (3,0,0) thread (240,0,0)")
    assert session.state.run is Run.EXITED
    assert [each.act for each in session.state.alternatives] == [Act.LIVE]
    # A jump from the middle forgets what lay ahead.
    await history.back()
    await ladder.jump(ladder.state.report.findings[3])
    assert [place.seat for place in history.places] == [Seat.DUMP, Seat.DUMP]
    assert history.at == 1


@pytest.mark.cuda_gdb
async def test_back_from_a_lane_that_was_walked_to(rig: Rig, cuda_gdb: Path) -> None:
    ladder = rig.ladder
    await ladder.open_files((CASE,))
    assert ladder.state.report is not None
    history = ladder.jumps.history
    assert not await history.back()
    await ladder.jump(ladder.state.report.findings[0])
    session = ladder.active
    assert session is not None
    await session.switch(Focus.of(kernel=0, block=(3, 0, 0), thread=(250, 0, 0)))
    assert await history.back()
    assert session.state.focus is not None
    assert session.state.focus["thread"] == (232, 0, 0)
    assert await history.forward()
    assert session.state.focus["thread"] == (250, 0, 0)
    assert [place.focus["thread"][0] for place in history.places] == [232, 250]


@pytest.mark.cuda_gdb
async def test_watches_follow_each_jump(rig: Rig, cuda_gdb: Path) -> None:
    ladder = rig.ladder
    await ladder.open_files((CASE,))
    assert ladder.state.report is not None
    await ladder.jump(ladder.state.report.findings[0])
    session = ladder.active
    assert session is not None
    session.values.show(0, 20)
    await session.values.watch("i * 2")
    assert session.state.values.watches["i * 2"].value == "2000"
    await ladder.jump(ladder.state.report.findings[8])
    async with asyncio.timeout(5):
        while session.state.values.watches["i * 2"].value != "2016":  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.mark.cuda_gdb
async def test_what_the_dump_does_not_hold_is_run_to_where_it_was_run_before(rig: Rig, cuda_gdb: Path) -> None:
    await rig.ladder.open_files((CASE,))
    rig.ran()
    await rig.ladder.jump(found())
    gpu = rig.program(Launch())
    outcome = await rig.ladder.jump(found(5))
    assert (outcome.exact, outcome.way) == (True, Way.LIVE)
    assert isinstance(gpu.target, LaunchTarget)
    assert (gpu.target.program, gpu.target.arguments) == (PROGRAM, ("-n", "5"))
    (said,) = [text for text in rig.notices if "runs true again" in text and "does not hold" in text]
    assert said.startswith("the dump does not hold thread (5,0,0) of block (3,0,0)")


@pytest.mark.cuda_gdb
async def test_another_program_than_the_dumps_is_told(rig: Rig, cuda_gdb: Path) -> None:
    await rig.ladder.open_files((CASE,))
    assert rig.ladder.state.report is not None
    other = open_files([find_demo("hang").path]).executable
    assert other is not None
    rig.ladder.state.sanitizer = SanitizerRunState(RunPhase.ENDED, Plan(other), since=1.0)
    rig.program(Launch())
    outcome = await rig.ladder.jumps.to_finding(found(), way=Way.LIVE)
    assert outcome.exact
    assert "hang is not the program that made the dump" in rig.said
    assert outcome.note.startswith("hang is not the program that made the dump")


async def test_without_a_dump_it_runs_only_what_was_run_before(rig: Rig) -> None:
    rig.ran(here=False)
    rig.ladder.state.report = None
    rig.program(Launch())
    outcome = await rig.ladder.jumps.to_finding(found())
    assert outcome.reached is None
    # The plan of another day's run is no program at hand.
    assert [each.act for each in outcome.alternatives if each.act is Act.LIVE] == []

    rig.ladder.state.report = Report(tool="memcheck", findings=[found()])
    outcome = await rig.ladder.jumps.to_finding(found())
    assert [each.act for each in outcome.alternatives][:1] == [Act.LIVE]
    rig.ran()
    outcome = await rig.ladder.jumps.to_finding(found())
    assert (outcome.exact, outcome.way) == (True, Way.LIVE)
    assert rig.ladder.state.runs_to == ""


async def test_what_is_live_elsewhere_is_ended_only_on_demand(rig: Rig) -> None:

    rig.ladder.state.report = Report(tool="memcheck", findings=[found()])
    rig.ran()
    gpu = rig.program(Launch("fill()"), Launch())
    assert (await rig.ladder.jumps.to_finding(found(), way=Way.LIVE)).exact
    elsewhere = found(kernel="scale(float*)")
    outcome = await rig.ladder.jumps.to_finding(elsewhere, way=Way.LIVE)
    assert outcome.reached is None
    assert outcome.reason == "true is live elsewhere, and would be ended: run it again?"
    assert outcome.alternatives[0].act is Act.LIVE
    assert gpu.asked.count("run") == 1
    again = await rig.ladder.jumps.to_finding(found(7), way=Way.LIVE, anew=True)
    assert again.exact
    assert gpu.asked.count("run") == 2


async def test_ctrl_c_while_the_program_is_opened(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.ladder.state.report = Report(tool="memcheck", findings=[found()])
    rig.ran()
    gpu = rig.program(Launch())
    opens, goes_on = gpu.open, asyncio.Event()

    async def opened_slowly(target: Target) -> None:
        await goes_on.wait()
        await opens(target)

    monkeypatch.setattr(gpu, "open", opened_slowly)
    jumping = asyncio.create_task(rig.ladder.jumps.to_finding(found(), way=Way.LIVE))
    while rig.ladder.jumps.live.session is None:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    assert rig.ladder.state.runs_to
    await rig.ladder.jumps.live.interrupt()
    goes_on.set()
    outcome = await jumping
    assert outcome.reason == "you stopped it before the program was run"
    assert "run" not in gpu.asked
    assert rig.ladder.state.runs_to == ""
    # The next one knows nothing of it.
    assert (await rig.ladder.jumps.to_finding(found(), way=Way.LIVE)).exact


def acts(rig: Rig, finding: Finding, side: int = 0) -> list[Act]:
    return [each.act for each in ways(rig.ladder, goal_of_finding(finding, side))]


async def test_ways_to_what_has_no_lane(rig: Rig) -> None:

    rig.ladder.state.report = Report(tool="racecheck", findings=[RACE])
    rig.ran()
    rig.program(Launch())
    assert acts(rig, RACE) == [Act.HAZARDS, Act.BREAK_LANES, Act.GO, Act.GO, Act.BREAK_HOST]
    goal = goal_of_finding(RACE)
    assert goal.title == "vector_add_oob.cu:10"
    labels = [each.label for each in ways(rig.ladder, goal)]
    assert labels == [
        "run again with the hazard report",
        "stop at vector_add_oob.cu:10",
        "source line vector_add_oob.cu:10",
        "host call vector_add_oob.cu:19 in main",
        "stop at the host's vector_add_oob.cu:19",
    ]


async def test_both_sides_of_a_hazard(rig: Rig) -> None:

    rig.ladder.state.report = Report(tool="racecheck", findings=[HAZARD])
    rig.ran()
    rig.program(Launch())
    first, second = goal_of_finding(HAZARD), goal_of_finding(HAZARD, 1)
    assert (first.wish.location, second.wish.location) == ("race.cu:8", "race.cu:9")
    assert first.title == "block (0,0,0) thread (31,0,0) at race.cu:8"
    (side,) = [each for each in ways(rig.ladder, first) if each.act is Act.SIDE]
    assert (side.label, side.line) == ("the read of (0,0,0) (30,0,0) at line 9", 1)
    (side,) = [each for each in ways(rig.ladder, second) if each.act is Act.SIDE]
    assert (side.label, side.line) == ("the write of (0,0,0) (31,0,0) at line 8", 0)
    assert acts(rig, HAZARD)[0] is Act.LIVE


async def test_without_a_gpu_nothing_live_is_offered(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:

    rig.ladder.state.report = Report(tool="racecheck", findings=[RACE])
    rig.ran()
    monkeypatch.setattr(device_here, "live_device_rung", lambda: None)
    rig.program(Launch())
    assert rig.ladder.jumps.live.why_not() == "no GPU is here to run it on"
    assert acts(rig, RACE) == [Act.HAZARDS, Act.GO, Act.GO, Act.BREAK_HOST]
    host = ways(rig.ladder, goal_of_finding(RACE))[-1]
    assert (host.label, host.note) == ("stop at the host's vector_add_oob.cu:19", "under gdb")


@pytest.mark.cuda_gdb
async def test_from_a_lane_of_the_dump_to_the_same_one_live(rig: Rig, cuda_gdb: Path) -> None:
    await rig.ladder.open_files((CASE,))
    assert rig.ladder.state.report is not None
    await rig.ladder.jump(rig.ladder.state.report.findings[0])
    session = rig.ladder.active
    assert session is not None
    goal = goal_here(session.state)
    assert goal is not None
    assert goal.wish.asked == Focus.of(block=(3, 0, 0), thread=(232, 0, 0))
    assert (goal.wish.kernel, goal.wish.line) == ("vadd", 10)
    rig.program(Launch())
    outcome = await rig.ladder.jumps.live_to(goal.wish)
    assert outcome.exact


@pytest.mark.cuda_gdb
async def test_coordinates_that_the_dump_does_not_hold_are_offered_live(rig: Rig, cuda_gdb: Path) -> None:
    await rig.ladder.open_files((CASE,))
    assert rig.ladder.state.report is not None
    await rig.ladder.jump(rig.ladder.state.report.findings[0])
    rig.program(Launch())
    outcome = await rig.ladder.jump_to(Focus.of(block=(1, 0, 0), thread=(5, 0, 0)))
    assert outcome.reached is None
    assert [each.act for each in outcome.alternatives] == [Act.GO, Act.LIVE]
    session = rig.ladder.active
    assert session is not None
    assert session.state.alternatives == outcome.alternatives
    goal = goal_here(session.state)
    assert goal is not None
    assert goal.wish.words == "block (1,0,0) thread (5,0,0) at vector_add_oob.cu:10"
    assert (await rig.ladder.jumps.live_to(goal.wish)).exact


async def test_a_jump_that_gave_up_is_waited_on_for_or_left(rig: Rig) -> None:

    rig.ladder.state.report = Report(tool="memcheck", findings=[found()])
    rig.ran()
    gpu = rig.program(Launch(comes=False))
    live = rig.ladder.jumps.live
    live.limits = replace(live.limits, seconds=0.1)
    outcome = await rig.ladder.jumps.to_finding(found(), way=Way.LIVE)
    assert outcome.reached is None
    assert [each.act for each in ways(rig.ladder, goal_of_finding(found()))][:2] == [Act.WAIT, Act.STAY]
    assert gpu.lane_runs.waiting
    gpu.script[0].comes = True
    again = await live.wait_on()
    assert again is not None
    assert again.exact
    assert live.under_way is None

"""Jumps from the keys: the ways to a lane, live and in the dump, back and forth, the other side; real dumps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger import StepKind
from ladder_backends.model.finding import Report
from ladder_backends.rungs import device_rung
from ladder_backends.sanitizer import read_report
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.session import device_here
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sanitizer_state import RunPhase, SanitizerRunState
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Change, Run
from ladder_demos.catalogue import find_demo
from ladder_tui.app import LadderApp
from ladder_tui.panes.findings_pane import FindingsPane

from ..session.simulated_gpu import Launch, SimulatedGpu

Show = Callable[..., AbstractAsyncContextManager[Any]]
LOGS = Path(__file__).parents[1] / "sanitizer/reports/logs"
SIZES = [(80, 24), (120, 40)]


@pytest.fixture
async def ladder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Any]:
    """A real ladder whose live programs are simulated: `ladder.gpus` are taken first."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    ladder: Any = Ladder(source_roots=(tmp_path,))
    ladder.gpus = []
    take, missing = ladder.engines.take, ladder.engines.missing

    async def take_simulated(name: str) -> Any:
        return ladder.gpus.pop(0) if ladder.gpus else await take(name)

    monkeypatch.setattr(ladder.engines, "take", take_simulated)
    monkeypatch.setattr(ladder.engines, "missing", lambda name: "" if ladder.gpus else missing(name))
    monkeypatch.setattr(device_here, "live_device_rung", lambda: device_rung("CUDA"))
    yield ladder
    await ladder.close()


async def settled(view: Any) -> None:
    await view.settle()
    await asyncio.sleep(0.01)
    await view.settle()


def pane_of(app: LadderApp) -> FindingsPane:
    pane = app.workspace.panes["findings"]
    assert isinstance(pane, FindingsPane)
    return pane


@pytest.mark.cuda_gdb
@pytest.mark.parametrize("size", SIZES)
async def test_the_ways_to_a_finding(ladder: Any, show: Show, cuda_gdb: Path, shots: Any, size: Any) -> None:
    async with show(ladder, size) as view:
        await ladder.open_files((find_demo("vector-add").path,))
        ladder.gpus.append(SimulatedGpu(Launch()))
        await view.press("enter")
        await settled(view)
        ladder.active.state.jump_seconds = 0.02
        ladder.active.tell(Change.RUN | Change.FOCUS)
        await settled(view)
        await view.press("j")
        shots.text(view.app, f"jump-ways-{size[0]}")
        await view.press("l")
        await settled(view)
        assert ladder.active.state.seat is Seat.LIVE
        assert ladder.active.state.focus["thread"] == (232, 0, 0)
        assert ladder.active.state.run is Run.STOPPED


@pytest.mark.cuda_gdb
async def test_back_and_forth(ladder: Any, show: Show, cuda_gdb: Path) -> None:
    async with show(ladder, (80, 24)) as view:
        await view.press("comma")
        assert "there is no earlier jump" in view.text()
        await ladder.open_files((find_demo("vector-add").path,))
        await view.press("enter")
        await view.press("down", "enter")
        await settled(view)
        ladder.gpus.append(SimulatedGpu(Launch()))
        await view.press("j", "j")
        await settled(view)
        assert ladder.active.state.seat is Seat.LIVE
        await view.press("comma")
        await settled(view)
        assert ladder.active.state.seat is Seat.DUMP
        await view.press("full_stop")
        await settled(view)
        assert ladder.active.state.seat is Seat.LIVE
        await view.press("semicolon")
        listed = " ".join(view.text().split())
        assert "Places that were jumped to: 2" in listed
        assert "▸ 1 live block (3,0,0)" in listed
        assert "2 dump block (3,0,0)" in listed
        await view.press("escape")
        session = ladder.active
        await session.resume(StepKind.CONTINUE)
        await session.at_rest()
        await view.press("comma")
        await settled(view)
        await view.press("full_stop")
        await settled(view)
        assert "that moment is gone" in view.text()
        assert session.state.run is Run.EXITED


async def test_ctrl_c_ends_a_live_jump_and_the_ways_go_on(ladder: Any, show: Show) -> None:
    async with show(ladder, (80, 24)) as view:
        report = read_report([Path(__file__).parent / "reports/memcheck-oob.log"])
        ladder.state.report, ladder.state.rung = report, "sanitizer"
        ladder.state.sanitizer = SanitizerRunState(RunPhase.ENDED, Plan(Path("/bin/true")), since=1.0)
        ladder.tell(~Change.NONE)
        await settled(view)
        gpu = SimulatedGpu(Launch(comes=False))
        ladder.gpus.append(gpu)
        await view.pilot.press("enter")
        async with asyncio.timeout(10):
            while "continue" not in gpu.asked:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        assert ladder.state.runs_to
        await view.pilot.press("ctrl+c")
        await settled(view)
        assert "you stopped it before the lane came" in view.text()
        assert "j: wait on for it, stay where it stands" in " ".join(view.text().split())
        await view.press("j")
        assert "wait on for it" in view.text()
        gpu.script[0].comes = True
        await view.press("w")
        await settled(view)
        assert ladder.active.state.run is Run.STOPPED
        assert not ladder.state.runs_to


async def test_a_second_ctrl_c_offers_more_where_the_first_does_not_help(ladder: Any, show: Show) -> None:
    async with show(ladder, (80, 24)) as view:
        report = read_report([Path(__file__).parent / "reports/memcheck-oob.log"])
        ladder.state.report, ladder.state.rung = report, "sanitizer"
        ladder.state.sanitizer = SanitizerRunState(RunPhase.ENDED, Plan(Path("/bin/true")), since=1.0)
        ladder.tell(~Change.NONE)
        await settled(view)
        gpu = SimulatedGpu(Launch(comes=False))
        deaf = asyncio.Event()
        gpu.interrupt = deaf.wait  # type: ignore[method-assign, assignment]
        ladder.gpus.append(gpu)
        await view.pilot.press("enter")
        async with asyncio.timeout(10):
            while "continue" not in gpu.asked:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await view.pilot.press("ctrl+c")
        assert ladder.jumps.live.stopping
        await view.pilot.press("ctrl+c")
        await view.pilot.pause()
        assert "Ctrl-C came twice" in view.text()
        await view.pilot.press("n")
        # It hears of it at last.
        gpu._stop("signal-received", "interrupted")
        deaf.set()
        async with asyncio.timeout(10):
            while ladder.state.runs_to:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await settled(view)
        assert "you stopped it before the lane came" in view.text()


async def test_with_the_dump_on_screen_it_offers_that_of_what_runs(ladder: Any, show: Show, cuda_gdb: Path) -> None:
    await ladder.open_files((find_demo("vector-add").path,))
    async with show(ladder, (80, 24)) as view:
        await view.press("enter")
        await settled(view)
        gpu = SimulatedGpu(Launch(comes=False))
        deaf = asyncio.Event()
        asked: list[str] = []

        async def interrupt() -> None:
            asked.append("interrupt")
            await deaf.wait()

        gpu.interrupt = interrupt  # type: ignore[method-assign]
        ladder.gpus.append(gpu)
        await view.pilot.press("j", "l")
        async with asyncio.timeout(10):
            while "continue" not in gpu.asked:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await view.pilot.press("3")
        ladder.switch_seat("cuda-gdb", Seat.DUMP)
        await view.pilot.pause()
        assert ladder.active.state.run is Run.DUMP
        await view.pilot.press("ctrl+c", "ctrl+c")
        await view.pilot.pause()
        assert "Ctrl-C came twice" in view.text()
        assert "vector_add_oob ends with it" in view.text()
        ladder.active.tell(Change.RUN)
        await view.pilot.pause()
        assert "Ctrl-C came twice" in view.text()
        await view.pilot.press("i")
        await view.pilot.pause()
        assert len(asked) == 2
        gpu._stop("signal-received", "interrupted")
        deaf.set()
        async with asyncio.timeout(10):
            while ladder.state.runs_to:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await settled(view)


async def test_a_hazards_other_side(gpu_dump: Any, show: Show) -> None:
    report: Report = read_report([LOGS / "racecheck-hazard.log"])
    gpu_dump.state.report, gpu_dump.state.selected_finding = report, None
    gpu_dump.sessions["cuda-gdb"].state.focus = None
    async with show(gpu_dump, (80, 24)) as view:
        await view.press("w", "f", "home", "p")
        jumps = [entry for entry in gpu_dump.asked if entry[0] == "jump"]
        assert jumps
        assert jumps[-1][2] == 1


async def test_what_cannot_be_jumped_to_says_so(ladder: Any, show: Show) -> None:
    async with show(ladder, (80, 24)) as view:
        await view.press("j")
        assert "jump: no finding and no lane is here" in view.text()
    async with show(ladder, (80, 24)) as view:
        await view.press("semicolon")
        assert "jumps: nothing was jumped to yet" in view.text()


async def test_ways_of_a_race_analysis(ladder: Any, show: Show, shots: Any) -> None:
    async with show(ladder, (80, 24)) as view:
        await ladder.open_files((LOGS / "racecheck-analysis.log",))
        ladder.state.sanitizer = replace(ladder.state.sanitizer, plan=Plan(Path("/bin/true")))
        await settled(view)
        ladder.gpus.append(SimulatedGpu(Launch()))
        await view.press("enter")
        await view.press("j")
        shots.text(view.app, "jump-ways-race-analysis-80")


async def test_without_a_lane_the_nearest_line_is_shown(ladder: Any, show: Show, tmp_path: Path) -> None:
    (tmp_path / "shared_race.cu").write_text("".join(f"// line {number}\n" for number in range(1, 20)))
    async with show(ladder, (80, 24)) as view:
        await ladder.open_files((LOGS / "racecheck-analysis.log",))
        await settled(view)
        await view.press("enter")
        await settled(view)
        assert "// line 8" in view.text()
        assert view.app.focused is pane_of(view.app)
        said = " ".join(view.text().split())
        assert "a race analysis sums up many accesses" in said
        assert "— j: run again with the hazard report" in said


@pytest.mark.cuda_gdb
async def test_what_the_dump_lacks_is_run_to_from_the_grid(ladder: Any, show: Show, cuda_gdb: Path) -> None:
    async with show(ladder, (80, 24)) as view:
        await ladder.open_files((find_demo("vector-add").path,))
        await view.press("enter")
        await settled(view)
        ladder.gpus.append(SimulatedGpu(Launch()))
        finding = replace(ladder.state.report.findings[0], thread=(5, 0, 0), sides=())
        outcome = await ladder.jump(finding)
        assert outcome.reached is None
        (offer,) = [each for each in ladder.active.state.alternatives if each.label == "run to it live"]
        grid = view.app.workspace.panes["grid"]
        grid._go_instead(offer)
        await settled(view)
        assert ladder.active.state.seat is Seat.LIVE


async def test_without_a_dump_the_other_ways_are_told_of(ladder: Any, show: Show) -> None:
    await ladder.open_files((find_demo("race").path,))
    async with show(ladder, (120, 40)) as view:
        panes = view.app.workspace.panes
        for pane in ("variables", "grid"):
            assert "no dump is open with the report; j lists the ways" in panes[pane].empty_text()
        await view.press("w", "f", "enter")
        text = " ".join(view.text().split())
        assert "racecheck writes none" in text
        assert "j lists what else there is" in text

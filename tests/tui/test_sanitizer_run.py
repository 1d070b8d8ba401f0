"""A run of the sanitizer on the screen: asked for, watched, stopped, run again."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import EngineMissing
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sanitizer_state import RunPhase, SanitizerRunState
from ladder_tui.opening import Opening

STAND_IN = Path(__file__).parents[1] / "sanitizer_runs/stand_in/compute-sanitizer"
LOGS = Path(__file__).parents[1] / "sanitizer/reports/logs"


@pytest.fixture
def greeter(tmp_path: Path) -> Path:
    """A program that writes a line."""
    file = tmp_path / "greeter"
    file.write_text("#!/bin/sh\necho hello from the program\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """The stand-in of the sanitizer's tests, and what it replays."""
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" "$@"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("LADDER_SANITIZER", str(tool))
    told = tmp_path / "stand-in.json"
    monkeypatch.setenv("STAND_IN", str(told))

    def tell(**runs: dict[str, Any]) -> None:
        told.write_text(json.dumps(runs, default=str))

    return tell


async def until(ladder: Ladder, true: Callable[[], bool]) -> None:
    moved = asyncio.Event()
    leave = ladder.subscribe(lambda change: moved.set())
    while not true():
        await moved.wait()
        moved.clear()
    leave()


async def test_a_run_from_the_form_to_its_findings(show: Any, stand_in: Any, greeter: Path) -> None:
    stand_in(memcheck={"log": LOGS / "memcheck-oob.log", "hangs": True})
    ladder = Ladder()
    async with show(ladder) as view:
        await view.press("K")
        assert "Check with the sanitizer" in view.text()
        await view.burst(str(greeter), **{"/": "slash", "_": "underscore", "-": "minus"})
        await view.press("enter")
        await until(ladder, lambda: ladder.sanitizer.state.found == 24)
        await view.settle()
        title = next(line for line in view.text().splitlines() if "Findings" in line)
        assert "memcheck" in title
        assert "24 found" in title
        assert "read 4 B out of bounds" in view.text()
        await view.press("w", "o")
        assert "hello from the program" in view.text()
        await view.press("w", "p")
        assert "writes to Output (w o)" in " ".join(view.text().split())
        await view.press("w", "f", "ctrl+c")
        await until(ladder, lambda: ladder.sanitizer.state.phase is RunPhase.ENDED)
        await view.settle()
        assert "24 lanes" in view.text()
        assert ladder.state.report is not None
        assert "stopped before its end" in (ladder.state.report.reason or "")


async def test_run_again_offers_what_the_finding_calls_for(show: Any, stand_in: Any, greeter: Path) -> None:
    from ladder_backends.sanitizer.plan import Plan

    stand_in(racecheck={"log": LOGS / "racecheck-analysis.log"})
    ladder = Ladder()
    async with show(ladder) as view:
        await ladder.sanitizer.start(Plan(greeter, tools=("racecheck",)))
        await ladder.sanitizer.ended()
        await view.settle()
        await view.press("w", "f", "v")
        assert "with the hazard report" in view.text()
        stand_in(racecheck={"log": LOGS / "racecheck-hazard.log"})
        await view.press("h")
        await until(ladder, lambda: ladder.sanitizer.state.phase is RunPhase.ENDED)
        command = ladder.sanitizer.state.commands[0]
        assert command[command.index("--racecheck-report") + 1] == "hazard"
        assert command[command.index("--kernel-name") + 1] == "kns=reduce"
        await view.settle()
        assert "20 pairs" in view.text()


async def test_a_missing_tool_is_said_with_what_helps(
    show: Any, monkeypatch: pytest.MonkeyPatch, empty_ladder: Any
) -> None:
    monkeypatch.setenv("LADDER_SANITIZER", "/no/such/tool")
    ladder = Ladder()
    async with show(ladder) as view:
        await view.press("K")
        assert "LADDER_SANITIZER names /no/such/tool" in view.text()
        assert "Check with the sanitizer" not in view.text()


async def test_another_kind_of_program_turns_the_helps(show: Any, stand_in: Any) -> None:
    ladder = Ladder()
    async with show(ladder) as view:
        await view.press("K")
        rows = {line.split("[")[0].strip(" ▸"): line for line in view.text().splitlines() if "[" in line}
        assert "[ ]" in rows["no torch cache"]
        await view.press(*["down"] * 7, "right")
        rows = {line.split("[")[0].strip(" ▸"): line for line in view.text().splitlines() if "[" in line}
        assert "[x]" in rows["no torch cache"]
        assert "[x]" in rows["guard bytes"]
        await view.press(*["down"] * 5)
        assert "slower by far" in view.text()


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_progress_is_in_the_title(show: Any, gpu_dump: Any, shots: Any, size: tuple[int, int]) -> None:
    from ladder_backends.sanitizer.plan import Plan

    gpu_dump.state.report = None
    gpu_dump.state.sanitizer = SanitizerRunState(
        phase=RunPhase.RUNNING,
        plan=Plan(Path("/src/prog"), tools=("memcheck", "racecheck")),
        tool="racecheck",
        number=2,
        since=91.0,
        found=3,
        launches=1402,
        output_lines=17,
    )
    async with show(gpu_dump, size) as view:
        shots.text(view.app, f"progress-{size[0]}x{size[1]}")


async def test_a_run_is_told_of_on_other_rungs_and_kept_from_ending_unasked(
    show: Any, stand_in: Any, greeter: Path
) -> None:
    from ladder_backends.sanitizer.plan import Plan

    stand_in(memcheck={"log": LOGS / "memcheck-oob.log", "hangs": True})
    ladder = Ladder()
    async with show(ladder) as view:
        await ladder.sanitizer.start(Plan(greeter))
        await until(ladder, lambda: ladder.sanitizer.state.found == 24)
        await view.settle()
        await view.press("1")
        assert "· 24 found" in view.text().splitlines()[-1]
        await view.press("q")
        assert "Leave? the sanitizer's memcheck" in view.text()
        await view.press("n")
        assert ladder.sanitizer.state.active
        await view.press("2", "w", "f", "h")
        await until(ladder, lambda: ladder.sanitizer.state.phase is RunPhase.ENDED)
        await view.settle()
        assert ladder.state.notice is not None
        assert ladder.state.notice.text.startswith("memcheck: 24 found, stopped")


async def test_keys_that_need_a_run_say_so_without_one(show: Any, stand_in: Any, gpu_dump: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("w", "f", "h")
        assert "no run of the sanitizer goes on" in view.text()


async def test_a_line_is_typed_to_the_program(show: Any, stand_in: Any, tmp_path: Path) -> None:
    from ladder_backends.sanitizer.plan import Plan

    asks = tmp_path / "asks"
    asks.write_text('#!/bin/sh\nread line; echo "got <$line>"\n')
    asks.chmod(0o755)
    stand_in(memcheck={})
    ladder = Ladder()
    async with show(ladder) as view:
        await ladder.sanitizer.start(Plan(asks))
        await view.settle()
        await view.press("w", "o", "i")
        await view.burst("yes")
        await view.press("enter")
        await until(ladder, lambda: ladder.sanitizer.state.phase is RunPhase.ENDED)
        await view.settle()
        assert "got <yes>" in list(ladder.sanitizer.state.output)
        await view.press("i")
        assert "no program runs under the sanitizer" in view.text()


@pytest.mark.parametrize("keys", [("ctrl+d",), ("i", "ctrl+d")])
async def test_the_end_of_input_is_typed_to_the_program(
    show: Any, stand_in: Any, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    from ladder_backends.sanitizer.plan import Plan

    reads = tmp_path / "reads"
    reads.write_text('#!/bin/sh\ncat >/dev/null; echo "read to the end"\n')
    reads.chmod(0o755)
    stand_in(memcheck={})
    ladder = Ladder()
    async with show(ladder) as view:
        await ladder.sanitizer.start(Plan(reads))
        await view.settle()
        await view.press("w", "o", *keys)
        await until(ladder, lambda: ladder.sanitizer.state.phase is RunPhase.ENDED)
        await view.settle()
        assert "read to the end" in list(ladder.sanitizer.state.output)
        assert not view.app.workspace.prompt.display
        await view.press("ctrl+d")
        assert "no program runs under the sanitizer" in view.text()


async def test_a_run_that_cannot_begin_stands_on_its_own_rung(
    greeter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LADDER_SANITIZER", "/no/such/tool")
    await asyncio.to_thread(greeter.chmod, 0o644)
    ladder = Ladder()
    # The program is not worth mending where there is no tool to run it under.
    with pytest.raises(EngineMissing, match="/no/such/tool"):
        await Opening(plan=Plan(greeter)).open(ladder)
    assert ladder.state.rung == "sanitizer"

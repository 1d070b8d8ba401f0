"""The list of processes: filter, order, obstacles, refresh."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ladder_backends.debugger.target import AttachTarget, LaunchTarget
from ladder_backends.errors import TargetInvalid
from ladder_backends.model.process import GpuUse, RunningProcess
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import DebugState, Run
from ladder_tui.screens import process_rows, processes
from ladder_tui.screens.attaching import what_becomes
from ladder_tui.screens.process_rows import Order, matching, ordered
from ladder_tui.screens.processes import ProcessScreen

NOW = 1_800_000_000.0


def process(pid: int, command: str, **more: Any) -> RunningProcess:
    told = {
        "parent": 1,
        "user": "me",
        "uid": os.geteuid(),
        "state": "S",
        "started": NOW - pid,
        "threads": 1,
        "directory": "/home/me/job",
    }
    return RunningProcess(pid=pid, command=command, **{**told, **more})


TRAIN = process(300, "python train.py --epochs 3", threads=64, gpu=GpuUse((0, 1), 12 << 30), state="R")
SERVE = process(200, "./serve --port 80", container="4f5d3a2b1c0d")
THEIRS = process(
    400,
    "postgres: writer",
    user="postgres",
    uid=4242,
    obstacle="it belongs to user postgres",
    remedy="run the console as postgres, or as root with sudo",
)
TRACED = process(
    500, "a.out", state="t", obstacle="gdb (process 77) traces it already", remedy="let that one detach first"
)
ALL = (SERVE, TRAIN, THEIRS, TRACED)


class Listed:
    """Readings that the test wrote."""

    def __init__(self, *readings: tuple[RunningProcess, ...], gpus: bool = True) -> None:
        self.readings = list(readings)
        self.knows_gpus = gpus
        self.read_times = 0
        self.closed = False

    def read(self) -> tuple[RunningProcess, ...]:
        self.read_times += 1
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def picker(monkeypatch: pytest.MonkeyPatch, show: Any, empty_ladder: Any) -> Callable[..., Any]:
    """Opens the list over an empty workspace; `answers` holds what was chosen."""
    from contextlib import asynccontextmanager

    monkeypatch.setattr(processes.time, "time", lambda: NOW)

    @asynccontextmanager
    async def opened(listed: Any, size: tuple[int, int] = (80, 24), refuse: dict[int, str] | None = None) -> Any:
        def check(pid: int) -> None:
            if refuse and pid in refuse:
                raise TargetInvalid(f"cannot attach to {pid}", refuse[pid], "do something")

        async with show(empty_ladder, size) as view:
            view.answers = []
            screen = ProcessScreen(view.app.palette, reader=listed, check=check)
            view.app.push_screen(screen, view.answers.append)
            await view.settle()
            while screen.list.row_count == 0 and listed.readings[0]:
                await view.pilot.pause(0.01)
            await view.settle()
            yield view

    return opened


def commands(view: Any) -> list[str]:
    shown = view.app.screen.list
    return [shown.row(index).target.command for index in range(shown.row_count)]


async def checked(view: Any) -> None:
    while (task := getattr(view.app.screen, "_checking", None)) is not None and not task.done():
        await view.pilot.pause(0.01)
    await view.settle()


def test_words_match_ids_users_commands_gpus_and_containers() -> None:
    assert matching(ALL, "TRAIN") == [TRAIN]
    assert matching(ALL, "gpu") == [TRAIN]
    assert matching(ALL, "postgres") == [THEIRS]
    assert matching(ALL, "20") == [SERVE]
    assert matching(ALL, "4f5d me") == [SERVE]
    assert matching(ALL, "python gpu0-1") == [TRAIN]
    assert matching(ALL, "train serve") == []
    assert matching(ALL, "  ") == list(ALL)


def test_own_processes_that_can_be_attached_to_come_first() -> None:
    uid = os.geteuid()
    assert ordered(ALL, Order.NEWEST, uid) == [SERVE, TRAIN, TRACED, THEIRS]
    assert ordered(ALL, Order.COMMAND, uid) == [SERVE, TRAIN, TRACED, THEIRS]
    assert ordered(ALL, Order.THREADS, uid)[0] is TRAIN
    assert ordered(ALL, Order.GPU, uid)[0] is TRAIN
    assert ordered(ALL, Order.PID, 4242)[0] is THEIRS
    order = Order.NEWEST
    for _ in Order:
        order = order.following
    assert order is Order.NEWEST


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_list(picker: Any, shots: Any, size: tuple[int, int]) -> None:
    async with picker(Listed(ALL), size) as view:
        shots.text(view.app, f"{size[0]}x{size[1]}")
        await view.press("end")
        assert "it belongs to user postgres" in view.text()
        assert "→ run the console as postgres" in view.text()


async def test_the_names_of_the_columns_stay_whatever_is_scrolled(picker: Any) -> None:
    async with picker(Listed(tuple(process(1000 + number, f"job-{number}") for number in range(60)))) as view:
        assert view.text().splitlines()[1].split()[:2] == ["pid", "user"]
        await view.press("end")
        lines = view.text().splitlines()
        assert lines[1].split()[:2] == ["pid", "user"]
        assert "job-59" in lines[21]
        # A click on them is none on a process.
        await view.pilot.click(offset=(10, 1))
        await view.settle()
        assert view.answers == []
        assert view.app.screen.list.selected.command == "job-59"
        await view.pilot.click(offset=(30, 2))
        await checked(view)
        assert view.answers == [1040]


async def test_typing_filters_and_esc_goes_back_step_by_step(picker: Any) -> None:
    listed = Listed(ALL)
    async with picker(listed) as view:
        await view.burst("q train")
        assert "no process matches 'q train'" in view.text()
        await view.press("escape")
        assert len(commands(view)) == 4
        await view.press("t", "r", "a", "i", "n", "x", "backspace")
        assert commands(view) == ["python train.py --epochs 3"]
        await view.press("enter")
        await checked(view)
        assert view.answers == [300]
        assert listed.closed


async def test_esc_without_a_filter_chooses_nothing(picker: Any) -> None:
    async with picker(Listed(ALL)) as view:
        await view.press("escape")
        assert view.answers == [None]


async def test_what_cannot_be_attached_to_says_why_and_stays(picker: Any) -> None:
    async with picker(Listed(ALL), refuse={500: "gdb (process 77) traces it already"}) as view:
        await view.burst("a.out")
        await view.press("enter")
        await checked(view)
        assert view.answers == []
        assert "cannot attach to 500: gdb (process 77) traces it already — do something" in " ".join(
            view.text().split()
        )
        await view.press("down")
        assert "do something" not in view.text()


async def test_tab_sorts(picker: Any) -> None:
    async with picker(Listed(ALL)) as view:
        await view.press("tab")
        assert "GPU memory" in view.text()
        assert commands(view)[0].startswith("python train.py")


async def test_a_new_reading_keeps_the_selected_process(picker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "REFRESH", 0.01)
    young = tuple(process(pid, f"young {pid}") for pid in range(1, 6))
    listed = Listed(ALL)
    async with picker(listed) as view:
        await view.press("down")
        assert view.app.screen.list.selected == TRAIN
        listed.readings = [(*young, *ALL)]
        while len(commands(view)) < 9:
            await view.pilot.pause(0.01)
        assert view.app.screen.list.selected == TRAIN


async def test_no_other_process_takes_the_place_of_one_that_ends(
    picker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enter, pressed in the moment in which it ends, attaches to nothing; nor to a later process of its number."""
    monkeypatch.setattr(processes, "REFRESH", 0.01)
    again = replace(TRAIN, command="another", started=NOW)
    listed = Listed(ALL)
    async with picker(listed) as view:
        await view.press("down")
        shown = view.app.screen.list
        listed.readings = [(SERVE, THEIRS, again)]
        while "another" not in commands(view):
            await view.pilot.pause(0.01)
        assert commands(view) == ["another", SERVE.command, TRAIN.command, THEIRS.command]
        assert shown.selected.command == TRAIN.command
        assert "it has ended" in view.text()
        await view.press("enter")
        await checked(view)
        assert "cannot attach to 300: it has ended" in view.text()
        assert view.answers == []
        await view.press("up")
        while TRAIN.command in commands(view):
            await view.pilot.pause(0.01)
        assert shown.selected == SERVE


async def test_hostile_commands_are_content(picker: Any) -> None:
    bad = process(7, "[bold]x\x1b[2J\u202e", user="[red]")
    async with picker(Listed((bad,))) as view:
        assert "[bold]x␛[2J" in view.text()


async def test_thousands_of_processes_are_laid_out_for_what_is_visible(picker: Any) -> None:
    many = tuple(process(pid, f"job {pid}") for pid in range(1, 20_001))
    async with picker(Listed(many)) as view:
        built: list[int] = []
        real = processes.process_row
        processes.process_row = lambda one, *rest, **named: built.append(one.pid) or real(one, *rest, **named)
        try:
            await view.press("down")
        finally:
            processes.process_row = real
        assert len(built) < 100


def test_ages_and_sizes() -> None:
    assert [process_rows.age_text(age) for age in (-5, 0, 59, 60, 3600, 90_000)] == [
        "0s", "0s", "59s", "1m", "1h", "1d",
    ]  # fmt: skip
    assert process_rows.gpu_text(GpuUse((0,), 300 << 20)) == "gpu0 300M"
    assert process_rows.gpu_text(GpuUse((0, 1, 2, 3, 6), 80 << 30)) == "gpu0-3,6 80G"
    assert process_rows.gpu_text(GpuUse()) == "gpu"
    assert process_rows.gpu_text(None) == ""


async def test_the_workspace_leads_to_the_list_and_attaches(
    segfault: Any, show: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    async def open_target(target: Any) -> None:
        opened.append(target)

    segfault.open_target = open_target
    segfault.sessions["gdb"].target = LaunchTarget(program=processes.__file__)  # type: ignore[arg-type]
    monkeypatch.setattr(processes, "_check", lambda pid: None)
    monkeypatch.setattr("ladder_backends.processes.ProcessList", lambda: Listed(ALL))
    async with show(segfault, (80, 24)) as view:
        await view.press("A")
        while not isinstance(view.app.screen, ProcessScreen) or not view.app.screen.list.row_count:
            await view.pilot.pause(0.01)
        await view.press("enter")
        await checked(view)
        assert "Attach to process 200?" in view.text()
        assert "segfault, which is open on this rung, ends." in view.text()
        await view.press("n")
        assert opened == []
        await view.press("A")
        while not isinstance(view.app.screen, ProcessScreen) or not view.app.screen.list.row_count:
            await view.pilot.pause(0.01)
        await view.press("enter")
        await checked(view)
        await view.press("a")
        assert opened == [AttachTarget(200)]


def test_leaving_says_what_becomes_of_each(segfault: Any) -> None:
    session = segfault.sessions["gdb"]
    session.target = AttachTarget(4711)
    session.state.title = "process 4711"
    assert what_becomes([session]) == "Process 4711 lives on."
    session.target = LaunchTarget(program=processes.__file__)  # type: ignore[arg-type]
    assert what_becomes([session]) == "Leaving ends process 4711."
    session.state.run = Run.EXITED
    assert what_becomes([session]) == ""


async def test_a_program_that_is_not_on_screen_is_asked_for_and_a_core_is_not(
    empty_ladder: Any, show: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = DebugState(rung="gdb", seat=Seat.DUMP, title="segfault · core", run=Run.DUMP)
    live = DebugState(rung="gdb", title="steps", run=Run.STOPPED)
    empty_ladder.add(core)
    session = empty_ladder.add_aside(live)
    session.target = LaunchTarget(program=processes.__file__)  # type: ignore[arg-type]
    monkeypatch.setattr(processes, "_check", lambda pid: None)
    monkeypatch.setattr("ladder_backends.processes.ProcessList", lambda: Listed(ALL))
    async with show(empty_ladder) as view:
        await view.press("A")
        while not isinstance(view.app.screen, ProcessScreen) or not view.app.screen.list.row_count:
            await view.pilot.pause(0.01)
        await view.press("enter")
        await checked(view)
        assert "steps, which is open on this rung, ends." in view.text()

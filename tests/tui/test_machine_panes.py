"""Panes of the machine over a real gdb: registers, code, memory, signals, libraries, source files."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger import CoreTarget, LaunchTarget
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Run

Open = Callable[..., Awaitable[Ladder]]


@pytest.fixture
async def ladder(gdb: object) -> AsyncIterator[Ladder]:
    """A ladder that nothing is open on; its engines end with the test."""
    ladder = Ladder()
    yield ladder
    await ladder.close()


@pytest.fixture
def stopped(ladder: Ladder) -> Open:
    """Opens a program and lets it run to a place."""

    async def open_at(program: Path, *places: str, arguments: tuple[str, ...] = ()) -> Ladder:
        session = await ladder.open_target(LaunchTarget(program, arguments=arguments), run=False)
        for place in places:
            await session.set_breakpoint(place)
        from ladder_backends.debugger import StepKind

        await session.resume(StepKind.RUN)
        await session.at_rest()
        return ladder

    return open_at


async def rest(view: Any) -> None:
    """The target stands, and all that was asked about it is drawn."""
    for _ in range(2):
        await view.app.ladder.active.at_rest()
        await view.settle()


async def press(view: Any, *keys: str) -> None:
    """Press keys, and wait after each that is not typed into the prompt."""
    for key in keys:
        await view.pilot.press(key)
        if not view.app.workspace.prompt.display:
            await rest(view)


def line_with(view: Any, words: str) -> str:
    return next((line for line in view.text().splitlines() if words in line), "")


# Registers


async def test_registers_follow_steps_by_instruction(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "twice")) as view:
        await press(view, "w", "r")
        assert "<twice+" in line_with(view, " rip ")
        assert "IF ]" in line_with(view, " eflags ")
        assert "•" not in line_with(view, " rip ")
        await press(view, "N")
        assert "• rip" in view.text()
        assert "• rbx" not in view.text()


async def test_enter_on_the_program_counter_goes_to_the_code(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "twice")) as view:
        await press(view, "w", "r", "slash", *"rip", "enter", "enter")
        assert view.app.workspace.panes["disassembly"].has_focus
        pane = view.app.workspace.panes["disassembly"]
        assert "▶" in pane.row(pane.cursor).text()
        assert "memory" not in view.app.workspace.panes


async def test_registers_are_printed_in_a_chosen_format_and_set(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "twice")) as view:
        await press(view, "w", "r", "slash", *"rax", "enter", "equals_sign")
        await press(view, *["backspace"] * 20, "2", "6", "enter")
        assert line_with(view, " rax ").endswith(" 0x1a")
        await press(view, "t", "t")
        assert line_with(view, " rax ").endswith(" 11010")
        assert "binary" in line_with(view, "Registers")


async def test_a_group_is_asked_for_when_it_is_opened(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "twice"), (120, 60)) as view:
        await press(view, "w", "r")
        assert "▸ vector" in view.text()
        assert " mxcsr " not in view.text()
        state = view.app.ladder.active.state.machine.registers
        await press(view, "N")
        assert list(state.read) == ["general"]
        await press(view, "end", "up", "enter")
        assert "▾ vector" in view.text()
        assert " mxcsr " in view.text()


async def test_registers_say_why_there_are_none(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "twice")) as view:
        await press(view, "w", "r")
        session = view.app.ladder.active
        session.state.run = Run.RUNNING
        view.app.workspace.panes["registers"].refresh_from(
            view.app.ladder.state, ~view.app.workspace.panes["registers"].INTEREST
        )
        await view.settle()
        assert "the target runs" in view.text()


# Machine code


async def test_code_is_mixed_with_its_source_and_leads_elsewhere(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "machine.c:33"), (120, 50)) as view:
        await press(view, "w", "d")
        assert "total = twice(numbers[0]);" in view.text().partition("Stack")[0] or "total = twice" in view.text()
        pane = view.app.workspace.panes["disassembly"]
        assert "▶" in line_with(view, "numbers>")
        await press(view, "m")
        assert "33  total = twice" not in view.text()
        await press(view, "m", "slash", *"<twice>", "enter", "enter")
        assert "▸" in line_with(view, "+0  push") or "twice" in line_with(view, "Disassembly")
        assert pane._instruction_at(pane.cursor).function == "twice"
        await press(view, "backspace")
        assert pane._instruction_at(pane.cursor).function == "main"
        await press(view, "g", *"on_signal", "enter")
        assert pane._instruction_at(pane.cursor).function == "on_signal"
        await press(view, "h")
        assert pane.cursor == pane._current


async def test_breakpoints_by_address_in_the_gutter(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "machine.c:33"), (120, 50)) as view:
        await press(view, "w", "d")
        pane = view.app.workspace.panes["disassembly"]
        assert "●" in line_with(view, "▶")
        row = pane._current + 1
        address = int(pane._instruction_at(row).address, 16)
        await view.click("#disassembly", 2, row - pane.top + 1)
        await rest(view)
        session = view.app.ladder.active
        assert session.state.breakpoints[-1].intent.location == f"*{address:#x}"
        assert "●" in pane.row(pane._row_of(address)).text()
        await press(view, "h", "down", "b")
        assert len(session.state.breakpoints) == 1


async def test_run_to_an_instruction_and_read_on(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "twice"), (120, 50)) as view:
        await press(view, "w", "d")
        pane = view.app.workspace.panes["disassembly"]
        await press(view, "down", "down")
        location = pane.location_at_cursor()
        await press(view, "u")
        assert int(view.app.ladder.active.state.frames.frames[0].address, 16) == int(location[1:], 16)
        assert pane._current == pane.cursor
        first, before = pane._held[0], len(pane._held)
        await press(view, "home")
        assert len(pane._held) > before
        # What was read on stands above, out of sight: the view has not moved.
        assert pane._instruction_at(pane.cursor) == first
        assert pane.top == pane.cursor
        await press(view, "o")
        assert first.raw in view.text()


# Memory


async def test_memory_is_read_followed_and_written(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "machine.c:35")) as view:
        await press(view, "M", *"first", "enter")
        assert "01 00 00 00 00 00 00 00" in view.text()
        assert "first..." in view.text()
        await press(view, "t", "p", "down", "enter")
        assert "<last>" in line_with(view, "Memory")
        assert "0x" in view.text()
        await press(view, "backspace")
        assert "<last>" in view.text().partition("Memory")[2].partition("Console")[0]
        await press(view, "M", *"numbers", "enter", "t", "i", "greater_than_sign")
        assert "i64" in line_with(view, "Memory")


async def test_what_changed_is_marked_and_what_is_written_is_said(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "machine.c:35")) as view:
        await press(view, "M", *"numbers", "enter", "t", "i")
        assert " i16 " in line_with(view, "Memory")
        await press(view, "greater_than_sign")
        assert "2147483647" in view.text()
        assert "-2" in view.text()
        await press(view, "n")
        assert "8•" in view.text()
        await press(view, "right", "equals_sign", *["backspace"] * 4, *"-77", "enter")
        assert "wrote 4 bytes at 0x" in view.text()
        assert ": b3 ff ff ff" in view.text()
        assert "-77" in view.text()
        await press(view, "equals_sign", *"99999999999", "enter")
        assert "does not fit into i32" in view.text()


async def test_memory_that_is_not_there(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "machine.c:35")) as view:
        await press(view, "M", *"0x10", "enter")
        assert "?? ?? ??" in view.text()
        await press(view, "enter")
        assert "no pointer can be read at 0x10" in view.text()
        await press(view, "pageup", "pageup", "end", "pagedown", "pagedown")
        assert "?? ?? ??" in view.text()
        await press(view, "M", *"nosuch", "enter")
        assert 'memory at nosuch: No symbol "nosuch"' in view.text()


# Signals and libraries


async def test_the_signal_that_came_and_how_to_run_on(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), arguments=("crash",))) as view:
        await press(view, "w", "n")
        assert "sent by process" in line_with(view, "✗ SIGUSR1, User")
        await press(view, "enter")
        assert "continue without the signal" in view.text()
        await press(view, "0")
        assert "SIGSEGV: address 0x10 is not mapped" in view.text()
        assert "address 0x10 is not mapped" in line_with(view, "✗ SIGSEGV, Seg")


async def test_what_is_done_about_a_signal(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "twice")) as view:
        await press(view, "w", "n", "slash", *"SIGUSR1", "enter", "enter")
        assert "When SIGUSR1 comes" in view.text()
        await press(view, "s")
        assert " · " in line_with(view, "User defined signal 1")
        assert "print pass" in line_with(view, "User defined signal 1")
        await press(view, "colon", *"handle SIGUSR1 nopass", "enter", "w", "n")
        assert "pass" not in line_with(view, "User defined signal 1")


async def test_libraries_are_read_when_asked_for(stopped: Open, ladder: Ladder, show: Any, compiled: Any) -> None:
    from ladder_backends.debugger import StepKind

    session = await ladder.open_target(LaunchTarget(compiled("big_vector")), run=False)
    await session.machine.libraries.read_new(False)
    await session.set_breakpoint("main")
    await session.resume(StepKind.RUN)
    await session.at_rest()
    async with show(ladder) as view:
        await press(view, "w", "l")
        assert "symbols only when asked for" in view.text()
        assert "○ not read" in line_with(view, "libstdc++")
        await press(view, "slash", *"libstdc", "enter", "enter")
        assert "○ not read" not in line_with(view, "libstdc++")
        await press(view, "p", *"libm[.]so", "enter")
        assert "○ not read" not in line_with(view, "libm.so")
        await press(view, "o")
        assert "symbols only when asked for" not in view.text()


# Source files


async def test_a_source_is_opened_by_a_part_of_its_name(stopped: Open, show: Any, compiled: Any) -> None:
    async with show(await stopped(compiled("machine"), "twice")) as view:
        await press(view, "O")
        await asyncio.gather(*view.app.screen._tasks)
        await press(view, *"mchn")
        assert "machine.c" in view.text().splitlines()[1]
        await press(view, "enter")
        assert view.app.focused.id == "source"
        assert view.app.focused.cursor == 0
        assert view.app.ladder.active.state.place.line == 22
        await press(view, "h")
        assert view.app.focused.cursor == 21
        await press(view, "O", "escape")
        assert view.app.screen is view.app.workspace


# Cores and recordings


@pytest.fixture(scope="session")
def core(compiled: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A core of the program, and the program."""
    program, file = compiled("machine"), tmp_path_factory.mktemp("core") / "core"
    commands = ("handle SIGUSR1 nostop noprint", "run crash", f"generate-core-file {file}", "kill")
    options = [word for text in commands for word in ("-ex", text)]
    command = ["gdb", "-nx", "-q", "-batch", *options, str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return file, program


async def test_a_core_is_read_and_not_written(ladder: Ladder, show: Any, core: tuple[Path, Path]) -> None:
    session = await ladder.open_target(CoreTarget(*core))
    await session.at_rest()
    async with show(ladder) as view:
        await press(view, "w", "r")
        assert "<main+" in line_with(view, " rip ")
        await press(view, "down", "M", "enter")
        assert "<main+" in line_with(view, "Memory")
        await press(view, "w", "r", "equals_sign")
        assert "set: a core or recording can only be read" in view.text()
        await press(view, "escape", "M", *"numbers", "enter")
        assert "read only" in line_with(view, "Memory")
        assert "01 00 00 00" in view.text()
        await press(view, "equals_sign")
        assert "01 00 00 00" in view.text()
        assert not view.app.workspace.prompt.display
        await press(view, "escape", "w", "n", "enter")
        assert "a core shows one moment" in view.text()
        await press(view, "w", "l")
        assert "libc.so" in view.text()


async def test_a_recording_says_what_it_lacks(show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LADDER_GDB", "/not/installed")
    ladder = Ladder()
    await ladder.open_files((Path(__file__).parent / "recordings" / "segfault.jsonl",))
    async with show(ladder) as view:
        await press(view, "w", "r")
        assert "not in this recording" in view.text()
        await press(view, "w", "d")
        assert "▶" in view.text()
        await press(view, "up", "down", "pagedown", "home")
        for letter in "nl":
            await press(view, "w", letter)
            assert "not in this recording" in view.text()
        await press(view, "M", *"argc", "enter")
        assert "memory at argc: not in this recording" in view.text()
    await ladder.close()

"""A session over real programs: one coherent state, one notification a stop."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from ladder_backends.debugger import AttachTarget, CoreTarget, LaunchTarget, StepKind
from ladder_backends.errors import TargetInvalid
from ladder_backends.gdb import GdbDebugger
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.model.breakpoint import BindingState
from ladder_backends.model.focus import Focus
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Change, Run


async def test_a_crash_is_one_story(start, compiled) -> None:
    told = await start(compiled("segfault"))
    state = told.state
    assert (state.run, state.run_detail, state.fault) == (Run.STOPPED, "SIGSEGV, Segmentation fault", True)
    assert [frame.function for frame in state.frames.frames] == ["compute_total", "main"]
    assert state.frames.frames[0].arguments[0] == ("data", "0x0")
    assert told.values()["data"] == "0x0"
    assert state.place is not None
    assert state.place.file.endswith("segfault.c")
    assert state.title == "segfault"
    assert state.focus == Focus.of(thread=1)


async def test_a_step_is_one_notification_with_everything(start, compiled) -> None:
    told = await start(compiled("steps"), "steps.c:9")
    told.changes.clear()
    await told.go(StepKind.NEXT)
    stops = [change for change in told.changes if change & Change.FRAMES]
    assert len(stops) == 1
    whole = Change.RUN | Change.FOCUS | Change.FRAMES | Change.VARIABLES | Change.SOURCE
    assert stops[0] & whole == whole
    assert not any(change & Change.BREAKPOINTS and not change & Change.FRAMES for change in told.changes)


async def test_what_changed_since_the_stop_before_in_this_function_is_marked(start, compiled) -> None:
    told = await start(compiled("steps"), "add")
    assert told.changed() == set()
    await told.go(StepKind.NEXT)
    assert told.changed() == {"sum"}
    assert told.values()["sum"] == "1"
    await told.go(StepKind.CONTINUE)
    assert told.values()["a"] == "1"
    assert told.changed() == {"a", "b"}
    await told.session.select_frame(1)
    assert told.state.selected_frame == 1
    assert told.values()["total"] == "1"
    assert told.state.place is not None
    assert told.state.place.line == 19
    await told.session.select_frame(0)
    # Looking away and back changes no mark.
    assert told.changed() == {"a", "b"}


async def test_keys_pressed_faster_than_steps_are_coalesced(start, compiled) -> None:
    told = await start(compiled("steps"), "main")
    for _ in range(30):
        await told.session.resume(StepKind.NEXT)
    await told.session.at_rest()
    await asyncio.sleep(0.1)
    await told.session.at_rest()
    assert told.state.run in (Run.STOPPED, Run.EXITED)
    assert "error" not in {notice.severity for notice in told.state.notices} or told.state.run is Run.EXITED


async def test_a_long_step_shows_as_running_and_is_interrupted(start, compiled) -> None:
    told = await start(compiled("one_line"), "one_line.c:5")
    running = asyncio.Event()
    told.session.subscribe(lambda change: running.set() if told.state.run is Run.RUNNING else None)
    await told.session.resume(StepKind.NEXT)
    await running.wait()
    assert told.state.frames.frames == ()
    assert told.state.place is None
    assert told.state.since > 0
    await told.session.resume(StepKind.NEXT)
    assert told.notices()[-1].startswith("the program is running — interrupt it first")
    await told.session.interrupt()
    await told.session.at_rest()
    assert (told.state.run, told.state.run_detail, told.state.fault) == (Run.STOPPED, "interrupted", False)
    assert told.state.frames.frames[0].function == "main"


async def test_refused_steps_are_one_line_and_leave_everything_as_it_was(start, compiled) -> None:
    told = await start(compiled("steps"), "main")
    frames = told.state.frames
    depth = len(frames.frames)
    await told.session.select_frame(depth - 1)
    await told.go(StepKind.FINISH)
    assert "outermost" in told.notices()[-1]
    assert told.state.run is Run.STOPPED
    assert told.state.frames == frames
    assert (await told.session.evaluate("1 + 1")).value == "2"
    assert (await told.session.evaluate("nothing_called_so")).error.startswith('No symbol "nothing_called_so"')


async def test_the_end_and_a_new_beginning(start, compiled) -> None:
    told = await start(compiled("steps"), "steps.c:22")
    await told.go(StepKind.CONTINUE)
    state = told.state
    assert (state.run, state.run_detail, state.exit_code) == (Run.EXITED, "exited with code 3", 3)
    assert state.frames.frames == ()
    assert state.focus is None
    await told.go(StepKind.NEXT)
    assert told.notices()[-1] == "The program is not being run."
    # Continue starts the program where it does not run, with its breakpoints.
    await told.go(StepKind.CONTINUE)
    assert state.run is Run.STOPPED
    assert state.place is not None
    assert state.place.line == 22
    assert [binding.hits for binding in state.breakpoints] == [1]
    await told.go(StepKind.RUN)
    assert state.run is Run.STOPPED


async def test_a_program_that_waits_to_be_started_shows_its_beginning(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("steps")), run=False)
    state = told.state
    assert (state.run, state.run_detail) == (Run.EXITED, "not started yet")
    assert state.entry is not None
    assert (state.entry.file.endswith("steps.c"), state.entry.line) == (True, 13)
    assert state.place is None
    await told.go(StepKind.CONTINUE)
    assert state.run_detail == "exited with code 3"


async def test_running_again_while_it_runs_starts_over(start, compiled) -> None:
    told = await start(compiled("spin"), "turn")
    (binding,) = told.state.breakpoints
    await told.session.enable_breakpoint(binding, False)
    running = asyncio.Event()
    told.session.subscribe(lambda change: running.set() if told.state.run is Run.RUNNING else None)
    await told.session.resume(StepKind.CONTINUE)
    await running.wait()
    await told.session.enable_breakpoint(binding, True)
    await told.session.at_rest()
    assert (await told.session.evaluate("turns > 3")).value == "1"
    await told.go(StepKind.RUN)
    assert (await told.session.evaluate("turns")).value == "0"


async def test_a_new_run_begins_on_a_line_of_its_own(start, compiled) -> None:
    told = await start(compiled("steps"), "add")
    told.session.type_to_program(b"half")
    await told.until(lambda: b"".join(told.state.program).endswith(b"half"))
    await told.go(StepKind.RUN)
    assert b"half\r\n" in b"".join(told.state.program)
    lines = b"".join(told.state.program).count(b"\n")
    await told.go(StepKind.RUN)
    assert b"".join(told.state.program).count(b"\n") == lines


async def test_a_new_run_reads_nothing_that_was_typed_to_the_one_before(start, compiled) -> None:
    told = await start(compiled("reader"), "main")
    told.session.type_to_program(b"stale\n")
    await told.until(lambda: b"stale" in b"".join(told.state.program))
    await told.go(StepKind.RUN)
    await told.session.resume(StepKind.CONTINUE)
    told.session.type_to_program(b"fresh\n")
    await told.until(lambda: b"heard fresh" in b"".join(told.state.program))
    assert b"heard stale" not in b"".join(told.state.program)


async def test_the_console_moves_the_screen(start, compiled) -> None:
    told = await start(compiled("steps"), "add")
    await told.session.console("up")
    await told.session.at_rest()
    assert told.state.selected_frame == 1
    assert told.state.place is not None
    assert told.state.place.line == 19
    await told.session.console("set var total = 41")
    await told.session.at_rest()
    assert told.values()["total"] == "41"
    await told.session.console("frame 0")
    await told.session.at_rest()
    assert told.state.selected_frame == 0
    await told.session.console("finish")
    await told.session.at_rest()
    assert (told.state.run_detail, told.state.frames.frames[0].function) == ("returned 1", "main")
    await told.session.console("break steps.c:22")
    asked = [binding.intent.location.rsplit("/", 1)[-1] for binding in told.state.breakpoints]
    assert asked == ["add", "steps.c:22"]
    lines = "\n".join(told.state.console)
    assert "(gdb) up" in lines
    assert await told.session.complete("info brea") == ["info breakpoints"]


async def test_toggling_a_line_sets_and_takes_away(start, compiled) -> None:
    told = await start(compiled("steps"), "main")
    source = str(compiled.source("steps"))
    binding = await told.session.toggle_breakpoint(f"{source}:22")
    assert binding is not None
    assert binding.state is BindingState.SET
    assert await told.session.toggle_breakpoint(f"{source}:22") is None
    assert [each.intent.location for each in told.state.breakpoints] == ["main"]
    moved = await told.session.toggle_breakpoint(f"{source}:17")
    assert moved is not None
    assert moved.state is BindingState.MOVED
    assert "has no code" in told.notices()[-1]
    # The line that it moved to takes it away as well.
    assert await told.session.toggle_breakpoint(f"{source}:{moved.places[0].line}") is None
    failed = await told.session.set_breakpoint("steps.c:22", condition="no_such > 1")
    assert failed is not None
    assert failed.state is BindingState.FAILED
    assert len(told.state.breakpoints) == 1


async def test_breakpoints_come_back_with_the_program(start, told, compiled) -> None:
    await start(compiled("steps"), "add", "nowhere.c:5")
    await told.session.set_breakpoint("steps.c:22", temporary=True)
    (first, *_) = told.state.breakpoints
    await told.session.enable_breakpoint(first, False)
    await told.session.close()

    again = DebugSession(GdbDebugger())
    await again.open(LaunchTarget(compiled("steps")))
    await again.at_rest()
    kept = [(each.intent.location, each.intent.enabled, each.state) for each in again.state.breakpoints]
    assert kept == [("add", False, BindingState.SET), ("nowhere.c:5", True, BindingState.PENDING)]
    assert again.state.run is Run.EXITED
    await again.close()


async def test_deep_stacks_are_windows(start, compiled) -> None:
    told = await start(compiled("deep"))
    frames = told.state.frames
    assert len(frames.frames) == 30
    assert frames.more
    await told.session.stack.show(30, 30)
    assert len(told.state.frames.frames) == 60
    await told.session.stack.show(40_000, 10)
    assert told.state.frames.start == 40_000
    await told.session.select_frame(40_003)
    assert told.state.selected_frame == 40_003
    assert "depth" in told.values()
    await told.session.select_frame(2)
    assert told.state.frames.start == 0


async def test_only_the_rows_on_screen_are_asked_for(told, start, compiled) -> None:
    told.session.show_rows(frames=3, variables=2, instructions=5)
    await start(compiled("steps"), "steps.c:22")
    assert len(told.state.frames.frames) <= 3
    assert len(told.state.variables.variables) == 2
    assert told.state.variables.more
    # Of machine code a window is held: the function, and a little behind it.
    held = told.state.disassembly
    assert 0 < len(held) < 200
    await told.session.load_disassembly(9)
    assert told.state.disassembly is held
    told.session.show_rows(frames=3, variables=2)
    await told.go(StepKind.NEXT)
    assert told.state.disassembly == ()


async def test_a_program_that_reads_is_typed_to(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("reader")))
    told.session.resize_program(100, 30)
    told.session.type_to_program(b"hello\n")
    await told.until(lambda: b"heard hello" in b"".join(told.state.program))
    told.session.type_to_program(b"\x04")
    await told.session.at_rest()
    assert told.state.run_detail == "exited normally"


async def test_hostile_programs_change_no_state(start, compiled) -> None:
    told = await start(compiled("forged"), "done")
    assert told.state.run_detail == "breakpoint 1"
    hostile = compiled("hostile")
    assert hostile.exists()
    text = "".join(told.state.console)
    assert "\x1b" not in text


async def test_a_target_that_cannot_be_opened_leaves_a_session_that_says_so(told, tmp_path) -> None:
    with pytest.raises(TargetInvalid):
        await told.session.open(LaunchTarget(tmp_path / "nothing"))
    assert told.state.run is Run.NOTHING
    assert "there is no such file" in told.state.run_detail
    await told.session.resume(StepKind.NEXT)
    await told.session.console("info threads")
    assert told.state.notices[-1].severity == "error"


class Mortal:
    """Makes gdbs whose process can be reached."""

    def __init__(self) -> None:
        self.transports: list[PtyTransport] = []

    def make(self) -> GdbDebugger:
        def transport(command):
            self.transports.append(PtyTransport(command))
            return self.transports[-1]

        return GdbDebugger(transport)

    def kill(self) -> None:
        pid = self.transports[-1].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)


async def test_quit_on_the_command_line_ends_gdb_and_is_no_death(start, compiled) -> None:
    told = await start(compiled("steps"), "main")
    await told.session.console("kill")
    await told.session.console("quit")
    await told.until(lambda: told.state.run is Run.DEAD)
    assert told.state.run_detail == "gdb has ended"
    assert not any("died" in words for words in told.notices())


async def test_a_dead_gdb_is_a_state_and_running_again_restarts_it(gdb, compiled) -> None:
    mortal = Mortal()
    session = DebugSession(mortal.make(), replacement=mortal.make)
    await session.open(LaunchTarget(compiled("steps")), run=False)
    await session.set_breakpoint("add")
    await session.resume(StepKind.RUN)
    await session.at_rest()
    asking = asyncio.ensure_future(session.evaluate("1 + 1"))
    mortal.kill()
    await asking
    await session.at_rest()
    assert session.state.run is Run.DEAD
    assert session.state.run_detail == "gdb died (signal 9)"
    assert session.state.notices[-1].text.endswith("— continue to start it again")
    assert len([notice for notice in session.state.notices if notice.severity == "error"]) == 1
    await session.resume(StepKind.NEXT)
    await session.at_rest()
    assert session.state.run is Run.STOPPED
    assert session.state.frames.frames[0].function == "add"
    assert [binding.intent.location for binding in session.state.breakpoints] == ["add"]
    assert len(mortal.transports) == 2
    await session.close()


async def test_a_dead_gdb_is_started_once_however_often_the_key_is_pressed(gdb, compiled) -> None:
    mortal = Mortal()
    session = DebugSession(mortal.make(), replacement=mortal.make)
    await session.open(LaunchTarget(compiled("steps")), run=False)
    await session.set_breakpoint("add")
    await session.resume(StepKind.RUN)
    await session.at_rest()
    asking = asyncio.ensure_future(session.evaluate("1 + 1"))
    mortal.kill()
    await asking
    await session.at_rest()
    before = len(session.state.notices)
    await asyncio.gather(*(session.resume(StepKind.CONTINUE) for _ in range(5)))
    await session.at_rest()
    assert len(mortal.transports) == 2
    assert session.state.run is Run.STOPPED
    assert not [notice.text for notice in list(session.state.notices)[before:] if "cannot run" in notice.text]
    await session.close()


async def test_a_core_is_a_moment(told, compiled, tmp_path) -> None:
    core = tmp_path / "core"
    process = await asyncio.create_subprocess_exec(
        "gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", str(compiled("segfault")),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    await process.wait()
    await told.session.open(CoreTarget(core, compiled("segfault")))
    await told.session.at_rest()
    assert (told.state.run, told.state.run_detail) == (Run.DUMP, "SIGSEGV, Segmentation fault")
    assert told.values()["data"] == "0x0"
    assert told.state.title == "segfault · core"
    await told.session.resume(StepKind.NEXT)
    assert told.notices()[-1].startswith("a dump cannot run")
    assert await told.session.set_breakpoint("main") is None
    assert told.state.run is Run.DUMP


async def test_a_core_without_its_program_is_not_said_to_lack_debug_information(told, compiled, tmp_path) -> None:
    core, program = tmp_path / "core", Path(shutil.copy(compiled("segfault"), tmp_path / "gone"))
    command = ["gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", str(program)]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True, timeout=60)
    await asyncio.to_thread(program.unlink)
    await told.session.open(CoreTarget(core))
    await told.session.at_rest()
    assert told.state.variables.note == "no variables without the program: name it after the core"


async def test_attaching_shows_where_a_process_is(told, compiled) -> None:
    process = await asyncio.create_subprocess_exec(compiled("spin"), stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    await process.stdout.readline()
    try:
        await told.session.open(AttachTarget(process.pid))
        await told.session.at_rest()
        assert told.state.run is Run.STOPPED
        assert "main" in [frame.function for frame in told.state.frames.frames]
        await told.session.resume(StepKind.START)
        assert told.notices()[-1] == "only a program that was started here can be started again"
        await told.session.close()
        assert process.returncode is None
    finally:
        process.kill()
        await process.wait()


async def test_threads_are_switched_and_refused(start, compiled) -> None:
    told = await start(compiled("threads"), "meet")
    reached = await told.session.switch(Focus.of(thread=300))
    await told.session.at_rest()
    assert reached == Focus.of(thread=300)
    assert told.state.focus == reached
    assert told.state.reason == ""
    assert told.state.frames.frames
    assert await told.session.switch(Focus.of(thread=9_000)) is None
    assert told.state.asked == Focus.of(thread=9_000)
    assert told.state.focus == reached
    assert told.state.reason


async def test_a_finish_reports_what_was_returned(start, compiled) -> None:
    told = await start(compiled("steps"), "add")
    await told.go(StepKind.FINISH)
    assert told.state.run_detail == "returned 1"
    await told.go(StepKind.UNTIL, "steps.c:21")
    # The breakpoint in add comes first.
    assert told.state.frames.frames[0].function == "add"
    assert told.state.focus == Focus.of(thread=1)

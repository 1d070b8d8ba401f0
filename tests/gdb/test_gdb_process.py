"""The target as a process, on real gdb: started exactly, called into, left, killed, let go, forked."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.errors import CommandFailed, LadderError, TargetInvalid
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.launching import check_settings
from ladder_backends.gdb.process import GdbProcess
from ladder_backends.mi.records import StreamRecord
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import EngineNotice, FocusChanged, RecordingChanged, TargetExited, TargetStopped
from ladder_backends.model.launch import ForkMode, LaunchSettings
from ladder_backends.processes import ProcFiles


async def stop_at(watched, program, *locations, **options):
    await watched.debugger.open(LaunchTarget(program, **options))
    for number, location in enumerate(locations, 1):
        await watched.debugger.set_breakpoint(BreakpointIntent(number, location))
    await watched.debugger.resume(StepKind.RUN)
    return await watched.next(TargetStopped)


async def go(watched, kind: StepKind, location: str = "") -> TargetStopped:
    await watched.debugger.resume(kind, location)
    return await watched.next(TargetStopped)


def where(stop: TargetStopped) -> tuple[str, int]:
    assert stop.frame is not None
    assert stop.frame.place is not None
    return stop.frame.function, stop.frame.place.line


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# -- how it is started

HARD = ("two words", 'it\'s "quoted" $HOME `x` \\', "line\nline\n", "", "tab\t", "*")


async def test_arguments_variables_folder_and_input_arrive_exactly(watched, compiled, tmp_path: Path) -> None:
    folder = tmp_path / "a folder with 'blanks'"
    folder.mkdir()
    (folder / "in put").write_text("from a file")
    settings = LaunchSettings(
        HARD, {"PLAIN": "x", "LINES_OF": "a\n b\n\"c\" '$d' \\", "EMPTY": ""}, folder, folder / "in put"
    )
    await watched.debugger.open(LaunchTarget(compiled("show_arguments")))
    await watched.debugger.process.configure(settings)
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetExited)
    said = (await watched.until_program(b"terminal ")).decode().replace("\r\n", "\n")
    for number, argument in enumerate(HARD, 1):
        assert f"argument {number} <{argument}>" in said
    assert "variable <PLAIN=x>" in said
    assert "variable <LINES_OF=a\n b\n\"c\" '$d' \\>" in said
    assert "variable <EMPTY=>" in said
    assert f"folder <{folder}>" in said
    assert "terminal 011" in said


async def test_a_later_configuration_takes_an_earlier_one_back(
    watched, compiled, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("KEPT", "mine")
    process = watched.debugger.process
    first = LaunchSettings(("a",), {"KEPT": "other", "NEW": "1", "HOME": None}, tmp_path)
    await watched.debugger.open(LaunchTarget(compiled("show_arguments"), environment=first.environment))
    await process.configure(first)
    await process.configure(LaunchSettings())
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetExited)
    said = (await watched.until_program(b"terminal ")).decode()
    assert "variable <KEPT=mine>" in said
    assert "variable <NEW" not in said
    assert f"variable <HOME={os.environ['HOME']}>" in said
    assert "argument" not in said
    assert f"folder <{Path.cwd()}>" in said
    assert process.settings == LaunchSettings()


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (LaunchSettings(("a\0b",)), "cannot pass the arguments: an argument holds a NUL byte"),
        (LaunchSettings((), {"A B": "x"}), "cannot set A B: it is no name of an environment variable"),
        (LaunchSettings((), {"": "x"}), "cannot set an empty name"),
        (LaunchSettings((), {"A": " x"}), "cannot set A: gdb drops blanks at the ends of a value"),
        (LaunchSettings((), {"A": "x\n"}), "cannot set A: gdb drops blanks at the ends of a value"),
        (LaunchSettings((), {"A": "x\0"}), "cannot set A: its value holds a NUL byte"),
        (LaunchSettings(directory=Path("/no such")), "cannot run in /no such: there is no such folder"),
        (LaunchSettings(directory=Path("/bin/true")), "cannot run in /bin/true: it is no folder"),
        (LaunchSettings(stdin=Path("/no such")), "cannot read input from /no such: there is no such file"),
        (LaunchSettings(stdin=Path("/tmp")), "cannot read input from /tmp: it is a folder"),
    ],
)
def test_what_cannot_be_handed_on_is_refused_in_one_line(settings: LaunchSettings, line: str) -> None:
    with pytest.raises(TargetInvalid) as refused:
        check_settings(settings)
    assert refused.value.line().startswith(line)


async def test_a_refused_configuration_changes_nothing(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("show_arguments"), arguments=("kept",)))
    with pytest.raises(TargetInvalid):
        await watched.debugger.process.configure(LaunchSettings(("lost",), directory=Path("/no such")))
    assert watched.debugger.process.settings.arguments == ("kept",)
    await watched.debugger.resume(StepKind.RUN)
    assert b"argument 1 <kept>" in await watched.until_program(b"terminal ")


# -- how it ends


async def test_kill_while_it_stands_and_while_it_runs(watched, compiled) -> None:
    await stop_at(watched, compiled("spin"), "turn")
    await watched.debugger.process.kill()
    assert (await watched.next(TargetExited)).words == "killed"
    binding = watched.debugger.events.breakpoints.bindings[0]
    await watched.debugger.enable_breakpoint(binding, False)
    await watched.debugger.resume(StepKind.RUN)
    await watched.until_program(b"spinning")
    await watched.debugger.process.kill()
    assert (await watched.next(TargetExited)).words == "killed"
    await watched.debugger.enable_breakpoint(binding, True)
    assert (await go(watched, StepKind.RUN)).description == "breakpoint 1"
    await watched.debugger.process.kill()
    with pytest.raises(CommandFailed):
        await watched.debugger.process.kill()
    assert watched.debugger.events.processes.ending == ""


async def test_a_launched_program_that_is_let_go_outlives_the_engine(watched, compiled) -> None:
    await stop_at(watched, compiled("spin"), "turn")
    (pid,) = await watched.debugger.process.detach()
    assert (await watched.next(TargetExited)).words == f"detached from process {pid}"
    await watched.debugger.close()
    try:
        # Long enough for a hang-up to arrive.
        await asyncio.sleep(0.3)
        assert alive(pid)
        # Its terminal is there: writing to it is no error.
        assert os.readlink(f"/proc/{pid}/fd/1").startswith("/dev/pts/")
        assert "(deleted)" not in os.readlink(f"/proc/{pid}/fd/1")
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_killed_from_outside(watched, compiled) -> None:
    await stop_at(watched, compiled("spin"), "main")
    await watched.debugger.resume(StepKind.CONTINUE)
    await watched.until_program(b"spinning")
    os.kill(watched.debugger.process.pids["i1"], signal.SIGKILL)
    assert (await watched.next(TargetExited, lambda event: bool(event.signal))).signal == "SIGKILL"
    assert (await go(watched, StepKind.RUN)).description == "breakpoint 1"


# -- elsewhere at once


async def test_run_to_a_line_in_whatever_frame(watched, compiled) -> None:
    await stop_at(watched, compiled("nested"), "main")
    stop = await go(watched, StepKind.ADVANCE, "nested.c:4")
    assert (where(stop), stop.reason, stop.description) == (("leaf", 4), "location-reached", "line reached")
    # Out of the function that it stands in, where gdb's own `advance` would stop at the return.
    assert where(await go(watched, StepKind.ADVANCE, "nested.c:22")) == ("main", 22)
    assert [binding.number for binding in watched.debugger.events.breakpoints.bindings] == ["1"]


async def test_what_stops_it_before_the_line_leaves_no_breakpoint_behind(watched, compiled) -> None:
    await stop_at(watched, compiled("nested"), "main", "middle")
    stop = await go(watched, StepKind.ADVANCE, "nested.c:22")
    assert stop.description == "breakpoint 2"
    await watched.debugger.process.drop_run_to()
    answer = await watched.debugger.command("-break-list")
    table = answer.results["BreakpointTable"]
    assert isinstance(table, dict)
    assert len(table["body"]) == 2
    assert watched.debugger.events.own_stops == {}


async def test_until_speaks_of_the_selected_frame(watched, compiled) -> None:
    await stop_at(watched, compiled("nested"), "leaf")
    await watched.debugger.select_frame(2)
    assert where(await go(watched, StepKind.UNTIL, "nested.c:14")) == ("top", 14)


async def test_places_in_files_with_odd_names(watched, compiled, tmp_path: Path) -> None:
    source = tmp_path / "a b's" / "ne st(ed).c"
    source.parent.mkdir()
    shutil.copy(compiled.source("nested"), source)
    program = source.parent / "prog"
    compiled.build(source, program)
    await stop_at(watched, program, "main")
    assert where(await go(watched, StepKind.ADVANCE, f"{source}:8")) == ("middle", 8)
    assert where(await go(watched, StepKind.UNTIL, f"{source}:9")) == ("middle", 9)
    assert where(await go(watched, StepKind.JUMP, f"{source}:10")) == ("middle", 10)


async def test_jump_stands_where_it_was_told_to(watched, compiled) -> None:
    await stop_at(watched, compiled("nested"), "nested.c:14")
    assert (await watched.debugger.evaluate("c")).value == "1"
    stop = await go(watched, StepKind.JUMP, "nested.c:15")
    assert (where(stop), stop.description) == (("top", 15), "jumped here")
    # Line 14 was passed over: nothing was added.
    assert (await watched.debugger.evaluate("c")).value == "1"
    process = watched.debugger.process
    assert await process.function_at("nested.c:4") == "leaf"
    assert await process.function_at("nothing.c:4") == ""
    with pytest.raises(CommandFailed):
        await watched.debugger.resume(StepKind.JUMP, "nothing.c:1")
    assert watched.debugger.events.own_stops == {}
    assert len(watched.debugger.events.breakpoints.bindings) == 1


async def test_return_leaves_a_frame_with_a_value(watched, compiled) -> None:
    await stop_at(watched, compiled("nested"), "leaf")
    process = watched.debugger.process
    with pytest.raises(CommandFailed):
        await process.return_now(0, "1 +")
    assert where(await go(watched, StepKind.NEXT)) == ("leaf", 5)
    await watched.debugger.select_frame(1)
    frame = await process.return_now(1, "70 + 7")
    assert frame is not None
    assert (frame.function, frame.level) == ("top", 0)
    told = await watched.next(FocusChanged)
    assert told.frame == frame
    await go(watched, StepKind.NEXT)
    assert (await watched.debugger.evaluate("c")).value == "77"


async def test_finish_gives_the_value_and_a_name_for_it(watched, compiled) -> None:
    await stop_at(watched, compiled("nested"), "leaf")
    stop = await go(watched, StepKind.CONTINUE)
    stop = await go(watched, StepKind.FINISH)
    assert stop.returned is not None
    assert (stop.returned.name, stop.returned.value) == ("returned", "2")
    assert (await watched.debugger.evaluate(f"{stop.returned.path} + 1")).value == "3"


async def test_calls_give_values_stop_inside_and_are_interrupted(watched, compiled) -> None:
    await stop_at(watched, compiled("deaf"), "main", "twice")
    process = watched.debugger.process
    assert (await process.call("busy(10)", 0)).value == "10"
    with pytest.raises(CommandFailed, match="the target stopped inside the call") as refused:
        await process.call("twice(4)", 0)
    assert refused.value.line().endswith("finish returns from it, return leaves it")
    assert where(await watched.next(TargetStopped)) == ("twice", 14)
    assert (await go(watched, StepKind.FINISH)).reason == "function-finished"
    assert where(await go(watched, StepKind.NEXT))[0] == "main"
    long_one = asyncio.ensure_future(process.call("busy(1000000000000)", 0))
    await asyncio.sleep(0.3)
    assert not long_one.done()
    assert watched.debugger.pending()
    await watched.debugger.interrupt()
    with pytest.raises(CommandFailed, match="the call was interrupted; all is as before it"):
        await long_one
    assert (await watched.debugger.frames(0, 1)).frames[0].function == "main"
    # The program blocks every signal by now: a call has to be stopped otherwise.
    await watched.debugger.resume(StepKind.ADVANCE, "deaf.c:23")
    stop = await watched.next(TargetStopped, lambda stop: stop.reason == "location-reached")
    assert where(stop) == ("main", 23)
    long_one = asyncio.ensure_future(process.call("busy(1000000000000)", 0))
    await asyncio.sleep(0.3)
    await watched.debugger.interrupt()
    with pytest.raises(CommandFailed, match="the call was interrupted; all is as before it"):
        await long_one
    await watched.debugger.evaluate("goes_on = 0")
    await watched.debugger.resume(StepKind.CONTINUE)
    assert (await watched.next(TargetExited)).code == 0


async def test_a_deaf_target_is_stopped_hard_and_runs_on(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("deaf")))
    await watched.debugger.resume(StepKind.RUN)
    await watched.until_program(b"deaf")
    await watched.debugger.interrupt()
    assert watched.debugger.events.running
    assert await watched.debugger.process.stop_hard()
    stop = await watched.next(TargetStopped)
    assert (stop.description, stop.fault) == ("interrupted", False)
    assert where(await go(watched, StepKind.ADVANCE, "deaf.c:23")) == ("main", 23)
    await watched.debugger.evaluate("goes_on = 0")
    # Neither the SIGSTOP nor a late SIGINT ends or holds it.
    await watched.debugger.resume(StepKind.CONTINUE)
    assert (await watched.next(TargetExited)).code == 0


# -- forks


async def test_following_the_child(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("forks")))
    await watched.debugger.process.at_fork(ForkMode.CHILD)
    await watched.debugger.set_breakpoint(BreakpointIntent(1, "forks.c:12"))
    assert where(await go(watched, StepKind.RUN)) == ("main", 12)
    assert len(watched.debugger.process.pids) == 1
    told = [event.text for event in watched.all(EngineNotice)]
    assert any(re.fullmatch(r"fork: process \d+ is held now", line) for line in told)
    assert any(re.fullmatch(r"process \d+ runs on without the debugger", line) for line in told)
    await watched.debugger.resume(StepKind.CONTINUE)
    assert (await watched.next(TargetExited)).code == 40
    # Again from the beginning, in the program itself.
    assert where(await go(watched, StepKind.RUN)) == ("main", 12)


async def test_both_sides_are_held_and_one_ends_first(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("forks"), arguments=("/bin/true",)))
    await watched.debugger.process.at_fork(ForkMode.BOTH)
    await watched.debugger.set_breakpoint(BreakpointIntent(1, "forks.c:12"))
    for number in (19, 20, 21):
        await watched.debugger.set_breakpoint(BreakpointIntent(number, f"forks.c:{number}"))
    assert where(await go(watched, StepKind.RUN)) == ("main", 12)
    assert len(watched.debugger.process.pids) == 2
    child = watched.debugger.process.pids["i2"]
    # The parent may come to some of its lines before the child's end is told.
    stop = await go(watched, StepKind.CONTINUE)
    while stop.reason == "breakpoint-hit":
        stop = await go(watched, StepKind.CONTINUE)
    assert (stop.reason, stop.description) == ("process-ended", f"process {child} exited normally")
    assert stop.focus is not None
    assert (await watched.debugger.frames(0, 5)).frames
    await watched.debugger.process.kill()
    assert (await watched.next(TargetExited)).words == "killed"
    # The child has become another program; a run starts the one that was opened.
    assert where(await go(watched, StepKind.RUN)) == ("main", 12)
    await watched.debugger.process.kill()
    assert (await watched.next(TargetExited)).words == "killed"
    assert not watched.debugger.process.pids


# -- backwards


async def test_a_recording_runs_backwards_to_its_beginning(watched, compiled) -> None:
    await stop_at(watched, compiled("nested"), "main")
    process = watched.debugger.process
    assert not await process.reverses()
    try:
        method = await process.record(True)
    except CommandFailed as refused:
        pytest.skip(f"this processor cannot be recorded: {refused}")
    assert method in ("full", "btrace")
    assert (await watched.next(RecordingChanged)).method == method
    assert await process.reverses()
    await watched.debugger.remove_breakpoint(watched.debugger.events.breakpoints.bindings[0])
    for _ in range(3):
        await go(watched, StepKind.NEXT)
    assert where(await go(watched, StepKind.REVERSE_NEXT))[1] == 20
    stop = await go(watched, StepKind.REVERSE_CONTINUE)
    assert (stop.reason, stop.description, where(stop)) == ("no-history", "end of the recording", ("main", 18))
    stop = await go(watched, StepKind.CONTINUE)
    assert stop.reason == "no-history"
    await process.record(False)
    assert (await watched.next(RecordingChanged)).method == ""
    with pytest.raises(LadderError):
        await go(watched, StepKind.REVERSE_NEXT)


async def test_a_restart_ends_the_recording(watched, compiled) -> None:
    await stop_at(watched, compiled("nested"), "main")
    try:
        await watched.debugger.process.record(True)
    except CommandFailed as refused:
        pytest.skip(f"this processor cannot be recorded: {refused}")
    await watched.debugger.process.kill()
    assert (await go(watched, StepKind.RUN)).description == "breakpoint 1"
    assert not await watched.debugger.process.reverses()


async def test_no_signal_goes_to_a_process_that_nobody_traces(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("spin")))
    sleeper = await asyncio.create_subprocess_exec("sleep", "60")
    watched.debugger.events.processes.start("i1", sleeper.pid)
    try:
        assert not await watched.debugger.process.stop_hard()
        assert ProcFiles().status(sleeper.pid)["State"].startswith("S")
    finally:
        sleeper.kill()
        await sleeper.wait()


async def test_a_process_of_another_machine_is_not_taken_for_dead(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("spin"), stop_at_main=True))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    text = watched.debugger.cli_text

    async def of_a_server(command: str, **options) -> str:
        return (await text(command, **options)).replace("(native)", "(extended-remote box:9999)")

    watched.debugger.cli_text = of_a_server
    watched.debugger.events.processes.start("i1", 1 << 23)
    assert not await watched.debugger.process.mourn()
    watched.debugger.cli_text = text
    assert await watched.debugger.process.mourn()
    assert (await watched.next(TargetExited)).words == "ended from outside"


async def test_a_process_that_is_gone_is_known_for_one_of_this_machine_though_gdb_fails_on_it() -> None:
    events = EventReader(lambda event: None, lambda results: None)

    class Failing:
        async def cli_text(self, text: str, *, deadline: float | None = 10.0) -> str:
            events.read_stream(StreamRecord("~", "* 1    process 4711      1 (native)           /bin/true\n"))
            raise CommandFailed(text, "Couldn't get registers: No such process.")

    assert await GdbProcess(Failing(), events)._is_native()

"""Run control in a session, on real gdb: frames, errands, directions, settings, ends."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.launch import ForkMode, LaunchSettings
from ladder_backends.session import run_control, vigil
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.launch_store import LaunchStore
from ladder_backends.session.launch_words import describe, environment_words, read_environment
from ladder_backends.session.state import Run


def where(told) -> tuple[str, int]:
    frame, place = told.state.frames.frames[0], told.state.place
    return frame.function, place.line


# -- steps belong to the selected frame


@pytest.mark.parametrize("kind", [StepKind.NEXT, StepKind.STEP])
async def test_a_step_from_a_frame_further_out_leads_there_first(told, start, compiled, kind) -> None:
    await start(compiled("nested"), "leaf")
    await told.session.select_frame(2)
    await told.go(kind)
    await told.until(lambda: told.state.run is Run.STOPPED and where(told) == ("top", 14))
    assert told.notices()[-1] == f"frame 2 is selected: out to it, then {kind.value}"


async def test_what_stops_it_on_the_way_out_is_told_and_nothing_more_is_run(told, start, compiled) -> None:
    await start(compiled("nested"), "leaf", "nested.c:9")
    await told.session.select_frame(2)
    await told.go(StepKind.NEXT)
    assert where(told) == ("middle", 9)
    assert told.notices()[-1] == "breakpoint 2 before frame 2 was reached"


async def test_a_step_from_a_frame_that_cannot_be_returned_to_changes_nothing(told, start, compiled) -> None:
    await start(compiled("nested"), "leaf")
    await told.session.select_frame(3)
    await told.go(StepKind.FINISH)
    assert told.state.run is Run.STOPPED
    assert told.state.selected_frame == 3
    assert '"finish" not meaningful in the outermost frame' in told.notices()[-1]
    assert (await told.session.evaluate("total")).value == "0"


async def test_a_value_returned_stands_first_among_the_variables(told, start, compiled) -> None:
    await start(compiled("nested"), "leaf")
    await told.session.resume(StepKind.CONTINUE)
    await told.session.at_rest()
    await told.go(StepKind.FINISH)
    assert told.state.run_detail == "returned 2"
    first = told.state.variables.variables[0]
    assert (first.name, first.value) == ("returned", "2")
    await told.session.select_frame(1)
    assert told.state.variables.variables[0].name != "returned"
    await told.session.select_frame(0)
    assert told.state.variables.variables[0].name == "returned"
    await told.go(StepKind.NEXT)
    assert told.state.variables.variables[0].name != "returned"


# -- errands


async def test_run_to_a_line_says_what_came_first_and_leaves_nothing_behind(told, start, compiled) -> None:
    await start(compiled("nested"), "main", "middle")
    await told.go(StepKind.ADVANCE, "/anywhere/nested.c:22")
    assert told.notices()[-1].startswith("No source file named") or "breakpoint" in told.notices()[-1]
    await told.go(StepKind.ADVANCE, "nested.c:22")
    assert told.state.run_detail == "breakpoint 2"
    assert told.notices()[-1] == "breakpoint 2 before nested.c:22 was reached"
    assert len(told.state.breakpoints) == 2
    for binding in told.state.breakpoints:
        await told.session.enable_breakpoint(binding, False)
    await told.go(StepKind.CONTINUE)
    # The line was not to be stopped at any more.
    assert told.state.run is Run.EXITED


async def test_until_says_that_the_function_returned(told, start, compiled) -> None:
    await start(compiled("nested"), "leaf")
    await told.go(StepKind.UNTIL, "nested.c:22")
    assert where(told)[0] == "middle"
    assert told.notices()[-1] == "leaf returned before nested.c:22 was reached"


async def test_a_program_that_ends_on_the_way_says_so(told, start, compiled) -> None:
    await start(compiled("nested"), "nested.c:22")
    await told.go(StepKind.ADVANCE, "nested.c:4")
    assert told.state.run is Run.EXITED
    assert told.notices()[-1] == "the program ended before nested.c:4 was reached"


async def test_jumps_stay_in_the_function_unless_told(told, start, compiled) -> None:
    await start(compiled("nested"), "nested.c:14")
    await told.session.control.jump("nested.c:9")
    await told.session.at_rest()
    assert where(told) == ("top", 14)
    assert "lies in middle, and the target stands in top: not jumped" in told.notices()[-1]
    await told.session.control.jump("nowhere.c:1")
    assert "nowhere.c:1 has no code to go on at" in told.notices()[-1]
    await told.session.control.jump("nested.c:15")
    await told.session.at_rest()
    assert where(told) == ("top", 15)
    assert len(told.state.breakpoints) == 1


# -- into and out of frames


async def test_a_call_shows_its_value_and_what_it_changed(told, start, compiled) -> None:
    await start(compiled("nested"), "nested.c:22")
    answer = await told.session.control.call("top(1) + total")
    assert answer is not None
    assert answer.value == "628"
    assert told.notices()[-1] == "top(1) + total = 628"
    assert await told.session.control.call("nothing(") is None
    assert told.state.run is Run.STOPPED
    await told.session.set_breakpoint("leaf")
    assert await told.session.control.call("top(1)") is None
    await told.until(lambda: told.state.run is Run.STOPPED and where(told)[0] == "leaf")
    assert "the target stopped inside the call" in told.notices()[-1]
    await told.session.select_frame(3)
    assert told.state.frames.frames[3].function == "<function called from gdb>"


async def test_return_shows_where_it_stands_then(told, start, compiled) -> None:
    await start(compiled("nested"), "leaf")
    await told.session.control.return_now("40")
    await told.session.at_rest()
    assert told.state.frames.frames[0].function == "middle"
    assert told.notices()[-1] == "back in middle; the rest of what it had called was not run"
    await told.go(StepKind.NEXT)
    assert told.values()["a"] == "40"
    await told.session.control.return_now("nothing_like_it")
    assert 'No symbol "nothing_like_it" in current context' in told.notices()[-1]
    assert told.state.run is Run.STOPPED


# -- ends


async def test_kill_and_run_again_with_breakpoints_kept(told, start, compiled) -> None:
    await start(compiled("nested"), "leaf")
    await told.session.control.kill()
    await told.session.at_rest()
    assert (told.state.run, told.state.run_detail) == (Run.EXITED, "killed")
    assert len(told.state.breakpoints) == 1
    await told.session.control.kill()
    assert told.notices()[-1] == "no process is held"
    await told.go(StepKind.CONTINUE)
    assert where(told)[0] == "leaf"


async def test_detach_says_who_lives_on(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("spin")))
    await told.until(lambda: told.state.run is Run.RUNNING)
    await told.session.control.detach()
    pid = int(told.state.run_detail.rpartition(" ")[2])
    try:
        assert told.state.run_detail == f"detached from process {pid}"
        assert told.notices()[-1] == f"process {pid} runs on without the debugger; it outlives the console"
        await told.session.close()
        await asyncio.sleep(0.2)
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_one_that_is_killed_while_it_stands_is_told_without_any_key(
    told, start, compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vigil, "LOOK_EVERY", 0.02)
    await start(compiled("idle_threads"), "idle")
    facet = told.session.debugger.process
    assert facet is not None
    os.kill(facet.pids["i1"], signal.SIGKILL)
    await told.until(lambda: any("ended from outside while it stood" in text for text in told.notices()))
    assert (told.state.run, told.state.run_detail) == (Run.EXITED, "ended from outside")


async def test_one_that_ends_in_a_step_is_not_taken_for_one_that_was_ended(told, start, compiled) -> None:
    await start(compiled("nested"), "nested.c:23")
    facet = told.session.debugger.process
    assert facet is not None
    mourned: list[bool] = []

    async def watch() -> None:
        while told.state.run is not Run.EXITED:
            mourned.append(await facet.mourn())
            # It asks nothing while everything lives, and would leave nobody else a turn.
            await asyncio.sleep(0)

    watching = asyncio.ensure_future(watch())
    for _ in range(12):
        if told.state.run is Run.STOPPED:
            await told.go(StepKind.NEXT)
    await watching
    assert told.state.run_detail == "exited normally"
    assert not any(mourned)


async def test_a_program_that_ends_in_a_step_and_one_killed_from_outside(told, start, compiled) -> None:
    await start(compiled("nested"), "nested.c:23")
    for _ in range(12):
        if told.state.run is not Run.STOPPED:
            break
        await told.go(StepKind.NEXT)
    assert (told.state.run, told.state.run_detail) == (Run.EXITED, "exited normally")
    await told.go(StepKind.NEXT)
    assert told.state.run is Run.EXITED
    await told.session.resume(StepKind.RUN)
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    facet = told.session.debugger.process
    assert facet is not None
    os.kill(facet.pids["i1"], signal.SIGKILL)
    await told.go(StepKind.CONTINUE)
    await told.until(lambda: told.state.run is Run.EXITED)
    assert told.state.run_detail in ("ended from outside", "ended by SIGKILL")


# -- a target that does not stop


async def test_a_deaf_target_says_why_and_is_stopped_hard(told, compiled, monkeypatch) -> None:
    monkeypatch.setattr(run_control, "DEAF_AFTER", 0.2)
    await told.session.open(LaunchTarget(compiled("deaf")))
    await told.until(lambda: told.state.run is Run.RUNNING and b"deaf" in b"".join(told.state.program))
    await told.session.interrupt()
    await told.until(lambda: bool(told.notices()) and "does not stop" in told.notices()[-1])
    assert told.notices()[-1].endswith("does not stop: it blocks SIGINT — Ctrl-C twice offers more")
    await told.session.control.stop_hard()
    await told.session.at_rest()
    assert (told.state.run, told.state.run_detail) == (Run.STOPPED, "interrupted")
    await told.go(StepKind.ADVANCE, "deaf.c:23")
    assert told.state.run is Run.STOPPED


async def test_one_that_stops_is_not_called_deaf(told, compiled, monkeypatch) -> None:
    monkeypatch.setattr(run_control, "DEAF_AFTER", 0.1)
    await told.session.open(LaunchTarget(compiled("spin")))
    await told.until(lambda: told.state.run is Run.RUNNING)
    await told.session.interrupt()
    await told.session.at_rest()
    await asyncio.sleep(0.3)
    assert told.state.run is Run.STOPPED
    assert not any("does not stop" in line for line in told.notices())


# -- steps typed fast


async def test_ten_steps_at_once_are_coalesced_and_the_last_one_wins(told, start, compiled) -> None:
    await start(compiled("nested"), "main")
    keys = [StepKind.NEXT] * 9 + [StepKind.STEP]
    await asyncio.gather(*(told.session.resume(kind) for kind in keys))
    await told.session.at_rest()
    # One step at once, and the last of those that were typed meanwhile: into the call in line 20.
    await told.until(lambda: told.state.run is Run.STOPPED and told.state.place.line in (19, 20))
    await told.session.at_rest()
    assert told.state.place.line == 20
    assert not [notice for notice in told.state.notices if notice.severity != "information"]


async def test_a_start_typed_twice_starts_once(told, compiled, monkeypatch) -> None:
    await told.session.open(LaunchTarget(compiled("spin")), run=False)
    await told.session.set_breakpoint("main")
    table, started = told.session.debugger.events.processes, []
    start = table.start
    monkeypatch.setattr(table, "start", lambda name, pid: (started.append(pid), start(name, pid))[1])
    await asyncio.gather(*(told.session.resume(StepKind.RUN) for _ in range(3)))
    await told.session.at_rest()
    assert told.state.run_detail == "breakpoint 1"
    assert len(started) == 1
    assert not [notice for notice in told.state.notices if notice.severity != "information"]


async def test_a_long_step_runs_with_its_age_and_is_interrupted(told, start, compiled) -> None:
    await start(compiled("one_line"), "one_line.c:5")
    await told.session.resume(StepKind.NEXT)
    await told.until(lambda: told.state.run is Run.RUNNING)
    assert told.state.since > 0
    await told.session.interrupt()
    await told.session.at_rest()
    assert (told.state.run, told.state.run_detail) == (Run.STOPPED, "interrupted")
    assert told.state.place.line == 5


# -- backwards


async def test_the_same_key_records_then_turns_round(told, start, compiled) -> None:
    await start(compiled("nested"), "main")
    control = told.session.control
    await control.toggle_backwards()
    if not told.state.control.recording:
        pytest.skip(told.notices()[-1])
    assert told.notices()[-1].startswith("recording from here, up to 200,000 instructions")
    await told.session.remove_breakpoint(told.state.breakpoints[0])
    for _ in range(3):
        await told.go(StepKind.NEXT)
    assert told.state.place.line == 19
    await control.toggle_backwards()
    assert told.state.control.backwards
    await told.go(StepKind.NEXT)
    assert told.state.place.line == 20
    await told.go(StepKind.CONTINUE)
    assert (told.state.run_detail, told.notices()[-1]) == ("end of the recording", "the recording begins here")
    assert told.state.place.line == 18
    await control.toggle_backwards()
    assert not told.state.control.backwards
    await told.go(StepKind.CONTINUE)
    assert told.notices()[-1] == "the recording ends here"
    await control.stop_recording()
    assert told.state.control.recording == ""
    await told.go(StepKind.CONTINUE)
    assert told.state.run is Run.EXITED


async def test_a_recording_comes_to_the_end_of_the_program_and_lets_it_exit(told, compiled) -> None:
    from ladder_backends.model.launch import AVOID_UNRECORDABLE

    await told.session.open(LaunchTarget(compiled("nested"), environment=AVOID_UNRECORDABLE), run=False)
    await told.session.set_breakpoint("nested.c:22")
    await told.go(StepKind.RUN)
    await told.session.control.toggle_backwards()
    if not told.state.control.recording:
        pytest.skip(told.notices()[-1])
    await told.go(StepKind.CONTINUE)
    if told.state.run_detail == "cannot record on":
        assert "recording stopped: gdb cannot record the instruction at" in told.notices()[-1]
    else:
        assert told.state.run_detail == "about to exit"
        assert "continue lets it exit" in told.notices()[-1]
    assert not told.state.fault
    await told.go(StepKind.CONTINUE)
    assert (told.state.run, told.state.run_detail) == (Run.EXITED, "exited normally")
    assert told.state.control.recording == ""


async def test_what_cannot_be_recorded_is_one_line(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("nested")), run=False)
    await told.session.control.toggle_backwards()
    assert told.notices()[-1].startswith(
        "this target cannot be recorded: Process record: the program is not being run"
    )
    assert not told.state.control.backwards


# -- settings


async def test_settings_are_kept_per_program_and_outlive_the_engine(told, compiled, tmp_path: Path) -> None:
    program = compiled("show_arguments")
    await told.session.open(LaunchTarget(program), run=False)
    settings = LaunchSettings(("a b", "c\nd"), {"A": "1 2", "HOME": None}, tmp_path, Path("/dev/null"))
    await told.session.control.configure(settings, ForkMode.BOTH)
    assert told.notices()[-1].startswith(f"from the next start on: cd {tmp_path}; 'A=1 2' -HOME 'a b'")
    assert LaunchStore(program).load() == settings
    assert (told.state.control.settings, told.state.control.fork) == (settings, ForkMode.BOTH)
    await told.session.restart()
    await told.session.at_rest()
    said = b"".join(told.state.program).decode()
    assert "argument 1 <a b>" in said
    assert f"folder <{tmp_path}>" in said
    assert told.state.control.settings == settings
    other = DebugSession(GdbDebugger())
    try:
        await other.open(LaunchTarget(program), run=False)
        assert other.state.control.settings.plain
        assert other.state.control.last_used == settings
        assert (
            "started without settings; the form of settings offers the last ones: cd"
            in other.state.notices[-1].text
        )
    finally:
        await other.close()


async def test_settings_that_are_wrong_change_nothing(told, compiled) -> None:
    program = compiled("show_arguments")
    await told.session.open(LaunchTarget(program, arguments=("kept",)), run=False)
    await told.session.control.configure(LaunchSettings(directory=Path("/no such")), ForkMode.BOTH)
    assert told.notices()[-1] == "cannot run in /no such: there is no such folder"
    assert told.state.control.settings == LaunchSettings(("kept",))
    assert told.state.control.fork is ForkMode.PARENT
    kept = LaunchStore(program).load()
    assert kept == LaunchSettings(("kept",))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format":2}', b'{"format":1,"arguments":[1]}', b"\xff"])
def test_a_damaged_store_is_as_none(tmp_path: Path, content: bytes) -> None:
    store = LaunchStore(tmp_path / "program")
    store.file.parent.mkdir(parents=True)
    store.file.write_bytes(content)
    assert store.load() is None


def test_variables_in_a_shells_words() -> None:
    environment = {"A": "1", "B": "two words", "C": "a=b'c", "E": "", "GONE": None}
    assert read_environment(environment_words(environment)) == environment
    with pytest.raises(ValueError, match="closing quotation"):
        read_environment("'A=1")
    for text in ("A", "=1", "-", "- A=1"):
        with pytest.raises(ValueError, match="neither NAME=value nor -NAME"):
            read_environment(text)
    assert describe(LaunchSettings()) == ""
    assert (
        describe(LaunchSettings(("-n", "3"), {"A": "1"}, Path("/x y"), Path("/in"))) == "cd '/x y'; A=1 -n 3 < /in"
    )


# -- forks


async def test_both_processes_are_held_and_told(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("forks"), arguments=("/bin/true",)), run=False)
    await told.session.control.follow_at_fork(ForkMode.BOTH)
    for location in ("forks.c:12", "forks.c:19", "forks.c:20", "forks.c:21"):
        await told.session.set_breakpoint(location)
    await told.go(StepKind.RUN)
    assert where(told) == ("main", 12)
    assert len(told.state.control.processes) == 2
    assert any(line.startswith("fork: process ") for line in told.notices())
    assert len(told.state.breakpoints) == 4
    while told.state.run_detail.startswith("breakpoint"):
        await told.go(StepKind.CONTINUE)
    assert told.state.run_detail.endswith("exited normally")
    assert told.state.run is Run.STOPPED
    assert told.state.frames.frames
    assert told.state.control.processes == {}
    # The command line stands where the screen does, not in the process that has gone.
    await told.session.console("print $_thread + 4710")
    await told.until(lambda: any(line.startswith("$") for line in told.state.console))
    assert any(line.endswith(" = 4711") for line in told.state.console)
    await told.session.control.kill()
    await told.session.at_rest()
    await told.go(StepKind.RUN)
    assert where(told) == ("main", 12)


async def test_an_exec_is_followed_and_breakpoints_come_back_with_the_program(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("forks"), arguments=("/bin/true",)), run=False)
    await told.session.control.follow_at_fork(ForkMode.CHILD)
    await told.session.set_breakpoint("work")
    await told.go(StepKind.RUN)
    await told.go(StepKind.CONTINUE)
    assert where(told) == ("work", 6)
    await told.go(StepKind.CONTINUE)
    assert told.state.run is Run.EXITED
    assert [binding.intent.enabled for binding in told.state.breakpoints] == [True]
    await told.session.control.follow_at_fork(ForkMode.PARENT)
    await told.go(StepKind.RUN)
    assert where(told) == ("work", 6)
    assert told.values()["n"] == "1"


async def test_an_engine_that_is_killed_starts_again_with_everything_kept(told, start, compiled) -> None:
    await start(compiled("nested"), "leaf", arguments=("kept",))
    await told.session.control.follow_at_fork(ForkMode.BOTH)
    engine = told.session.debugger._mi._transport.pid
    waiting = asyncio.ensure_future(told.session.control.call("leaf(1) + nothing"))
    os.kill(engine, signal.SIGKILL)
    await waiting
    await told.until(lambda: told.state.run is Run.DEAD)
    assert "died (signal 9)" in told.state.run_detail
    assert sum("died" in line for line in told.notices()) == 1
    await told.go(StepKind.CONTINUE)
    assert where(told)[0] == "leaf"
    assert told.state.control.settings.arguments == ("kept",)
    assert told.state.control.fork is ForkMode.BOTH
    shown = await told.session.debugger.command("-gdb-show detach-on-fork")
    assert shown.results["value"] == "off"


async def test_a_recording_of_an_engine_has_no_process(told) -> None:
    from ladder_backends.model.provenance import Provenance

    assert GdbDebugger(provenance=Provenance.RECORDING).process is None

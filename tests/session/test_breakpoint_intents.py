"""Breakpoints as wishes: kept for each program, shared by consoles, following their lines, waiting for frames."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.debugger import CoreTarget, LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.breakpoint import BindingState, BreakpointIntent, BreakpointKind, SourceAnchor
from ladder_backends.session.anchors import anchor_at, line_now
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.intents import IntentStore
from ladder_backends.session.state import Run

CATCH = BreakpointKind.CATCH
RICH = [
    BreakpointIntent(
        1,
        "a.c:12",
        "x > 1",
        ignore=3,
        once=True,
        commands=("silent", "print x"),
        thread=2,
        anchor=SourceAnchor("/src/a.c", 12, "x++;", "{", "}"),
    ),
    BreakpointIntent(2, "total", kind=BreakpointKind.WRITE, scope="compute"),
    BreakpointIntent(3, "signal SIGUSR1", kind=BreakpointKind.CATCH, enabled=False),
    BreakpointIntent(4, "^comp", kind=BreakpointKind.REGEX),
    BreakpointIntent(5, "a.c:14", log="i={i}"),
]


class TestStore:
    @pytest.fixture
    def program(self, tmp_path: Path) -> Path:
        program = tmp_path / "prog"
        program.write_bytes(b"")
        return program

    def test_every_kind_and_option_comes_back(self, program: Path) -> None:
        store = IntentStore(program)
        store.load()
        store.save(RICH)
        assert IntentStore(program).load() == RICH
        assert json.loads(store.file.read_text())["format"] == 2

    def test_the_first_format_is_read(self, program: Path) -> None:
        store = IntentStore(program)
        store.file.parent.mkdir(parents=True)
        rows = [{"location": "a.c:3", "condition": "x", "enabled": False}]
        store.file.write_text(json.dumps({"format": 1, "program": str(program), "breakpoints": rows}))
        assert store.load() == [BreakpointIntent(1, "a.c:3", "x", enabled=False)]
        store.save(store.load())
        assert not store.notice

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("kind", "nonsense"),
            ("ignore", -1),
            ("ignore", True),
            ("thread", 0),
            ("commands", "print x"),
            ("commands", [3]),
            ("anchor", {"file": "relative", "line": 1, "text": "x"}),
            ("anchor", {"file": "/a", "line": "1", "text": "x"}),
            ("log", 3),
        ],
    )
    def test_odd_values_are_passed_over(self, program: Path, name: str, value: object) -> None:
        store = IntentStore(program)
        store.file.parent.mkdir(parents=True)
        store.file.write_text(json.dumps({"format": 2, "breakpoints": [{"location": "main", name: value}]}))
        loaded = store.load()
        assert loaded in ([], [BreakpointIntent(1, "main")], [BreakpointIntent(1, "main", commands=("",))])
        assert not store.notice

    def test_two_consoles_destroy_nothing_of_each_other(self, program: Path) -> None:
        one, other = IntentStore(program), IntentStore(program)
        main = BreakpointIntent(1, "main")
        one.load()
        one.save([main, BreakpointIntent(2, "shared")])
        theirs = other.load()
        other.save([*theirs, BreakpointIntent(3, "theirs")])
        one.save([main, BreakpointIntent(2, "shared"), BreakpointIntent(3, "ours")])
        assert locations(program) == ["main", "shared", "theirs", "ours"]
        # What one takes away, or switches off, is so for both; what it only still has is no addition.
        one.save([replace(main, enabled=False), BreakpointIntent(3, "ours")])
        assert locations(program) == ["main", "theirs", "ours"]
        other.save([*theirs, BreakpointIntent(3, "theirs"), BreakpointIntent(4, "more")])
        assert locations(program) == ["main", "theirs", "ours", "more"]
        assert not IntentStore(program).load()[0].enabled

    def test_a_lock_that_another_holds_is_not_waited_for_long(self, program: Path) -> None:
        store = IntentStore(program)
        store.save([BreakpointIntent(1, "main")])
        held = os.open(store.file.with_suffix(".lock"), os.O_RDWR)
        fcntl.flock(held, fcntl.LOCK_EX)
        store.save([BreakpointIntent(1, "main"), BreakpointIntent(2, "other")])
        os.close(held)
        assert locations(program) == ["main", "other"]

    def test_a_file_that_was_broken_meanwhile_is_put_aside(self, program: Path) -> None:
        store = IntentStore(program)
        store.save([BreakpointIntent(1, "main")])
        store.file.write_bytes(b"{")
        store.save([BreakpointIntent(1, "other")])
        assert "cannot be read" in store.notice
        assert locations(program) == ["other"]


def locations(program: Path) -> list[str]:
    return [intent.location for intent in IntentStore(program).load()]


class TestAnchors:
    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        source = tmp_path / "a.c"
        source.write_text("int f(int x) {\n  x++;\n  return x;\n}\n\nint g(int x) {\n  x++;\n  return 2 * x;\n}\n")
        return source

    def test_the_text_is_found_where_it_is_now(self, source: Path) -> None:
        anchor = anchor_at(str(source), 8)
        assert anchor == SourceAnchor(str(source), 8, "return 2 * x;", "x++;", "}")
        assert line_now(anchor) == 8
        source.write_text("// one\n// two\n" + source.read_text())
        assert line_now(anchor) == 10

    def test_of_equal_lines_the_one_with_the_same_neighbours_counts(self, source: Path) -> None:
        anchor = anchor_at(str(source), 7)
        source.write_text("int h(int x) {\n  x++;\n  return 3 * x;\n}\n" * 3 + source.read_text())
        assert line_now(anchor) == 19

    def test_nothing_is_guessed(self, source: Path) -> None:
        anchor = SourceAnchor(str(source), 3, "x++;")
        source.write_text("x++;\nA\nB\nC\nx++;\n")
        assert line_now(anchor) is None
        assert line_now(replace(anchor, line=4)) == 5
        source.write_text("nothing\n")
        assert line_now(anchor) is None
        source.unlink()
        assert line_now(anchor) is None

    def test_braces_and_blanks_are_no_anchor(self, source: Path) -> None:
        assert anchor_at(str(source), 4) is None
        assert anchor_at(str(source), 5) is None
        assert anchor_at(str(source), 99) is None
        assert anchor_at("/no/such/file", 1) is None


async def settled(told, so) -> None:
    async with asyncio.timeout(20):
        await told.until(so)


async def test_a_rebuild_moves_breakpoints_with_their_text(told, compiled, tmp_path) -> None:
    source, program = tmp_path / "rebuilt.c", tmp_path / "rebuilt"
    shutil.copyfile(compiled.source("rebuilt"), source)
    compiled.build(source, program)
    session = told.session
    await session.open(LaunchTarget(program), run=False)
    await session.set_breakpoint(f"{source}:9", condition="total > 1")
    await session.set_breakpoint(f"{source}:6")
    await settled(told, lambda: all(each.intent.anchor is not None for each in told.state.breakpoints))
    await told.go(StepKind.RUN)
    assert told.state.place.line == 6
    text = source.read_text()
    source.write_text(text.replace("    int total = 0;\n", "    int more = 5;\n\n    int total = 0 * more;\n"))
    os.utime(source, (1e9, 1e9))
    compiled.build(source, program)
    await told.go(StepKind.RUN)
    first, second = (each for each in told.state.breakpoints)
    if first.intent.location.endswith(":6"):
        first, second = second, first
    assert (first.intent.location, first.state) == (f"{source}:11", BindingState.MOVED)
    assert first.why == "moved from 9 to 11: same text"
    assert first.intent.condition == "total > 1"
    assert (second.state, second.why) == (BindingState.MOVED, "the text of line 6 is gone: stays on line 6")
    assert any("moved from 9 to 11" in notice for notice in told.notices())
    await told.go(StepKind.CONTINUE)
    assert told.state.place.line == 11
    await session.close()
    # Another edit and build, while nobody debugs it.
    source.write_text("\n\n\n" + source.read_text())
    os.utime(source, (1e9, 1e9))
    compiled.build(source, program)
    again = DebugSession(GdbDebugger())
    await again.open(LaunchTarget(program), run=False)
    lines = sorted(each.intent.location.rpartition(":")[2] for each in again.state.breakpoints)
    assert lines == ["14", "6"]
    # An edit alone moves nothing: the program is as it was.
    await again.close()
    source.write_text("\n" + source.read_text())
    again = DebugSession(GdbDebugger())
    await again.open(LaunchTarget(program), run=False)
    lines = sorted(each.intent.location.rpartition(":")[2] for each in again.state.breakpoints)
    assert lines == ["14", "6"]
    await again.close()


async def test_a_watch_of_a_frame_comes_back_at_the_next_stop_there(told, start, compiled) -> None:
    await start(compiled("breaks"), "breaks.cpp:22")
    await told.session.place_breakpoint(BreakpointIntent(0, "total", kind=BreakpointKind.WRITE))
    watch = told.state.breakpoints[1]
    assert (watch.intent.scope, watch.state) == ("compute", BindingState.SET)
    while "out of scope" not in told.state.run_detail:
        await told.go(StepKind.CONTINUE)
        assert told.state.run is Run.STOPPED
    await settled(told, lambda: told.state.breakpoints[1].state is BindingState.PENDING)
    await told.go(StepKind.CONTINUE)
    await settled(told, lambda: bool(told.state.breakpoints[1].number))
    assert "watchpoint 3 is set again: total" in told.notices()


async def test_arming_a_watch_stops_once_where_it_can_be_set(told, start, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("breaks")), run=False)
    await told.session.place_breakpoint(BreakpointIntent(0, "total", kind=BreakpointKind.WRITE, scope="compute"))
    (watch,) = told.state.breakpoints
    assert watch.state is BindingState.PENDING
    await told.session.enable_breakpoint(watch, True)
    assert "stops once in compute() to set it" in told.notices()[-1]
    await told.go(StepKind.RUN)
    assert told.state.frames.frames[0].function == "compute"
    await settled(told, lambda: any(each.number and each.intent.kind.watches for each in told.state.breakpoints))


async def test_kept_watches_catches_and_log_points_are_set_again(told, start, compiled) -> None:
    program = compiled("breaks")
    await told.session.open(LaunchTarget(program), run=False)
    for intent in (
        BreakpointIntent(0, "counter", kind=BreakpointKind.WRITE, condition="counter > 100"),
        BreakpointIntent(0, "throw", kind=BreakpointKind.CATCH),
        BreakpointIntent(0, "breaks.cpp:^compute", kind=BreakpointKind.REGEX),
        BreakpointIntent(0, "breaks.cpp:23", log="i={i}"),
    ):
        binding = await told.session.place_breakpoint(intent)
        assert binding.state is BindingState.SET, binding
    await told.session.console("catch signal SIGALRM")
    await settled(told, lambda: len(told.state.breakpoints) == 5)
    wishes = [replace(each.intent, anchor=None) for each in told.state.breakpoints]
    await told.session.close()
    again = DebugSession(GdbDebugger())
    await again.open(LaunchTarget(program), run=False)
    assert [replace(each.intent, anchor=None, id=0) for each in again.state.breakpoints] == [
        replace(wish, id=0) for wish in wishes
    ]
    assert {each.state for each in again.state.breakpoints} == {BindingState.SET}
    await again.close()


async def test_what_log_points_write_is_kept_and_told(told, start, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("breaks")), run=False)
    binding = await told.session.place_breakpoint(BreakpointIntent(0, "breaks.cpp:23", log="i={i}"))
    await told.go(StepKind.RUN)
    assert told.state.run is Run.EXITED
    logged = told.state.logged
    assert [line.text for line in logged.lines] == ["i=0", "i=1", "i=2", "i=3", "i=0", "i=1", "i=2"]
    assert (logged.written, logged.last) == (7, {binding.intent.id: "i=2"})
    assert "i=3" in told.state.console
    assert told.state.breakpoints[0].hits == 7
    await told.session.change_breakpoint(told.state.breakpoints[0], replace(binding.intent, log="here"))
    await told.go(StepKind.RUN)
    assert [line.text for line in logged.lines][7:] == ["here"] * 7


async def test_a_change_that_is_refused_is_one_notice(told, start, compiled) -> None:
    await start(compiled("steps"), "steps.c:9")
    (binding,) = told.state.breakpoints
    failed = await told.session.change_breakpoint(binding, replace(binding.intent, condition="no_such > 1"))
    assert failed.state is BindingState.FAILED
    assert 'No symbol "no_such"' in told.notices()[-1]
    assert told.state.breakpoints[0].intent.condition == ""
    await told.session.change_breakpoint(binding, replace(binding.intent, commands=("print a",), ignore=1))
    assert told.state.breakpoints[0].intent.commands == ("print a",)
    assert told.state.breakpoints[0].left == 1


async def test_breakpoints_of_files_with_one_name_are_told_apart(told, compiled, tmp_path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "one/part.c").write_text("int one(int x) {\n    x++;\n    return x;\n}\n")
    (tmp_path / "two/part.c").write_text("int two(int x) {\n    x--;\n    return x;\n}\n")
    main = tmp_path / "main.c"
    main.write_text('#include "one/part.c"\n#include "two/part.c"\nint main(void) { return one(1) + two(2); }\n')
    compiled.build(main, tmp_path / "program")
    await told.session.open(LaunchTarget(tmp_path / "program"), run=False)
    await told.session.toggle_breakpoint(f"{tmp_path}/one/part.c:2")
    binding = await told.session.toggle_breakpoint(f"{tmp_path}/two/part.c:2")
    assert binding is not None
    assert len(told.state.breakpoints) == 2
    await told.session.toggle_breakpoint(f"{tmp_path}/one/part.c:2")
    assert [each.functions for each in told.state.breakpoints] == [("two",)]


async def test_nothing_is_set_while_there_is_no_engine(told, start, compiled) -> None:
    await start(compiled("breaks"), "compute")
    await told.session.place_breakpoint(BreakpointIntent(0, "counter", kind=BreakpointKind.WRITE))
    await told.session.set_breakpoint("thrower", temporary=True)
    await told.session.console("quit")
    await settled(told, lambda: told.state.run is Run.DEAD)
    assert [(each.intent.location, each.state, each.number) for each in told.state.breakpoints] == [
        ("compute", BindingState.PENDING, ""),
        ("counter", BindingState.PENDING, ""),
    ]
    assert told.state.breakpoints[0].why == "the engine is gone: set again with the next one"
    await told.go(StepKind.CONTINUE)
    assert [(each.intent.location, each.state) for each in told.state.breakpoints] == [
        ("compute", BindingState.SET),
        ("counter", BindingState.SET),
    ]


async def test_a_breakpoint_that_cannot_be_set_stays_told_until_it_can(told, compiled) -> None:
    program = compiled("breaks")
    IntentStore(program).save([BreakpointIntent(1, "compute", "no_such > 1"), BreakpointIntent(2, "main")])
    await told.session.open(LaunchTarget(program), run=False)
    first, refused = told.state.breakpoints
    assert (first.intent.location, refused.state) == ("main", BindingState.FAILED)
    assert 'No symbol "no_such"' in refused.why
    await told.session.enable_breakpoint(refused, True)
    assert [each.state for each in told.state.breakpoints] == [BindingState.SET, BindingState.FAILED]
    await told.session.change_breakpoint(refused, replace(refused.intent, condition="n > 3"))
    assert [each.state for each in told.state.breakpoints] == [BindingState.SET, BindingState.SET]
    await told.session.remove_breakpoint(told.state.breakpoints[1])
    assert [each.location for each in IntentStore(program).load()] == ["main"]


async def test_breakpoints_are_set_while_the_program_runs(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("spin")), run=False)
    await told.session.resume(StepKind.RUN)
    await settled(told, lambda: told.state.run is Run.RUNNING)
    log = await told.session.place_breakpoint(BreakpointIntent(0, "turn", log="turn {turns}"))
    assert log.state is BindingState.SET
    await settled(told, lambda: told.state.logged.written > 2)
    assert told.state.run is Run.RUNNING
    await told.session.change_breakpoint(told.state.breakpoints[0], replace(log.intent, log="", enabled=False))
    assert told.state.run is Run.RUNNING
    await told.session.enable_breakpoint(told.state.breakpoints[0], True)
    await settled(told, lambda: told.state.run is Run.STOPPED)
    assert told.state.run_detail.startswith("breakpoint ")


async def test_a_core_shows_what_is_kept_as_nothing_it_can_have(told, compiled, gdb, tmp_path) -> None:
    program = compiled("steps")
    IntentStore(program).save([BreakpointIntent(1, "add", "b == 3"), BreakpointIntent(2, "throw", kind=CATCH)])
    core = tmp_path / "core.steps"
    await asyncio.to_thread(
        subprocess.run,
        [
            gdb,
            "-nx",
            "-q",
            "-batch",
            "-ex",
            "break add",
            "-ex",
            "run",
            "-ex",
            f"generate-core-file {core}",
            program,
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    await told.session.open(CoreTarget(core, program))
    assert [(each.intent.location, each.state, each.why) for each in told.state.breakpoints] == [
        ("add", BindingState.UNSUPPORTED, "this target does not run"),
        ("throw", BindingState.UNSUPPORTED, "this target does not run"),
    ]
    await told.session.enable_breakpoint(told.state.breakpoints[0], True)
    assert told.notices()[-1] == "this target takes no breakpoints"
    await told.session.remove_breakpoint(told.state.breakpoints[0])
    assert locations(program) == ["throw"]

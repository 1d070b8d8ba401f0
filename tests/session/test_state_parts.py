"""The parts a session is made of, one by one."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import TargetExited, TargetRunning
from ladder_backends.model.launch import LaunchSettings
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.follower import Follower
from ladder_backends.session.intents import IntentStore
from ladder_backends.session.launch_store import LaunchStore
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.output import LINE_LENGTH, PROGRAM_BYTES, OutputLog
from ladder_backends.session.state import CONSOLE_LINES, Change, DebugState, Run
from ladder_backends.session.value_changes import ValueChanges
from ladder_backends.session.watch_store import WatchStore


def window(**values: str) -> VariableWindow:
    return VariableWindow(tuple(Variable(name, value) for name, value in values.items()))


def changed(window: VariableWindow) -> set[str]:
    return {each.name for each in window.variables if each.changed}


async def test_what_is_told_is_one_clean_line() -> None:
    state = DebugState(rung="gdb")
    Follower(GdbDebugger(), state, Notifier()).notice("/tmp/a\x1b[31m\n  b")
    assert [notice.text for notice in state.notices] == ["/tmp/a␛[31m b"]


class TestValueChanges:
    def test_a_first_look_marks_nothing(self) -> None:
        assert changed(ValueChanges().mark(window(a="1"), "f", 1)) == set()

    def test_values_are_compared_by_function(self) -> None:
        values = ValueChanges()
        values.mark(window(a="1", b="2"), "f", 1)
        values.mark(window(a="7"), "g", 2)
        assert changed(values.mark(window(a="1", b="3", c="4"), "f", 3)) == {"b"}

    def test_a_second_look_at_one_stop_keeps_its_marks(self) -> None:
        values = ValueChanges()
        values.mark(window(a="1"), "f", 1)
        assert changed(values.mark(window(a="2"), "f", 2)) == {"a"}
        assert changed(values.mark(window(a="2"), "f", 2)) == {"a"}
        assert changed(values.mark(window(a="2"), "f", 3)) == set()

    def test_functions_beyond_the_bound_are_forgotten(self) -> None:
        values = ValueChanges()
        for number in range(200):
            values.mark(window(a=str(number)), f"f{number}", number)
        assert len(values._functions) == 64

    def test_names_that_hide_one_another_are_told_apart(self) -> None:
        values = ValueChanges()
        values.mark(VariableWindow((Variable("i", "1"), Variable("i", "9"))), "f", 1)
        marked = values.mark(VariableWindow((Variable("i", "1"), Variable("i", "8"))), "f", 2)
        assert [each.changed for each in marked.variables] == [False, True]


class TestOutput:
    def test_lines_may_come_in_pieces(self) -> None:
        state = DebugState("gdb")
        log = OutputLog(state)
        for piece in ("(gdb) pr", "int x\n$1", " = 2\n", "(gdb) "):
            log.console(piece)
        assert list(state.console) == ["(gdb) print x", "$1 = 2", "(gdb) "]

    def test_what_is_dropped_is_counted(self) -> None:
        state = DebugState("gdb")
        log = OutputLog(state)
        log.console("x\n" * (CONSOLE_LINES + 5))
        assert len(state.console) == CONSOLE_LINES
        assert state.console_dropped == 6
        for _ in range(6):
            log.program(b"y" * (PROGRAM_BYTES // 4))
        assert sum(map(len, state.program)) <= PROGRAM_BYTES
        assert state.program_dropped == 2 * (PROGRAM_BYTES // 4)
        log.program(b"z" * (PROGRAM_BYTES + 10))
        assert sum(map(len, state.program)) == PROGRAM_BYTES
        log = OutputLog(state)
        for _ in range(10_000):
            log.program(b"-")
        assert len(state.program) <= 4_000
        assert (
            state.program_dropped + sum(map(len, state.program))
            == 6 * (PROGRAM_BYTES // 4) + PROGRAM_BYTES + 10_010
        )

    def test_a_line_without_end_goes_on_below(self) -> None:
        state = DebugState("gdb")
        OutputLog(state).console("a" * (2 * LINE_LENGTH + 1))
        assert [len(line) for line in state.console] == [LINE_LENGTH, LINE_LENGTH, 1]


class TestNotifier:
    async def test_changes_of_one_turn_come_together(self) -> None:
        notifier = Notifier()
        told: list[Change] = []
        leave = notifier.subscribe(told.append)
        notifier.tell(Change.RUN)
        notifier.tell(Change.FOCUS)
        await asyncio.sleep(0)
        assert told == [Change.RUN | Change.FOCUS]
        leave()
        leave()
        notifier.tell(Change.RUN)
        await asyncio.sleep(0)
        assert len(told) == 1

    async def test_nothing_is_told_while_it_is_held(self) -> None:
        notifier = Notifier()
        told: list[Change] = []
        notifier.subscribe(told.append)
        notifier.tell(Change.CONSOLE)
        notifier.hold()
        notifier.tell(Change.RUN)
        await asyncio.sleep(0.03)
        assert told == []
        notifier.release()
        await asyncio.sleep(0)
        assert told == [Change.CONSOLE | Change.RUN]

    async def test_a_flood_of_output_is_told_at_the_rate_of_a_screen(self) -> None:
        notifier = Notifier()
        told: list[Change] = []
        notifier.subscribe(told.append)
        for _ in range(300):
            notifier.tell(Change.PROGRAM)
            await asyncio.sleep(0)
        assert len(told) < 50
        before = len(told)
        notifier.tell(Change.RUN)
        await asyncio.sleep(0)
        assert told[before] & Change.RUN


class TestIntents:
    @pytest.fixture
    def program(self, tmp_path: Path) -> Path:
        program = tmp_path / "prog"
        program.write_bytes(b"")
        return program

    def test_they_come_back_for_the_real_program_however_it_is_named(self, program: Path, tmp_path: Path) -> None:
        store = IntentStore(program)
        assert store.load() == []
        kept = BreakpointIntent(4, "a.c:1", "x > 1", enabled=False)
        store.save([kept, BreakpointIntent(5, "b", temporary=True), BreakpointIntent(6, "*0x1136")])
        link = tmp_path / "link"
        link.symlink_to(program)
        assert IntentStore(link).load() == [BreakpointIntent(1, "a.c:1", "x > 1", enabled=False)]
        assert IntentStore(tmp_path / "other").load() == []
        assert json.loads(store.file.read_text())["program"] == str(program)

    def test_what_is_kept_is_nobody_elses_business(self, program: Path) -> None:
        store, watches, launch = IntentStore(program), WatchStore(program), LaunchStore(program)
        store.save([BreakpointIntent(1, "main", "secret == 3")])
        watches.save(["secret"])
        assert launch.save(LaunchSettings(environment={"TOKEN": "secret"})) == ""
        for file in (store.file, watches.file, launch.file):
            assert "secret" in file.read_text()
            assert [path.stat().st_mode & 0o077 for path in (file, file.parent)] == [0, 0]

    def test_equal_ones_are_kept_once(self, program: Path) -> None:
        store = IntentStore(program)
        store.save([BreakpointIntent(1, "main"), BreakpointIntent(2, "main")])
        assert len(IntentStore(program).load()) == 1

    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"\xff", b"[]", b'{"format": 99, "breakpoints": []}', b'{"format": 1}', b"[" * 100_000],
    )
    def test_a_file_that_is_no_store_is_put_aside(self, program: Path, content: bytes) -> None:
        store = IntentStore(program)
        store.save([BreakpointIntent(1, "main")])
        store.file.write_bytes(content)
        store = IntentStore(program)
        assert store.load() == []
        assert "cannot be read" in store.notice
        assert store.file.with_suffix(".json.bad").read_bytes() == content
        store.save([BreakpointIntent(1, "other")])
        assert [each.location for each in IntentStore(program).load()] == ["other"]

    def test_odd_rows_are_passed_over(self, program: Path) -> None:
        store = IntentStore(program)
        store.save([BreakpointIntent(1, "main")])
        rows = [{"location": 3}, "x", {}, {"location": "a\x1bb", "condition": 5, "enabled": "?"}]
        store.file.write_text(json.dumps({"format": 1, "breakpoints": rows, "new": 1}))
        assert IntentStore(program).load() == [BreakpointIntent(1, "a␛b")]

    def test_a_folder_that_cannot_be_written_is_one_notice(self, program: Path) -> None:
        store = IntentStore(program)
        store.file.parent.parent.mkdir(parents=True, exist_ok=True)
        store.file.parent.write_bytes(b"in the way")
        store.save([BreakpointIntent(1, "main")])
        assert "breakpoints cannot be kept" in store.notice
        assert "\n" not in store.notice

    def test_nothing_is_written_where_nothing_changed(self, program: Path) -> None:
        store = IntentStore(program)
        store.save([])
        assert not store.file.exists()
        store.save([BreakpointIntent(1, "main")])
        os.utime(store.file, (1, 1))
        store.save([BreakpointIntent(9, "main")])
        assert store.file.stat().st_mtime == 1


class TestEnds:
    """A signal's death comes in two records, which two reads may tell."""

    @staticmethod
    def follower() -> Follower:
        state = DebugState(rung="gdb")
        follower = Follower(GdbDebugger(), state, Notifier())
        follower.take(TargetRunning(0.0))
        return follower

    async def test_the_second_record_is_waited_for(self) -> None:
        follower = self.follower()
        follower.take(TargetExited())
        await asyncio.sleep(0.02)
        assert not follower.at_rest.is_set()
        follower.take(TargetExited(None, "SIGKILL"))
        assert follower.at_rest.is_set()
        assert (follower._state.run_detail, follower._state.fault) == ("ended by SIGKILL", True)

    async def test_in_the_other_order_nothing_is_forgotten(self) -> None:
        follower = self.follower()
        follower.take(TargetExited(None, "SIGKILL"))
        follower.take(TargetExited())
        assert follower.at_rest.is_set()
        assert (follower._state.run_detail, follower._state.fault) == ("ended by SIGKILL", True)

    async def test_what_has_no_second_record_is_at_rest_too(self) -> None:
        follower = self.follower()
        follower.take(TargetExited())
        async with asyncio.timeout(10):
            await follower.at_rest.wait()
        assert follower._state.run is Run.EXITED

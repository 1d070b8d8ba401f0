"""Records become events, whatever is missing in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ladder_backends.errors import MalformedRecord
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.translation import cut_value, exit_code_of, frame_of, number_of, stop_words, variable_of
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import AsyncRecord, PromptRecord, ResultRecord, StreamRecord, UnknownRecord
from ladder_backends.model.events import (
    BreakpointsChanged,
    EngineNotice,
    Event,
    FocusChanged,
    TargetExited,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Place

RECORDINGS = sorted((Path(__file__).parents[1] / "mi" / "recordings").glob("*.jsonl"))


WATCHED = "x: 1 → 2"


class Reader(EventReader):
    """A reader with what it told."""

    def __init__(self) -> None:
        self.told: list[Event] = []
        super().__init__(self.told.append, self._thread)

    def _thread(self, results) -> Focus | None:
        thread = number_of(results.get("thread-id"))
        return Focus.of(thread=thread) if thread is not None else None

    def lines(self, *lines: str) -> list[Event]:
        """Read lines of MI; returns the events they made."""
        before = len(self.told)
        for line in lines:
            record = parse(line.encode())
            assert not isinstance(record, PromptRecord)
            self.read(record)
        return self.told[before:]


def test_a_stop_needs_nothing_but_its_name() -> None:
    (stop,) = Reader().lines("*stopped")
    assert isinstance(stop, TargetStopped)
    assert (stop.reason, stop.description, stop.frame, stop.focus, stop.fault) == ("", "stopped", None, None, False)


@pytest.mark.parametrize(
    ("frame", "function", "place"),
    [
        ("{}", None, None),
        ('{addr="0x1"}', "??", None),
        ('{addr="0x1",func="f<<<(128,1,1),(128,1,1)>>>"}', "f<<<(128,1,1),(128,1,1)>>>", None),
        ('{func="f",file="a.c"}', "f", None),
        ('{func="f",file="a.c",line="0"}', "f", None),
        ('{func="f",file="a.c",line="x"}', "f", None),
        ('{func="f",fullname="/x/a.c",line="3"}', "f", Place("/x/a.c", 3, "/x/a.c")),
        ('{func="f",args=[],level="oops"}', "f", None),
        ('{func="f",args="none"}', "f", None),
        ('"text"', None, None),
        ("[]", None, None),
    ],
)
def test_frames_are_taken_as_far_as_they_go(frame: str, function: str | None, place: Place | None) -> None:
    (stop,) = Reader().lines(
        f'*stopped,reason="signal-received",frame={frame},thread-id="oops"'.replace("oops", "7")
    )
    assert isinstance(stop, TargetStopped)
    assert (stop.frame.function if stop.frame else None) == function
    assert (stop.frame.place if stop.frame else None) == place
    assert stop.focus == Focus.of(thread=7)


def test_running_is_told_once_however_many_threads_run() -> None:
    reader = Reader()
    told = reader.lines('*running,thread-id="all"', '*running,thread-id="1"', '*running,thread-id="2"')
    assert [type(event) for event in told] == [TargetRunning]
    reader.lines("*stopped")
    assert [type(event) for event in reader.lines("*running")] == [TargetRunning]


def test_an_error_takes_a_run_back() -> None:
    reader = Reader()
    reader.lines("*running")
    reader.read(ResultRecord(7, "error", {"msg": "Could not insert hardware watchpoint 3."}))
    (stop,) = reader.told[1:]
    assert isinstance(stop, TargetStopped)
    assert stop.description == "Could not insert hardware watchpoint 3."
    assert not reader.running
    reader.read(ResultRecord(7, "error", {"msg": "late"}))
    assert len(reader.told) == 2


def test_what_is_accepted_runs_unless_it_has_stopped_already() -> None:
    reader = Reader()
    before = reader.stops
    reader.lines("*running", "*stopped")
    reader.accepted(before)
    assert not reader.running
    reader.accepted(reader.stops)
    assert reader.running


@pytest.mark.parametrize(
    ("record", "code", "signal"),
    [
        ('*stopped,reason="exited-normally"', 0, ""),
        ('*stopped,reason="exited",exit-code="03"', 3, ""),
        ('*stopped,reason="exited",exit-code="0377"', 255, ""),
        ('*stopped,reason="exited",exit-code="x"', None, ""),
        ('*stopped,reason="exited-signalled",signal-name="SIGKILL",signal-meaning="Killed"', None, "SIGKILL"),
        ('=thread-group-exited,id="i1",exit-code="0200"', 128, ""),
        ('=thread-group-exited,id="i1"', None, ""),
    ],
)
def test_ends_have_codes_in_octal(record: str, code: int | None, signal: str) -> None:
    reader = Reader()
    reader.lines('=thread-group-started,id="i1",pid="4"', "*running")
    (ended,) = reader.lines(record)
    assert ended == TargetExited(code, signal)
    assert not reader.running
    assert not reader.alive


def test_one_of_two_processes_may_end() -> None:
    reader = Reader()
    reader.lines('=thread-group-started,id="i1"', '=thread-group-started,id="i2"')
    assert reader.lines('=thread-group-exited,id="i2"') == []
    assert reader.lines('=thread-group-exited,id="i1"') == [TargetExited()]


@pytest.mark.parametrize(
    ("results", "words", "fault"),
    [
        ({"reason": "breakpoint-hit", "bkptno": "2", "disp": "keep"}, "breakpoint 2", False),
        ({"reason": "breakpoint-hit", "bkptno": "2", "disp": "del"}, "breakpoint", False),
        ({"reason": "signal-received", "signal-name": "SIGINT"}, "interrupted", False),
        ({"reason": "signal-received", "signal-name": "0"}, "interrupted", False),
        # Another process has stopped it: nobody here asked for that.
        ({"reason": "signal-received", "signal-name": "SIGSTOP"}, "SIGSTOP", False),
        ({"reason": "signal-received", "signal-name": "SIGCONT"}, "SIGCONT", False),
        (
            {"reason": "signal-received", "signal-name": "SIGABRT", "signal-meaning": "Aborted"},
            "SIGABRT, Aborted",
            True,
        ),
        (
            {
                "reason": "signal-received",
                "signal-name": "CUDA_EXCEPTION_6",
                "signal-meaning": "Warp Misaligned Address",
            },
            "CUDA_EXCEPTION_6, Warp Misaligned Address",
            True,
        ),
        (
            {"reason": "watchpoint-trigger", "wpt": {"exp": "x"}, "value": {"old": "1", "new": "2"}},
            "x: 1 → 2",
            False,
        ),
        ({"reason": "read-watchpoint-trigger", "hw-rwpt": {"exp": "x"}, "value": {"value": "2"}}, "x = 2", False),
        ({"reason": "watchpoint-scope", "wpnum": "2"}, "watchpoint out of scope", False),
        ({"reason": "function-finished", "return-value": "9"}, "returned 9", False),
        ({"reason": "exec", "new-exec": "/bin/ls"}, "exec /bin/ls", False),
        ({"reason": "of-a-later-gdb\x1b"}, "of-a-later-gdb␛", False),
        ({"reason": ["a"]}, "stopped", False),
    ],
)
def test_reasons_are_words(results, words: str, fault: bool) -> None:
    assert stop_words(results)[1:] == (words, fault)


def test_warnings_are_notices_and_broken_lines_too() -> None:
    reader = Reader()
    reader.read(StreamRecord("&", "warning: Error disabling\x1b[2J\n"))
    reader.read(StreamRecord("&", "No symbol table.\n"))
    reader.read(StreamRecord("~", "Reading symbols\n"))
    reader.read(UnknownRecord(b"\xff*stop\x1b" + b"x" * 500, "no record begins so"))
    texts = [event.text for event in reader.told if isinstance(event, EngineNotice)]
    assert texts[0] == "warning: Error disabling␛[2J"
    assert texts[1].startswith("the engine sent a line that is not MI (no record begins so): \\xff*stop␛xxx")
    assert len(texts) == 2
    assert len(texts[1]) < 300
    assert list(reader.log) == ["warning: Error disabling␛[2J", "No symbol table."]


def test_each_hears_the_console_stream_for_itself() -> None:
    reader = Reader()
    with reader.hearing() as first:
        reader.read(StreamRecord("~", "Reading "))
        with reader.hearing() as second:
            reader.read(StreamRecord("~", "symbols\x1b\n\n"))
            reader.read(StreamRecord("&", "not of this stream\n"))
        reader.read(StreamRecord("~", "done\n"))
    reader.read(StreamRecord("~", "unheard\n"))
    assert first.lines == ["Reading symbols␛", "done"]
    assert second.lines == ["symbols␛"]


def test_that_addresses_differ_is_told_once_and_calmly() -> None:
    reader = Reader()
    for _ in range(2):
        reader.read(
            StreamRecord("&", "warning: Error disabling address space randomization: Operation not permitted\n")
        )
    (notice,) = (event for event in reader.told if isinstance(event, EngineNotice))
    assert notice.severity == "information"
    assert notice.text.startswith("addresses differ from run to run")


def test_moves_in_the_console_are_changes_of_focus() -> None:
    reader = Reader()
    (moved,) = reader.lines('=thread-selected,id="3",frame={level="2",func="f",addr="0x1"}')
    assert isinstance(moved, FocusChanged)
    assert moved.focus == Focus.of(thread=3)
    assert moved.frame is not None
    assert moved.frame.level == 2
    assert reader.lines('=memory-changed,thread-group="i1",addr="0x1",len="4"') == [
        FocusChanged(Focus.of(thread=3))
    ]


def test_threads_are_counted_one_by_one_and_in_bursts() -> None:
    reader = Reader()
    reader.lines('=thread-created,id="1",group-id="i1"', '=thread-created,id="2",group-id="i1"')
    assert reader.threads == 2
    reader.read(AsyncRecord("=", "thread-exited", {"id": "2"}))
    assert reader.threads == 1


def test_values_are_cut_cleaned_and_told_from_errors() -> None:
    assert cut_value("x" * 5_000) == ("x" * 999 + "…", True)
    variable = variable_of({"name": "a\x1b", "type": "int", "value": "1\n2", "arg": "1"})
    assert (variable.name, variable.value, variable.is_argument) == ("a␛", "1␊2", True)
    error = variable_of({"name": "a", "value": "<error reading variable: Cannot access memory at address 0x0>"})
    assert (error.value, error.error) == ("", "error reading variable: Cannot access memory at address 0x0")
    huge = variable_of({"name": "a", "value": "y" * 2_000_000})
    assert huge.cut
    assert len(huge.value) == 1_000
    assert exit_code_of({}) is None
    assert frame_of(None) is None


def records_of(recording: Path) -> Iterator[object]:
    for line in recording.read_text("utf-8", "surrogateescape").splitlines():
        row = json.loads(line)
        if row.get("d") == "<" and "s" in row:
            try:
                yield parse(row["s"].encode("utf-8", "surrogateescape"))
            except MalformedRecord as error:
                yield UnknownRecord(error.raw if isinstance(error.raw, bytes) else error.raw.encode(), error.why)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_transcripts_of_cuda_gdb_are_read_without_a_stumble(recording: Path) -> None:
    reader = Reader()
    stops = 0
    for record in records_of(recording):
        if not isinstance(record, PromptRecord | ResultRecord):
            reader.read(record)  # type: ignore[arg-type]
        stops += isinstance(record, AsyncRecord) and record.cls == "stopped"
    ends = [event for event in reader.told if isinstance(event, TargetStopped | TargetExited)]
    assert len(ends) >= stops
    for event in reader.told:
        text = str(event)
        assert "\x1b" not in text
        assert not isinstance(event, BreakpointsChanged) or event.bindings


def some_value(random: Random, depth: int = 0):
    names = ("id", "frame", "bkpt", "thread-id", "args", "line", "reason", "number", "locations", "value", "wpt")
    choice = random.randrange(3 if depth < 3 else 1)
    if choice == 0:
        return random.choice(["", "1", "-1", "x", "\x1b[2J", "99999999999999999999", "<PENDING>", "1.2", "exited"])
    if choice == 1:
        return [some_value(random, depth + 1) for _ in range(random.randrange(3))]
    return {name: some_value(random, depth + 1) for name in random.sample(names, random.randrange(len(names)))}


def test_records_of_any_shape_make_events_or_nothing() -> None:
    random = Random(7)
    reader = Reader()
    for _ in range(5_000):
        name = random.choice(sorted(EventReader._READERS))
        kind, cls = name[0], name[1:]
        results = some_value(random)
        reader.read(AsyncRecord(kind, cls, results if isinstance(results, dict) else {"": results}))
    assert reader.told
    assert not any("\x1b" in str(event) for event in reader.told)


def test_a_thread_that_ends_before_its_run_is_accepted_leaves_the_next_one_standing() -> None:
    reader = Reader()
    reader.table.non_stop = True
    reader.lines(
        '=thread-created,id="1",group-id="i1"',
        '=thread-created,id="2",group-id="i1"',
        '*stopped,reason="breakpoint-hit",bkptno="1",thread-id="1",stopped-threads=["1"]',
        '*stopped,reason="breakpoint-hit",bkptno="1",thread-id="2",stopped-threads=["2"]',
    )
    assert reader.thread == 1
    stops = reader.stops
    reader.lines('*running,thread-id="1"', '=thread-exited,id="1",group-id="i1"')
    reader.accepted(stops)
    assert reader.thread == 2
    assert reader.table.standing(2) is not None
    assert not reader.running


def test_the_end_of_a_run_is_that_of_its_program_in_whichever_order_two_ends_are_told() -> None:
    for first, second in ((1, 2), (2, 1)):
        reader = Reader()
        reader.lines(
            '=thread-group-started,id="i1",pid="10"',
            '=thread-created,id="1",group-id="i1"',
            '=thread-group-started,id="i2",pid="20"',
            '=thread-created,id="2",group-id="i2"',
            '*running,thread-id="all"',
        )
        for number in (first, second):
            code = '"0"' if number == 1 else '"050"'
            word = "exited-normally" if number == 1 else f'exited",exit-code={code[:-1]}'
            reader.lines(
                f'=thread-exited,id="{number}",group-id="i{number}"',
                f'=thread-group-exited,id="i{number}",exit-code={code}',
                f'*stopped,reason="{word}"',
            )
        ends = [event for event in reader.told if isinstance(event, TargetExited)]
        assert {event.code for event in ends} == {0}, first
        said = [event.text for event in reader.told if isinstance(event, EngineNotice)]
        assert (said[-1] == "process 20 exited with code 40") is (second == 2)

"""From MI notices to typed events, with what must be remembered between them."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from ladder_backends.gdb.breakpoint_limits import why_not_inserted
from ladder_backends.gdb.breakpoint_rows import row_in
from ladder_backends.gdb.breakpoints import BreakpointTable
from ladder_backends.gdb.heard import Heard
from ladder_backends.gdb.history import HistoryWords
from ladder_backends.gdb.log_points import PARAMETER, SEPARATOR
from ladder_backends.gdb.process_table import ProcessTable
from ladder_backends.gdb.thread_table import ThreadTable
from ladder_backends.gdb.translation import (
    exit_code_of,
    exit_words,
    frame_of,
    number_of,
    returned_by,
    stop_words,
    text_of,
)
from ladder_backends.mi.records import AsyncRecord, ResultRecord, StreamRecord, UnknownRecord, Value, all_values
from ladder_backends.mi.session import Notice
from ladder_backends.model.events import (
    BreakpointsChanged,
    EngineNotice,
    Event,
    FocusChanged,
    FocusEnded,
    LogWritten,
    RecordingChanged,
    SettingChanged,
    TargetExited,
    TargetRunning,
    TargetStopped,
    ThreadsChanged,
    ThreadsRunning,
    ThreadStopped,
)
from ladder_backends.model.focus import Focus
from ladder_backends.text import clean, decode

_LOG_LINES = 20
_OF_NO_PROCESS = frozenset(("cmd-param-changed", "breakpoint-created", "breakpoint-modified", "breakpoint-deleted"))

_EXECUTES = " is executing new program: "
_KEEPS_LAYOUT = "warning: Error disabling address space randomization"
_LAYOUT_MOVES = EngineNotice(
    "addresses differ from run to run: this container does not let the engine switch that off", "information"
)
# gdb 14 and later warn of each source file they do not find; the source view says so where it matters.
_NO_SOURCE = re.compile(r"warning: \d+\t.*: No such file or directory")
# CPython's script is run by name where it is needed, with no path declared safe.
_PYTHON_SCRIPT = re.compile(r'warning: File ".*python[\d.]*-gdb\.py" auto-loading has been declined')
# A Rust program names its printers, which come with the compiler; and tables of its debug information disagree.
_OF_RUST = re.compile(r"warning: (Missing auto-load script at offset|.*, but not in symtab)")


def _is_noise(warning: str) -> bool:
    return bool(_NO_SOURCE.match(warning) or _PYTHON_SCRIPT.match(warning) or _OF_RUST.match(warning))


class EventReader:
    """Reads an engine's notices in order.

    Attributes:
        running: The target runs; in non-stop, the focused thread does.
        alive: A target process exists.
        stops: How often the target has stopped or ended.
        stops_hard: A SIGSTOP that comes now is ours.
        thread: The engine's number of the focused thread, or None.
        function: The function the target was told to stand in last.
        table: The threads.
        processes: The processes.
        own_stops: Breakpoints of ours that no list shows, by the engine's number, with the words of a stop at one.
        breakpoints: The engine's breakpoints.
        parameters: The engine's settings that were changed in its command line, by name.
        log: The last lines of the engine's log stream, clean.
        amend: What a dialect knows better of a stop, from its record.
        overhear: Takes each line of the console and log streams, clean.
        overhear_console: Takes what the command line wrote, in pieces.
    """

    def __init__(
        self, emit: Callable[[Event], None], focus_of: Callable[[Mapping[str, Value]], Focus | None]
    ) -> None:
        self._emit = emit
        self._focus_of = focus_of
        self._history = HistoryWords()
        self._told_layout = False
        self.table = ThreadTable()
        self.processes = ProcessTable()
        self.own_stops: dict[str, str] = {}
        self.running = False
        self.alive = False
        self.stops = 0
        self.stops_hard = False
        self.thread: int | None = None
        self.function = ""
        self.breakpoints = BreakpointTable(lambda: self.function)
        self.parameters: dict[str, str] = {}
        self.log: deque[str] = deque(maxlen=_LOG_LINES)
        self._hearers: list[Heard] = []
        self._rehearsal: asyncio.Event | None = None
        self.amend: Callable[[Mapping[str, Value], TargetStopped], TargetStopped] = lambda _, stop: stop
        self.overhear: Callable[[str], None] = lambda _: None
        self.overhear_console: Callable[[str], None] = lambda _: None

    @property
    def threads(self) -> int:
        """How many threads the target has."""
        return len(self.table)

    def read(self, notice: Notice) -> None:
        """Take one notice."""
        if self.deaf and not (isinstance(notice, AsyncRecord) and notice.cls in _OF_NO_PROCESS):
            if isinstance(notice, AsyncRecord) and notice.cls == "stopped" and self._rehearsal is not None:
                self._rehearsal.set()
        elif isinstance(notice, AsyncRecord):
            name = f"{notice.kind}{notice.cls}"
            reader = self._READERS.get(name)
            if reader is not None:
                reader(self, notice.results)
        elif isinstance(notice, StreamRecord):
            self.read_stream(notice)
        elif isinstance(notice, ResultRecord):
            self._taken_back(notice)
        elif isinstance(notice, UnknownRecord):
            raw = decode(notice.raw[:200]).replace("\n", "␊")
            self._emit(EngineNotice(f"the engine sent a line that is not MI ({notice.why}): {raw}"))

    def accepted(self, stops: int) -> None:
        """The engine has accepted to run; `stops` is as it was before, and tells whether that is over already."""
        if self.stops == stops:
            self._running({"thread-id": str(self.thread)} if self.thread is not None else {})

    def process_key(self) -> tuple[object, ...]:
        """Tells the process that the engine speaks of from others, and one run of it from the next."""
        name = self.table.process_of(self.thread) if self.thread is not None else ""
        return name, self.processes.pids.get(name)

    def stood_still(self, stop: TargetStopped) -> None:
        """The target was found to stand; the engine has not told of it."""
        self.running = False
        self.stops += 1
        if stop.focus is not None:
            self.thread = stop.focus.index("thread")
        self._emit(stop)

    def turn_to(self, thread: int) -> None:
        """Another thread is the focused one from now on."""
        self.thread = thread
        if self.table.non_stop:
            self.running = self.table.standing(thread) is None

    @property
    def deaf(self) -> bool:
        """What is told now of a process, or written, is of a rehearsal."""
        return self._rehearsal is not None

    @contextlib.contextmanager
    def rehearsing(self) -> Iterator[asyncio.Event]:
        """Hear nothing of processes; what is yielded is set as soon as one stands."""
        self._rehearsal = asyncio.Event()
        try:
            yield self._rehearsal
        finally:
            self._rehearsal = None

    @contextlib.contextmanager
    def hearing(self) -> Iterator[Heard]:
        """Capture what is written into the console stream."""
        heard = Heard()
        self._hearers.append(heard)
        try:
            yield heard
        finally:
            self._hearers.remove(heard)

    def read_stream(self, record: StreamRecord) -> None:
        """Take text of the console, target or log stream; the command line shows the console's own."""
        if record.kind == "~":
            for heard in self._hearers:
                heard.add(record.text)
        for line in clean(record.text).splitlines():
            if line.strip():
                if record.kind == "&":
                    self.log.append(line)
                self._history.hear(line)
                self.overhear(line)
                if _EXECUTES in line:
                    self.processes.strayed = True
                if record.kind == "&" and line.startswith("warning: ") and not _is_noise(line):
                    self._warned(line)

    def _warned(self, line: str) -> None:
        if not line.startswith(_KEEPS_LAYOUT):
            self._emit(EngineNotice(line))
        elif not self._told_layout:
            # It comes with each start.
            self._told_layout = True
            self._emit(_LAYOUT_MOVES)

    def _running(self, results: Mapping[str, Value]) -> None:
        self.alive = True
        self.breakpoints.process_runs()
        self._history.forget()
        if self.table.non_stop:
            thread = number_of(results.get("thread-id"))
            self.table.run(None if thread is None else (thread,))
            self._emit(ThreadsRunning(None if thread is None else (thread,)))
            if thread is not None and self.thread is not None and thread != self.thread:
                return
        if not self.running:
            self.running = True
            self._emit(TargetRunning(time.monotonic()))

    def _stopped(self, results: Mapping[str, Value]) -> None:
        at = time.monotonic()
        # A signal that is only printed leaves its words in the record of the next stop, before that one's own.
        results = {name: all_values(results, name)[-1] for name in results}
        reason = results.get("reason")
        if isinstance(reason, str) and reason.startswith("exited"):
            self.running = False
            self.stops += 1
            if self.processes.one_ended():
                self._one_of_many_ended(results, at)
            else:
                self._exited(results)
            return
        self.alive = True
        thread = number_of(results.get("thread-id"))
        word, words, fault = stop_words(results)
        frame = frame_of(results.get("frame"))
        self.function = frame.function if frame is not None else ""
        if (recorded := self._history.reason(results, self.function)) is not None:
            word, words = recorded
        elif own := self.own_stops.pop(text_of(results.get("bkptno")), ""):
            word, words = "location-reached", own
        else:
            word, words = self.breakpoints.stop_words(results, word, words)
        if self.stops_hard and results.get("signal-name") == "SIGSTOP":
            words = "interrupted"
        returned = returned_by(results) if word == "function-finished" else None
        stop = TargetStopped(word, words, frame, self._focus_of(results), at, fault, returned)
        stop = self.amend(results, stop)
        if thread is not None and isinstance(results.get("stopped-threads"), list):
            # Only in non-stop there is a list; a recording may have no other word of it.
            self.table.non_stop = True
            self.table.stop(thread, stop)
            if self.thread is not None and thread != self.thread:
                self._emit(ThreadStopped(thread, stop))
                return
        self.running = False
        self.stops += 1
        if thread is not None:
            self.thread = thread
        self._emit(stop)

    def _taken_back(self, answer: ResultRecord) -> None:
        """An engine may accept to run and then refuse, as with more watchpoints than the hardware has."""
        if answer.cls == "error" and self.running:
            self.running = False
            self.stops += 1
            words = text_of(answer.results.get("msg")) or "the engine refused to run"
            if why := why_not_inserted(self.log):
                words = why.partition(":")[0]
                self._emit(EngineNotice(why, "error"))
                self.log.clear()
            self._history.hear(words)
            recorded = self._history.reason({}, "")
            word, words = recorded if recorded is not None else ("error", words)
            focus = self._focus_of({"thread-id": str(self.thread)}) if self.thread is not None else None
            fault = recorded is None
            self._emit(TargetStopped(word, words, None, focus, time.monotonic(), fault=fault))

    def _exited(self, results: Mapping[str, Value]) -> None:
        self.running = False
        self.alive = False
        self.thread = None
        signal = text_of(results.get("signal-name"))
        code = exit_code_of(results)
        if results.get("reason") == "exited-normally":
            code = 0
        if self.processes.own_end is not None:
            self._emit(EngineNotice(self.processes.gone_words(exit_words(results)), "information"))
            code, signal = self.processes.own_end
        self._emit(TargetExited(code, signal))

    def _one_of_many_ended(self, results: Mapping[str, Value], at: float) -> None:
        """One process of several has ended: the others stand, and a thread of theirs is the focused one now."""
        words = self.processes.gone_words(exit_words(results))
        code = 0 if results.get("reason") == "exited-normally" else exit_code_of(results)
        self.processes.outlived(code, text_of(results.get("signal-name")))
        self.thread = self.table.successor()
        focus = self._focus_of({"thread-id": str(self.thread)}) if self.thread is not None else None
        self._emit(TargetStopped("process-ended", words, None, focus, at))

    def _group_started(self, results: Mapping[str, Value]) -> None:
        pid = number_of(results.get("pid"))
        if not self.processes.start(text_of(results.get("id")), pid):
            self.breakpoints.count_anew()
        elif pid is not None:
            self._emit(EngineNotice(f"fork: process {pid} is held now", "information"))
        self.breakpoints.stale = True
        self.alive = True

    def _group_exited(self, results: Mapping[str, Value]) -> None:
        left = self.processes.end(text_of(results.get("id")))
        if left is not None and self.processes and not self.processes.ending and "exit-code" not in results:
            self._emit(EngineNotice(f"process {left} runs on without the debugger", "information"))
        self.table.end_process(text_of(results.get("id")))
        self.breakpoints.process_ended()
        if self.processes:
            return
        self.stops += 1
        # The stop record that follows tells more; a killed or detached target has none.
        self.running = False
        self.alive = False
        self.thread = None
        if "exit-code" in results and (self.breakpoints.logs or self.processes.own_end is not None):
            # What log points wrote last is told between the two records; and this end may not be the program's.
            return
        self._emit(TargetExited(exit_code_of(results), words=self.processes.take_ending()))

    def _thread_created(self, results: Mapping[str, Value]) -> None:
        # Neighbouring records come as one that holds all ids.
        process = text_of(results.get("group-id"))
        created = _numbers(results)
        self.table.create(created, process)
        self._emit(ThreadsChanged(created=tuple((thread, process) for thread in created)))

    def _thread_exited(self, results: Mapping[str, Value]) -> None:
        ended = _numbers(results)
        self.table.end(ended)
        self._emit(ThreadsChanged(ended=ended))
        gone, next_one = self.thread, self.table.successor()
        if gone in ended and gone is not None and next_one is not None and self.table.non_stop:
            # Whoever waits for the engine to accept that this thread runs must not take the next one for it.
            self.stops += 1
            self.turn_to(next_one)
            focus = self._focus_of({"thread-id": str(next_one)})
            if focus is not None:
                self._emit(FocusEnded(gone, focus, self.table.standing(next_one)))

    def _thread_selected(self, results: Mapping[str, Value]) -> None:
        thread = number_of(results.get("id"))
        if thread is not None:
            self.turn_to(thread)
        frame = frame_of(results.get("frame"))
        self.function = frame.function if frame is not None else self.function
        self._emit(FocusChanged(self._focus_of({"thread-id": text_of(results.get("id"))}), frame))

    def _memory_changed(self, results: Mapping[str, Value]) -> None:
        self.look_again()

    def look_again(self) -> None:
        """What is known of a target that stands may be stale."""
        if not self.running and self.thread is not None:
            self._emit(FocusChanged(self._focus_of({"thread-id": str(self.thread)})))

    def _parameter_changed(self, results: Mapping[str, Value]) -> None:
        name, value = text_of(results.get("param")), text_of(results.get("value"))
        if name == PARAMETER:
            self._logged(results.get("value"))
            return
        self.parameters[name] = value
        if name == "non-stop":
            self.table.non_stop = value == "on"
        self._emit(SettingChanged(name, value))

    def _logged(self, told: Value | None) -> None:
        _, _, messages = told.partition(" ") if isinstance(told, str) else ("", "", "")
        written: list[int] = []
        for message in messages.split(SEPARATOR):
            intent, _, text = message.partition(" ")
            if intent.isdecimal():
                written.append(int(intent))
                self._emit(LogWritten(int(intent), text_of(text)))
        if self.breakpoints.wrote(written):
            self._emit(BreakpointsChanged(self.breakpoints.bindings))

    def _breakpoint(self, results: Mapping[str, Value]) -> None:
        row = row_in(results)
        if row is None or text_of(row.get("number")) in self.own_stops:
            return
        if self.breakpoints.update(row):
            self._emit(BreakpointsChanged(self.breakpoints.bindings))

    def hear_console(self, text: str) -> None:
        """Take what the command line wrote: some words that belong to a stop come there alone."""
        self.overhear_console(text)
        if _EXECUTES in text:
            self.processes.strayed = True
        if self._history.recording:
            for line in text.splitlines():
                self._history.hear(line)

    def _library_unloaded(self, results: Mapping[str, Value]) -> None:
        self.breakpoints.stale = True

    def _record_started(self, results: Mapping[str, Value]) -> None:
        self._history.recording = True
        self._emit(RecordingChanged(text_of(results.get("method")) or "full"))

    def _record_stopped(self, results: Mapping[str, Value]) -> None:
        self._history.recording = False
        self._emit(RecordingChanged(""))

    def _breakpoint_deleted(self, results: Mapping[str, Value]) -> None:
        if self.breakpoints.remove(text_of(results.get("id"))):
            self._emit(BreakpointsChanged(self.breakpoints.bindings))

    _READERS: Mapping[str, Callable[[EventReader, Mapping[str, Value]], None]] = {
        "*running": _running,
        "*stopped": _stopped,
        "=thread-group-started": _group_started,
        "=thread-group-exited": _group_exited,
        "=thread-created": _thread_created,
        "=thread-exited": _thread_exited,
        "=thread-selected": _thread_selected,
        "=memory-changed": _memory_changed,
        "=cmd-param-changed": _parameter_changed,
        "=library-unloaded": _library_unloaded,
        "=record-started": _record_started,
        "=record-stopped": _record_stopped,
        "=breakpoint-created": _breakpoint,
        "=breakpoint-modified": _breakpoint,
        "=breakpoint-deleted": _breakpoint_deleted,
    }


def _numbers(results: Mapping[str, Value]) -> tuple[int, ...]:
    """The ids of a record, or of several that came as one."""
    return tuple(number for value in all_values(results, "id") if (number := number_of(value)) is not None)

"""From an engine's records to what each of its ranks does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping

from ladder_backends.gdb.translation import number_of, text_of
from ladder_backends.mi.records import AsyncRecord, Repeated, Value, all_values
from ladder_backends.mi.session import Notice
from ladder_backends.model.ranks import RankFrame
from ladder_backends.ranks.engine.held_rank import HeldRank, Hold
from ladder_backends.ranks.engine.rank_events import RankEvent, RankEventKind

_FATAL = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGTRAP"})
_ENDS = ("exited", "exited-normally", "exited-signalled")
_NEXT_RECORD = 0.2
"""Seconds within which an engine tells by which signal a process ended, once it has told that it did."""

_REASONS = {
    "breakpoint-hit": "breakpoint",
    "end-stepping-range": "step",
    "function-finished": "function finished",
    "location-reached": "location reached",
    "watchpoint-trigger": "watchpoint",
    "signal-received": "signal",
}


class GroupReader:
    """Keeps the ranks of one engine up to date, and tells of what happens to them.

    Attributes:
        ranks: By inferior, those that were released as well.
        hits: Called at a breakpoint with its number and the rank; True has the rank go on.
    """

    def __init__(self, tell: Callable[[RankEvent], None]) -> None:
        self._tell = tell
        self.ranks: dict[str, HeldRank] = {}
        self.hits: Callable[[str, HeldRank], bool] = lambda _number, _held: False
        self.changed: Callable[[], None] = lambda: None
        self.moved: Callable[[Mapping[str, Value]], None] = lambda _row: None
        self._groups: dict[int, str] = {}
        self._ending: HeldRank | None = None

    def read(self, record: Notice) -> None:
        """Take account of one record."""
        if not isinstance(record, AsyncRecord):
            return
        if record.cls == "stopped":
            self._stopped(record.results)
        elif record.cls == "running":
            self._running(record.results)
        elif record.cls == "thread-created":
            self._created(record.results)
        elif record.cls == "thread-exited":
            self._exited_threads(record.results)
        elif record.cls == "thread-group-exited":
            self._exited(record.results)
        elif record.cls == "breakpoint-modified":
            row = record.results.get("bkpt")
            if isinstance(row, dict):
                self.moved(row)

    def group_of(self, thread: int) -> HeldRank | None:
        """The rank that a thread belongs to."""
        return self.ranks.get(self._groups.get(thread, ""))

    def goes_on(self, held: HeldRank, threads: Iterable[int]) -> None:
        """Threads are about to be told to run: a stop that is told from now on is a new one."""
        for thread in list(threads):
            held.threads[thread] = False
        self._ran(held)

    def _ran(self, held: HeldRank) -> None:
        if held.hold is Hold.CRASHED and not held.threads.get(held.current or 0, False):
            held.hold, held.reason, held.signal = Hold.RUNNING, "", ""
        if self._settle(held):
            self._say(RankEventKind.RESUMED, held)

    def lost(self, why: str) -> None:
        """The engine is gone."""
        for held in self.ranks.values():
            if held.live:
                held.hold, held.since = Hold.LOST, None
                held.threads.clear()
                self._say(RankEventKind.LOST, held, why)
        self.changed()

    def released(self, held: HeldRank) -> None:
        """A rank was let go."""
        if held.live:
            if held.since is not None:
                held.pause = time.monotonic() - held.since
            held.hold, held.since = Hold.RELEASED, None
            held.threads.clear()
            self._say(RankEventKind.RELEASED, held)
            self.changed()

    def _created(self, results: Mapping[str, Value]) -> None:
        held = self.ranks.get(text_of(results.get("group-id")))
        for each in _ids(results):
            if held is not None:
                self._groups[each] = held.group
                # Of a process that is attached to, each thread stops in its turn, and is told of then.
                held.threads.setdefault(each, False)

    def _exited_threads(self, results: Mapping[str, Value]) -> None:
        for each in _ids(results):
            held = self.ranks.get(self._groups.pop(each, ""))
            if held is not None:
                held.threads.pop(each, None)
                self._settle(held)

    def _running(self, results: Mapping[str, Value]) -> None:
        told = text_of(results.get("thread-id"))
        for held in self._spoken_of(told):
            for thread in held.threads:
                if told == "all" or str(thread) == told:
                    held.threads[thread] = False
            self._ran(held)

    def _stopped(self, results: Mapping[str, Value]) -> None:
        reason = text_of(results.get("reason"))
        if reason in _ENDS:
            self._told_end(text_of(results.get("signal-name")))
            return
        told = results.get("stopped-threads")
        threads = (
            [number for each in told if (number := number_of(each)) is not None] if isinstance(told, list) else []
        )
        number = number_of(results.get("thread-id"))
        if number is not None and number not in threads:
            threads.append(number)
        if told == "all":
            threads = list(self._groups)
        for thread in threads:
            held = self.group_of(thread)
            if held is not None:
                held.threads[thread] = True
                self._settle(held)
        held = self.group_of(number) if number is not None else None
        if held is None or number is None:
            return
        signal = text_of(results.get("signal-name"))
        if not reason or (reason == "signal-received" and signal in ("0", "SIGSTOP", "")):
            # It was asked to stand: by the attach, or by an interrupt.
            if held.stands and held.hold is Hold.STOPPED:
                held.reason = held.reason or "interrupt"
                self._say(RankEventKind.STOPPED, held, held.reason)
            return
        if reason == "breakpoint-hit" and self.hits(text_of(results.get("bkptno")), held):
            return
        held.current, held.frame = number, rank_frame(results.get("frame"))
        held.reason = f"signal {signal}" if reason == "signal-received" else _REASONS.get(reason, reason)
        if reason == "signal-received":
            held.signal = signal
        if signal in _FATAL:
            held.hold = Hold.CRASHED
            self._say(RankEventKind.CRASHED, held, text_of(results.get("signal-meaning")))
        else:
            self._say(RankEventKind.STOPPED, held, held.reason)
        self.changed()

    def _exited(self, results: Mapping[str, Value]) -> None:
        held = self.ranks.get(text_of(results.get("id")))
        if held is None or not held.live or held.hold is Hold.LEAVING:
            # The engine says of one that it lets go that it has exited, too.
            return
        code = text_of(results.get("exit-code"))
        held.hold, held.since = Hold.EXITED, None
        held.threads.clear()
        held.signal, held.code = "", None
        try:
            held.code = int(code, 8) if code else None
        except ValueError:
            held.code = None
        if held.code is not None:
            self._say(RankEventKind.EXITED, held, ending_words(held.code, ""))
        else:
            # By which signal is told in the next record.
            self._told_end("")
            self._ending = held
            asyncio.get_running_loop().call_later(_NEXT_RECORD, self._told_end_of, held)
        self.changed()

    def _told_end(self, signal: str) -> None:
        held, self._ending = self._ending, None
        if held is not None:
            held.signal = signal
            self._say(RankEventKind.EXITED, held, ending_words(held.code, signal))
            self.changed()

    def _told_end_of(self, held: HeldRank) -> None:
        if self._ending is held:
            self._told_end("")

    def _settle(self, held: HeldRank) -> bool:
        before = held.hold
        changed = held.settle()
        if changed and held.hold is Hold.RUNNING and before is not Hold.ATTACHING:
            held.reason, held.signal, held.frame, held.current = "", "", None, None
        self.changed()
        return changed

    def _spoken_of(self, told: str) -> list[HeldRank]:
        if told == "all":
            return [held for held in self.ranks.values() if held.live]
        number = number_of(told)
        held = self.group_of(number) if number is not None else None
        return [held] if held is not None else []

    def _say(self, kind: RankEventKind, held: HeldRank, text: str = "") -> None:
        self._tell(RankEvent(kind, held.rank.rank, time.monotonic(), text, held.signal, held.code, held.frame))


def ending_words(code: int | None, signal: str) -> str:
    """How a rank ended: `exit status 3`, `ended by SIGTERM`."""
    if signal:
        return f"ended by {signal}"
    return f"exit status {code}" if code is not None else "ended"


def rank_frame(value: Value | None) -> RankFrame | None:
    """A frame of a record as one of a rank; None where there is none."""
    if not isinstance(value, dict):
        return None
    return RankFrame(
        text_of(value.get("func")) or "??",
        text_of(value.get("fullname")) or text_of(value.get("file")),
        number_of(value.get("line")) or 0,
        text_of(value.get("from")),
    )


def _ids(results: Mapping[str, Value]) -> list[int]:
    ids = all_values(results, "id")
    flat = [each for one in ids for each in (one if isinstance(one, Repeated) else [one])]
    return [number for each in flat if (number := number_of(each)) is not None]

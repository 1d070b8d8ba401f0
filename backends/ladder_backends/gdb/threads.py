"""gdb's threads: lists, stacks in batches, scheduler locking, and non-stop."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence

from ladder_backends.debugger.facets.threads import Threads
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.translation import frame_of, number_of, rows_of, text_of
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameWindow, file_name
from ladder_backends.model.thread import Locking, Thread, ThreadState

_LIST_DEADLINE = 30.0
"""Seconds for a list of all threads; a quarter of a millisecond each is usual."""

# "Thread 0x7ffff7dd16c0 (LWP 361)", "LWP 361", "process 361", "Thread 361.362"
_SYSTEM_ID = re.compile(r"\b(?:LWP |process |Thread \d+\.)(\d+)")


class GdbThreads(Threads):
    """Asks gdb about threads and tells it which of them may run."""

    def __init__(self, engine: Engine, events: EventReader) -> None:
        self._engine = engine
        self._events = events

    @property
    def non_stop(self) -> bool:
        """Threads stop one by one."""
        return self._events.table.non_stop

    async def list(self) -> Sequence[Thread]:
        """Every thread, by `-thread-info`."""
        answer = await self._engine.command("-thread-info", deadline=_LIST_DEADLINE)
        return [thread for row in rows_of(answer.results.get("threads")) if (thread := self._thread(row))]

    async def one(self, thread: int) -> Thread | None:
        """One thread."""
        try:
            answer = await self._engine.command(f"-thread-info {thread}")
        except CommandFailed:
            return None
        rows = [row for row in rows_of(answer.results.get("threads")) if number_of(row.get("id")) == thread]
        return self._thread(rows[0]) if rows else None

    async def stacks(self, threads: Sequence[int], depth: int) -> Mapping[int, FrameWindow]:
        """The innermost frames of each thread; all questions go out at once."""
        answers = await asyncio.gather(
            *(self._engine.command(f"-stack-list-frames --thread {thread} 0 {depth}") for thread in threads),
            return_exceptions=True,
        )
        stacks: dict[int, FrameWindow] = {}
        for thread, answer in zip(threads, answers, strict=True):
            if isinstance(answer, ResultRecord):
                stacks[thread] = _window(answer.results.get("stack"), depth)
            elif not isinstance(answer, CommandFailed):
                raise answer
        return stacks

    async def processes(self) -> Mapping[str, str]:
        """Processes by `-list-thread-groups`."""
        answer = await self._engine.command("-list-thread-groups")
        return {
            text_of(row.get("id")): " · ".join(
                part for part in (file_name(text_of(row.get("executable"))), text_of(row.get("pid"))) if part
            )
            for row in rows_of(answer.results.get("groups"))
            if "pid" in row
        }

    def standing(self, thread: int) -> TargetStopped | None:
        """Where a thread stands, in non-stop."""
        return self._events.table.standing(thread) if self.non_stop else None

    def any_runs(self) -> bool:
        """Some thread runs."""
        return self._events.running or (self.non_stop and self._events.alive and self._events.table.any_runs())

    async def locking(self) -> Locking:
        """The value of `scheduler-locking`."""
        answer = await self._engine.command("-gdb-show scheduler-locking")
        try:
            return Locking(text_of(answer.results.get("value")))
        except ValueError:
            return Locking.OFF

    async def lock(self, locking: Locking) -> None:
        """Set `scheduler-locking`."""
        await self._engine.command(f"-gdb-set scheduler-locking {locking}")

    async def set_non_stop(self, on: bool) -> None:
        """Set `non-stop`; gdb refuses once the target runs."""
        await self._engine.command(f"-gdb-set non-stop {'on' if on else 'off'}")
        self._events.table.non_stop = on

    async def go_on(self, threads: Sequence[int] | None = None) -> None:
        """Continue threads."""
        await self._each("-exec-continue", threads)

    async def hold(self, threads: Sequence[int] | None = None) -> None:
        """Interrupt threads."""
        await self._each("-exec-interrupt", threads)

    async def find_stop(self) -> None:
        """Where gdb says nothing about the end of the only thread that ran, every thread that is left stands."""
        threads = await self.list()
        events = self._events
        if not threads or not events.running or any(thread.state is ThreadState.RUNNING for thread in threads):
            return
        gone, now = events.thread, threads[0]
        if any(thread.id == gone for thread in threads):
            return
        await self._engine.command(f"-thread-select {now.id}")
        events.stood_still(
            TargetStopped(
                "thread-exited",
                f"thread {gone} has ended",
                now.frame,
                Focus.of(thread=now.id),
                time.monotonic(),
            )
        )

    async def _each(self, command: str, threads: Sequence[int] | None) -> None:
        """A command for threads, or for all; one that has ended or does so already is passed over."""
        asks = [f"{command} --all"] if threads is None else [f"{command} --thread {each}" for each in threads]
        answers = await asyncio.gather(*(self._engine.command(text) for text in asks), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, CommandFailed):
                raise answer

    def _thread(self, row: Mapping[str, Value]) -> Thread | None:
        number = number_of(row.get("id"))
        if number is None:
            return None
        told = text_of(row.get("target-id"))
        system_id = _SYSTEM_ID.search(told)
        return Thread(
            id=number,
            system_id=int(system_id[1]) if system_id else None,
            # A core's threads have no names; what remains of the engine's words tells at least what they are.
            name=text_of(row.get("name")) or text_of(row.get("details")),
            state=ThreadState.RUNNING if row.get("state") == "running" else ThreadState.STOPPED,
            frame=frame_of(row.get("frame")),
            process=self._events.table.process_of(number),
        )


def _window(stack: Value | None, depth: int) -> FrameWindow:
    frames: list[Frame] = []
    for level, row in enumerate(rows_of(stack)):
        frame = frame_of(row, level)
        if frame is not None:
            frames.append(frame)
    return FrameWindow(tuple(frames[:depth]), more=len(frames) > depth)

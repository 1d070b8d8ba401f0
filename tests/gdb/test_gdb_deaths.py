"""Engines end at bad moments; every pending question gets an answer."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.errors import EngineDied, LadderError
from ladder_backends.gdb import GdbDebugger
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.transport import EngineCommand
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import EngineExited, TargetStopped


class Mortal:
    """A gdb whose process can be reached."""

    def __init__(self) -> None:
        self.transport: PtyTransport | None = None
        self.debugger = GdbDebugger(self._make)

    def _make(self, command: EngineCommand) -> PtyTransport:
        self.transport = PtyTransport(command)
        return self.transport

    def kill(self) -> None:
        assert self.transport is not None
        assert self.transport.pid is not None
        os.kill(self.transport.pid, signal.SIGKILL)


async def test_a_gdb_that_is_killed_in_mid_answer_is_an_answer(gdb, compiled) -> None:
    mortal = Mortal()
    events: list[object] = []
    stopped = asyncio.Event()

    def take(event: object) -> None:
        events.append(event)
        if isinstance(event, TargetStopped):
            stopped.set()

    mortal.debugger.listen(take)
    await mortal.debugger.open(LaunchTarget(compiled("deep")))
    await mortal.debugger.resume(StepKind.RUN)
    await stopped.wait()
    asking = [
        asyncio.ensure_future(mortal.debugger.command("-stack-list-frames", deadline=None)),
        asyncio.ensure_future(mortal.debugger.evaluate("depth")),
        asyncio.ensure_future(mortal.debugger.variables(0, 10)),
    ]
    await asyncio.sleep(0.05)
    mortal.kill()
    for answer in await asyncio.gather(*asking, return_exceptions=True):
        assert isinstance(answer, EngineDied)
        assert "SIGKILL" in answer.line()
    ended = [event for event in events if isinstance(event, EngineExited)]
    assert [(event.status, event.expected) for event in ended] == [(-signal.SIGKILL, False)]
    assert not mortal.debugger.started
    for question in (
        mortal.debugger.frames(0, 5),
        mortal.debugger.console("info threads"),
        mortal.debugger.resume(StepKind.NEXT),
        mortal.debugger.set_breakpoint(BreakpointIntent(1, "main")),
        mortal.debugger.complete("x"),
    ):
        with pytest.raises(EngineDied):
            await question
    mortal.debugger.type_to_program(b"x")
    mortal.debugger.resize_program(10, 10)
    await mortal.debugger.interrupt()
    await mortal.debugger.close()


async def test_quit_typed_in_the_console_is_an_end_not_a_fault_of_ours(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    await watched.debugger.console("quit")
    ended = await watched.next(EngineExited)
    assert (ended.status, ended.expected) == (0, False)
    with pytest.raises(EngineDied):
        await watched.debugger.evaluate("1")


async def test_an_engine_that_ends_at_once_says_its_last_words(tmp_path, monkeypatch, compiled) -> None:
    fake = tmp_path / "gdb"
    fake.write_text("#!/bin/sh\necho 'python: no module named encodings'\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("LADDER_GDB", str(fake))
    debugger = GdbDebugger()
    with pytest.raises(LadderError) as died:
        await debugger.open(LaunchTarget(compiled("steps")))
    assert "no module named encodings" in died.value.line()
    await debugger.close()


async def test_closing_twice_and_before_the_start_is_harmless(gdb) -> None:
    debugger = GdbDebugger()
    await debugger.close()
    await debugger.start()
    await debugger.close()
    await debugger.close()


async def test_a_busy_engine_is_interrupted_by_the_same_key(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps"), stop_at_main=True))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    busy = asyncio.ensure_future(watched.debugger.cli("python while True: pass", deadline=None))
    await asyncio.sleep(0.1)
    (text, age), *_ = watched.debugger.pending()
    assert "while True" in text
    assert age > 0
    while not busy.done():
        await watched.debugger.interrupt()
        await asyncio.wait([busy], timeout=0.3)
    assert busy.exception() is not None
    assert (await watched.debugger.evaluate("1 + 1")).value == "2"


async def test_a_gdb_that_dies_of_what_was_typed_works_on_nothing(gdb) -> None:
    mortal = Mortal()
    ended = asyncio.Event()
    mortal.debugger.listen(lambda event: ended.set() if isinstance(event, EngineExited) else None)
    await mortal.debugger.start()
    await mortal.debugger.console("python import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    await ended.wait()
    assert not mortal.debugger.console_works
    assert [text for text, _ in mortal.debugger.pending()] == []
    await mortal.debugger.close()

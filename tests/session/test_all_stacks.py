"""The stacks of a process that is held for as long as they take to read, and no longer."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import DeadlinePassed, TargetInvalid
from ladder_backends.gdb import GdbDebugger, attaching
from ladder_backends.model.events import Event, TargetStopped
from ladder_backends.processes import ProcFiles
from ladder_backends.session import all_stacks
from ladder_backends.session.all_stacks import hold_and_read


class Silent(GdbDebugger):
    """A gdb whose word of the stop is lost."""

    def emit(self, event: Event) -> None:
        """Hand an event on."""
        if not isinstance(event, TargetStopped):
            super().emit(event)


@pytest.fixture
def started(compiled: Any) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a program and waits for its first line."""
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([str(compiled(name)), *words], stdout=subprocess.PIPE)
        running.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    yield start
    for process in running:
        process.kill()
        process.wait(timeout=20)
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
async def engines(gdb: object) -> AsyncIterator[Callable[[type[GdbDebugger]], GdbDebugger]]:
    """Makes debuggers that are closed at the end."""
    made: list[GdbDebugger] = []

    def make(kind: type[GdbDebugger] = GdbDebugger) -> GdbDebugger:
        made.append(kind())
        return made[-1]

    yield make
    for debugger in made:
        await debugger.close()


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


async def test_one_that_does_not_tell_of_its_stop_is_let_go(
    started: Any, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_stacks, "STANDS_WITHIN", 0.3)
    process = started("spin")
    with pytest.raises(
        DeadlinePassed, match=r"was not read: gdb did not tell within 0\.3 s that it stands"
    ) as late:
        await hold_and_read(engines(Silent), process.pid)
    assert late.value.remedy.startswith("the process was let go")
    # Before its engine is closed.
    status = ProcFiles().status(process.pid)
    assert (status["TracerPid"], status["State"][0] in "RS") == ("0", True)


async def test_a_deaf_engine_is_not_said_to_have_let_go(
    started: Any, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_stacks, "STANDS_WITHIN", 0.3)
    process, debugger = started("spin"), engines(Silent)

    async def refused() -> tuple[int, ...]:
        raise DeadlinePassed("detach", "no answer")

    monkeypatch.setattr(debugger.process, "detach", refused)
    with pytest.raises(DeadlinePassed) as late:
        await hold_and_read(debugger, process.pid)
    assert late.value.remedy.startswith("it is let go when the engine hears again")
    monkeypatch.undo()


async def test_one_that_waits_in_the_kernel_is_given_up(
    started: Any, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attaching, "check_process", lambda pid: None)
    monkeypatch.setattr(attaching, "STUCK_AFTER", 0.1)
    monkeypatch.setattr(all_stacks, "STANDS_WITHIN", 0.6)
    monkeypatch.setattr(all_stacks, "_LOOK_EVERY", 0.1)
    process = started("vfork", "60")
    while ProcFiles().status(process.pid)["State"][0] != "D":  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    children = children_of(process.pid)
    try:
        with pytest.raises(TargetInvalid, match="was given up: it did not stop; it goes on as before"):
            await hold_and_read(engines(), process.pid)
    finally:
        for child in children:
            os.kill(int(child), signal.SIGKILL)
    while ProcFiles().status(process.pid)["State"][0] not in "SR":  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    assert ProcFiles().status(process.pid)["TracerPid"] == "0"


async def test_stacks_are_read_and_it_runs_on(started: Any, engines: Any) -> None:
    process = started("spin")
    held = await hold_and_read(engines(), process.pid)
    (stack,) = held.stacks.stacks
    assert "main" in [frame.function for frame in stack.frames.frames]
    assert ProcFiles().status(process.pid)["TracerPid"] == "0"

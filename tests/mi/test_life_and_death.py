"""Deaths of the console and of its engines: who lives on, who ends, and what is said."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import DeadlinePassed
from ladder_backends.mi import session as session_module
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import Channel, EngineCommand

from .engines import WAITER, Engine

_CONSOLE = """
import asyncio, os, sys
from ladder_backends.mi import session as session_module
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import Channel, EngineCommand

async def main(engine, how, target):
    transport = PtyTransport(EngineCommand("gdb", [engine, "-nx", "-q"]))
    session = MiSession(transport)
    stopped = asyncio.Event()
    session.listen(
        notice=lambda n: stopped.set() if getattr(n, "cls", "") == "stopped" else None,
        stream=lambda channel, chunk: None,
        ended=lambda status, expected: None,
    )
    await session.start()
    await session.command("-gdb-set mi-async on")
    if how == "launch":
        await session.command(f"-file-exec-and-symbols {target}")
        await session.command("-break-insert usleep")
        await session.command("-exec-run")
        await asyncio.wait_for(stopped.wait(), 20)
        await session.command("-break-delete 1")
        await session.command("-exec-continue")
    else:
        await session.command(f"-target-attach {target}", deadline=20)
        await session.command("-break-insert -c 0 usleep")
        if how == "attach, continued in the console":
            session.send(Channel.CLI, b"continue\\n")
            await asyncio.sleep(0.3)
        elif how == "attach, running":
            await session.command("-exec-continue")
    program = []
    if how == "launch":
        groups = (await session.command("-list-thread-groups")).results["groups"]
        program = [groups[0]["pid"]]
    print(transport.pid, *program, flush=True)
    sys.stdin.read() if how.endswith("closed") else os.kill(os.getpid(), 9)

asyncio.run(main(*sys.argv[1:]))
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def tracer(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("TracerPid")).split()[1])


def tracer_of(pid: int) -> int:
    """Like `tracer`; 0 for a process that is gone."""
    try:
        return tracer(pid)
    except OSError:
        return 0


def eventually(true: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return true()


_UNDER_NOHUP = ("/bin/sh", "-c", 'trap \'\' HUP INT QUIT; exec "$0" "$@"')
"""As started by nohup, by a job of a script, or by a batch system."""


def killed_console(engine: Path, how: str, target: str, under: tuple[str, ...] = ()) -> list[int]:
    """Runs a console that drives an engine and is killed outright; process ids of the engine and its program."""
    ended = subprocess.run(
        [*under, sys.executable, "-c", _CONSOLE, str(engine), how, target],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    return [int(word) for word in ended.stdout.split()]


@pytest.mark.parametrize("under", [(), _UNDER_NOHUP], ids=["plain", "nohup"])
@pytest.mark.parametrize("how", ["attach, stopped", "attach, running", "attach, continued in the console"])
def test_an_attached_program_outlives_a_killed_console(
    engine_path: Path, compiled: Any, how: str, under: tuple[str, ...]
) -> None:
    waiter = subprocess.Popen([str(compiled("waiter", WAITER))])
    try:
        engine, *_ = killed_console(engine_path, how, str(waiter.pid), under)
        assert eventually(lambda: not alive(engine))
        assert eventually(lambda: tracer(waiter.pid) == 0)
        assert waiter.poll() is None
        assert alive(waiter.pid)
        # It runs on, with no breakpoint left in it to die of.
        time.sleep(0.1)
        assert waiter.poll() is None
        assert Path(f"/proc/{waiter.pid}/stat").read_text().rpartition(")")[2].split()[0] in "SR"
    finally:
        waiter.kill()
        waiter.wait(timeout=20)


@pytest.mark.parametrize("under", [(), _UNDER_NOHUP], ids=["plain", "nohup"])
def test_a_launched_program_ends_with_a_killed_console(
    engine_path: Path, compiled: Any, under: tuple[str, ...]
) -> None:
    engine, program = killed_console(engine_path, "launch", str(compiled("waiter", WAITER)), under)
    assert eventually(lambda: not alive(engine))
    assert eventually(lambda: not alive(program))


async def test_an_attached_program_outlives_an_orderly_close(engine_path: Path, compiled: Any) -> None:
    waiter = subprocess.Popen([str(compiled("waiter", WAITER))])  # noqa: ASYNC220
    try:
        engine = Engine(engine_path)
        await engine.start()
        await engine.session.command(f"-target-attach {waiter.pid}", deadline=20)
        assert tracer(waiter.pid) == engine.transport.pid
        await engine.session.command("-break-insert usleep")
        await engine.session.close()
        assert engine.ends == [(0, True)]
        assert tracer(waiter.pid) == 0
        assert waiter.poll() is None
    finally:
        waiter.kill()
        waiter.wait(timeout=20)


async def test_a_launched_program_ends_with_an_orderly_close(engine_path: Path, compiled: Any) -> None:
    engine = Engine(engine_path, str(compiled("waiter", WAITER)))
    await engine.start()
    await engine.session.command("-exec-run")
    groups = (await engine.session.command("-list-thread-groups")).results["groups"]
    program = int(groups[0]["pid"])  # type: ignore[index,call-overload,arg-type]
    assert alive(program)
    await engine.session.close()
    assert eventually(lambda: not alive(program))


STUBBORN = """#!/bin/sh
trap '' HUP
while :; do sleep 0.1; done
"""


@pytest.fixture
def stubborn(tmp_path: Path) -> Path:
    """An engine that neither answers nor ends when its terminals go."""
    engine = tmp_path / "stubborn"
    engine.write_text(STUBBORN)
    engine.chmod(0o755)
    return engine


async def answers(session: MiSession) -> bool:
    """Whether the engine still answers, within half a second."""
    try:
        await session.command("-gdb-show version", deadline=0.5)
    except DeadlinePassed:
        return False
    return True


async def stuck(engine_path: Path, program: str, *options: str) -> tuple[Engine, int]:
    """A real engine that hears nothing, not even the end of its terminals, since it works on what was typed."""
    engine = Engine(engine_path, *([program] if not options else []))
    engine.transport._patience = 0.5
    await engine.start()
    for command in options or ("-exec-run",):
        await engine.session.command(command, deadline=20)
    pid = engine.transport.pid
    assert pid is not None
    engine.session.send(Channel.CLI, b"while 1\nset $n = 1\nend\n")
    while await answers(engine.session):
        pass
    return engine, pid


async def test_an_engine_that_holds_an_attached_process_is_told_of_and_not_signalled(
    engine_path: Path, compiled: Any
) -> None:
    waiter = subprocess.Popen([str(compiled("waiter", WAITER))])  # noqa: ASYNC220
    try:
        engine, pid = await stuck(engine_path, "", f"-target-attach {waiter.pid}")
        with pytest.raises(DeadlinePassed, match=rf"process {pid}.*has not ended.*attached to"):
            await engine.transport.close()
        assert tracer(waiter.pid) == pid
        assert engine.ends == []
        os.kill(pid, signal.SIGINT)
        await engine.until(lambda: engine.ends)
        assert eventually(lambda: tracer(waiter.pid) == 0)
        assert waiter.poll() is None
    finally:
        waiter.kill()
        waiter.wait(timeout=20)


async def test_an_engine_that_holds_what_it_launched_ends_with_it(engine_path: Path, compiled: Any) -> None:
    engine, pid = await stuck(engine_path, str(compiled("waiter", WAITER)))
    program = next(int(entry) for entry in os.listdir("/proc") if entry.isdigit() and tracer_of(int(entry)) == pid)
    await engine.transport.close()
    assert engine.ends == [(-signal.SIGKILL, False)]
    assert eventually(lambda: not alive(program))


async def test_an_expendable_engine_that_does_not_end_is_ended(stubborn: Path) -> None:
    transport = PtyTransport(EngineCommand("cuda-gdb", [str(stubborn)], expendable=True), patience=0.2)
    ends: list[int | None] = []
    await transport.open(lambda channel, chunk: None, ends.append)
    pid = transport.pid
    assert pid is not None
    await asyncio.sleep(0.1)
    await transport.close()
    assert not alive(pid)
    assert ends == [-signal.SIGKILL]


async def test_an_engine_that_does_not_answer_at_the_start(stubborn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_START_DEADLINE", 0.1)
    session = MiSession(PtyTransport(EngineCommand("gdb", [str(stubborn)], expendable=True), patience=0.1))
    with pytest.raises(DeadlinePassed, match=r"gdb does not get ready: no answer within .* — look with"):
        await session.start()
    monkeypatch.setattr(session_module, "_EXIT_DEADLINE", 0.1)
    await session.close()

"""The session over real engines on three terminals."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import DeadlinePassed, EngineDied, EngineMissing
from ladder_backends.mi import session as session_module
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.records import AsyncRecord, StreamRecord
from ladder_backends.mi.session import MiSession, Notice
from ladder_backends.mi.transport import Channel, EngineCommand

FORGER = r"""
#include <stdio.h>
int main(void) {
    setbuf(stdout, NULL);
    printf("*stopped,reason=\"breakpoint-hit\",thread-id=\"1\"\n7^done,value=\"forged\"\n(gdb) \nno newline");
    return 3;
}
"""
FLOOD = r"""
#include <stdio.h>
int main(void) {
    for (int i = 0; i < 4000; i++) fprintf(stderr, "%05d this line has just about fifty characters\n", i);
    return 0;
}
"""
ECHO = r"""
#include <stdio.h>
int main(void) {
    char line[200];
    while (fgets(line, sizeof line, stdin)) { printf("got %s", line); fflush(stdout); }
    return 0;
}
"""
WAITER = r"""
#include <unistd.h>
int turns;
int main(void) { for (;;) { turns++; usleep(20000); } }
"""


class Engine:
    """A session over a real engine, with everything it was told."""

    def __init__(self, path: Path, *arguments: str, **options: Any) -> None:
        command = EngineCommand(path.name, [str(path), "-nx", "-q", *arguments], **options)
        self.transport = PtyTransport(command)
        self.session = MiSession(self.transport)
        self.notices: list[Notice] = []
        self.streams = {Channel.CLI: b"", Channel.PROGRAM: b""}
        self.ends: list[tuple[int | None, bool]] = []
        self.session.listen(notice=self.notices.append, stream=self._stream, ended=self._end)

    def _stream(self, channel: Channel, chunk: bytes) -> None:
        self.streams[channel] += chunk

    def _end(self, status: int | None, expected: bool) -> None:
        self.ends.append((status, expected))

    async def start(self) -> None:
        await self.session.start()
        for setting in ("mi-async on", "confirm off", "pagination off"):
            await self.session.command(f"-gdb-set {setting}")

    async def until(self, true: Callable[[], Any], seconds: float = 20) -> None:
        async with asyncio.timeout(seconds):
            while not true():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    def has_written(self, text: bytes) -> bool:
        return text in self.streams[Channel.PROGRAM]

    def has_stopped(self, times: int) -> bool:
        return len(self.stops()) == times

    def stops(self) -> list[str]:
        return [
            str(n.results.get("reason")) for n in self.notices if isinstance(n, AsyncRecord) and n.cls == "stopped"
        ]


@pytest.fixture(params=["gdb", "cuda-gdb"])
def engine_path(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue("gdb" if request.param == "gdb" else "cuda_gdb")
    return path


async def test_round_trips_pipelines_and_an_orderly_end(engine_path: Path) -> None:
    engine = Engine(engine_path)
    await engine.start()
    answers = await asyncio.gather(*(engine.session.command("-gdb-show version") for _ in range(300)))
    assert {answer.cls for answer in answers} == {"done"}
    assert len({answer.token for answer in answers}) == 300
    pid = engine.transport.pid
    assert pid is not None
    await engine.session.close()
    assert engine.ends == [(0, True)]
    assert engine.transport.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    await engine.session.close()


async def test_nothing_written_at_the_start_is_lost(engine_path: Path, compiled: Any) -> None:
    engine = Engine(engine_path, "-ex", "echo early\\n", str(compiled("waiter", WAITER)))
    await engine.start()
    assert any(isinstance(n, AsyncRecord) and n.cls == "thread-group-added" for n in engine.notices)
    await engine.until(lambda: b"early" in engine.streams[Channel.CLI])
    # Nothing was said there that the engine would not say to somebody who started it by hand.
    assert b"New UI" not in engine.streams[Channel.CLI]
    await engine.session.close()


async def test_a_program_cannot_forge_the_machine_interface(gdb: Path, compiled: Any) -> None:
    engine = Engine(gdb, str(compiled("forger", FORGER)))
    await engine.start()
    await engine.session.command("-exec-run")
    await engine.until(engine.stops)
    assert engine.stops() == ["exited"]
    await engine.until(lambda: b"no newline" in engine.streams[Channel.PROGRAM])
    assert b"forged" in engine.streams[Channel.PROGRAM]
    assert not [n for n in engine.notices if "forged" in str(n)]
    await engine.session.close()


async def test_what_the_engine_spawns_cannot_forge_either(gdb: Path) -> None:
    engine = Engine(gdb)
    await engine.start()
    await engine.session.command('-interpreter-exec console "shell echo 1^done,x=1"')
    await engine.until(lambda: b"1^done,x=1" in engine.streams[Channel.CLI])
    assert not [n for n in engine.notices if "x=1" in str(n)]
    await engine.session.close()


async def test_a_program_that_writes_much_is_never_blocked(gdb: Path, compiled: Any) -> None:
    engine = Engine(gdb, str(compiled("flood", FLOOD)))
    await engine.start()
    await engine.session.command("-exec-run")
    await engine.until(engine.stops)
    assert engine.stops() == ["exited-normally"]
    await engine.until(lambda: b"03999" in engine.streams[Channel.PROGRAM])
    assert engine.streams[Channel.PROGRAM].count(b"fifty characters") == 4000
    await engine.session.close()


async def test_a_program_reads_its_own_terminal_again_after_a_restart(gdb: Path, compiled: Any) -> None:
    engine = Engine(gdb, str(compiled("echo", ECHO)))
    await engine.start()
    for run in range(3):
        await engine.session.command("-exec-run")
        engine.session.send(Channel.PROGRAM, b"line %d\n" % run)
        await engine.until(partial(engine.has_written, b"got line %d" % run))
        # The program waits for its input; the engine answers all the same.
        assert (await engine.session.command("-gdb-show version")).cls == "done"
        engine.session.send(Channel.PROGRAM, b"\x04")
        await engine.until(partial(engine.has_stopped, run + 1))
    assert engine.stops() == ["exited-normally"] * 3
    await engine.session.close()


async def test_large_writes_neither_block_nor_get_lost(gdb: Path) -> None:
    engine = Engine(gdb)
    await engine.start()
    text = "0123456789abcdef" * 20_000
    await engine.session.command("-gdb-set max-value-size unlimited")
    begun = time.monotonic()
    answer = engine.session.submit(f'-data-evaluate-expression "sizeof(\\"{text}\\")"', deadline=40)
    assert time.monotonic() - begun < 5
    assert (await answer).results["value"] == str(len(text) + 1)
    # The other way: one string of megabytes.
    await engine.session.command("-gdb-set print elements unlimited")
    answer = await engine.session.command(f'-data-evaluate-expression "\\"{text}\\""', deadline=40)
    assert answer.results["value"] == f'"{text}"'
    await engine.session.close()


async def test_the_program_terminal_has_a_size(gdb: Path) -> None:
    engine = Engine(gdb, "--args", "/bin/stty", "size")
    await engine.start()
    engine.session.resize(Channel.PROGRAM, 101, 33)
    await engine.session.command("-gdb-set startup-with-shell off")
    await engine.session.command("-exec-run")
    await engine.until(lambda: b"33 101" in engine.streams[Channel.PROGRAM])
    await engine.session.close()


async def test_a_busy_engine_passes_a_deadline_and_an_interrupt_frees_it(gdb: Path) -> None:
    engine = Engine(gdb)
    await engine.start()
    with pytest.raises(DeadlinePassed):
        await engine.session.command('-interpreter-exec console "python while True: pass"', deadline=0.2)
    behind = engine.session.submit("-gdb-show version", deadline=20)
    await asyncio.sleep(0.05)
    assert not behind.done()
    engine.session.interrupt()
    assert (await behind).cls == "done"
    await engine.session.close()


async def test_interrupts_of_an_idle_engine_are_harmless(gdb: Path) -> None:
    engine = Engine(gdb)
    await engine.start()
    for _ in range(3):
        engine.session.interrupt()
        assert (await engine.session.command("-gdb-show version")).cls == "done"
    await engine.session.close()
    assert engine.ends == [(0, True)]


async def test_an_engine_killed_in_mid_answer(gdb: Path) -> None:
    engine = Engine(gdb)
    await engine.start()
    answer = engine.session.submit("-symbol-info-functions --include-nondebug", deadline=30)
    busy = engine.session.submit('-interpreter-exec console "python while True: pass"', deadline=None)
    await answer
    assert engine.transport.pid is not None
    os.kill(engine.transport.pid, signal.SIGKILL)
    with pytest.raises(EngineDied, match="SIGKILL") as caught:
        await busy
    assert "python while True" in caught.value.line()
    await engine.until(lambda: engine.ends)
    assert engine.ends == [(-9, False)]
    assert not engine.session.alive
    with pytest.raises(EngineDied):
        await engine.session.command("-gdb-version")
    engine.session.send(Channel.CLI, b"ignored\n")
    engine.session.interrupt()
    await engine.session.close()


async def test_an_engine_killed_while_it_writes_an_answer(gdb: Path) -> None:
    engine = Engine(gdb)
    await engine.start()
    for setting in ("max-value-size unlimited", "print elements unlimited"):
        await engine.session.command(f"-gdb-set {setting}")
    text = "0123456789abcdef" * 16_000
    answer = engine.session.submit(f'-data-evaluate-expression "\\"{text}\\""', deadline=40)
    received = engine.transport._receive
    assert received is not None
    told = 0

    def receive(channel: Channel, chunk: bytes) -> None:
        nonlocal told
        told += len(chunk)
        if told > 100_000 and engine.transport.pid is not None:
            os.kill(engine.transport.pid, signal.SIGKILL)
        received(channel, chunk)

    engine.transport._receive = receive
    with pytest.raises(EngineDied, match="SIGKILL"):
        await answer
    assert 100_000 < told < len(text)
    assert engine.ends == [(-9, False)]


async def test_an_engine_that_quits_by_itself(gdb: Path) -> None:
    engine = Engine(gdb)
    await engine.start()
    engine.session.send(Channel.CLI, b"quit 7\n")
    await engine.until(lambda: engine.ends)
    assert engine.ends == [(7, False)]
    await engine.session.close()


async def test_a_line_at_a_secondary_prompt_does_not_hold_the_machine_interface(engine_path: Path) -> None:
    engine = Engine(engine_path)
    await engine.start()
    engine.session.send(Channel.CLI, b"define twice\n")
    await engine.until(lambda: engine.streams[Channel.CLI].endswith(b">"))
    assert (await engine.session.command("-gdb-show version")).cls == "done"
    engine.session.send(Channel.CLI, b"end\n")
    await engine.session.close()


async def test_what_is_typed_in_the_command_line_shows_on_the_machine_interface(gdb: Path, compiled: Any) -> None:
    engine = Engine(gdb, str(compiled("waiter", WAITER)))
    await engine.start()
    engine.session.send(Channel.CLI, b"break main\nrun\n")
    await engine.until(engine.stops)
    kinds = [n.cls for n in engine.notices if isinstance(n, AsyncRecord)]
    assert "breakpoint-created" in kinds
    assert not any(isinstance(n, StreamRecord) and "Breakpoint 1" in n.text for n in engine.notices[:3])
    await engine.session.close()


async def test_an_engine_that_cannot_be_started(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("not a program")
    for path in (tmp_path / "absent", plain, tmp_path / "\x1b[31m\n"):
        with pytest.raises(EngineMissing) as caught:
            await MiSession(PtyTransport(EngineCommand("gdb", [str(path)]))).start()
        assert "\x1b" not in caught.value.line()
        assert "\n" not in caught.value.line()
    for command in (
        EngineCommand("gdb", ["/bin/sh", "a\0b"]),
        EngineCommand("gdb", ["/bin/sh"], directory=tmp_path / "absent"),
        EngineCommand("gdb", ["/bin/sh", "x" * 3_000_000]),
    ):
        transport = PtyTransport(command)
        with pytest.raises(EngineMissing, match="cannot be started"):
            await MiSession(transport).start()
        assert transport.pid is None
        await transport.close()


async def test_a_kernel_that_cannot_tell_of_the_end(gdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, flags: int = 0) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    engine = Engine(gdb)
    await engine.start()
    engine.session.interrupt()
    assert (await engine.session.command("-gdb-version")).cls == "done"
    assert engine.transport.pid is not None
    os.kill(engine.transport.pid, signal.SIGKILL)
    await engine.until(lambda: engine.ends)
    assert engine.ends == [(-9, False)]


async def test_no_terminal_is_left(gdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "openpty", refuse)
    with pytest.raises(EngineMissing, match="Too many open files"):
        await MiSession(PtyTransport(EngineCommand("gdb", [str(gdb)]))).start()


async def test_no_terminal_stays_open(gdb: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        session = MiSession(PtyTransport(EngineCommand("gdb", [str(gdb), "-nx", "-q"])))
        await session.start()
        await session.close()
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_program_that_is_no_engine(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\necho this is no engine\nexit 4\n")
    engine.chmod(0o755)
    with pytest.raises(
        EngineDied, match=r"ended before it was ready: exit status 4; last words: this is no engine — look with"
    ):
        await MiSession(PtyTransport(EngineCommand("gdb", [str(engine)]))).start()
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(EngineMissing):
        await MiSession(PtyTransport(EngineCommand("gdb", [str(broken)]))).start()


async def test_the_environment_of_an_engine(gdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nonexistent")
    monkeypatch.setenv("CONDA_PREFIX", "/conda")
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://10.255.255.1/")
    monkeypatch.setenv("KEPT", "yes")
    engine = Engine(gdb, environment={"ADDED": "1", "KEPT_NOT": None}, core_size_zero=True)
    await engine.start()
    _, text = await engine.session.command_with_console('-interpreter-exec console "show environment"')
    variables = dict(line.partition("=")[::2] for line in text.splitlines())
    assert variables["TERM"] == "dumb"
    assert variables["DEBUGINFOD_URLS"] == ""
    assert variables["KEPT"] == "yes"
    assert variables["ADDED"] == "1"
    assert not {"PYTHONHOME", "CONDA_PREFIX"} & variables.keys()
    limits = resource.prlimit(engine.transport.pid or 0, resource.RLIMIT_CORE)
    assert limits == (0, 0)
    await engine.session.close()


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


def eventually(true: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return true()


def killed_console(engine: Path, how: str, target: str) -> list[int]:
    """Runs a console that drives an engine and is killed outright; process ids of the engine and its program."""
    ended = subprocess.run(
        [sys.executable, "-c", _CONSOLE, str(engine), how, target],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    return [int(word) for word in ended.stdout.split()]


@pytest.mark.parametrize("how", ["attach, stopped", "attach, running", "attach, continued in the console"])
def test_an_attached_program_outlives_a_killed_console(engine_path: Path, compiled: Any, how: str) -> None:
    waiter = subprocess.Popen([str(compiled("waiter", WAITER))])
    try:
        engine, *_ = killed_console(engine_path, how, str(waiter.pid))
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
        waiter.wait()


def test_a_launched_program_ends_with_a_killed_console(engine_path: Path, compiled: Any) -> None:
    engine, program = killed_console(engine_path, "launch", str(compiled("waiter", WAITER)))
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
        waiter.wait()


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


async def test_an_engine_that_does_not_end_is_told_and_not_signalled(stubborn: Path) -> None:
    transport = PtyTransport(EngineCommand("gdb", [str(stubborn)]), patience=0.2)
    ends: list[int | None] = []
    await transport.open(lambda channel, chunk: None, ends.append)
    pid = transport.pid
    assert pid is not None
    await asyncio.sleep(0.1)
    with pytest.raises(DeadlinePassed, match=rf"process {pid}.*has not ended"):
        await transport.close()
    assert alive(pid)
    assert ends == []
    os.kill(pid, signal.SIGKILL)
    await transport.close()
    assert ends == [-signal.SIGKILL]


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

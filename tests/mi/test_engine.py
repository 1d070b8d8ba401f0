"""The session over real engines on three terminals."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import DeadlinePassed, EngineDied, EngineMissing
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.records import AsyncRecord, StreamRecord
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import Channel, EngineCommand

from .engines import WAITER, Engine

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
    # More than the kernel takes from a writer whose reader is behind.
    text = "0123456789abcdef" * 125_000
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
    await engine.session.command('-interpreter-exec console "show environment"')
    told = [notice for notice in engine.notices if isinstance(notice, StreamRecord) and notice.kind == "~"]
    text = "".join(notice.text for notice in told)
    variables = dict(line.partition("=")[::2] for line in text.splitlines())
    assert variables["TERM"] == "dumb"
    assert variables["DEBUGINFOD_URLS"] == ""
    assert variables["KEPT"] == "yes"
    assert variables["ADDED"] == "1"
    assert not {"PYTHONHOME", "CONDA_PREFIX"} & variables.keys()
    limits = resource.prlimit(engine.transport.pid or 0, resource.RLIMIT_CORE)
    assert limits == (0, 0)
    await engine.session.close()

"""The end of an engine that holds a process and waits for a command which was typed behind `shell`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger import AttachTarget
from ladder_backends.mi import session
from ladder_backends.mi.tracees import own_commands

from .test_gdb_running import stop_at


@pytest.fixture
def held() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def status_of(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


async def test_the_command_is_ended_and_the_process_let_go(watched: Any, held: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(session, "_EXIT_DEADLINE", 0.5)
    await watched.debugger.open(AttachTarget(held.pid))
    transport = watched.debugger._mi._transport
    transport._patience = 1.0
    await watched.debugger.console("shell sleep 600")
    engine, commands = transport.pid, own_commands(transport.pid)
    assert len(commands) == 1
    await watched.debugger.close()
    for pid in (engine, *commands):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert held.poll() is None
    assert "TracerPid:\t0" in status_of(held.pid)
    assert "State:\tS" in status_of(held.pid)


async def test_a_program_is_none_of_its_commands_held_or_let_go(watched: Any, compiled: Any) -> None:
    await stop_at(watched, compiled("steps"), "main")
    engine = watched.debugger._mi._transport.pid
    assert own_commands(engine) == []
    assert await watched.debugger.process.detach()
    assert own_commands(engine) == []

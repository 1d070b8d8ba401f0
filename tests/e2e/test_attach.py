"""Attaching on a real terminal: from the list to the stack, and a process that outlives every end of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def told(pid: int, field: str) -> str:
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(row.split()[1] for row in rows if row.startswith(f"{field}:"))


def let_go(process: subprocess.Popen[bytes]) -> bool:
    """Whether it runs on, untraced, within some seconds and for a moment longer."""
    end = time.monotonic() + 20
    while time.monotonic() < end and (told(process.pid, "TracerPid") != "0" or told(process.pid, "State") == "t"):
        time.sleep(0.05)
    time.sleep(0.2)
    return process.poll() is None and told(process.pid, "TracerPid") == "0" and told(process.pid, "State") in "SR"


@pytest.fixture
def spinning(compiled: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process to attach to."""
    process = subprocess.Popen([str(compiled("spin")), "marked-for-the-test"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait(timeout=20)
    process.stdout.close()


def test_from_the_list_to_the_stack_and_out(terminal: Any, gdb: Path, spinning: Any) -> None:
    screen = terminal()
    screen.start("attach")
    screen.wait("type to filter")
    screen.write("marked-for")
    screen.wait("marked-for-the-test")
    screen.press("Enter")
    screen.wait("stopping it took 0.")
    screen.wait("spin.c")
    assert told(spinning.pid, "TracerPid") != "0"
    screen.press("q")
    screen.wait(f"Process {spinning.pid} lives on.")
    screen.press("q")
    assert screen.exit_code() == 0
    assert let_go(spinning)


@pytest.mark.parametrize("end", ["hang-up", "killed"])
@pytest.mark.parametrize("running", [False, True], ids=["stopped", "running"])
def test_it_outlives_the_terminal(terminal: Any, gdb: Path, spinning: Any, end: str, running: bool) -> None:
    screen = terminal()
    screen.start("attach", str(spinning.pid))
    screen.wait("stopping it took 0.")
    screen.press(":")
    screen.write("break turn if turns < 0")
    screen.press("Enter")
    screen.wait("Breakpoint 1")
    if running:
        screen.write("continue")
        screen.press("Enter")
        screen.wait("running")
    application = screen.application()
    if end == "killed":
        os.kill(application, signal.SIGKILL)
    else:
        screen.close()
    assert let_go(spinning)

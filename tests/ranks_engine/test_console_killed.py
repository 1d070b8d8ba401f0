"""The console is killed outright at bad moments: its engines let go by themselves, and the job lives on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("how", ["running", "at breakpoints", "standing", "attaching"])
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
def test_a_job_survives_its_console(steady, gdb, how: str, sent: signal.Signals) -> None:
    console = subprocess.Popen(
        [sys.executable, Path(__file__).parent / "console_to_kill.py", how, *map(str, steady.pids.values())],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert console.stdout is not None
    try:
        word, *engines = console.stdout.readline().split()
        assert word == "ready"
        if how == "attaching":
            # Somewhere between the first and the last rank.
            time.sleep(0.05)
    finally:
        console.send_signal(sent)
        console.wait(10)
        console.stdout.close()
    end = time.monotonic() + 20
    while not all(gone(int(pid)) for pid in engines):
        assert time.monotonic() < end, "an engine outlives its console"
        time.sleep(0.05)
    # Traced by nobody, and not left stopped.
    while True:
        status = [Path(f"/proc/{pid}/status").read_text() for pid in steady.pids.values()]
        if all("TracerPid:\t0\n" in each and "State:\tT" not in each for each in status):
            break
        assert time.monotonic() < end, [each[:120] for each in status]
        time.sleep(0.05)
    assert steady.lives()


def test_the_last_watch_wakes_who_was_left_stopped(steady) -> None:
    """An engine that leaves a rank stopped, after its console was killed: stood in for by a stop from here."""
    pid = steady.pids[0]
    code = (
        "import os, sys; from ladder_backends.ranks.engine.left_stopped import LastWatch;"
        "from ladder_backends.ranks.engine.fitness import start_of;"
        f"watch = LastWatch(); watch.hold({pid}, start_of({pid})); os.kill({pid}, {int(signal.SIGSTOP)});"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert steady.lives()

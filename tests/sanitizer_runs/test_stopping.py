"""A run is ended by ids of its own processes, gently first; what it found stays."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.sanitizer.command_line import ToolCommand
from ladder_backends.sanitizer.ending import End
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.sanitizer.process_tree import Member, lives, members, tell
from ladder_backends.sanitizer.tool_process import ToolProcess
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sanitizer_state import RunPhase

TREE = """
import os, signal, subprocess, sys, time
if sys.argv[1:] == ["deaf"]:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
own = subprocess.Popen(["sleep", "600"])
far = subprocess.Popen(["sleep", "601"], start_new_session=True)
print("ready", own.pid, far.pid, flush=True)
time.sleep(600)
"""


async def started(tmp_path: Path, *words: str) -> tuple[ToolProcess, list[int], list[bytes]]:
    """A tool with a child in its session and one in a session of its own."""
    said: list[bytes] = []
    ready = asyncio.Event()

    def receive(raw: bytes) -> None:
        said.append(raw)
        if b"\n" in raw:
            ready.set()

    file = tmp_path / "tree.py"
    file.write_text(TREE)
    process = ToolProcess(ToolCommand("memcheck", (sys.executable, str(file), *words), tmp_path / "log"), receive)
    process.start()
    await ready.wait()
    return process, [int(word) for word in b"".join(said).split()[1:3]], said


async def until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110 - processes of others send no event
        await asyncio.sleep(0.01)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] in "ZX"
    except OSError:
        return True


async def test_the_whole_tree_ends_with_the_run(tmp_path: Path) -> None:
    process, children, _ = await started(tmp_path)
    await process.stop((1.0, 1.0, 1.0))
    assert process.status is not None
    await until(lambda: all(gone(pid) for pid in children))


async def test_what_is_deaf_is_killed_at_last(tmp_path: Path) -> None:
    process, children, _ = await started(tmp_path, "deaf")
    await process.stop((0.1, 0.1, 0.1))
    assert process.status == -signal.SIGKILL
    await until(lambda: all(gone(pid) for pid in children))


async def test_a_neighbour_is_left_alone(tmp_path: Path) -> None:
    neighbour = subprocess.Popen(["sleep", "60"])  # noqa: ASYNC220 - returns at once
    try:
        process, _, _ = await started(tmp_path)
        await process.stop((1.0, 1.0, 1.0))
        assert neighbour.poll() is None
    finally:
        neighbour.kill()
        neighbour.wait()


async def test_stopping_twice_is_stopping_once(tmp_path: Path) -> None:
    process, _, _ = await started(tmp_path)
    await asyncio.gather(process.stop((1.0, 1.0, 1.0)), process.stop((1.0, 1.0, 1.0)))
    status = process.status
    await process.stop()
    assert process.status == status


def test_another_process_with_the_same_id_is_not_signalled() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert not tell(Member(child.pid, 1), signal.SIGKILL)
        assert not lives(Member(child.pid, 1))
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()
    assert members(os.getpid()) == members(os.getpid())


async def test_a_run_that_is_stopped_ends_the_tools_behind_it(
    ladder: Ladder, stand_in: Any, logs: Path, sleeper: Path
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log"}, racecheck={"log": logs / "racecheck-analysis.log"})
    await ladder.sanitizer.start(Plan(sleeper, tools=("memcheck", "racecheck")))
    await until(lambda: ladder.sanitizer.state.found == 24)
    await ladder.sanitizer.stop()
    await ladder.sanitizer.ended()
    first, second = ladder.sanitizer.state.ends
    assert (first.tool, first.end, first.found) == ("memcheck", End.STOPPED, 24)
    assert (second.tool, second.end, second.ran) == ("racecheck", End.STOPPED, False)
    assert ladder.state.report is not None
    assert not ladder.state.report.complete


async def test_a_deaf_tool_is_ended_and_its_program_with_it(
    ladder: Ladder, stand_in: Any, logs: Path, sleeper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder_backends.sanitizer.tool_process.PATIENCE", (0.1, 0.1, 0.1))
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "deaf": True, "hangs": True})
    await ladder.sanitizer.start(Plan(sleeper))
    await until(lambda: ladder.sanitizer.state.found == 24)
    await ladder.sanitizer.stop()
    await ladder.sanitizer.ended()
    (end,) = ladder.sanitizer.state.ends
    assert (end.end, end.status, end.found) == (End.STOPPED, -signal.SIGKILL, 24)


async def test_the_run_ends_with_the_ladder(stand_in: Any, logs: Path, sleeper: Path) -> None:
    ladder = Ladder()
    stand_in(memcheck={"log": logs / "memcheck-oob.log"})
    await ladder.sanitizer.start(Plan(sleeper))
    process = ladder.sanitizer._process
    assert process is not None
    assert process.pid is not None
    await ladder.close()
    assert gone(process.pid)
    assert ladder.sanitizer.state.phase is RunPhase.ENDED

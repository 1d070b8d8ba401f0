"""`attach`: stacks without a screen, and what is refused before anything is touched."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Command


@pytest.fixture
def threads(compiled: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process to attach to."""
    process = subprocess.Popen([str(compiled("spin"))], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait(timeout=20)
    process.stdout.close()


def tracer(pid: int) -> str:
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(row.split()[1] for row in rows if row.startswith("TracerPid"))


def test_stacks_for_a_machine(gdb: Path, threads: Any, ladder_tui: Command) -> None:
    answer = ladder_tui("attach", threads.pid, "--json")
    assert (answer.code, answer.err) == (0, "")
    told = answer.json
    assert (told["format"], told["rung"], told["pid"], told["source"]) == (1, "gdb", threads.pid, "engine")
    assert (told["threads"], told["complete"]) == (1, True)
    (stack,) = told["stacks"]
    assert stack["os_thread"] == threads.pid
    assert "main" in [frame["function"] for frame in stack["frames"]]
    assert 0 < told["held"] < 60
    assert tracer(threads.pid) == "0"
    assert threads.poll() is None


def test_stacks_for_a_person(gdb: Path, threads: Any, ladder_tui: Command) -> None:
    answer = ladder_tui("attach", threads.pid)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].startswith(f"process {threads.pid}: 1 thread; held for 0.")
    assert lines[0].endswith(", and let go")
    assert f"thread 1 (LWP {threads.pid}) spin" in lines
    assert any(line.startswith("#0 ") for line in lines)
    assert any(" main at " in line for line in lines)
    assert tracer(threads.pid) == "0"


def test_an_attach_is_recorded(gdb: Path, threads: Any, ladder_tui: Command, tmp_path: Path) -> None:
    assert ladder_tui("attach", threads.pid, "--json", "--record", tmp_path / "a.jsonl").code == 0
    assert (tmp_path / "a.jsonl").read_text().startswith('{"ladder_recording":1')
    assert ladder_tui("replay", tmp_path / "a.jsonl", "--json").code == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "attach: no process was named — ladder-tui attach PID"),
        (("x1",), "attach: 'x1' is no process id — ladder-tui attach lists the processes"),
        (("0",), "attach: '0' is no process id — ladder-tui attach lists the processes"),
        (("٣",), "attach: '٣' is no process id — ladder-tui attach lists the processes"),
        (("9" * 11,), "attach: '99999999999' is no process id — ladder-tui attach lists the processes"),
        (
            ("4194305",),
            "cannot attach to 4194305: there is no such process — look at the list of processes again",
        ),
    ],
)
def test_what_is_refused(words: tuple[str, ...], line: str, ladder_tui: Command) -> None:
    answer = ladder_tui("attach", *words, environment={"PYTHONUTF8": "1"})
    assert (answer.code, answer.out) == (2, "")
    assert answer.complaint == f"ladder-tui: {line}"

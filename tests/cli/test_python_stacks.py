"""Python frames without a screen: of all threads of a process, and of where a program stands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.python_frames import find_py_spy

from .conftest import Command

DEEP = """
import threading, time

def wait():
    time.sleep(1000)

def nest(left):
    if not left:
        print("ready", flush=True)
        wait()
    list(map(nest, [left - 1]))

threading.Thread(target=wait, daemon=True).start()
nest(60)
"""
CRASH = """
import ctypes

def read(address):
    ctypes.string_at(address)

read(1)
"""


@pytest.fixture
def py_spy() -> None:
    if find_py_spy().path is None:
        pytest.skip("no py-spy")


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process whose outermost frame is some hundreds of native frames away, and a second thread."""
    script = tmp_path / "deep.py"
    script.write_text(DEEP)
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait(timeout=20)
    process.stdout.close()


def python_rows(stack: Any) -> list[Any]:
    return [row for row in stack["python"]["rows"] if row["kind"] == "python"]


def test_every_thread_for_a_machine(gdb: Path, py_spy: None, deep: Any, ladder_tui: Command) -> None:
    told = ladder_tui("attach", deep.pid, "--json").json
    assert told["python"] == {"source": "py-spy", "why": ""}
    first, second = told["stacks"]
    assert [row["function"] for row in python_rows(first)] == ["wait", *["nest"] * 61, "<module>"]
    assert first["python"]["exact"]
    assert not first["more_frames"]
    levels = {frame["level"] for frame in first["frames"]}
    assert all(row["level"] in levels for row in python_rows(first))
    assert python_rows(second)[0]["function"] == "wait"


def test_every_thread_for_a_person(gdb: Path, py_spy: None, deep: Any, ladder_tui: Command) -> None:
    lines = ladder_tui("attach", deep.pid).out.splitlines()
    python = [line for line in lines if line.startswith("py ")]
    assert python[0].startswith("py     wait at ")
    assert python[62].startswith("py     <module> at ")
    assert python[62].endswith("deep.py:14")
    assert any(line.startswith("       (#") and line.endswith(": interpreter)") for line in lines)


def test_why_there_are_none(gdb: Path, deep: Any, ladder_tui: Command) -> None:
    answer = ladder_tui("attach", deep.pid, "--json", environment={"LADDER_PY_SPY": "/no/py-spy"})
    told = answer.json
    assert told["python"]["source"] is None
    assert "/no/py-spy" in told["python"]["why"]
    assert {stack["python"] for stack in told["stacks"]} == {None}
    lines = ladder_tui("attach", deep.pid, environment={"LADDER_PY_SPY": "/no/py-spy"}).out.splitlines()
    assert lines[1].startswith("note   no Python frames: ")


def test_where_a_program_stands(gdb: Path, py_spy: None, tmp_path: Path, ladder_tui: Command) -> None:
    script = tmp_path / "crash.py"
    script.write_text(CRASH)
    told = ladder_tui("run", "--json", sys.executable, script).json
    assert [row["function"] for row in python_rows(told)] == ["string_at", "read", "<module>"]
    assert python_rows(told)[2]["line"] == 7
    assert not told["more_frames"]
    lines = ladder_tui("run", sys.executable, script).out.splitlines()
    assert any(line.startswith("py     <module> at ") and line.endswith("crash.py:7") for line in lines)


def test_a_program_without_python_has_none(gdb: Path, compiled: Any, ladder_tui: Command) -> None:
    assert ladder_tui("run", "--json", compiled("nested")).json["python"] is None

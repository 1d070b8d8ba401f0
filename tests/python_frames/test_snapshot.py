"""Real py-spy on real processes, and everything that can be wrong with it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ladder_backends.paths import configure_engines
from ladder_backends.python_frames import PythonUnreadable, find_py_spy, snapshot, snapshot_of_core
from ladder_backends.python_frames.reasons import unreadable


@asynccontextmanager
async def running(*command: str | Path) -> AsyncIterator[int]:
    """A process that has written its first line."""
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        await process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        await process.communicate()


def alive(pid: str) -> bool:
    return Path(f"/proc/{pid.strip()}").exists()


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


@pytest.fixture
def fake_spy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """A program in py-spy's place, for what the real one does not do when asked to."""

    def make(script: str) -> Path:
        path = tmp_path / "py-spy"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("LADDER_PY_SPY", str(path))
        return path

    return make


@pytest.mark.parametrize("python", ["this", "distribution", "3.8", "3.12", "3.13"], indirect=True)
async def test_a_process_that_runs_is_read_without_stopping_it(python: Path, layers: Path, py_spy: Path) -> None:
    async with running(python, layers, "spin") as pid:
        while True:
            told = await snapshot(pid)
            main = next(one for one in told.threads if any(frame.function == "<module>" for frame in one.frames))
            if "forward" in main.frames[0].function:
                break
        assert main.owns_gil
        assert [frame.function.rpartition(".")[2] for frame in main.frames][:5] == [
            "forward",
            "__call__",
            "numbers",
            "leaf",
            "middle",
        ]
        assert len(told.threads) == 2
        assert told.source == "py-spy"
        assert told.seconds > 0


async def test_variables_are_read_not_computed(layers: Path, py_spy: Path) -> None:
    async with running(sys.executable, layers, "spin") as pid:
        while True:
            told = await snapshot(pid, variables=True)
            frame = next(one for thread in told.threads for one in thread.frames if thread.owns_gil)
            if "forward" in frame.function and any(one.name == "secret" for one in frame.variables or ()):
                break
        values = {one.name: one.value for one in frame.variables or ()}
        assert values["way"] == '"spin"'
        assert values["secret"].startswith('"␛[2Jsecret ')
        assert "0x" in values["self"]


async def test_a_process_without_python(compiled, py_spy: Path) -> None:
    async with running(compiled("spin")) as pid:
        with pytest.raises(PythonUnreadable, match="runs no Python"):
            await snapshot(pid)


async def test_a_process_that_has_ended(py_spy: Path) -> None:
    process = await asyncio.create_subprocess_exec("true")
    await process.wait()
    with pytest.raises(PythonUnreadable, match=f"process {process.pid} has ended"):
        await snapshot(process.pid)


@pytest.mark.parametrize("python", ["this", "distribution", "3.8"], indirect=True)
async def test_a_core_of_the_kernels(kernel_core: Path, py_spy: Path) -> None:
    told = await snapshot_of_core(kernel_core, variables=True)
    main = next(one for one in told.threads if one.owns_gil)
    assert "forward" in main.frames[0].function
    assert {one.name for one in main.frames[0].variables or ()} == {"self", "way", "secret"}


async def test_a_core_that_py_spy_cannot_read(py_spy: Path, tmp_path: Path) -> None:
    (tmp_path / "core").write_bytes(b"\x7fELF nothing more")
    with pytest.raises(PythonUnreadable, match="no interpreter in this core"):
        await snapshot_of_core(tmp_path / "core")


# Finding it ----------------------------------------------------------------------------------------------------


def test_it_is_found_beside_our_own_python(monkeypatch: pytest.MonkeyPatch, py_spy: Path) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    if not (Path(sys.executable).parent / "py-spy").exists():
        pytest.skip("py-spy is not installed beside this Python")
    assert find_py_spy().path == Path(sys.executable).parent / "py-spy"


async def test_without_it_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PythonUnreadable) as caught:
        await snapshot(os.getpid())
    assert caught.value.why == "py-spy is not on PATH"
    assert "install py-spy" in caught.value.remedy


async def test_a_name_that_leads_nowhere_is_told_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    configure_engines({"py-spy": "/no/such/py-spy"})
    with pytest.raises(PythonUnreadable, match=r"config\.toml names /no/such/py-spy, which does not exist"):
        await snapshot(os.getpid())


# When it fails -------------------------------------------------------------------------------------------------


async def test_one_that_does_not_answer_is_ended(fake_spy: Callable[[str], Path], tmp_path: Path) -> None:
    fake_spy(f"echo $$ > {tmp_path}/pid; exec sleep 100")
    with pytest.raises(PythonUnreadable, match="did not answer within"):
        await snapshot(os.getpid(), deadline=0.5)
    assert not alive((tmp_path / "pid").read_text())


async def test_one_that_nobody_waits_for_any_more_is_ended(fake_spy: Callable[[str], Path], tmp_path: Path) -> None:
    fake_spy(f"echo $$ > {tmp_path}/begun; mv {tmp_path}/begun {tmp_path}/pid; exec sleep 100")
    asking = asyncio.create_task(snapshot(os.getpid()))
    await asyncio.to_thread(wait_for, tmp_path / "pid")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert not alive((tmp_path / "pid").read_text())


async def test_output_that_is_no_dump(fake_spy: Callable[[str], Path]) -> None:
    fake_spy("echo Segmentation fault")
    with pytest.raises(PythonUnreadable, match="no dump"):
        await snapshot(os.getpid())


async def test_brackets_without_end(fake_spy: Callable[[str], Path]) -> None:
    fake_spy("head -c 3000000 /dev/zero | tr '\\0' '['")
    with pytest.raises(PythonUnreadable, match="no dump"):
        await snapshot(os.getpid())


async def test_a_program_that_cannot_be_started(fake_spy: Callable[[str], Path]) -> None:
    fake_spy("").write_bytes(b"\x00\x01 no program")
    with pytest.raises(PythonUnreadable, match="does not run"):
        await snapshot(os.getpid())


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Error: Failed to find python version from target process\n", "does not know this version"),
        (
            "Error: Bad address (os error 14)\n\nCaused by:\n    Bad address (os error 14)\n",
            "does not hold together",
        ),
        ("Error: Failed to find a python interpreter in the .data section\n", "finds no interpreter"),
        ("Error: Permission denied: Try running again with elevated permissions\n", "may not read"),
        ("Error: something \x1b[31mnew\n\nStack backtrace:\n   0: anyhow\n", "py-spy: something ␛[31mnew"),
        ("", "it ended with status 101"),
    ],
)
def test_why_in_one_line(said: str, why: str) -> None:
    error = unreadable(os.getpid(), said, 101)
    assert why in error.why
    assert "backtrace" not in error.line()
    assert "\n" not in error.line()


async def test_hundreds_of_threads_do_not_hold_up_the_keys(fake_spy: Callable[[str], Path], tmp_path: Path) -> None:
    frame = {"name": "f" * 40, "filename": "/src/x.py", "line": 3, "locals": None, "is_entry": True}
    threads = [{"thread_id": n, "thread_name": f"w{n}", "frames": [frame] * 100} for n in range(500)]
    (tmp_path / "dump.json").write_text(json.dumps(threads))
    fake_spy(f"cat {tmp_path}/dump.json")
    turns = 0

    async def keys() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.001)
            turns += 1

    pressed = asyncio.create_task(keys())
    read_in = asyncio.get_running_loop().create_task(snapshot(os.getpid()))
    told = await read_in
    pressed.cancel()
    assert len(told.threads) == 500
    assert sum(len(thread.frames) for thread in told.threads) == 50_000
    # Parsed on the loop itself, hardly a turn would have come in between.
    assert turns > 10

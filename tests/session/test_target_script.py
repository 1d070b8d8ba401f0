"""What an interpreter runs, and that what is kept is kept for that and not for the interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder_backends.debugger import AttachTarget, CoreTarget, LaunchTarget
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.intents import IntentStore
from ladder_backends.session.target_script import script_of, script_of_python
from ladder_backends.session.watch_store import WatchStore

PYTHON = Path(sys.executable)


@pytest.mark.parametrize(
    ("words", "script"),
    [
        (["train.py", "-m", "x"], "train.py"),
        (["-u", "train.py"], "train.py"),
        (["-uEW", "ignore", "train.py"], "train.py"),
        (["-Wignore", "-X", "dev", "-Ximporttime", "train.py"], "train.py"),
        (["--check-hash-based-pycs", "never", "-I", "train.py"], "train.py"),
        (["-m", "torch.distributed.run", "train.py"], "-m torch.distributed.run"),
        (["-Immodule", "x"], "-m module"),
        (["-c", "import x", "y"], "-c"),
        (["-cimport x"], "-c"),
        (["-"], "-"),
        (["--", "-odd.py"], "-odd.py"),
        (["-i"], ""),
        (["-m"], "-m "),
        ([], ""),
    ],
)
def test_python_takes_it_from_its_words(words: list[str], script: str) -> None:
    assert script_of_python(words) == script


def test_a_script_is_known_by_its_real_path(tmp_path: Path) -> None:
    script, link = tmp_path / "train.py", tmp_path / "link.py"
    script.touch()
    link.symlink_to(script)
    for word, folder in ((str(link), None), ("link.py", tmp_path), ("./train.py", tmp_path)):
        assert script_of(LaunchTarget(PYTHON, (word,), directory=folder)) == str(script)
    assert script_of(LaunchTarget(Path("/bin/bash"), ("-x", "train.py"), directory=tmp_path)) == str(script)
    assert script_of(LaunchTarget(Path("/bin/true"), ("train.py",), directory=tmp_path)) == ""
    assert script_of(CoreTarget(tmp_path / "core", PYTHON)) == ""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    script = tmp_path / "serve.py"
    script.write_text("print('ready', flush=True)\ninput()\n")
    return script


@pytest.fixture
def serving(script: Path) -> Iterator[subprocess.Popen[str]]:
    """A Python process that was started with options, in the script's folder."""
    command = [str(PYTHON), "-X", "utf8", "-u", script.name]
    process = subprocess.Popen(command, cwd=script.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.communicate("\n", timeout=20)


def test_an_attached_process_tells_by_its_command_line(script: Path, serving: subprocess.Popen[str]) -> None:
    assert script_of(AttachTarget(serving.pid)) == str(script)
    assert script_of(AttachTarget(1 << 22)) == ""


class TestStore:
    def test_scripts_are_kept_apart(self, tmp_path: Path) -> None:
        one, other = IntentStore(PYTHON, "/src/a.py"), IntentStore(PYTHON, "/src/b.py")
        one.load()
        one.save([BreakpointIntent(1, "forward")])
        assert other.load() == IntentStore(PYTHON).load() == []
        (again,) = IntentStore(PYTHON, "/src/a.py").load()
        assert again.location == "forward"
        document = json.loads(one.file.read_text())
        assert (document["program"], document["script"]) == (os.path.realpath(PYTHON), "/src/a.py")
        WatchStore(PYTHON, "/src/a.py").save(["x"])
        assert WatchStore(PYTHON, "/src/b.py").load() == []

    def test_what_was_kept_for_the_interpreter_is_read_until_a_script_has_its_own(self, tmp_path: Path) -> None:
        IntentStore(PYTHON).save([BreakpointIntent(1, "forward"), BreakpointIntent(2, "backward")])
        store = IntentStore(PYTHON, "/src/a.py")
        kept = store.load()
        assert [one.location for one in kept] == ["forward", "backward"]
        store.save(kept[:1])
        assert [one.location for one in IntentStore(PYTHON, "/src/a.py").load()] == ["forward"]
        store.save([])
        assert IntentStore(PYTHON, "/src/a.py").load() == []
        assert len(IntentStore(PYTHON).load()) == 2

    def test_an_old_file_that_cannot_be_read_is_put_aside(self, tmp_path: Path) -> None:
        old = IntentStore(PYTHON).file
        old.parent.mkdir(parents=True)
        old.write_text("{")
        store = IntentStore(PYTHON, "/src/a.py")
        assert store.load() == []
        assert str(old.with_suffix(".json.bad")) in store.notice


async def _breakpoints(target: LaunchTarget | AttachTarget, *wanted: str) -> list[str]:
    session = DebugSession(GdbDebugger())
    try:
        if isinstance(target, LaunchTarget):
            await session.open(target, run=False)
        else:
            await session.open(target)
            await session.at_rest()
        for location in wanted:
            await session.set_breakpoint(location)
        return [binding.intent.location for binding in session.state.breakpoints]
    finally:
        await session.close()


async def test_breakpoints_of_one_script_are_not_set_in_another(
    gdb: Path, script: Path, serving: subprocess.Popen[str]
) -> None:
    other = script.with_name("other.py")
    other.touch()
    assert await _breakpoints(LaunchTarget(PYTHON, (str(script),)), "no_such_one") == ["no_such_one"]
    assert await _breakpoints(LaunchTarget(PYTHON, (str(other),))) == []
    assert await _breakpoints(LaunchTarget(PYTHON, ("-m", "serve"))) == []
    # The same script, already running.
    assert await _breakpoints(AttachTarget(serving.pid)) == ["no_such_one"]

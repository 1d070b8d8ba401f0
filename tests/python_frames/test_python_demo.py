"""The demo of a Python program that crashes in its extension."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget
from ladder_backends.errors import LadderError
from ladder_demos.catalogue import find_demo
from ladder_demos.compile import build_python_demo
from ladder_tui.opening import demo_opening


@pytest.mark.parametrize("python", ["this", "distribution", "3.8", "3.13"], indirect=True)
def test_it_crashes_in_its_third_step(python: Path) -> None:
    script = build_python_demo(find_demo("python-crash"))
    done = subprocess.run([python, script], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["step 0: loss = 1.0", "step 1: loss = 1.5"]
    assert done.returncode == -signal.SIGSEGV


def test_it_is_compiled_once() -> None:
    demo = find_demo("python-crash")
    script = build_python_demo(demo)
    made = script.with_name("fastsum.so").stat().st_mtime_ns
    assert build_python_demo(demo) == script
    assert script.with_name("fastsum.so").stat().st_mtime_ns == made
    assert script.read_bytes() == demo.path.read_bytes()


def test_it_opens_under_this_python() -> None:
    target = demo_opening(find_demo("python-crash")).target
    assert isinstance(target, LaunchTarget)
    assert target.arguments[0].endswith("/train.py")


def test_without_a_compiler_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(LadderError, match="there is no C compiler"):
        build_python_demo(find_demo("python-crash"))

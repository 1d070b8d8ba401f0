"""Programs that fill their terminal, debugged in a real one: they draw, hear keys, the mouse, a change of size."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

PROGRAM = Path(__file__).parents[1] / "programs/full_screen.py"


def shown(*parts: str):
    return lambda lines: all(any(re.search(part, line) for line in lines) for part in parts)


def started(terminal, *words: str | Path):
    screen = terminal(120, 40)
    screen.start("run", "--", *words)
    screen.wait("running")
    screen.press("w", "p", "z", "i")
    screen.wait("typing to the program")
    return screen


def left(screen) -> None:
    screen.press("C-]")
    screen.gone("typing to the program")


def test_a_curses_program(terminal, gdb) -> None:
    screen = started(terminal, sys.executable, PROGRAM)
    screen.wait(shown(r"^┌─+┐", r"size 1\d\dx3\d", "key none"))
    for key, name in (("x", "x"), ("Up", "KEY_UP"), ("C-c", r"\^C"), ("C-z", r"\^Z"), ("C-d", r"\^D")):
        screen.press(key)
        screen.wait(shown(rf"key {name} "))
    screen.click(20, 10)
    screen.wait(shown(r"mouse \d+,\d+"))
    screen.resize(90, 30)
    screen.wait(shown(r"size (8\d|90)x2\d"))
    assert re.search(r"\x1b\[[\d;]*4[14][\d;]*m", "\n".join(screen.screen(colours=True)))
    screen.press("q")
    screen.wait("exited normally")


@pytest.mark.skipif(shutil.which("less") is None, reason="no less")
def test_less(terminal, gdb, tmp_path) -> None:
    text = tmp_path / "text"
    text.write_text("".join(f"row {number}\n" for number in range(500)))
    screen = started(terminal, "less", text)
    screen.wait("row 20")
    screen.press("G")
    screen.wait("row 499")
    screen.write("?row 42$")
    screen.press("Enter")
    screen.wait(shown(r"row 42$"))
    screen.press("q")
    screen.wait("exited normally")


@pytest.mark.skipif(shutil.which("vi") is None, reason="no vi")
def test_vi(terminal, gdb, tmp_path) -> None:
    text = tmp_path / "text"
    screen = started(terminal, "vi", "-u", "NONE", text)
    screen.wait("~")
    screen.write("ihello")
    screen.wait("hello")
    screen.press("Escape")
    screen.write(":wq")
    screen.press("Enter")
    screen.wait("exited normally")
    assert text.read_text() == "hello\n"

"""Terminals of every kind: sizes, colours, none; and files that cannot be opened."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from ladder_demos.catalogue import find_demo
from ladder_demos.compile import compile_demo
from ladder_tui.log_file import log_path

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

COMMAND = Path(sys.executable).parent / "ladder-tui"
_SGR = re.compile(r"\x1b\[([\d;:]*)m")


def colours(lines: list[str]) -> set[str]:
    """Which kinds of colour a screen uses: `rgb`, `256`, `16`."""
    kinds: set[str] = set()
    for parameters in _SGR.findall("\n".join(lines)):
        words = parameters.replace(":", ";").split(";")
        at = 0
        while at < len(words):
            word = int(words[at] or 0)
            if word in (38, 48) and at + 1 < len(words):
                kinds.add("rgb" if words[at + 1] == "2" else "256")
                at += 5 if words[at + 1] == "2" else 3
                continue
            if 30 <= word <= 37 or 40 <= word <= 47 or 90 <= word <= 107:
                kinds.add("16")
            at += 1
    return kinds


@pytest.mark.parametrize(
    ("name", "variables", "allowed"),
    [
        ("tmux-256color", {}, {"256", "16"}),
        ("xterm", {}, {"16"}),
        ("linux", {}, {"16"}),
        ("tmux-256color", {"NO_COLOR": "1"}, set()),
        ("dumb", {}, set()),
    ],
)
def test_colours_are_those_of_the_terminal(terminal, gdb, name: str, variables: dict, allowed: set[str]) -> None:
    screen = terminal()
    screen.start("demo", "segfault", terminal=name, **variables)
    screen.wait("SIGSEGV")
    screen.wait("#1 main")
    used = colours(screen.screen(colours=True))
    assert used <= allowed
    assert bool(used) == bool(allowed)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_themes(terminal, gdb, theme: str) -> None:
    screen = terminal()
    screen.start("--theme", theme, "demo", "segfault")
    screen.wait("SIGSEGV")
    assert colours(screen.screen(colours=True))


def test_a_terminal_of_20x5_says_what_it_needs_and_comes_back(terminal, gdb) -> None:
    screen = terminal(20, 5)
    screen.start("demo", "segfault")
    screen.wait("too small")
    screen.resize(80, 24)
    screen.wait("SIGSEGV")
    screen.resize(20, 5)
    screen.wait("too small")
    screen.resize(120, 40)
    screen.wait("compute_total")


def test_resizing_a_lot_loses_nothing(terminal, gdb) -> None:
    screen = terminal()
    screen.start("demo", "segfault")
    screen.wait("SIGSEGV")
    for step in range(20):
        screen.resize(60 + step * 5, 20 + step)
    screen.resize(80, 24)
    screen.wait("#1 main")


def test_files_that_cannot_be_opened_end_with_one_line_and_no_screen(terminal, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    for words, why in (
        (["./gone"], "does not exist"),
        (["open", "empty"], "is empty"),
        (["core", "/etc/passwd"], "cannot be opened"),
    ):
        screen = terminal()
        screen.start(*words)
        assert screen.exit_code() == 2
        lines = [line for line in screen.screen() if line.strip()]
        assert any(why in line.lower() for line in lines), lines
        assert lines[0].startswith("ladder-tui: ")


BROKEN = """
import sys
import ladder_tui.app
from ladder_tui.cli import main

class Broken(ladder_tui.app.LadderApp):
    def on_mount(self):
        super().on_mount()
        self.set_timer(0.2, self.fail)

    def fail(self):
        raise RuntimeError("planted \\x1b[2J fault")

ladder_tui.app.LadderApp = Broken
sys.exit(main(["demo", "segfault"]))
"""


def test_a_fault_of_the_console_itself_is_one_line_and_leaves_nothing_behind(terminal, gdb, tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text(BROKEN)
    screen = terminal(120, 40)
    screen.start(command=(sys.executable, script))
    assert screen.exit_code() == 2
    text = screen.text()
    assert "unexpected RuntimeError: planted" in text
    assert "Traceback" not in text
    assert "planted" in log_path().read_text()
    assert not [words for words in screen.processes().values() if "gdb" in words or "segfault" in words]


def test_a_program_with_a_hostile_name(terminal, gdb, tmp_path: Path) -> None:
    program = tmp_path / "[" / "bold]\x1b[2J\x1b]0;owned\x07x"
    program.parent.mkdir()
    shutil.copy(compile_demo(find_demo("segfault")), program)
    screen = terminal(120, 40)
    screen.start(command=(COMMAND, "run", program))
    screen.wait("SIGSEGV")
    screen.wait("#1 main")
    screen.wait("bold]")


def test_the_start_screen_opens_a_demo_by_a_click(terminal, gdb) -> None:
    screen = terminal()
    screen.start()
    screen.wait("Rungs")
    screen.wait("segfault")
    screen.click_on("a C program follows a null pointer")
    screen.wait("SIGSEGV")
    screen.wait("#1 main")

"""Run control by hand in a real terminal: run there, settings, kill, a deaf program, one that is let go."""

from __future__ import annotations

import os
import re
import signal

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_there_and_back_settings_and_kill(terminal, gdb, compiled) -> None:
    screen = terminal(100, 30)
    screen.start("run", "--stop-at-main", compiled("nested"))
    screen.wait("18 ▶")
    # To a line of the function further in, in whatever frame it is reached.
    screen.press("g")
    screen.write("4")
    screen.press("Enter")
    screen.write("a")
    screen.wait("#0 leaf")
    screen.press("f")
    screen.wait("returned")
    # Leave the caller with a value of our own.
    screen.write("R")
    screen.wait("Return from middle now?")
    screen.write("70")
    screen.press("Enter")
    screen.wait("back in top")
    screen.press("n")
    screen.wait(lambda lines: any(re.search(r"\bc\b.*\b70\b", line) for line in lines))
    screen.write("X")
    screen.write("top(1)")
    screen.press("Enter")
    screen.wait("top(1) = 103")
    screen.write("E")
    screen.wait("How to start nested")
    screen.write("n 'two words'")
    screen.press("Enter")
    screen.wait("from the next start on: n 'two words'")
    screen.write("k")
    screen.wait("Kill nested?")
    screen.write("k")
    screen.wait("killed")
    screen.write("c")
    screen.wait("18 ▶")
    screen.write("q")
    screen.wait("leave")
    screen.write("q")
    assert screen.exit_code() == 0


def test_a_program_that_is_let_go_outlives_the_console_however_that_ends(terminal, gdb, compiled) -> None:
    screen = terminal()
    screen.start("run", compiled("spin"))
    screen.wait("running")
    screen.write("D")
    screen.wait("Detach from spin?")
    screen.press("Enter")
    lines = screen.wait(lambda lines: any(re.search(r"process \d+ runs on without", line) for line in lines))
    process = int(next(match[1] for line in lines if (match := re.search(r"process (\d+) runs on", line))))
    try:
        application = screen.application()
        os.kill(application, signal.SIGKILL)
        assert screen.all_dead([application])
        # A hang-up would come at once; a program in the middle of a sleep takes a moment to see it.
        for _ in range(3):
            os.kill(process, 0)
            screen.wait("EXIT=")
        assert alive(process)
    finally:
        os.kill(process, signal.SIGKILL)


def test_a_deaf_program_is_stopped_by_what_the_second_ctrl_c_offers(terminal, gdb, compiled) -> None:
    screen = terminal()
    screen.start("run", compiled("deaf"))
    screen.wait("running")
    screen.write("wp")
    screen.wait(lambda lines: any(line.strip() == "deaf" for line in lines))
    screen.press("C-c")
    screen.wait("it blocks SIGINT")
    screen.press("C-c", "C-c")
    screen.wait("stop it hard")
    screen.write("s")
    screen.wait("interrupted")
    screen.write("q")
    screen.wait("leave")
    screen.write("q")
    assert screen.exit_code() == 0

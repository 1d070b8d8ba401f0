"""A C program under the real gdb: one screen tells the whole story of its crash."""

from __future__ import annotations

import os
import re
import signal

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def crashed(terminal, columns: int = 80, rows: int = 24, **variables: str):
    screen = terminal(columns, rows)
    screen.start("demo", "segfault", **variables)
    screen.wait("SIGSEGV")
    screen.wait("compute_total")
    screen.wait("0x0")
    return screen


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
def test_the_whole_story_on_one_screen(terminal, gdb, columns: int, rows: int) -> None:
    screen = crashed(terminal, columns, rows)
    screen.wait(
        lambda lines: all(
            any(re.search(shown, line) for line in lines)
            for shown in ("#0 compute_total", "#1 main", r"\bdata +0x0\b", r"\b5 ▶ +total \+= data", "SIGSEGV")
        )
    )


def test_the_caller_by_a_click(terminal, gdb) -> None:
    screen = crashed(terminal)
    screen.click_on("#1 main")
    screen.wait(lambda lines: any("10 ▶" in line or "10 ▷" in line or " 10 ▹" in line for line in lines))


def test_the_engines_own_console(terminal, gdb) -> None:
    screen = crashed(terminal)
    screen.write(":")
    screen.write("print n + 34")
    screen.press("Enter")
    screen.wait("$1 = 42")
    screen.press("Escape")


def test_leaving_asks_and_then_leaves_nothing_behind(terminal, gdb) -> None:
    screen = crashed(terminal)
    application = screen.application()
    engines = [one for one in screen.processes() if one != application]
    screen.press("q")
    screen.wait("leave")
    screen.press("n")
    screen.gone("leave")
    screen.press("q")
    screen.wait("leave")
    screen.press("q")
    assert screen.exit_code() == 0
    assert screen.all_dead(set(engines) - set(screen.processes()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_an_abrupt_end_leaves_no_engine_and_no_program(terminal, gdb, number: signal.Signals) -> None:
    screen = crashed(terminal)
    application = screen.application()
    below = [one for one, words in screen.processes().items() if "gdb" in words or "segfault" in words]
    below = [one for one in below if one != application]
    assert len(below) >= 2
    os.kill(application, number)
    assert screen.all_dead([application])
    assert screen.all_dead(below)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back(terminal, gdb, number: signal.Signals) -> None:
    screen = crashed(terminal)
    os.kill(screen.application(), number)
    assert screen.exit_code() == 128 + number
    assert not any("SIGSEGV" in line for line in screen.screen())


def test_the_terminal_going_away_ends_everything(terminal, gdb) -> None:
    screen = crashed(terminal)
    everything = list(screen.processes())
    screen.close()
    assert screen.all_dead(everything)


def test_gdb_killed_in_the_middle_is_a_line_and_the_screen_lives(terminal, gdb) -> None:
    screen = crashed(terminal)
    application = screen.application()
    (engine, *_) = [
        one for one, words in screen.processes().items() if words.split()[0].endswith("gdb") and one != application
    ]
    os.kill(engine, signal.SIGKILL)
    screen.wait("died")
    screen.press("?")
    screen.wait("Run control")

"""A flood of output: bounded work, bounded memory, and what is left out is counted."""

from collections import deque
from collections.abc import Callable

from ladder_tui.panes.program_backlog import BUDGET, KEPT, LIMIT, SLICE, ProgramBacklog
from ladder_tui.widgets.terminal_screen import TerminalScreen


def frozen() -> float:
    return 0.0


def impatient() -> Callable[[], float]:
    """A clock on which every slice takes the whole budget."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += BUDGET
        return now

    return clock


def everything(screen: TerminalScreen) -> list[str]:
    return [row.plain() for row in [*screen.history, *screen.lines]]


def test_output_is_shown_once_however_often_one_looks() -> None:
    backlog = ProgramBacklog(TerminalScreen(40, 4), clock=frozen)
    log = deque([b"one\r\n", b"two"])
    assert not backlog.drain(log, 0)
    assert not backlog.drain(log, 0)
    log.append(b" more\r\n")
    assert not backlog.drain(log, 0)
    assert everything(backlog.screen) == ["one", "two more", "", ""]


def test_a_helping_ends_with_its_budget() -> None:
    backlog = ProgramBacklog(TerminalScreen(40, 4), clock=impatient())
    log = deque([b"x" * 39 + b"\r\n"]) * 1_000
    assert backlog.drain(log, 0)
    assert backlog.screen.scrolled <= SLICE // 41
    helpings = 1
    while backlog.drain(log, 0):
        helpings += 1
    assert helpings == 41 * 1_000 // SLICE
    assert backlog.screen.scrolled == 997


def test_the_middle_of_a_flood_is_left_out_and_counted() -> None:
    backlog = ProgramBacklog(TerminalScreen(40, 4, history=10_000), clock=frozen)
    line = b"line %07d\r\n"
    log = deque(
        [b"".join(line % number for number in range(start, start + 500)) for start in range(0, 50_000, 500)]
    )
    assert not backlog.drain(log, 0)
    rows = [row for row in everything(backlog.screen) if row]
    mark = next(number for number, row in enumerate(rows) if "dropped" in row)
    shown = len(rows) - 1
    assert rows[mark] == f"… {50_000 - shown:,} lines dropped"
    assert backlog.dropped_lines == 50_000 - shown
    assert rows[-1] == "line 0049999"
    assert KEPT - 14 <= shown * 14 <= KEPT
    assert LIMIT < 50_000 * 14


def test_what_the_log_lost_is_told_in_bytes() -> None:
    backlog = ProgramBacklog(TerminalScreen(60, 4), clock=frozen)
    backlog.drain(deque([b"start\r\n"]), 0)
    backlog.drain(deque([b"end"]), 1_007)
    assert [row for row in everything(backlog.screen) if row] == [
        "start",
        "… 1,000 bytes were gone before they could be shown",
        "end",
    ]


def test_a_flood_that_leaves_the_alternate_screen_leaves_it() -> None:
    backlog = ProgramBacklog(TerminalScreen(40, 4), clock=frozen)
    backlog.drain(deque([b"\x1b[?1049h"]), 0)
    assert backlog.screen.alternate
    log = deque([b"\x1b[?1049h", b"\x1b[31m\x1b[?1049l", b"x\r\n" * LIMIT])
    backlog.drain(log, 0)
    assert not backlog.screen.alternate


def test_another_programs_log_starts_over() -> None:
    backlog = ProgramBacklog(TerminalScreen(40, 4), clock=frozen)
    backlog.drain(deque([b"a long first program\r\n"]), 0)
    backlog.drain(deque([b"second\r\n"]), 0)
    assert "second" in everything(backlog.screen)

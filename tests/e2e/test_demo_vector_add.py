"""The main job, as a person does it: the findings, Enter or a click, and the lane with its values."""

from __future__ import annotations

import re

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

SIZES = [(80, 24), (120, 40), (200, 60)]


def value_of(name: str, value: str):
    """A condition: the variables show this name with this value."""
    pattern = re.compile(rf"\b{name}(\s+|=){value}\b")
    return lambda lines: any(pattern.search(line) for line in lines)


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_from_a_finding_into_its_lane_by_keys(terminal, cuda_gdb, columns: int, rows: int) -> None:
    screen = terminal(columns, rows)
    screen.start("demo", "vector-add")
    screen.wait("24 lanes")
    screen.wait("(232,0,0)")
    screen.press("Enter")
    screen.wait(value_of("i", "1000"))
    screen.wait(value_of("n", "1000"))
    screen.wait(lambda lines: any(re.search(r"10 ▶\s+c\[i\]", line) for line in lines))
    screen.wait("lane 8 = thread (232,0,0)")
    screen.press("Down")
    screen.wait(lambda lines: any("(233,0,0)" in line or "… 23 more" in line for line in lines))
    if "(233,0,0)" not in screen.text():
        # Where there is little room, the further lanes are folded.
        screen.press("Enter")
        screen.wait("(233,0,0)")
    screen.press("Enter")
    screen.wait(value_of("i", "1001"))
    screen.wait("lane 9 = thread (233,0,0)")


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_from_a_finding_into_its_lane_by_mouse(terminal, cuda_gdb, columns: int, rows: int) -> None:
    screen = terminal(columns, rows)
    screen.start("demo", "vector-add")
    screen.wait("(232,0,0)")
    screen.wait(lambda lines: any("(233,0,0)" in line or "… 23 more" in line for line in lines))
    if "(233,0,0)" not in screen.text():
        # Where there is little room, the further lanes are folded.
        screen.click_on("… 23 more")
    screen.wait("(233,0,0)")
    screen.click_on("(233,0,0)")
    screen.wait(value_of("i", "1001"))
    screen.wait("lane 9 = thread (233,0,0)")
    if "(234,0,0)" not in screen.text():
        screen.press("Down")
    screen.wait("(234,0,0)")
    screen.click_on("(234,0,0)")
    screen.wait(value_of("i", "1002"))


def test_leaving_ends_the_engine_with_exit_code_0(terminal, cuda_gdb) -> None:
    screen = terminal()
    screen.start("demo", "vector-add")
    screen.wait("(232,0,0)")
    screen.press("Enter")
    screen.wait(value_of("i", "1000"))
    processes = screen.processes()
    assert any("cuda-gdb" in words for words in processes.values())
    application = screen.application()
    engines = [one for one in processes if one > application]
    screen.press("q")
    screen.wait(lambda lines: any("EXIT=" in line or "leave" in line for line in lines))
    if not any("EXIT=" in line for line in screen.screen()):
        screen.press("q")
    assert screen.exit_code() == 0
    assert screen.all_dead(engines)


def test_without_cuda_gdb_a_recording_answers_and_says_so(terminal, vector_add) -> None:
    screen = terminal(120, 40)
    screen.start("demo", "vector-add", LADDER_CUDA_GDB="/gone")
    screen.wait("recording")
    screen.press("Enter")
    screen.wait(value_of("i", "1000"))
    if "(234,0,0)" not in screen.text():
        screen.press("Down")
    screen.wait("(234,0,0)")
    screen.click_on("(234,0,0)")
    screen.wait(value_of("i", "1002"))
    assert not any("cuda-gdb --" in words for words in screen.processes().values())

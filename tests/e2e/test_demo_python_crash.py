"""A Python program that crashes in its extension, under real gdb and py-spy: one stack from script to C line."""

from __future__ import annotations

import re

import pytest

from ladder_backends.python_frames import find_py_spy

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

STORY = (
    r"#0 find_largest",
    r"#1 largest",
    r"▸ \d interpreter frames",
    r"py Layer.forward GIL +train.py:11",
)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_the_stack_reads_from_the_script_to_the_c_line(terminal, gdb, columns: int, rows: int) -> None:
    if find_py_spy().path is None:
        pytest.skip("no py-spy")
    screen = terminal(columns, rows)
    screen.start("demo", "python-crash")
    screen.wait("SIGSEGV")
    screen.wait(lambda lines: all(any(re.search(words, line) for line in lines) for words in STORY))
    screen.click_on("py Layer.forward")
    screen.wait(lambda lines: any("batch" in line and "[]" in line for line in lines))
    screen.wait(lambda lines: any(re.search(r"11 [▷▶] +return self.scale", line) for line in lines))

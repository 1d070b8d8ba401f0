"""The main job, as a person does it: the findings, Enter or a click, and the lane with its values."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.e2e


def test_from_a_finding_into_its_lane_by_keys(terminal, cuda_gdb) -> None:
    screen = terminal(80, 24)
    screen.start("demo", "vector-add")
    screen.wait("24")
    screen.wait("vadd")
    screen.press("Enter")
    screen.wait("1000")
    screen.wait("(232,0,0)")
    screen.press("q")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
def test_from_a_finding_into_its_lane_by_mouse(terminal, cuda_gdb, columns: int, rows: int) -> None:
    screen = terminal(columns, rows)
    screen.start("demo", "vector-add")
    screen.wait("vadd")
    screen.click_on("(233,0,0)")
    screen.wait("1001")

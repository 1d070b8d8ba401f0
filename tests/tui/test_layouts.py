from __future__ import annotations

import pytest
from textual.geometry import Region

from ladder_tui.panes import PANES
from ladder_tui.screens.layouts import DEVICE, HARDWARE, HOST, RANKS, edges, layout_for, place, size_class, slots_of

RUNGS = ["gdb", "sanitizer", "cuda-gdb", "ranks"]


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("size", [(40, 10), (59, 15), (80, 22), (99, 60), (120, 38), (200, 58), (317, 91)])
def test_every_cell_belongs_to_one_slot(rung: str, size: tuple[int, int]) -> None:
    area = Region(0, 0, *size)
    placed = place(layout_for(rung, *size), area)
    cells = [(x, y) for _, region in placed for x in region.column_range for y in region.line_range]
    assert len(cells) == len(set(cells)) == area.area


@pytest.mark.parametrize("size", ["tiny", "compact", "normal", "wide"])
def test_every_pane_is_one_chord_away(size: str) -> None:
    of_programs, of_devices, of_the_machine, of_jobs = (
        [pane for slot in slots_of(layouts[size]) for pane in slot.panes]
        for layouts in (HOST, DEVICE, HARDWARE, RANKS)
    )
    assert sorted(of_programs) == sorted(of_devices)
    assert sorted(of_programs + of_the_machine + of_jobs) == sorted(PANES)


def test_size_classes() -> None:
    sizes = [(40, 10), (80, 24), (120, 40), (200, 60), (200, 30), (100, 60)]
    assert [size_class(*size) for size in sizes] == ["tiny", "compact", "normal", "wide", "normal", "normal"]


def test_separators_meet() -> None:
    left, right = Region(0, 0, 10, 4), Region(10, 0, 10, 8)
    below, foot = Region(0, 4, 10, 4), Region(0, 8, 20, 3)
    regions = [left, right, below, foot]

    def of(region: Region) -> tuple[str, tuple[int, ...]]:
        return edges(region, [other for other in regions if other != region])

    assert of(left) == ("", ())
    assert of(right) == ("┬│││┤│││", ())
    assert of(foot) == ("", (10,))
    crossing = Region(10, 4, 10, 4)
    assert edges(crossing, [left, Region(10, 0, 10, 4), below])[0][0] == "┼"

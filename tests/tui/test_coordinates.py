"""Places as they are typed at `g`."""

import pytest

from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import Kernel
from ladder_tui.screens.coordinates import is_lane, read_place

VADD = Kernel(0, 1, 0, "vadd", (4, 1, 1), (256, 1, 1), "Active")
TILE = Kernel(0, 1, 0, "tile", (250, 1000, 1), (32, 8, 1), "Active")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12", 12),
        ("(3,0,0)(232,0,0)", Focus.of(block=(3, 0, 0), thread=(232, 0, 0))),
        ("3,0,0 232", Focus.of(block=(3, 0, 0), thread=(232, 0, 0))),
        ("b 3,0,0 t 232", Focus.of(block=(3, 0, 0), thread=(232, 0, 0))),
        ("block 3 thread 40", Focus.of(block=(3, 0, 0), thread=(40, 0, 0))),
        ("b3 t40", Focus.of(block=(3, 0, 0), thread=(40, 0, 0))),
        ("B(3, 0, 0) T(40, 0, 0)", Focus.of(block=(3, 0, 0), thread=(40, 0, 0))),
        ("kernel 1", Focus.of(kernel=1)),
        ("k 1 b 2 t 3", Focus.of(kernel=1, block=(2, 0, 0), thread=(3, 0, 0))),
        ("3,0,0 t 7", Focus.of(block=(3, 0, 0), thread=(7, 0, 0))),
        ("block 2 5,1", Focus.of(block=(2, 0, 0), thread=(5, 1, 0))),
        ("sm 5 warp 3 lane 2", Focus.of(sm=5, warp=3, lane=2)),
        ("device 1 sm 5 w 3 l 2", Focus.of(device=1, sm=5, warp=3, lane=2)),
        ("lane=7", Focus.of(lane=7)),
        ("blockIdx (1,2,0) threadIdx (3,4,0)", Focus.of(block=(1, 2, 0), thread=(3, 4, 0))),
    ],
)
def test_places(text: str, place: int | Focus) -> None:
    assert read_place(text) == place


@pytest.mark.parametrize(
    ("text", "kernel", "place"),
    [
        ("#1008", VADD, Focus.of(block=(3, 0, 0), thread=(240, 0, 0))),
        ("#0", VADD, Focus.of(block=(0, 0, 0), thread=(0, 0, 0))),
        ("block #251 thread #33", TILE, Focus.of(block=(1, 1, 0), thread=(1, 1, 0))),
        ("#63999999", TILE, Focus.of(block=(249, 999, 0), thread=(31, 7, 0))),
    ],
)
def test_linear_numbers(text: str, kernel: Kernel, place: Focus) -> None:
    assert read_place(text, kernel) == place


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "write a line"),
        ("main.cu:12", "write a line"),
        ("block", "write a line"),
        ("block 1 2 3", "write a line"),
        ("1 2 3", "write a line"),
        ("1 2 block 3", "write a line"),
        ("block block 3", "write a line"),
        ("block 1 block 2", "block is named twice"),
        ("sm 5 block 3", "not in both"),
        ("sm 5,1,1", "sm is one number"),
        ("block 1,2,3,4", "not a coordinate"),
        ("#1024", "has 1,024 threads"),
        ("block #4", "has 4 blocks"),
        ("sm #4", "plain number"),
        ("-1", "write a line"),
    ],
)
def test_what_is_no_place(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_place(text, VADD)


@pytest.mark.parametrize("text", ["3,0,0 240", "(3,0,0)(240,0,0)", "b 3 t 40", "#1008", "sm 5 warp 3", "3,0,0"])
def test_lanes_where_an_address_may_stand_too(text: str) -> None:
    assert is_lane(text)


@pytest.mark.parametrize(
    "text", ["", "12", "0x7f00", "(12)", "i", "&row", "shared 0x400", "a[1,2]", "f(1,2)", "b", "b + 3", "$pc, 4"]
)
def test_addresses_and_expressions_are_no_lanes(text: str) -> None:
    assert not is_lane(text)


def test_a_linear_number_needs_a_kernel() -> None:
    with pytest.raises(ValueError, match="needs a kernel"):
        read_place("#5")

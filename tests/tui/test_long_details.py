"""A long reason for a stop leaves room for the keys in a narrow terminal."""

from __future__ import annotations

from typing import Any

import pytest

from ladder_backends.model.focus import Focus

from .test_seats_on_screen import live


@pytest.mark.parametrize(("size", "shown"), [((80, 24), False), ((120, 40), True)])
async def test_the_place_of_an_exception_is_told_where_there_is_room(
    empty_ladder: Any, show: Any, size: tuple[int, int], shown: bool
) -> None:
    debug = live(detail="Warp Illegal Address at illegal_address.cu:14")
    debug.focus = Focus.of(kernel=0, block=(2, 0, 0), thread=(0, 0, 0))
    empty_ladder.add(debug)
    empty_ladder.state.rung = "cuda-gdb"
    async with show(empty_ladder, size) as view:
        last = view.text().splitlines()[-1]
        assert "Warp Illegal Address" in last
        assert ("illegal_address.cu:14" in last) == shown
        assert "? keys" in last

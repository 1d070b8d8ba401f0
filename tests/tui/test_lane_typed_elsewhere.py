"""A lane that is typed where an address is asked for is gone to all the same."""

from __future__ import annotations

from typing import Any

import pytest

from ladder_backends.model.focus import Focus


def went(ladder: Any) -> list[Any]:
    return [asked[1] for asked in ladder.asked if asked[0] in ("jump_to", "switch")]


@pytest.mark.parametrize("pane", ["m", "d"])
async def test_from_memory_and_from_machine_code(gpu_dump: Any, show: Any, pane: str) -> None:
    async with show(gpu_dump) as view:
        await view.press("w", pane, "g", *"3,0,0 240", "enter")
        assert went(gpu_dump) == [Focus.of(block=(3, 0, 0), thread=(240, 0, 0))]


async def test_an_address_is_still_one(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("w", "m", "g", *"0x7f586c800000", "enter")
        assert went(gpu_dump) == []


async def test_on_the_host_there_are_no_lanes(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("w", "m", "g", *"3,0,0 240", "enter")
        assert went(segfault) == []

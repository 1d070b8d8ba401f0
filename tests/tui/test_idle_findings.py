"""Where no report is open, findings take no room from a program on the GPU."""

from __future__ import annotations

from typing import Any

import pytest

from ladder_backends.model.finding import Report
from ladder_backends.session.state import Change
from ladder_tui.screens.layouts import DEVICE, Slot, without_idle

from .test_seats_on_screen import live


@pytest.fixture
def on_a_gpu(empty_ladder: Any) -> Any:
    """A live program on its rung, and no report."""
    empty_ladder.add(live())
    empty_ladder.state.rung = "cuda-gdb"
    return empty_ladder


def heights(view: Any) -> dict[str, int]:
    return {name: region.height for name, region in view.app.workspace.area.regions.items()}


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_only_their_title_is_left(on_a_gpu: Any, show: Any, size: tuple[int, int]) -> None:
    async with show(on_a_gpu, size) as view:
        assert heights(view)["findings"] == 1
        assert "no report open" in view.text()
        assert "start with: ladder-tui open" not in view.text()
        assert view.app.focused.id != "findings"
        cells = sum(region.area for region in view.app.workspace.area.regions.values())
        assert cells == size[0] * (size[1] - 2)


async def test_the_smallest_screen_shows_the_source(on_a_gpu: Any, show: Any) -> None:
    async with show(on_a_gpu, (50, 14)) as view:
        assert list(heights(view)) == ["source"]


async def test_they_are_there_when_asked_for(on_a_gpu: Any, show: Any) -> None:
    async with show(on_a_gpu, (80, 24)) as view:
        await view.press("tab", "tab", "shift+tab", "shift+tab")
        assert heights(view)["findings"] == 1
        await view.press("w", "f")
        assert view.app.focused.id == "findings"
        assert "start with: ladder-tui open" in view.text()
        await view.press("tab")
        assert heights(view)["findings"] > 3


async def test_a_click_on_the_title_opens_them(on_a_gpu: Any, show: Any) -> None:
    async with show(on_a_gpu, (80, 24)) as view:
        await view.click("#findings", 3, 0)
        assert heights(view)["findings"] > 3
        assert view.app.focused.id == "findings"


async def test_a_report_takes_its_room(on_a_gpu: Any, show: Any) -> None:
    async with show(on_a_gpu, (80, 24)) as view:
        on_a_gpu.state.report = Report("memcheck", ran=True)
        on_a_gpu.tell(Change.FINDINGS)
        await view.settle()
        assert heights(view)["findings"] > 3


async def test_the_sanitizers_rung_says_how_to_get_one(on_a_gpu: Any, show: Any) -> None:
    async with show(on_a_gpu, (80, 24)) as view:
        await view.press("2")
        assert heights(view)["findings"] > 3


def test_of_nothing_but_idle_panes_none_leaves_its_room() -> None:
    assert without_idle(DEVICE["compact"], {"nothing"}, {}) == DEVICE["compact"]
    assert isinstance(DEVICE["tiny"], Slot)

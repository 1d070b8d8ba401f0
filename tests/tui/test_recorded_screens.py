"""The key screens, drawn from recordings of real engines through all of the real code below them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, Run
from ladder_demos.catalogue import find_demo
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings

SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
SEGFAULT = Path(__file__).parent / "recordings" / "segfault.jsonl"
SECONDS = 0.004

Played = Callable[..., Awaitable[LadderApp]]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    """The application on files that are open already, on a machine without any engine."""
    for variable in ("LADDER_GDB", "LADDER_CUDA_GDB"):
        monkeypatch.setenv(variable, "/not/installed")

    async def make(*files: Path) -> LadderApp:
        ladder = Ladder()
        # Where the source is scrolled to depends on whether it was there before the first layout.
        await ladder.open_files(files)
        return LadderApp(ladder, Settings(), clock=lambda: 103.0)

    return make


async def at_rest(pilot: Pilot[Any]) -> None:
    """Everything was read and drawn; times are those of no machine."""
    app: Any = pilot.app
    while app.tasks:
        await pilot.pause()
    for session in app.ladder.sessions.values():
        if session.target is not None:
            await session.at_rest()
    await app.workers.wait_for_complete()
    await pilot.pause()
    for session in app.ladder.sessions.values():
        state = session.state
        state.stop_to_paint = SECONDS if state.run is Run.STOPPED else None
        state.jump_seconds = SECONDS if state.jump_seconds is not None else None
        session.tell(Change.RUN | Change.FOCUS)
    await pilot.pause()


@pytest.mark.parametrize("size", SIZES)
async def test_a_crash(played: Played, shots: Any, size: str) -> None:
    app = await played(SEGFAULT, find_demo("segfault").path)
    async with app.run_test(size=SIZES[size]) as pilot:
        await at_rest(pilot)
        await shots.both(pilot, f"segfault-{size}")


@pytest.mark.parametrize("size", SIZES)
async def test_findings_and_a_lane(played: Played, shots: Any, size: str) -> None:
    app = await played(find_demo("vector-add").path)
    async with app.run_test(size=SIZES[size]) as pilot:
        await at_rest(pilot)
        await shots.both(pilot, f"findings-{size}")
        await pilot.press("enter")
        await at_rest(pilot)
        await shots.both(pilot, f"lane-{size}")


@pytest.mark.parametrize("name", ["hang", "race", "triton-oob"])
async def test_other_demos(played: Played, shots: Any, name: str) -> None:
    app = await played(find_demo(name).path)
    async with app.run_test(size=(120, 40)) as pilot:
        await at_rest(pilot)
        await pilot.press("enter")
        await at_rest(pilot)
        await shots.both(pilot, name)

"""Every shipped case on screen, on a machine without any engine: a lane of each is reached where it has one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from ladder_backends.case import Role, read_case
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, Run
from ladder_demos.catalogue import DEMOS, Demo, DemoKind, find_demo
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings
from ladder_tui.opening import demo_opening

CASES = [demo for demo in DEMOS if demo.kind is DemoKind.CASE and demo.shipped]
SIZES = {"80x24": (80, 24), "120x40": (120, 40)}
SPINNING = ("hang-live",)
NO_LANE = ("race", "leak", "barrier")
LINELESS = ("assert", "torch-assert")
SECONDS = 0.004

Shown = Callable[[str], Awaitable[LadderApp]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """The application on a demo, which is open already."""
    for variable in ("LADDER_GDB", "LADDER_CUDA_GDB"):
        monkeypatch.setenv(variable, "/not/installed")

    async def make(name: str) -> LadderApp:
        ladder = Ladder()
        await demo_opening(find_demo(name)).open(ladder)
        return LadderApp(ladder, Settings(), clock=lambda: 103.0)

    return make


async def at_rest(pilot: Pilot[Any]) -> None:
    """Everything was read and drawn; times are those of no machine."""
    app: Any = pilot.app
    while app.tasks:
        await pilot.pause()
    for session in app.ladder.sessions.values():
        if session.target is not None:
            rest = asyncio.ensure_future(session.at_rest())
            async with asyncio.timeout(10):
                # What is still starting may come to run for ever.
                while not rest.done() and session.state.run is not Run.RUNNING:
                    await asyncio.wait({rest}, timeout=0.01)
            rest.cancel()
    await app.workers.wait_for_complete()
    await pilot.pause()
    for session in app.ladder.sessions.values():
        state = session.state
        state.stop_to_paint = SECONDS if state.run is Run.STOPPED else None
        state.jump_seconds = SECONDS if state.jump_seconds is not None else None
        session.tell(Change.RUN | Change.FOCUS)
    await pilot.pause()


@pytest.mark.parametrize("demo", CASES, ids=lambda demo: demo.name)
async def test_a_lane_of_each_case_is_reached(shown: Shown, demo: Demo) -> None:
    app = await shown(demo.name)
    async with app.run_test(size=SIZES["80x24"]) as pilot:
        await at_rest(pilot)
        if demo.name in SPINNING:
            await pilot.press("ctrl+c")
            await pilot.pause(0.1)
            await at_rest(pilot)
        case, ladder = read_case(demo.path), app.ladder
        if case.of(Role.FINDINGS):
            assert ladder.state.report is not None
            assert ladder.state.report.findings
            await pilot.press("enter")
            await at_rest(pilot)
        session = ladder.active
        if demo.name in NO_LANE:
            assert session is None or session.state.focus is None
            return
        assert session is not None
        assert session.state.run in (Run.DUMP, Run.STOPPED)
        assert session.state.focus is not None
        assert "block" in session.state.focus
        assert session.state.frames.frames
        assert session.state.place is not None or demo.name in LINELESS
        assert not [one.text for one in session.state.notices if one.severity == "error"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["barrier", "torch-extension", "step", "grid"])
async def test_key_screens(shown: Shown, shots: Any, name: str, size: str) -> None:
    if not find_demo(name).shipped:
        pytest.skip("its case is not shipped")
    app = await shown(name)
    async with app.run_test(size=SIZES[size]) as pilot:
        await at_rest(pilot)
        await pilot.press("enter")
        await at_rest(pilot)
        await shots.both(pilot, f"{name}-{size}")

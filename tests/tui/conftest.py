"""The application on ladders without an engine, and snapshots of what the terminal would show."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
import textual
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual import events
from textual.pilot import Pilot

from ladder_tui._textual_compat import screen_lines
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings

from .ladder_double import LadderDouble, gpu_dump_story, segfault_story

BASELINE = ((3, 11), "8.2.8")
"""Python and Textual with which snapshots may be written."""


@pytest.fixture
def gpu_dump() -> LadderDouble:
    return gpu_dump_story()


@pytest.fixture
def segfault() -> LadderDouble:
    return segfault_story()


@pytest.fixture
def empty_ladder() -> LadderDouble:
    return LadderDouble()


@pytest.fixture
def make_app() -> Callable[..., LadderApp]:
    """An application over a double, with a clock that stands at 103 seconds."""

    def make(ladder: LadderDouble, **settings: Any) -> LadderApp:
        return LadderApp(ladder, Settings(**settings), clock=lambda: 103.0)  # type: ignore[arg-type]

    return make


async def settle(pilot: Pilot[Any]) -> None:
    """Wait for workers (colours, actions) and the paint after them."""
    app = pilot.app
    # A pause ends when this process has used no time for a moment: where others use it all, that says nothing of
    # what waits in the application's own queue.
    handled = asyncio.Event()
    app.call_later(handled.set)
    while not handled.is_set() and app.is_running:
        await pilot.pause(0)
    await pilot.pause()
    while app.tasks:
        await asyncio.wait(app.tasks)
    await app.workers.wait_for_complete()
    await pilot.pause()


def screen_text(app: Any) -> str:
    """What the terminal shows, as lines without trailing blanks."""
    return "\n".join(line.rstrip() for line in screen_lines(app.screen)) + "\n"


class View:
    """An application under test: what it shows, and hands to drive it with."""

    def __init__(self, app: LadderApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    async def settle(self) -> None:
        await settle(self.pilot)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def burst(self, text: str, **names: str) -> None:
        """Keys that arrive in one packet, as over a slow line; `names` are those of keys without a character."""
        for character in text:
            self.app.post_message(events.Key(names.get(character, character), character))
        await self.settle()

    async def click(self, selector: str, x: int, y: int) -> None:
        await self.pilot.click(selector, offset=(x, y))
        await self.settle()

    async def resize(self, columns: int, rows: int) -> None:
        await self.pilot.resize_terminal(columns, rows)
        await self.settle()

    def text(self) -> str:
        return screen_text(self.app)


@pytest.fixture
def show(make_app: Callable[..., LadderApp]) -> Callable[..., AbstractAsyncContextManager[View]]:
    """`async with show(ladder, (columns, rows)) as view:` opens the application on a double."""

    @asynccontextmanager
    async def opened(ladder: Any, size: tuple[int, int] = (120, 40), **settings: Any) -> AsyncIterator[View]:
        app = make_app(ladder, **settings)
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            yield View(app, pilot)

    return opened


class _TextShot(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "txt"


class _SvgShot(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "svg"


class Shots:
    """Compares the screen with what was stored under a name."""

    def __init__(self, snapshot: SnapshotAssertion) -> None:
        self._text = snapshot.use_extension(_TextShot)
        self._svg = snapshot.use_extension(_SvgShot)

    def text(self, app: Any, name: str) -> None:
        assert screen_text(app) == self._text(name=name)

    def svg(self, app: Any, name: str) -> None:
        drawing = re.sub(r"terminal-\d+", "terminal-0", app.export_screenshot(title="ladder-tui"))
        assert "\n".join(line.rstrip() for line in drawing.splitlines()) + "\n" == self._svg(name=name)

    async def both(self, pilot: Pilot[Any], name: str) -> None:
        await settle(pilot)
        self.text(pilot.app, name)
        self.svg(pilot.app, name)


@pytest.fixture
def shots(snapshot: SnapshotAssertion, request: pytest.FixtureRequest) -> Shots:
    if request.config.getoption("--snapshot-update") and (sys.version_info[:2], textual.__version__) != BASELINE:
        pytest.fail(f"snapshots are written with Python and Textual {BASELINE} only")
    return Shots(snapshot)


@pytest.fixture(autouse=True)
def faults(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BaseException]]:
    """Faults of our own that the application told of; a test that expects one takes it out."""
    kept: list[BaseException] = []
    tell = LadderApp.unexpected
    monkeypatch.setattr(LadderApp, "unexpected", lambda app, error: (kept.append(error), tell(app, error)))
    yield kept
    if kept:
        raise kept[0]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No animation, and no variable of the caller's terminal."""
    for variable in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_FPS", "TEXTUAL_COLOR_SYSTEM"):
        monkeypatch.delenv(variable, raising=False)

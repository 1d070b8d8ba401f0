"""A GPU core dump opened with a program that did not make it: another one can be named on the spot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.case import Opened, open_files
from ladder_backends.debugger import GpuDumpTarget
from ladder_backends.session.ladder import Ladder
from ladder_demos.catalogue import find_demo
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings

from .conftest import View, settle


@pytest.fixture
async def ladder(cuda_gdb: Path) -> AsyncIterator[Ladder]:
    ladder = Ladder()
    yield ladder
    await ladder.close()


@pytest.fixture
def made() -> Opened:
    """The dump, with the program that made it."""
    return open_files([find_demo("vector-add").path])


@pytest.fixture
def wrong() -> Path:
    executable = open_files([find_demo("uninit").path]).executable
    assert executable is not None
    return executable


async def until(view: Any, words: str) -> None:
    for _ in range(600):
        if words in view.text():
            return
        await asyncio.sleep(0.01)
        await view.settle()
    pytest.fail(f"{words!r} never came:\n{view.text()}")


async def test_another_one_is_named_where_a_jump_was_refused(
    ladder: Ladder, made: Opened, wrong: Path, show: Any
) -> None:
    assert made.dump is not None
    await ladder.open_files((*made.reports, made.dump, wrong))
    async with show(ladder, (80, 24)) as view:
        await view.press("enter")
        await until(view, "did not make")
        await view.press("j")
        assert "name the program that made the dump" in view.text()
        await view.press("n", *"/nothere", "enter")
        await until(view, "there is no program /nothere")
        await view.press(*["backspace"] * 8)
        await view.burst(str(made.executable))
        await view.press("enter")
        await until(view, "1000")
        assert ladder.jumps.dump == GpuDumpTarget(made.dump, made.executable)
        await view.press("j")
        assert "name the program" not in view.text()


async def test_without_a_program_the_dump_tells_what_it_holds(
    ladder: Ladder, made: Opened, wrong: Path, show: Any
) -> None:
    assert made.dump is not None
    await ladder.open_files((*made.reports, made.dump, wrong))
    async with show(ladder, (80, 24)) as view:
        await view.press("enter")
        await until(view, "did not make")
        await view.press("j", "d")
        await until(view, "you are here")
        assert ladder.jumps.dump == GpuDumpTarget(made.dump, None)


async def test_a_dump_that_is_opened_alone_asks_at_once(ladder: Ladder, made: Opened, wrong: Path) -> None:
    dump = made.dump
    assert dump is not None

    async def open_it(_: Any) -> None:
        await ladder.open_target(GpuDumpTarget(dump, wrong))

    app = LadderApp(ladder, Settings(), opening=open_it)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        view = View(app, pilot)
        await until(view, "path of the program; ⏎ alone: without one")
        await view.burst(str(wrong))
        await view.press("enter")
        await until(view, "path of the program; ⏎ alone: without one")
        await view.press("enter")
        await until(view, "t (232,0,0) b (3,0,0)")

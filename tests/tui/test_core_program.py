"""A core whose program was not found asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ladder_backends.debugger.target import CoreTarget
from ladder_backends.gdb import core_program as found_programs
from ladder_backends.session.state import DebugState, Run
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings

from .conftest import View, settle
from .ladder_double import LadderDouble

MISSING = "train with build id 0123456789ab…"


@pytest.fixture
def cored(empty_ladder: LadderDouble) -> LadderDouble:
    """A core that stands at addresses."""
    session = empty_ladder.add(DebugState(rung="gdb", title="core · core", run=Run.DUMP))
    session.target = CoreTarget(Path("/cores/core"))
    session.debugger = SimpleNamespace(missing_program=MISSING)  # type: ignore[attr-defined]
    return empty_ladder


@pytest.fixture
def opened(cored: LadderDouble, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is opened afterwards."""
    targets: list[Any] = []

    async def open_target(target: Any, debugger: str | None = None) -> None:
        targets.append(target)

    cored.open_target = open_target  # type: ignore[attr-defined]
    return targets


@pytest.fixture
def asking(cored: LadderDouble) -> Callable[[], Any]:
    """The application, right after it has opened the core."""
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def start() -> Any:
        async def nothing(_: Any) -> None:
            return None

        app = LadderApp(cored, Settings(), opening=nothing, clock=lambda: 103.0)  # type: ignore[arg-type]
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            while not app.workspace.prompt.display:
                await pilot.pause(0.01)
            yield View(app, pilot)

    return start


def type_in(view: View, text: str) -> Any:
    return view.burst(text)


async def test_the_right_program_is_opened(
    asking: Any, opened: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "train"
    program.write_bytes(b"x")
    monkeypatch.setattr(found_programs, "difference", lambda core, path: "")
    async with asking() as view:
        assert f"path of {MISSING}; Esc: addresses only" in view.text()
        await view.burst(str(program))
        await view.press("enter")
        assert opened == [CoreTarget(Path("/cores/core"), program)]


async def test_what_is_not_there_is_asked_for_again(asking: Any, opened: list[Any]) -> None:
    async with asking() as view:
        await view.burst("/nowhere/train")
        await view.press("enter")
        assert "there is no program /nowhere/train" in view.text()
        assert view.app.workspace.prompt.display
        await view.press("escape")
        assert not view.app.workspace.prompt.display
        assert opened == []


async def test_another_build_says_so_first(
    asking: Any, opened: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "train"
    program.write_bytes(b"x")
    words = "build id aaaaaaaaaaaa… here, bbbbbbbbbbbb… in the core"
    monkeypatch.setattr(found_programs, "difference", lambda core, path: words)
    async with asking() as view:
        await view.burst(str(program))
        await view.press("enter")
        assert "train may not match the core" in view.text()
        assert words in view.text()
        await view.press("n")
        assert view.app.workspace.prompt.display
        await view.press("enter")
        assert opened == []
        await view.press("o")
        assert opened == [CoreTarget(Path("/cores/core"), program)]


async def test_nothing_is_asked_where_nothing_is_missing(cored: LadderDouble, show: Any) -> None:
    cored.sessions["gdb"].debugger.missing_program = ""  # type: ignore[attr-defined]
    async with show(cored, (80, 24)) as view:
        view.app._ask_for_program()
        await view.settle()
        assert not view.app.workspace.prompt.display

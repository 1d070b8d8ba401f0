"""The rungs on the screen; those of added debuggers stand at the end, and are reached like ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ladder_backends import rungs
from ladder_backends.debugger import registry
from ladder_tui.actions import ACTIONS
from ladder_tui.screens.layouts import DEVICE, HOST, layout_for
from ladder_tui.screens.start_rows import RungTarget, start_rows


@pytest.fixture
def two_added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "find_rungs", lambda: False)
    rungs.add(
        {
            "lldb": rungs.added_rung("lldb", "lldb-mi"),
            "simulator": rungs.added_rung("simulator", "simulator", device="CUDA"),
        }
    )
    yield
    rungs.add({})


def test_every_rung_has_an_action() -> None:
    keys = {action.id: action.keys for action in ACTIONS}
    for rung in rungs.OURS:
        assert keys[f"rung.{rung.name}"] == (rung.key,)


@pytest.mark.usefixtures("two_added")
async def test_added_rungs_are_on_the_bar_and_reached_by_digit_and_click(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        bar = view.text().splitlines()[0]
        assert bar.index("ranks") < bar.index("6 lldb") < bar.index("7 simulator")
        await view.press("6")
        assert segfault.state.rung == "lldb"
        assert "6 LLDB" in view.text()
        assert "start with: ladder-tui run --rung lldb-mi PROGRAM" in view.text()
        await view.press("7")
        assert segfault.state.rung == "simulator"
        await view.press("9")
        assert segfault.state.rung == "simulator"
        assert "no debugger was added that has this rung" in view.text()
        await view.press("1")
        await view.click("#rung-bar", bar.index("6 lldb"), 0)
        assert segfault.state.rung == "lldb"


@pytest.mark.usefixtures("two_added")
def test_a_rung_of_a_device_has_its_layout() -> None:
    assert layout_for("simulator", 120, 40) is DEVICE["normal"]
    assert layout_for("lldb", 120, 40) is HOST["normal"]
    assert layout_for("nobody", 120, 40) is HOST["normal"]


@pytest.mark.usefixtures("two_added")
def test_the_start_screen_lists_them() -> None:
    rows = start_rows({"gdb": None, "lldb-mi": None}, (), ())
    told = {row.target.name: row.text() for row in rows if isinstance(row.target, RungTarget)}
    assert list(told)[-2:] == ["lldb", "simulator"]
    assert "looking" in told["lldb"]
    assert "no debugger is registered" in told["simulator"]


def test_one_that_does_not_load_says_so_on_the_start_screen_and_the_bar() -> None:
    rungs.add({"bad": rungs.added_rung("bad", "bad", missing="the debugger 'bad' does not load: ImportError")})
    try:
        rows = start_rows({}, (), ())
        assert any("does not load: ImportError" in row.text() for row in rows)
    finally:
        rungs.add({})


async def test_they_are_looked_for_after_the_first_paint(segfault: Any, show: Any, monkeypatch: Any) -> None:
    def found() -> bool:
        return rungs.add({"lldb": rungs.added_rung("lldb", "lldb-mi")})

    monkeypatch.setattr(registry, "find_rungs", found)
    try:
        async with show(segfault) as view:
            await view.app._find_rungs()
            await view.settle()
            assert "6 lldb" in view.text().splitlines()[0]
    finally:
        rungs.add({})

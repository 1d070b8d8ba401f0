"""What is typed behind a key that opens nothing, or into what has closed by itself, runs no command."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events

from ladder_backends.debugger.contract import Capability
from ladder_backends.session.state import Change, Run
from ladder_tui.actions import ACTIONS
from ladder_tui.screens.stray_keys import PAUSE, StrayKeys

OPENERS = [action for action in ACTIONS if action.opens and action.scope == "workspace" and action.bound]
ALWAYS_OPEN = {"go.to", "search", "source.open", "attach", "sanitize.run"}
"""They open whatever the state is."""


def asked(ladder: Any) -> list[str]:
    return [each[0] for each in ladder.active.asked if each[0] in ("resume", "kill", "interrupt", "restart")]


@pytest.mark.parametrize("run", [Run.NOTHING, Run.STARTING, Run.DEAD])
@pytest.mark.parametrize(
    "opener", [action for action in OPENERS if action.id not in ALWAYS_OPEN], ids=lambda a: a.id
)
async def test_behind_a_key_that_opens_nothing(segfault: Any, show: Any, opener: Any, run: Run) -> None:
    if opener.id == "run.start" and run is Run.DEAD:
        pytest.skip("it starts the engine again")
    debug = segfault.active.state
    debug.run, debug.capabilities = run, Capability.NONE
    async with show(segfault) as view:
        await view.press("w", "s")
        segfault.active.asked.clear()
        await view.press(opener.bound[0])
        # It may come to be able to while the person types.
        debug.run, debug.capabilities = Run.STOPPED, Capability.RUN_CONTROL | Capability.BREAKPOINTS
        segfault.active.tell(Change.RUN)
        await view.burst("snk cq", **{" ": "space"})
        assert view.app.screen is view.app.workspace
        assert asked(segfault) == []
        if view.app.focused.id != "console" and not view.app.workspace.prompt.display:
            assert "not taken: snk cq" in view.text()
            # Esc, and keys are commands again.
            await view.press("escape", "n")
            assert asked(segfault) == ["resume"]


async def test_a_line_typed_while_the_engine_starts_is_a_line(segfault: Any, show: Any) -> None:
    debug = segfault.active.state
    debug.run, debug.capabilities = Run.STARTING, Capability.NONE
    async with show(segfault) as view:
        await view.burst(":print sink\r", **{":": "colon", "\r": "enter", " ": "space"})
        assert ("console", "print sink") in segfault.active.asked
        assert asked(segfault) == []
        debug.typed_ahead = 1
        segfault.active.tell(Change.CONSOLE)
        await view.settle()
        assert "1 line waits until it listens" in view.text()


async def test_an_engine_that_dies_under_a_line_makes_no_commands_of_it(segfault: Any, show: Any) -> None:
    debug = segfault.active.state
    async with show(segfault) as view:
        await view.burst(":pri", **{":": "colon"})
        debug.run, debug.capabilities = Run.DEAD, Capability.NONE
        segfault.active.tell(Change.RUN)
        await view.burst("cq\r", **{"\r": "enter"})
        assert view.app.is_running
        assert view.app.screen is view.app.workspace
        assert asked(segfault) == []
        assert "the engine is gone — not taken: cq" in view.text()
        await view.press("escape", "c")
        assert asked(segfault) == ["resume"]


async def test_a_program_that_ends_under_what_is_typed_to_it(segfault: Any, show: Any) -> None:
    debug = segfault.active.state
    debug.run = Run.RUNNING
    debug.capabilities |= Capability.PROGRAM_TERMINAL
    async with show(segfault) as view:
        await view.press("w", "p", "i", "y")
        debug.run = Run.EXITED
        segfault.active.tell(Change.RUN)
        await view.burst("quit\r", **{"\r": "enter"})
        assert view.app.is_running
        assert view.app.screen is view.app.workspace
        assert "the program takes no more — not taken: quit" in view.text()


async def test_typing_to_a_program_that_does_not_run(segfault: Any, show: Any) -> None:
    debug = segfault.active.state
    debug.run = Run.EXITED
    async with show(segfault) as view:
        await view.press("w", "p", "i")
        await view.burst("quit\r", **{"\r": "enter"})
        assert view.app.is_running
        assert "no program that could be typed to — not taken: quit" in view.text()


async def test_an_answer_to_what_was_taken_back(segfault: Any, show: Any) -> None:
    debug = segfault.active.state
    debug.run = Run.RUNNING
    async with show(segfault) as view:
        await view.press("ctrl+c", "ctrl+c")
        debug.run, debug.since = Run.STOPPED, 104.0
        segfault.active.tell(Change.RUN)
        await view.press("s")
        assert "resume" not in asked(segfault)
        assert "not taken: s" in view.text()


def key(name: str) -> events.Key:
    return events.Key(name, name if len(name) == 1 else None)


def test_a_pause_ends_it_and_so_does_a_key_that_no_text_has() -> None:
    now, said = [0.0], list[str]()
    stray = StrayKeys(said.append, lambda: now[0])
    assert not stray.takes(key("n"))
    stray.begin("nothing opens")
    for letter in "next":
        now[0] += 0.9 * PAUSE
        assert stray.takes(key(letter))
    assert said[-1] == "nothing opens — not taken: next"
    assert stray.takes(key("enter"))
    assert stray.takes(key("k"))
    now[0] += 1.1 * PAUSE
    assert not stray.takes(key("n"))
    assert not stray.takes(key("n"))
    for ends, taken in (("f10", False), ("ctrl+c", False), ("up", False), ("escape", True)):
        stray.begin("nothing opens")
        assert stray.takes(key(ends)) is taken
        assert not stray.takes(key("n"))
    stray.begin("nothing opens")
    for _ in range(100):
        stray.takes(key("x"))
    assert len(said[-1]) < 80

"""Keys that let the target run, which are acted on where they are read."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events

from ladder_tui.app import STEP_KEYS, LadderApp

from .conftest import settle


def test_the_letters_are_those_of_the_registry() -> None:
    steps = {"n": "next", "s": "step", "f": "finish", "c": "continue"}
    assert steps.items() <= STEP_KEYS.items()


@pytest.fixture
async def opened(segfault: Any, make_app: Any) -> Any:
    app: LadderApp = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        yield app, pilot, segfault


async def test_a_step_is_asked_for_before_the_next_turn_of_the_loop(opened: Any) -> None:
    app, _, ladder = opened
    assert app.take_at_once("n")
    assert [deed[0] for deed in ladder.active.deeds][-1] == "resume"


async def test_other_keys_and_keys_of_the_view_go_their_way(opened: Any) -> None:
    app, pilot, ladder = opened
    assert not app.take_at_once("b")
    assert not app.take_at_once("w")
    app.workspace.show_pane("breakpoints")
    await settle(pilot)
    app.workspace.focused._bindings.key_to_bindings["n"] = []
    assert not app.take_at_once("n")
    assert "resume" not in [deed[0] for deed in ladder.active.deeds]


async def test_where_text_is_typed_it_is_text(opened: Any) -> None:
    app, pilot, ladder = opened
    await pilot.press("colon")
    await settle(pilot)
    assert not app.take_at_once("n")
    await pilot.press("n")
    assert "resume" not in [deed[0] for deed in ladder.active.deeds]


async def test_a_dialog_and_a_chord_come_first(opened: Any) -> None:
    app, pilot, ladder = opened
    await pilot.press("q")
    await settle(pilot)
    assert not app.take_at_once("n")
    await pilot.press("escape")
    await settle(pilot)
    await pilot.press("w")
    # The second half of a chord, and no step.
    assert app.take_at_once("s")
    await settle(pilot)
    assert "resume" not in [deed[0] for deed in ladder.active.deeds]


async def test_a_key_waits_for_those_before_it(opened: Any) -> None:
    app, pilot, _ = opened
    app.post_message(events.Key("colon", ":"))
    assert not app.take_at_once("n")
    await settle(pilot)


async def test_keys_of_the_user_go_through_all_bindings(segfault: Any, make_app: Any) -> None:
    app = make_app(segfault, keys={"run.next": "x"})
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert not app.take_at_once("n")

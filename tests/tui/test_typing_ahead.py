"""Keys that come in one piece, as over a slow line, where dialogs open and close between them."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events

from ladder_tui.screens.choice import ChoiceScreen
from ladder_tui.screens.form import FormScreen
from ladder_tui.screens.help import HelpScreen
from ladder_tui.screens.processes import ProcessScreen


def alt(letter: str) -> events.Key:
    """What Esc and a letter are, read in one piece."""
    return events.Key(f"alt+{letter}", letter)


async def test_what_closes_a_dialog_closes_nothing_else(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.burst("qnnn")
        assert view.app.screen is view.app.workspace
        # Those behind it are keys of the workspace.
        assert [asked[1] for asked in segfault.active.asked if asked[0] == "resume"] == ["next", "next"]
        await view.burst("q\x1b\x1b\x1b", **{"\x1b": "escape"})
        assert view.app.screen is view.app.workspace
        assert view.app.is_running


async def test_a_second_click_on_an_answer_is_no_answer(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("q")
        question = view.app.screen
        assert isinstance(question, ChoiceScreen)
        question.dismiss("")
        question.dismiss("")
        await view.settle()
        assert view.app.screen is view.app.workspace


@pytest.mark.parametrize(("opens", "kind"), [("q", ChoiceScreen), ("B", FormScreen), ("?", HelpScreen)])
async def test_esc_right_before_a_letter_cancels(segfault: Any, show: Any, opens: str, kind: type) -> None:
    """It is no answer that has the letter, and the letter is the workspace's."""
    async with show(segfault) as view:
        await view.burst(opens, **{"?": "question_mark"})
        assert isinstance(view.app.screen, kind)
        view.app.post_message(alt("n"))
        view.app.post_message(events.Key("w", "w"))
        await view.settle()
        assert view.app.screen is view.app.workspace
        assert [asked[1] for asked in segfault.active.asked if asked[0] == "resume"] == ["next"]


async def test_an_editors_key_with_alt_stays_one_where_it_edits(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("B", "tab", *"main", "left")
        view.app.post_message(alt("b"))
        await view.settle()
        assert isinstance(view.app.screen, FormScreen)


async def test_what_is_typed_behind_the_key_that_opens_a_list_filters_it(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.burst("Axyzzy")
        await view.settle()
        assert isinstance(view.app.screen, ProcessScreen)
        assert "xyzzy" in view.text().splitlines()[0]
        await view.burst("\x1b\x1bs", **{"\x1b": "escape"})
        assert view.app.screen is view.app.workspace
        assert segfault.active.asked[-1] == ("resume", "step")

"""Notices can be read whole, also long ones at 80 columns, and again when they are gone."""

from __future__ import annotations

from typing import Any

from ladder_tui.screens.choice import ChoiceScreen, Option
from ladder_tui.screens.form import FormScreen
from ladder_tui.screens.messages import MessageScreen
from ladder_tui.widgets.form_fields import TextField

LONG = "what happened " + "and why it did " * 120 + "— the remedy stands last"


async def test_the_remedy_of_a_long_notice_is_in_sight(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        view.app.say("what happened " + "and why it did " * 40 + "— the remedy stands last", "error")
        await view.settle()
        assert "the remedy stands last" in view.text()


async def test_a_key_shows_what_does_not_fit_and_what_is_gone(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        view.app.say("the first")
        view.app.say(LONG, "error")
        await view.settle()
        assert "… ! shows all" in view.text()
        assert "the remedy stands last" not in view.text()
        await view.press("down", "exclamation_mark")
        assert isinstance(view.app.screen, MessageScreen)
        assert "2, newest first" in view.text()
        await view.press("y")
        assert view.app.clipboard == LONG
        await view.press("end")
        assert "the remedy stands last" in view.text()
        assert "· the first" in view.text()
        for key in ("exclamation_mark", "q", "escape"):
            await view.press(key)
            assert view.app.screen is view.app.workspace
            await view.press("exclamation_mark")


async def test_before_anything_was_said(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("exclamation_mark")
        assert "nothing was said yet" in view.text()


async def test_keys_that_were_swallowed_are_one_message(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:

        def said() -> list[str]:
            return [one.text for one in view.app.workspace.notice_line.said]

        view.app.refuse("it does not open")
        await view.press(*"some", "space", *"text")
        assert said() == ["it does not open — not taken: some text"]
        # What was said meanwhile is not lost.
        view.app.say("something else")
        await view.press("s")
        assert said()[1:] == ["something else", "it does not open — not taken: some texts"]


async def test_what_a_dialog_says_is_wrapped(segfault: Any, show: Any) -> None:
    long = "what is wrong " + "and why it is " * 8 + "and the remedy"
    async with show(segfault, (80, 24)) as view:
        options = (Option("y", "yes", "yes"), Option("n", "no", ""))
        view.app.push_screen(ChoiceScreen("Do it?", options, view.app.palette, why=long))
        await view.settle()
        assert "and the remedy" in view.text()
        await view.press("escape")
        form = FormScreen(
            "Say", (TextField("what", "What"),), view.app.palette, check=lambda values: ("what", long), why=long
        )
        view.app.push_screen(form)
        await view.settle()
        assert view.text().count("and the remedy") == 1
        await view.press("enter")
        assert view.text().count("and the remedy") == 2
        assert "Esc cancel" in view.text()
        await view.press("x", "escape")
        assert view.app.screen is view.app.workspace

"""A form: fields, keys, mouse, what is wrong with it."""

from collections.abc import Callable
from typing import Any

import pytest
from textual import events

from ladder_tui.screens.form import FormBody, FormScreen, FormValues
from ladder_tui.widgets.form_fields import Select, TextField, Toggle


def fields() -> tuple[TextField, TextField, Toggle, Select]:
    return (
        TextField("arguments", "Arguments", "-n 3", note="as in a shell"),
        TextField("folder", "Working folder", placeholder="the console's"),
        Toggle("main", "Stop at main"),
        Select(
            "fork", "At a fork", (("parent", "follow the parent"), ("child", "follow the child"), ("both", "hold"))
        ),
    )


@pytest.fixture
def ask(segfault: Any, show: Any) -> Callable[..., Any]:
    """Opens the workspace with a form over it; what is given is appended to `given`."""

    async def ask(view: Any, given: list[FormValues | None], check: Any = None) -> FormScreen:
        form = FormScreen("Run settings", fields(), view.app.palette, why="For the next start", check=check)
        view.app.push_screen(form, given.append)
        await view.settle()
        return form

    return ask


async def test_type_turn_choose_accept(segfault: Any, show: Any, ask: Any) -> None:
    given: list[FormValues | None] = []
    async with show(segfault, (80, 24)) as view:
        await ask(view, given)
        assert "Run settings" in view.text()
        assert "as in a shell" in view.text()
        await view.press("ctrl+a", "x", "space", "tab", "slash", "t", "down", "space", "tab", "right", "h", "enter")
        assert given == [{"arguments": "x -n 3", "folder": "/t", "main": True, "fork": "both"}]
        assert view.app.screen is view.app.workspace


async def test_letters_are_text_and_commands_stay_out(segfault: Any, show: Any, ask: Any) -> None:
    given: list[FormValues | None] = []
    async with show(segfault, (80, 24)) as view:
        await ask(view, given)
        await view.press("ctrl+u", "n", "q", "c", "ctrl+w", "o", "k", "escape")
        assert given == [None]
        assert segfault.active.asked == []


async def test_what_is_wrong_keeps_the_form_and_what_was_typed(segfault: Any, show: Any, ask: Any) -> None:
    given: list[FormValues | None] = []

    def check(values: FormValues) -> tuple[str, str] | None:
        return ("folder", "there is no folder \x1b[2Jnowhere") if values["folder"] == "n" else None

    async with show(segfault, (80, 24)) as view:
        form = await ask(view, given, check)
        await view.press("down", "n", "up", "enter")
        assert "there is no folder" in view.text()
        assert "\x1b" not in view.text()
        assert given == []
        await view.press("backspace", "enter")
        assert given == [form.values()]
        assert given[0] is not None
        assert given[0]["folder"] == ""


async def test_mouse(segfault: Any, show: Any, ask: Any) -> None:
    given: list[FormValues | None] = []
    async with show(segfault, (80, 24)) as view:
        form = await ask(view, given)
        body = form.query_one(FormBody)
        at = {
            row.text().split()[1 if "▸" in row.text() else 0]: y
            for y, (row, _) in enumerate(body.rows())
            if row.text().split()
        }
        await view.click("FormBody", 24, at["Stop"])
        await view.click("FormBody", 24, at["At"])
        await view.click("FormBody", 21, at["Arguments"])
        await view.press("Z")
        await view.click("FormBody", 4, at["⏎"])
        assert given == [{"arguments": "-Zn 3", "folder": "", "main": True, "fork": "child"}]


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (20, 6), (200, 60)])
async def test_every_size_shows_the_field_that_has_the_keys(size: Any, segfault: Any, show: Any, ask: Any) -> None:
    given: list[FormValues | None] = []
    async with show(segfault, size) as view:
        await ask(view, given)
        for label in ("Argu", "Work", "Stop", "At a"):
            assert any("▸" in line and label in line for line in view.text().splitlines())
            await view.press("tab")
        await view.press("enter")
        assert given[0] is not None


async def test_hostile_and_long_text(segfault: Any, show: Any) -> None:
    given: list[FormValues | None] = []
    async with show(segfault, (40, 10)) as view:
        hostile = "\x1b[2J[bold]\x00漢字" + "長" * 500
        form = FormScreen(hostile, (TextField("a", hostile, hostile, note=hostile),), view.app.palette, why=hostile)
        view.app.push_screen(form, given.append)
        await view.settle()
        await view.press("left", "left", "home", "end", "x")
        assert "\x1b" not in view.text()
        assert all(len(line) <= 40 for line in view.text().splitlines())
        await view.press("enter")
        assert given == [{"a": hostile + "x"}]


async def test_a_paste_of_several_lines_says_so(segfault: Any, show: Any, ask: Any) -> None:
    given: list[FormValues | None] = []
    async with show(segfault, (80, 24)) as view:
        form = await ask(view, given)
        form.post_message(events.Paste(" --size 4\nrm -rf x\n"))
        await view.settle()
        assert "only the first line was taken" in view.text()
        await view.press("enter")
        assert given[0] is not None
        assert given[0]["arguments"] == "-n 3 --size 4"

"""The value of an expression in the source: by key, under the mouse, and from there into Variables."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.state import Change, Run
from ladder_tui.panes import source_peek


@pytest.fixture
def story(segfault: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(source_peek, "DWELL", 0.01)
    told = {"data[i]": Variable("data[i]", "9", "int"), "total": Variable("total", "0", "long")}
    session = segfault.active

    async def read(wanted: Any, level: int, *, calls: bool = False) -> Any:
        session.asked.append(("read", *(one.expression for one in wanted), calls))
        none = Variable("", "", error='No symbol "x" in current context')
        return [told.get(one.expression, none) for one in wanted]

    async def inside(*args: Any) -> Any:
        raise AssertionError("nothing is open")

    session.debugger.values = SimpleNamespace(read=read, children=inside)
    session.told = told
    return segfault


def popup(view: Any) -> str:
    shown = view.app.workspace.value_popup
    return shown.row(0).text().strip() if shown is not None and shown.display else ""


async def test_the_key_goes_round_the_expressions_of_a_line(story: Any, show: Any) -> None:
    async with show(story) as view:
        await view.press("w", "s", "v")
        seen = [popup(view)]
        for _ in range(4):
            await view.press("v")
            seen.append(popup(view))
        assert seen[0] == "total = 0  long"
        assert "data[i] = 9  int" in seen
        assert any(words.startswith("data ") for words in seen)
        assert "total = 0  long" in seen[1:]
        await view.press("down")
        assert popup(view) == ""
        assert all(call[-1] is False for call in story.active.asked if call[0] == "read")


async def test_what_is_no_value_is_said_calmly(story: Any, show: Any) -> None:
    story.active.told.clear()
    async with show(story) as view:
        await view.press("w", "s", "v")
        assert popup(view) == "total  not in scope here"
        await view.press("g", "1", "enter", "v")
        assert popup(view) == ""
        assert "no expression on this line" in view.text()


async def test_a_value_is_opened_among_the_variables(story: Any, show: Any) -> None:
    async with show(story) as view:
        await view.press("w", "s", "v", "enter")
        assert popup(view) == ""
        assert "= total" in view.text()
        assert ("read", "total", False) in story.active.asked
        await view.press("enter")
        assert list(story.active.state.values.watches) == ["total"]


async def hover(view: Any, word: str, *, line: str = "total +=") -> None:
    rows = view.text().splitlines()
    y = next(number for number, text in enumerate(rows) if line in text)
    x = rows[y].index(line) + line.index(word) if word in line else rows[y].index(word)
    await view.pilot.hover(None, offset=(x, y))
    await asyncio.sleep(0.1)
    await view.settle()


async def test_the_mouse_shows_what_it_rests_on(story: Any, show: Any) -> None:
    async with show(story) as view:
        await hover(view, "total")
        assert popup(view) == "total = 0  long"
        await hover(view, "[", line="data[i]")
        assert popup(view) == "data[i] = 9  int"
        asked = len(story.active.asked)
        await hover(view, "d", line="data[i]")
        # A name without a value is passed over in silence.
        assert popup(view) == ""
        assert len(story.active.asked) == asked + 1
        assert "not in scope" not in view.text()


async def test_a_click_on_the_popup_opens_the_value(story: Any, show: Any) -> None:
    async with show(story) as view:
        await hover(view, "total")
        await view.click("#value-popup", 2, 0)
        assert list(story.active.state.values.watches) == ["total"]
        assert popup(view) == ""


async def test_a_long_value_is_cut_and_a_step_takes_it_away(story: Any, show: Any) -> None:
    story.active.told["total"] = Variable("total", "9" * 500, "some_long_type<" + "x" * 300)
    async with show(story, (80, 24)) as view:
        await view.press("w", "s", "v")
        assert 40 < len(popup(view)) <= 80
        assert "…" in popup(view)
        story.active.tell(Change.RUN)
        await view.settle()
        assert popup(view) == ""


async def test_nothing_is_asked_while_the_program_runs(story: Any, show: Any) -> None:
    async with show(story) as view:
        story.active.state.run = Run.RUNNING
        await view.press("w", "s", "v")
        assert "no value: the target runs" in view.text()
        await hover(view, "total")
        assert popup(view) == ""
        assert not [call for call in story.active.asked if call[0] == "read"]


async def test_a_hostile_value_is_content(story: Any, show: Any) -> None:
    story.active.told["total"] = Variable("total", "[bold]␛[2J", "long")
    story.active.state.variables = VariableWindow()
    async with show(story) as view:
        await view.press("w", "s", "v")
        assert "total = [bold]␛[2J" in view.text()

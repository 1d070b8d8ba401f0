"""The console in the workspace: typing, completing, pasting, looking back."""

from collections.abc import Callable
from typing import Any

import pytest
from textual import events

from ladder_backends.debugger.contract import Capability
from ladder_backends.session.state import Change, Run
from ladder_tui.app import LadderApp
from ladder_tui.panes.console_pane import ConsolePane


def sent(ladder: Any) -> list[str]:
    return [asked[1] for asked in ladder.active.asked if asked[0] == "console"]


def console(app: LadderApp) -> ConsolePane:
    pane = app.workspace.panes["console"]
    assert isinstance(pane, ConsolePane)
    return pane


def line(app: LadderApp) -> str:
    pane = console(app)
    return pane.row(len(pane.debug.console) - 1 if pane.debug and pane.debug.console else 0).text()


async def settle(pilot: Any) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_letters_are_text_and_esc_gives_the_keys_back(
    gpu_dump: Any, make_app: Callable[..., LadderApp]
) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "f", ":", *"print nsfbc0q", "enter", *"up")
        await settle(pilot)
        assert sent(gpu_dump) == ["print nsfbc0q"]
        assert line(app) == "(cuda-gdb) up "
        assert not [asked for asked in gpu_dump.active.asked if asked[0] == "resume"]
        await pilot.press("escape")
        assert app.focused is app.workspace.panes["findings"]


async def test_a_letter_right_behind_esc_is_a_command(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("colon")
        assert view.app.focused.id == "console"
        await view.burst("print")
        view.app.post_message(events.Key("alt+n", "n"))
        await view.settle()
        assert view.app.focused.id != "console"
        assert [asked for asked in segfault.active.asked if asked[0] == "resume"]
        await view.press("g")
        assert view.app.workspace.prompt.display
        view.app.post_message(events.Key("alt+question_mark", "?"))
        await view.settle()
        assert "Run control" in view.text()
        assert not view.app.workspace.prompt.display


@pytest.mark.parametrize("before", ["v", "s"])
async def test_esc_leaves_the_console_where_only_one_pane_has_room(gpu_dump: Any, show: Any, before: str) -> None:
    async with show(gpu_dump, (40, 10)) as view:
        await view.press("w", before)
        left = view.app.focused.id
        await view.press("colon")
        assert view.app.focused.id == "console"
        await view.press("escape")
        assert view.app.focused.id == left
        assert view.app.focused.display
        assert "? keys" in view.text()


async def test_history_walks_and_is_kept(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(":", *"info locals", "enter", *"print i", "enter", "up", "up")
        assert line(app) == "(cuda-gdb) info locals "
        await pilot.press("down", "down", "ctrl+r", *"loc", "enter")
        await settle(pilot)
        assert sent(gpu_dump) == ["info locals", "print i", "info locals"]
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(":", "up", "up")
        assert line(app) == "(cuda-gdb) print i "


async def test_tab_asks_the_engine_and_goes_round(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    gpu_dump.active.answers["complete"] = ["info line", "info locals"]
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(":", *"inf", "tab")
        await settle(pilot)
        pane = console(app)
        assert line(app) == "(cuda-gdb) info l "
        assert pane.row(pane.row_count - 1).text() == "line  locals  "
        await pilot.press("tab", "tab")
        assert line(app) == "(cuda-gdb) info locals "
        assert [cell.text for cell in pane.row(pane.row_count - 1).cells if cell.style == "match"] == ["locals"]
        await pilot.press("space")
        assert line(app) == "(cuda-gdb) info locals  "


async def test_pasted_lines_run_one_by_one(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(":")
        console(app).post_message(events.Paste("print i\nprint \x1b[31mn\r\ninfo"))
        await settle(pilot)
        assert sent(gpu_dump) == ["print i", "print [31mn"]
        assert line(app) == "(cuda-gdb) info "


async def test_the_engines_own_prompts_show(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    state = gpu_dump.active.state
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(":")
        state.console[-1] = "Quit anyway? (y or n) "
        gpu_dump.active.tell(Change.CONSOLE)
        await pilot.press("n")
        assert line(app) == "Quit anyway? (y or n) n "


async def test_looking_back_stays_while_more_is_written(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    state = gpu_dump.active.state
    for number in range(500):
        state.console.insert(0, f"old {number}")
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(":", "pageup", "pageup")
        pane = console(app)
        top = pane.row(pane.top).text()
        state.console.extend(["new"] * 50)
        gpu_dump.active.tell(Change.CONSOLE)
        await pilot.pause()
        assert pane.row(pane.top).text() == top
        await pilot.press("x")
        assert pane.top == pane.row_count - pane.body_height


async def test_searching_goes_upwards(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    state = gpu_dump.active.state
    state.console.extendleft(f"line {number}" for number in range(300))
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(":", "ctrl+s", *"LINE 12", "enter")
        await settle(pilot)
        pane = console(app)
        shown = [pane.row(number) for number in range(pane.top, pane.top + pane.body_height)]
        assert [row.text() for row in shown if row.cells[0].style == "match"] == ["line 12"]
        assert pane.search("")
        shown = [pane.row(number) for number in range(pane.top, pane.top + pane.body_height)]
        assert [row.text() for row in shown if row.cells[0].style == "match"] == ["line 120"]
        assert not pane.search("not there")


async def test_a_line_longer_than_the_pane_shows_its_cursor(
    gpu_dump: Any, make_app: Callable[..., LadderApp]
) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(":")
        console(app).post_message(events.Paste("x" * 300 + "END"))
        await pilot.pause()
        text = line(app)
        assert text.endswith("END ")
        assert len(text) <= console(app).body_width


async def test_no_engine_takes_no_text(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    state = gpu_dump.active.state
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(":")
        state.run = Run.DEAD
        gpu_dump.active.tell(Change.RUN)
        await pilot.press(*"print", "enter")
        assert sent(gpu_dump) == []
        # What was typed when the engine died was a line: Esc makes keys commands again.
        await pilot.press("escape", "w", "s")
        assert app.focused is app.workspace.panes["source"]
        state.run, state.capabilities = Run.DUMP, Capability.NONE
        await pilot.press(*"print", "enter")
        assert sent(gpu_dump) == []

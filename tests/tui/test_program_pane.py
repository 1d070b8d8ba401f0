"""The program's terminal in the workspace: what it shows, and who gets the keys."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual import events

from ladder_backends.session.state import Change, Run
from ladder_tui.app import LadderApp
from ladder_tui.panes import program_pane
from ladder_tui.panes.program_keys import key_bytes, paste_bytes
from ladder_tui.panes.program_pane import INTERVAL, ProgramPane


def typed(ladder: Any) -> bytes:
    return b"".join(asked[1] for asked in ladder.active.asked if asked[0] == "type_to_program")


def program(app: LadderApp) -> ProgramPane:
    pane = app.workspace.panes["program"]
    assert isinstance(pane, ProgramPane)
    return pane


def texts(app: LadderApp) -> list[str]:
    pane = program(app)
    return [pane.row(number).text().rstrip() for number in range(pane.row_count)]


async def write(ladder: Any, raw: bytes) -> None:
    ladder.active.state.program.append(raw)
    ladder.active.tell(Change.PROGRAM)
    await asyncio.sleep(INTERVAL * 2)


async def test_output_and_colours(segfault: Any, make_app: Callable[..., LadderApp], shots: Any) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "p")
        await write(segfault, b"plain \x1b[1;31mred\x1b[0m \x1b[44mblue\x1b[0m \x1b[38;2;255;128;0mtrue\x1b[0m\r\n")
        await write(segfault, "日本 \x1b]0;title\x07e\u0301 ".encode() + b"\xff[/bold]\r\n")
        assert texts(app)[0] == "plain red blue true"
        assert texts(app)[1].endswith(r"\xff[/bold]")
        await shots.both(pilot, "program")


async def test_keys_go_to_the_program_only_while_it_is_typed_to(
    segfault: Any, make_app: Callable[..., LadderApp]
) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "p", "i")
        assert "typing to the program" in program(app).title().state[0].text
        await pilot.press(*"nsc 1q:/?", "enter", "up", "ctrl+d", "backspace", "escape", "x", "escape", "escape")
        assert typed(segfault) == b"nsc 1q:/?\r\x1b[A\x04\x7f\x1bx"
        assert not program(app).TAKES_TEXT
        assert not [asked for asked in segfault.active.asked if asked[0] == "resume"]
        await pilot.press("n")
        assert [asked for asked in segfault.active.asked if asked[0] == "resume"]
        await pilot.press("enter", "a", "ctrl+right_square_bracket", "ctrl+right_square_bracket")
        assert typed(segfault).endswith(b"a")


async def test_an_escape_that_is_followed_by_none_is_the_programs(
    segfault: Any, make_app: Callable[..., LadderApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "p", "i", "escape", "ctrl+right_square_bracket")
        assert typed(segfault) == b"\x1b"
        monkeypatch.setattr(program_pane, "ESCAPE_WAITS", 0.001)
        await pilot.press("i", "escape")
        while typed(segfault) != b"\x1b\x1b":
            await pilot.pause()
        assert program(app).TAKES_TEXT
        # However late the second one comes, it leaves.
        await pilot.press("escape")
        assert not program(app).TAKES_TEXT
        assert typed(segfault) == b"\x1b\x1b"


async def test_the_hints_are_of_the_keys_that_work(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("w", "p")
        assert "n next" in view.text()
        await view.press("i")
        assert "F10 next" in view.text()
        await view.press("ctrl+right_square_bracket")
        assert "n next" in view.text()


async def test_leaving_the_pane_or_the_programs_end_stops_typing(
    segfault: Any, make_app: Callable[..., LadderApp]
) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "p", "i", "a")
        app.workspace.show_pane("source")
        await pilot.pause()
        assert not program(app).TAKES_TEXT
        await pilot.press("w", "p", "i")
        segfault.active.state.run = Run.EXITED
        segfault.active.tell(Change.RUN)
        await pilot.pause()
        assert not program(app).TAKES_TEXT
        await pilot.press("i", "b")
        assert typed(segfault) == b"a"


async def test_the_program_learns_its_size(segfault: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "p")
        await pilot.pause()
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        sizes = [asked[1:] for asked in segfault.active.asked if asked[0] == "resize_program"]
        pane = program(app)
        assert sizes[-1] == (pane.body_width, pane.body_height)
        assert len(sizes) == 2


async def test_a_curses_program_fills_the_pane(segfault: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "p")
        await write(segfault, b"$ top\r\n\x1b[?1049h\x1b[?1h\x1b[H\x1b[2J\x1b(0lqk\x1b(B\x1b[2;1Hmenu")
        pane = program(app)
        assert texts(app)[pane.top : pane.top + 2] == ["┌─┐", "menu"]
        await pilot.press("i", "up")
        assert typed(segfault) == b"\x1bOA"
        await write(segfault, b"\x1b[?1049l")
        assert texts(app)[0] == "$ top"


async def test_a_flood_is_cut_and_counted(segfault: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "p")
        await write(segfault, b"".join(b"line %d\r\n" % number for number in range(100_000)))
        for _ in range(100):
            if "line 99999" in texts(app):
                break
            await asyncio.sleep(INTERVAL)
        assert "line 99999" in texts(app)
        assert any("lines dropped" in cell.text for cell in program(app).title().state)


async def test_pasting(segfault: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "p", "i")
        program(app).post_message(events.Paste("two\nlines"))
        await pilot.pause()
        assert typed(segfault) == b"two\rlines"


@pytest.mark.parametrize(
    ("key", "character", "raw"),
    [
        ("a", "a", b"a"),
        ("space", " ", b" "),
        ("plus", "+", b"+"),
        ("é", "é", "é".encode()),
        ("ctrl+c", None, b"\x03"),
        ("alt+b", None, b"\x1bb"),
        ("ctrl+left", None, b"\x1b[1;5D"),
        ("shift+tab", None, b"\x1b[Z"),
        ("pagedown", None, b"\x1b[6~"),
        ("ctrl+delete", None, b"\x1b[3;5~"),
        ("f1", None, b"\x1bOP"),
        ("f12", None, b"\x1b[24~"),
        ("f20", None, None),
    ],
)
def test_keys_as_a_terminal_sends_them(key: str, character: str | None, raw: bytes | None) -> None:
    assert key_bytes(key, character) == raw


def test_pasted_text_cannot_end_its_own_marks() -> None:
    assert paste_bytes("a\x1b[201~b\n", bracketed=True) == b"\x1b[200~a[201~b\r\x1b[201~"

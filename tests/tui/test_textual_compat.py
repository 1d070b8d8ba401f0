"""What is sent has to make the same screen as Textual's own updates would."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pyte
import pytest
import textual
from rich.console import Console
from textual import events
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser

from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.state import Change
from ladder_tui._textual_compat import (
    VERSION,
    TightCompositor,
    TightLayoutUpdate,
    TightUpdate,
    _change,
    _Look,
    is_known,
    keep_escapes,
)

STOP = Change.RUN | Change.FRAMES | Change.VARIABLES | Change.FOCUS | Change.BREAKPOINTS


class Emulator:
    """A terminal's screen, fed with what an update sends."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)

    def feed(self, text: str) -> None:
        self.stream.feed(text.replace("\n", "\r\n"))

    def cells(self) -> list[list[Any]]:
        # A blank looks the same whatever its foreground and weight are.
        def look(cell: Any) -> Any:
            return (cell.data, cell.bg, cell.reverse) if cell.data == " " else cell

        return [
            [look(self.screen.buffer[y][x]) for x in range(self.screen.columns)] for y in range(self.screen.lines)
        ]


def stock_of(update: Any) -> Any:
    if isinstance(update, TightLayoutUpdate):
        return LayoutUpdate(update.strips, update.region)
    return ChopsUpdate(update.chops, update.spans, update.chop_ends)


def test_another_version_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "textual"
    assert is_known(package)
    monkeypatch.setattr(textual, "__version__", "9.0.0", raising=False)
    assert not is_known(package)
    (tmp_path / "textual-9.0.0.dist-info").mkdir()
    assert not is_known(package)
    (tmp_path / f"textual-{VERSION}.dist-info").mkdir()
    assert is_known(package)


def test_the_version_is_the_pinned_one() -> None:
    assert textual.__version__ == VERSION


async def test_tight_updates_make_the_screen_that_stock_updates_make(segfault: Any, show: Any) -> None:
    # The system of the SVG export: Rich keeps the codes of a style for the first one that it is drawn with.
    console = Console(color_system="truecolor", force_terminal=True)
    async with show(segfault, (100, 30)) as view:
        screen = view.app.workspace
        assert isinstance(screen._compositor, TightCompositor)
        tight, stock = Emulator(100, 30), Emulator(100, 30)
        sent = {"tight": 0, "stock": 0}

        def send(update: Any) -> None:
            assert isinstance(update, TightUpdate | TightLayoutUpdate)
            for emulator, one, name in ((tight, update, "tight"), (stock, stock_of(update), "stock")):
                text = one.render_segments(console)
                sent[name] += len(text)
                emulator.feed(text)

        send(screen._compositor.render_full_update())
        debug = segfault.active.state
        for step in range(12):
            place = Place("segfault.c", 3 + step % 8, "/src/segfault.c")
            debug.place, debug.fault, debug.run_detail = place, False, ""
            debug.frames = FrameWindow((Frame(0, f"名前{step}", place), *debug.frames.frames[1:]))
            variables = (Variable("data", f"0x{step:x}", changed=bool(step % 2)), Variable("n", "値" * (step % 3)))
            debug.variables = VariableWindow(variables)
            screen.apply(STOP)
            dirty = [widget for widget in screen.walk_children() if widget._repaint_regions]
            screen._compositor.update_widgets(set(dirty))
            if (update := screen._compositor.render_partial_update()) is not None:
                send(update)
            assert tight.cells() == stock.cells()
            assert tight.screen.display == stock.screen.display
        expected = [strip.text for strip in screen._compositor.render_strips()]
        shown = [re.sub(" +$", "", line) for line in tight.screen.display]
        assert shown == [re.sub(" +$", "", line) for line in expected]
        assert sent["tight"] < 0.6 * sent["stock"]


def test_a_change_of_look_is_as_short_as_it_can_be() -> None:
    red, blue, bold = _Look("", "31", "40"), _Look("", "34", "40"), _Look("1", "31", "40")
    assert _change(red, red) == ""
    assert _change(red, blue) == "\x1b[34m"
    assert _change(red, bold) == "\x1b[1m"
    assert _change(bold, red) == "\x1b[0;31;40m"
    assert _change(red, _Look("", "", "40")) == "\x1b[0;40m"


async def test_a_step_costs_few_bytes_and_standing_still_none(segfault: Any, show: Any) -> None:
    console = Console(color_system="truecolor", force_terminal=True)
    async with show(segfault) as view:
        screen = view.app.workspace
        screen._compositor.render_full_update()
        debug = segfault.active.state
        sizes = []
        for step in range(20):
            place = Place("segfault.c", 3 + step % 8, "/src/segfault.c")
            debug.place, debug.fault, debug.run_detail = place, False, "end-stepping-range"
            debug.frames = FrameWindow((Frame(0, "compute_total", place), *debug.frames.frames[1:]))
            debug.variables = VariableWindow(
                tuple(
                    Variable(name, str(step * 7), "int", changed=step % 3 == 0) for name in ("data", "n", "total")
                )
            )
            screen.apply(STOP)
            dirty = {widget for widget in screen.walk_children() if widget._repaint_regions}
            screen._compositor.update_widgets(dirty)
            sizes.append(len(screen._compositor.render_partial_update().render_segments(console)))
        assert sorted(sizes)[10] <= 800
        assert max(sizes[1:]) <= 1_200
        # The same stop once more: nothing differs, nothing is sent.
        screen.apply(STOP)
        assert [widget for widget in screen.walk_children() if widget._repaint_regions] == []


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("\x1b:w", ["escape", "colon", "w"]),
        ("\x1b1", ["escape", "1"]),
        ("\x1b\r", ["escape", "enter"]),
        ("\x1b ", ["escape", "space"]),
        ("\x1ba", ["alt+a"]),
        ("\x1b\x1b", ["escape", "escape"]),
        ("\x1b[A\x1bOP\x1b[1;5D", ["up", "f1", "ctrl+left"]),
        ("\x1b[200~1\x1b[201~", ["paste"]),
    ],
)
def test_an_escape_in_one_piece_with_the_next_key_lives(typed: str, keys: list[str]) -> None:
    class Parser(XTermParser):
        pass

    keep_escapes(Parser)
    keep_escapes(Parser)
    parser = Parser()
    told = list(parser.feed(typed))
    for _ in range(50):
        time.sleep(0.01)
        told += list(parser.tick())
    assert [one.key if isinstance(one, events.Key) else "paste" for one in told] == keys

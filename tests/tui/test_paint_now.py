"""Painting in the turn of a change, and writing without waiting for the terminal."""

from __future__ import annotations

import os
import pty
import termios
import threading
import time
import tty
from collections.abc import Iterator
from typing import Any

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from ladder_tui import _paint_now
from ladder_tui._paint_now import DirectWriter, paint_now


class Line(Widget):
    """A line of text that is changed by hand."""

    DEFAULT_CSS = "Line { height: 1; }"
    text = "before"

    def render_line(self, y: int) -> Strip:
        return Strip([Segment(self.text)]).adjust_cell_length(self.size.width)

    def change(self, text: str) -> None:
        self.text = text
        self.refresh(Region(0, 0, len(text), 1))


class Sends(App[None]):
    """Keeps what it would send."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield Line()

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if renderable is not None and hasattr(renderable, "render_segments"):
            self.sent.append(renderable.render_segments(self.console))


async def test_what_is_painted_at_once_is_what_is_painted_otherwise() -> None:
    app = Sends()
    async with app.run_test(size=(20, 3)) as pilot:
        line = app.query_one(Line)
        await pilot.pause(0.1)
        app.sent.clear()
        line.change("stock!")
        await pilot.pause(0.05)
        stock, app.sent[:] = list(app.sent), []
        assert len(stock) == 1
        line.change("once!!")
        assert paint_now(app.screen)
        assert [sent.replace("once!!", "stock!") for sent in app.sent] == stock
        await pilot.pause(0.05)
        # Nothing is left to be painted again.
        assert len(app.sent) == 1


async def test_a_screen_under_another_one_and_a_new_layout_are_left_to_the_screen() -> None:
    app = Sends()
    async with app.run_test(size=(20, 3)) as pilot:
        line = app.query_one(Line)
        line.refresh(layout=True)
        assert not paint_now(app.screen)
        await pilot.pause(0.05)
        under = app.screen
        await app.push_screen(Screen[None]())
        line.change("hidden")
        assert not paint_now(under)
        assert not paint_now(app.screen)


async def test_another_version_of_textual_paints_in_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_paint_now, "_is_usable", lambda: False)
    app = Sends()
    async with app.run_test(size=(20, 3)):
        app.query_one(Line).change("later")
        assert not paint_now(app.screen)


@pytest.fixture
def terminal() -> Iterator[tuple[int, DirectWriter]]:
    """The reader's end of a terminal, and a writer to the other one."""
    master, slave = pty.openpty()
    tty.setraw(slave, termios.TCSANOW)
    own = os.open(os.ttyname(slave), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    with open(slave, "w", encoding="utf-8") as file:
        writer = DirectWriter(file, own)
        writer.start()
        yield master, writer
    os.close(master)


def test_what_is_written_is_there_at_once(terminal: tuple[int, DirectWriter]) -> None:
    master, writer = terminal
    _until_idle(writer)
    writer.write("x → y")
    os.set_blocking(master, False)
    assert os.read(master, 100).decode() == "x → y"
    writer.stop()


def test_a_terminal_that_takes_nothing_holds_nobody_up_and_gets_all_in_order(
    terminal: tuple[int, DirectWriter],
) -> None:
    master, writer = terminal
    _until_idle(writer)
    texts = [f"{number:03}" + "→" * 400 for number in range(300)]
    wanted = "".join(texts).encode()
    read: list[bytes] = []

    def look() -> None:
        while sum(map(len, read)) < len(wanted):
            read.append(os.read(master, 700))

    reader = threading.Thread(target=look)
    # Nobody reads yet: what fills the terminal goes to the thread, which has it in hand when there is room again.
    for text in texts[:20]:
        writer.write(text)
    reader.start()
    for text in texts[20:]:
        writer.write(text)
    writer.stop()
    reader.join()
    assert b"".join(read) == wanted


def _until_idle(writer: DirectWriter) -> None:
    while not writer._queue.not_empty._waiters:  # type: ignore[attr-defined]
        time.sleep(0.001)

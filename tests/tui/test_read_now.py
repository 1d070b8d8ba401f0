"""Reading the terminal in the loop: keys, what comes in pieces, and the end of the terminal."""

from __future__ import annotations

import asyncio
import os
import pty
import sys
import threading
import tty
from collections.abc import AsyncIterator
from typing import Any

import pytest
from textual import events
from textual.driver import Driver
from textual.message import Message

from ladder_tui import _textual_compat
from ladder_tui._read_now import DirectDriver
from ladder_tui._textual_compat import SparingApp


class Hears:
    """Stands in for the application, and keeps what it is handed."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def post_message(self, message: Message) -> bool:
        self.messages.append(message)
        return True

    async def _post_message(self, message: Message) -> bool:
        return self.post_message(message)

    @property
    def keys(self) -> list[str]:
        return [message.key for message in self.messages if isinstance(message, events.Key)]


class Wired:
    """A driver on a terminal of its own."""

    def __init__(self, monkeypatch: Any) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        monkeypatch.setattr(sys, "__stdin__", os.fdopen(os.dup(self.slave), "r"))
        monkeypatch.setattr(sys, "__stderr__", open(os.devnull, "w"))  # noqa: SIM115
        monkeypatch.setattr("signal.signal", lambda *_: None)
        self.app: Any = Hears()
        self.driver = DirectDriver(self.app)
        self.driver.start_application_mode()

    async def type(self, raw: bytes, pause: float = 0.02) -> list[str]:
        os.write(self.master, raw)
        await asyncio.sleep(pause)
        return self.app.keys

    @property
    def reads(self) -> bool:
        """The loop waits for the terminal."""
        loop: Any = asyncio.get_running_loop()
        return self.driver.fileno in loop._selector.get_map()


@pytest.fixture
async def wired(monkeypatch: Any) -> AsyncIterator[Wired]:
    one = Wired(monkeypatch)
    yield one
    one.driver.stop_application_mode()
    one.driver.close()
    sys.__stdin__.close()  # type: ignore[union-attr]
    sys.__stderr__.close()  # type: ignore[union-attr]
    for end in (one.master, one.slave):
        try:
            os.close(end)
        except OSError:
            continue


async def test_keys_come_in_order_and_no_thread_reads(wired: Wired) -> None:
    assert await wired.type(b"ns\x1b[A\t") == ["n", "s", "up", "tab"]
    assert "textual-input" not in [thread.name for thread in threading.enumerate()]


async def test_a_sequence_and_a_character_may_come_in_pieces(wired: Wired) -> None:
    assert await wired.type(b"\x1b[") == []
    assert await wired.type(b"B\xc3") == ["down"]
    assert len(await wired.type(b"\xa9")) == 2
    assert wired.app.messages[-1].character == "é"


async def test_an_escape_alone_is_a_key_after_a_while(wired: Wired) -> None:
    assert await wired.type(b"\x1b") == []
    await asyncio.sleep(0.25)
    assert wired.app.keys == ["escape"]
    assert await wired.type(b"n") == ["escape", "n"]


async def test_what_is_no_text_is_not_the_end_of_reading(wired: Wired) -> None:
    await wired.type(b"\xff\xfe")
    assert (await wired.type(b"n"))[-1] == "n"


async def test_a_lost_terminal_is_not_read_for_ever(wired: Wired) -> None:
    assert wired.reads
    os.close(wired.slave)
    os.close(wired.master)
    await asyncio.sleep(0.05)
    assert not wired.reads


async def test_nothing_is_read_while_the_terminal_is_given_away(wired: Wired) -> None:
    wired.driver.suspend_application_mode()
    assert not wired.reads
    wired.driver.resume_application_mode()
    assert await wired.type(b"n") == ["n"]


async def test_a_failed_parser_is_replaced(wired: Wired, monkeypatch: Any) -> None:
    def fails(message: Message) -> None:
        raise ValueError("no such message")

    seen: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: seen.append(what["exception"]))
    with monkeypatch.context() as patch:
        patch.setattr(wired.driver, "process_message", fails)
        await wired.type(b"x")
    assert [str(error) for error in seen] == ["no such message"]
    assert await wired.type(b"n") == ["n"]


def test_another_textual_reads_in_its_own_way(monkeypatch: Any) -> None:
    def driver() -> type[Driver]:
        return SparingApp[None]().driver_class

    assert driver() is DirectDriver
    monkeypatch.setattr(_textual_compat, "is_known", lambda package: False)
    assert driver().__module__ == "textual.drivers.linux_driver"

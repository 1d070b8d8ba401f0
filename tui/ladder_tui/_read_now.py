"""Reads the terminal in the loop that acts on it, which reaches into Textual's private parts.

Stock Textual reads in another thread, which looks ten times a second whether it is to end and hands each key over
to the loop: a good part of what a step costs. With another version of Textual, and where keys do not come from a
terminal, the stock way is taken.
"""

from __future__ import annotations

import asyncio
import os
from codecs import getincrementaldecoder
from collections.abc import Iterable
from typing import Any

from textual import events
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from ladder_tui._textual_compat import SparingApp

_READ_SIZE = 4096


class DirectDriver(LinuxDriver):
    """Reads keys and mouse where they are acted on."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._parser = XTermParser(self._debug)
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._tick: asyncio.TimerHandle | None = None
        self._reads = False
        self._is_between_keys = True

    def start_application_mode(self) -> None:
        """Take up the terminal, and read it from now on."""
        self._key_thread = None
        super().start_application_mode()  # type: ignore[no-untyped-call]
        # There is none where the terminal could not be taken up: the process sleeps on.
        if self._key_thread is not None and self.input_tty:
            self._reads = True
            self._loop.add_reader(self.fileno, self._read)

    def disable_input(self) -> None:
        """Read no more."""
        self._stop_reading()
        super().disable_input()

    def run_input_thread(self) -> None:
        """The thread of stock Textual; it ends at once where the loop reads."""
        if not self.input_tty:
            super().run_input_thread()

    def send_message(self, message: Message) -> None:
        """Hand a message to the app; from the loop itself without a way round."""
        if self._reads:
            self._app.post_message(message)
        else:
            super().send_message(message)

    def _stop_reading(self) -> None:
        if self._reads:
            self._reads = False
            self._loop.remove_reader(self.fileno)
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None

    def _read(self) -> None:
        try:
            chunk = os.read(self.fileno, _READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if not chunk:
            # The terminal is gone, and would be told to be readable for ever. What that means for the application,
            # the signal says that comes with it.
            self._stop_reading()
            return
        text = self._decoder.decode(chunk)
        plain = len(text) == 1 and " " < text < "\x7f"
        if plain and self._is_between_keys and isinstance(self._app, SparingApp) and self._app.take_at_once(text):
            return
        self._is_between_keys = False
        if text:
            self._process(self._parser.feed(text), text if plain else "")

    def _process(self, messages: Iterable[Message], plain: str = "") -> None:
        try:
            for message in messages:
                # What was read as a key of one character was no part of a sequence, or of what is pasted.
                self._is_between_keys = isinstance(message, events.Key) and message.character == plain
                self.process_message(message)
        except BaseException:
            # A parser that has failed takes no more.
            self._parser = XTermParser(self._debug)
            raise
        self._wait_for_more()

    def _wait_for_more(self) -> None:
        """What may be the beginning of a sequence, as Esc may, counts as a key of its own after a while."""
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None
        until = self._parser._timeout_time
        if until is not None and self._reads:
            self._tick = self._loop.call_later(max(0.0, until - get_time()), self._look_at_time)

    def _look_at_time(self) -> None:
        self._tick = None
        self._process(self._parser.tick())

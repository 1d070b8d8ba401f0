"""The console of an engine: lines that a user types into its command line, and when each is done."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from ladder_backends.errors import EngineError
from ladder_backends.gdb.command_line import CommandLine
from ladder_backends.gdb.console_writes import may_write
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import Channel
from ladder_backends.model.events import ConsoleOutput, Event
from ladder_backends.text import clean_line

_PATIENCE = 2.0
"""Seconds until a line that was typed is left to itself; it works on and can be interrupted."""

_REDRAW = b"\x0c"
"""The key of readline for that; an empty line would repeat the last command."""


class Console:
    """Types lines into an engine's command line and follows what they changed.

    Attributes:
        line: What the command line has written.
        typed_at: When the last line was typed, by the monotonic clock.
        expects_prompt: A command was typed and the prompt that ends it has not come.
        wrote: A line that was typed may have changed the target without a notice; who looks sets it back.
    """

    def __init__(
        self, events: EventReader, emit: Callable[[Event], None], follow: Callable[[], Awaitable[None]]
    ) -> None:
        self.line = CommandLine()
        self.typed_at = 0.0
        self.expects_prompt = False
        self.wrote = False
        self._events, self._emit, self._follow = events, emit, follow
        self._typed = ""
        self._changed = False
        self._idle = asyncio.Event()
        self._following: asyncio.Task[None] | None = None

    @property
    def works(self) -> bool:
        """A command that was typed is being worked on."""
        return self.expects_prompt and not self._events.running and not self.line.waits

    def unfinished(self) -> str:
        """The line that was typed last, where no prompt has come behind it; else an empty string."""
        return clean_line(self._typed) if self.expects_prompt else ""

    def working(self) -> tuple[str, float]:
        """The line that was typed last, and how many seconds ago."""
        return clean_line(self._typed), time.monotonic() - self.typed_at

    def read(self, chunk: bytes) -> None:
        """Take what the command line wrote."""
        text = self.line.feed(chunk)
        if text and not self._events.deaf:
            self._emit(ConsoleOutput(text))
            self._events.hear_console(text)
        if self.expects_prompt and self.line.waits:
            self._idle.set()
            # What looks like a question may be output cut at a bracket: only a prompt ends the command.
            if self.line.at_prompt:
                self.expects_prompt = False
                self._begin_to_follow()

    async def type(self, session: MiSession, text: str) -> None:
        """Type a line; returns when the engine waits for the next one, lets the target run, or takes long."""
        prompt = self.line.typed()
        if prompt:
            self._emit(ConsoleOutput(prompt))
        self._idle.clear()
        self.expects_prompt = True
        self._typed, self.typed_at = text, time.monotonic()
        self.wrote |= may_write(text)
        self._events.breakpoints.typed(text)
        session.send(Channel.CLI, (text.rstrip("\n") + "\n").encode("utf-8", "surrogateescape"))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._idle.wait()
                if self._following is not None:
                    await asyncio.wait([self._following])

    def redraw(self, session: MiSession) -> None:
        """Have the prompt written again, where it was drawn so that nobody knows it for one."""
        if self.works:
            session.send(Channel.CLI, _REDRAW)

    def release(self) -> None:
        """Nobody waits for a prompt any longer: the target runs."""
        self._idle.set()

    def ended(self) -> None:
        """The engine is gone, and what was typed with it."""
        self.expects_prompt = False
        self.release()

    def close(self) -> None:
        """Follow nothing any longer."""
        if self._following is not None:
            self._following.cancel()

    def _begin_to_follow(self) -> None:
        self._changed = True
        if self._following is None or self._following.done():
            self._following = asyncio.get_running_loop().create_task(self._follow_all())

    async def _follow_all(self) -> None:
        while self._changed:
            # What an earlier line asked may have been answered before a later one was done.
            self._changed = False
            with contextlib.suppress(EngineError):
                await self._follow()

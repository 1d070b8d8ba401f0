"""A real gdb with a listener that can be waited on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.errors import LadderError
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.breakpoint import BreakpointBinding
from ladder_backends.model.events import ConsoleOutput, Event, ProgramOutput, TargetExited, TargetStopped

E = TypeVar("E")


class Watched:
    """A debugger and everything it told."""

    def __init__(self, debugger: GdbDebugger) -> None:
        self.debugger = debugger
        self.events: list[Event] = []
        self._moved = asyncio.Event()
        self._seen = 0
        debugger.listen(self._take)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        self._moved.set()

    async def next(self, kind: type[E] | tuple[type[E], ...], where: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of a kind that was not waited for yet."""
        while True:
            while self._seen < len(self.events):
                event = self.events[self._seen]
                self._seen += 1
                if isinstance(event, kind) and where(event):
                    return event
            self._moved.clear()
            await self._moved.wait()

    async def until_console(self, words: str) -> str:
        """Wait until the console has said something."""
        while words not in self.console:
            self._moved.clear()
            await self._moved.wait()
        return self.console

    async def until_program(self, words: bytes) -> bytes:
        """Wait until the program has written something."""
        while words not in self.program:
            self._moved.clear()
            await self._moved.wait()
        return self.program

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait until something that events change is so."""
        while not so():
            self._moved.clear()
            await self._moved.wait()

    async def go(self, kind: StepKind = StepKind.CONTINUE) -> TargetStopped | TargetExited:
        """Let the target run until it stops or ends; one that is started anew until it stops."""
        await self.debugger.resume(kind)
        return await self.next(TargetStopped if kind.anew else (TargetStopped, TargetExited))

    @property
    def listed(self) -> Sequence[BreakpointBinding]:
        """The breakpoints that the engine has."""
        return self.debugger.events.breakpoints.bindings

    @property
    def console(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ConsoleOutput))

    @property
    def program(self) -> bytes:
        return b"".join(event.raw for event in self.events if isinstance(event, ProgramOutput))

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
async def watched(gdb: object) -> AsyncIterator[Watched]:
    """A gdb that is not started yet; it is closed at the end."""
    watched = Watched(GdbDebugger())
    yield watched
    try:
        await watched.debugger.close()
    except LadderError as error:
        pytest.fail(f"gdb did not end: {error}")


@pytest.fixture
async def breaks(watched: Watched, compiled: Any) -> Watched:
    """A program with places for breakpoints of every kind, loaded and not run."""
    await watched.debugger.open(LaunchTarget(compiled("breaks")))
    return watched

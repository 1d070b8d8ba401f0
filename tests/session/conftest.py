"""Sessions over a real gdb."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Change


class Told:
    """A session and what it told its subscribers."""

    def __init__(self, session: DebugSession) -> None:
        self.session = session
        self.changes: list[Change] = []
        session.subscribe(self.changes.append)

    @property
    def state(self):
        return self.session.state

    async def go(self, kind: StepKind, location: str = "") -> None:
        """Run and wait until the target stands and is shown."""
        await self.session.resume(kind, location)
        await self.session.at_rest()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        moved = asyncio.Event()
        leave = self.session.subscribe(lambda change: moved.set())
        while not true():
            await moved.wait()
            moved.clear()
        leave()

    def values(self) -> dict[str, str]:
        return {each.name: each.value for each in self.state.variables.variables}

    def changed(self) -> set[str]:
        return {each.name for each in self.state.variables.variables if each.changed}

    def notices(self) -> list[str]:
        return [notice.text for notice in self.state.notices]


@pytest.fixture
async def told(gdb: object) -> AsyncIterator[Told]:
    """A session that is not opened yet; it is closed at the end."""
    told = Told(DebugSession(GdbDebugger(), replacement=GdbDebugger))
    yield told
    await told.session.close()


Start = Callable[..., Awaitable[Told]]


@pytest.fixture
def start(told: Told) -> Start:
    """Opens a program, with breakpoints set before it runs, and waits until it stands."""

    async def start(program: Path, *locations: str, **options) -> Told:
        await told.session.open(LaunchTarget(program, **options), run=False)
        for location in locations:
            await told.session.set_breakpoint(location)
        await told.go(StepKind.RUN)
        return told

    return start

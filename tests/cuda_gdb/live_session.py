"""A session whose engine says what a transcript holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import StepKind
from ladder_backends.model.breakpoint import BreakpointBinding, BreakpointIntent
from ladder_backends.model.events import Event
from ladder_backends.model.focus import Focus
from ladder_backends.session.debug_session import DebugSession

from .stand_in import StandIn

LANE = Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0))


@dataclass
class Live:
    """A session and what stands in for its engine."""

    session: DebugSession
    engine: StandIn
    events: list[Event]

    @property
    def debugger(self) -> CudaGdbDebugger:
        debugger = self.session.debugger
        assert isinstance(debugger, CudaGdbDebugger)
        return debugger

    @property
    def state(self):
        return self.session.state

    async def go(self, kind: StepKind) -> None:
        await self.session.resume(kind)
        async with asyncio.timeout(5):
            await self.session.at_rest()

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        for _ in range(1_000):
            if so():
                return
            await asyncio.sleep(0.005)
        pytest.fail("it never came")

    def notices(self) -> list[str]:
        return [notice.text for notice in self.state.notices]

    def values(self) -> dict[str, str]:
        return {each.name: each.value for each in self.state.variables.variables}

    async def set(self, location: str, **options) -> BreakpointBinding:
        return await self.debugger.set_breakpoint(
            BreakpointIntent(len(self.state.breakpoints) + 1, location, **options)
        )

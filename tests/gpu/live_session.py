"""A headless session on a real cuda-gdb.

Times are printed: what the engine took, and what is ours. With `LADDER_KEEP_RECORDINGS` every engine is recorded
into that folder.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import Capability, LaunchTarget, StepKind
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.transport import EngineCommand, Transport
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.focus import Focus
from ladder_backends.recording import Recorder
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Run

Build = Callable[..., Path]
LIMIT = 20.0
LANE = Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0))


class Live:
    """A session on a real cuda-gdb, and how long what was asked took."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.session = DebugSession(self._make(), replacement=self._make)
        self.state = self.session.state
        self.times: list[str] = []
        self.reasons: list[str] = []

    def _make(self) -> CudaGdbDebugger:
        folder = os.environ.get("LADDER_KEEP_RECORDINGS", "")

        def transport(command: EngineCommand) -> Transport:
            plain = PtyTransport(command)
            return Recorder(plain, Path(folder) / f"{self._name}.jsonl.gz") if folder else plain

        return CudaGdbDebugger(transport)

    @property
    def debugger(self) -> CudaGdbDebugger:
        debugger = self.session.debugger
        assert isinstance(debugger, CudaGdbDebugger)
        return debugger

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Print how long something took."""
        began = time.perf_counter()
        yield
        self.times.append(f"{what}: {(time.perf_counter() - began) * 1e3:.1f} ms")

    async def load(self, program: Path, *arguments: str) -> None:
        await self.session.open(LaunchTarget(program, arguments), run=False)
        assert self.state.capabilities & Capability.DEVICE_FOCUS

    async def set(self, location: str, **options: object) -> BreakpointBinding:
        number = len(self.state.breakpoints) + 1
        intent = BreakpointIntent(number, location, **options)  # type: ignore[arg-type]
        return await self.debugger.set_breakpoint(intent)

    async def go(self, kind: StepKind, location: str = "") -> str:
        """Run until it stands and is shown; returns why it stopped."""
        with self.timed(f"{kind.value} until shown"):
            async with asyncio.timeout(LIMIT):
                await self.session.resume(kind, location)
                await self.session.at_rest()
        self.reasons.append(self.state.run_detail)
        return self.state.run_detail

    async def until(self, so: Callable[[], bool]) -> None:
        changed = asyncio.Event()
        leave = self.session.subscribe(lambda _: changed.set())
        async with asyncio.timeout(LIMIT):
            while not so():
                await changed.wait()
                changed.clear()
        leave()

    def values(self) -> dict[str, str]:
        return {each.name: each.value for each in self.state.variables.variables}

    def told(self) -> str:
        """Everything a person was told, for a failing test."""
        lines = [f"run={self.state.run} {self.state.run_detail!r} focus={self.state.focus}"]
        lines += [f"notice {one.severity}: {one.text}" for one in self.state.notices]
        lines += [f"break {one.number} {one.state} {one.why}" for one in self.state.breakpoints]
        lines += [f"frame {one.level} {one.kind} {one.function} {one.place}" for one in self.state.frames.frames]
        lines += [f"program: {b''.join(self.state.program)!r}", f"console: {list(self.state.console)[-15:]}"]
        lines += [*self.times, f"stops: {self.reasons}"]
        return "\n".join(lines)


async def in_vadd(live: Live, cuda_program: Build, *, line: int = 10) -> None:
    """Stop in the kernel of the demo at a line."""
    await live.load(cuda_program("vector_add_oob"))
    made = await live.set(f"vector_add_oob.cu:{line}")
    assert made.state is BindingState.PENDING, made
    await live.go(StepKind.RUN)
    assert live.state.run is Run.STOPPED, live.told()
    assert live.state.focus is not None
    assert "block" in live.state.focus, live.told()

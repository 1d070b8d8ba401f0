from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ladder_backends.case import open_files, unpack_xz
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import GpuDumpTarget, LaunchTarget
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.transport import EngineCommand
from ladder_backends.model.events import Event
from ladder_backends.session.debug_session import DebugSession
from ladder_demos.catalogue import find_demo

from .live_session import Live
from .stand_in import StandIn

DUMPS = Path(__file__).parent.parent / "dumps"


@dataclass(slots=True)
class Stand:
    """A debugger on a dump, what it told, and the process behind it."""

    debugger: CudaGdbDebugger
    events: list[Event] = field(default_factory=list)
    transports: list[PtyTransport] = field(default_factory=list)

    @property
    def pid(self) -> int:
        pid = self.transports[0].pid
        assert pid is not None
        return pid

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


def dump_target(name: str) -> GpuDumpTarget:
    """The dump of a demo, or of a file in `tests/dumps`, with its executable where there is one."""
    packed = DUMPS / f"{name}.nvcudmp.xz"
    if packed.exists():
        executable = open_files([find_demo("uninit").path]).executable
        return GpuDumpTarget(unpack_xz(packed), executable)
    opened = open_files([find_demo(name).path])
    assert opened.dump is not None
    return GpuDumpTarget(opened.dump, opened.executable)


@pytest.fixture
async def stand(cuda_gdb: Path) -> AsyncIterator[Callable[[], Stand]]:
    """Makes debuggers that are closed at the end."""
    made: list[Stand] = []

    def make() -> Stand:
        transports: list[PtyTransport] = []

        def transport(command: EngineCommand) -> PtyTransport:
            transports.append(PtyTransport(command))
            return transports[-1]

        one = Stand(CudaGdbDebugger(transport), transports=transports)
        one.debugger.listen(one.events.append)
        made.append(one)
        return one

    yield make
    for one in made:
        with contextlib.suppress(Exception):
            await one.debugger.close()


@pytest.fixture
async def live(compiled) -> AsyncIterator[Callable]:
    """Opens a session whose engine says what a transcript holds; the program on disk is any."""
    made: list[Live] = []

    async def opened(name: str, target=None) -> Live:
        engine = StandIn(name)
        debugger = CudaGdbDebugger(engine)
        session = DebugSession(debugger)
        one = Live(session, engine, [])
        take = session._take
        debugger.listen(lambda event: (one.events.append(event), take(event))[1])
        made.append(one)
        await session.open(target or LaunchTarget(compiled("steps")), run=False)
        return one

    yield opened
    for one in made:
        await one.session.close()

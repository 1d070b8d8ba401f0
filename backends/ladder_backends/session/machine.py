"""The machine below the source, for one session: each part asks only when a pane that shows it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.events import EngineExited, Event, TargetExited, TargetStopped
from ladder_backends.session.code_window import CodeWindow
from ladder_backends.session.device_view import DeviceView
from ladder_backends.session.kernel_reading import KernelReading
from ladder_backends.session.libraries import LibraryList
from ladder_backends.session.memory import MemoryReading
from ladder_backends.session.registers import RegisterReading
from ladder_backends.session.signals import SignalTable
from ladder_backends.session.state import Run

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession


class Machine:
    """Registers, memory, machine code, signals, libraries and devices of a session.

    Attributes:
        stop: Number of the last stop.
    """

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self.stop = 0
        self.registers = RegisterReading(session, self)
        self.memory = MemoryReading(session, self)
        self.code = CodeWindow(session)
        self.signals = SignalTable(session)
        self.libraries = LibraryList(session)
        self.device = DeviceView(session)
        self.kernel = KernelReading(session)

    def take(self, event: Event) -> None:
        """Note what an event makes of what was read."""
        self.device.take(event)
        self.kernel.take(event)
        if isinstance(event, TargetStopped):
            self.stop += 1
            self.memory.stopped()
            self.signals.stopped(event)
        elif isinstance(event, TargetExited | EngineExited):
            self.forget()

    def forget(self) -> None:
        """The process is gone, or the engine that held it."""
        self.registers.forget()
        self.memory.forget()
        self.code.forget()
        self.signals.forget()
        self.device.forget()

    def read_only(self) -> str:
        """Why nothing can be written now; empty where it can."""
        state = self._session.state
        if state.run is Run.DUMP or not state.capabilities & Capability.RUN_CONTROL:
            return "a core or recording can only be read"
        return {
            Run.RUNNING: "the target runs",
            Run.EXITED: "the program does not run",
            Run.DEAD: "the engine is gone",
        }.get(state.run, "")

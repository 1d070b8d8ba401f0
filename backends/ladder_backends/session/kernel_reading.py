"""How the focused lane's kernel was launched, and which instruction raised its exception: asked for when seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.errors import LadderError
from ladder_backends.model.events import EngineExited, Event, TargetExited, TargetRunning, TargetStopped
from ladder_backends.session.machine_state import KernelState
from ladder_backends.session.state import Change, Run
from ladder_backends.session.why_none import why_none

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession


class KernelReading:
    """Keeps `state.machine.kernel` as far as it is looked at."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._stop = 0
        self._counter_of: tuple[object, ...] = ()

    def take(self, event: Event) -> None:
        """What was read is of the moment before the target ran."""
        if isinstance(event, TargetRunning | TargetStopped | TargetExited | EngineExited):
            self._stop += 1
            self._counter_of = ()
            self._session.state.machine.kernel = KernelState()

    @property
    def _here(self) -> tuple[object, ...]:
        focus = self._session.state.focus
        return (self._stop, focus)

    def _stands(self) -> bool:
        return self._session.state.run in (Run.STOPPED, Run.DUMP)

    async def look(self) -> None:
        """Read the launch; once for each stop and lane."""
        session, here = self._session, self._here
        facet, state = session.debugger.kernel_launches, session.state.machine.kernel
        if not self._stands() or (state.of == here and state.launch is not None):
            return
        if facet is None:
            session.state.machine.kernel = KernelState(note="it stands in no kernel", of=here)
            session.tell(Change.MACHINE)
            return
        try:
            launch, note = await facet.describe(), ""
        except LadderError as error:
            launch, note = None, why_none(error)
        if here != self._here:
            return
        told = launch.error_counter if launch is not None else ""
        session.state.machine.kernel = KernelState(
            launch, told, here, note or "" if launch else note or "no kernel"
        )
        session.tell(Change.MACHINE)

    async def look_error(self) -> None:
        """Read which instruction raised the exception; once for each stop and lane."""
        session, here = self._session, self._here
        facet = session.debugger.kernel_launches
        if facet is None or not self._stands() or here == self._counter_of:
            return
        self._counter_of = here
        try:
            counter = await facet.error_counter()
        except LadderError:
            return
        state = session.state.machine.kernel
        if here == self._here and counter != state.error_counter:
            state.error_counter = counter
            session.tell(Change.DISASSEMBLY)

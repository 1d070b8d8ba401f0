"""The machine code that is held: where the target stands, where one goes, and what lies before and behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.errors import LadderError, NotRecorded
from ladder_backends.session.answers import ask_instructions
from ladder_backends.session.state import Change
from ladder_backends.session.why_none import why_none

if TYPE_CHECKING:
    from ladder_backends.model.grid import Instruction
    from ladder_backends.session.debug_session import DebugSession

_MOST = 4_000
"""Instructions that are held at once."""


class CodeWindow:
    """Keeps `state.disassembly`; a stop inside what is held costs one small question."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._held: tuple[Instruction, ...] = ()
        self._busy = False

    async def here(self, level: int, count: int) -> tuple[Instruction, ...]:
        """Code round the counter of a frame; `count` is for engines that read no windows."""
        debugger = self._session.debugger
        facet = debugger.code
        if facet is None or not facet.covers(level):
            return await ask_instructions(debugger, level, count)
        try:
            counter = await facet.counter(level)
        except NotRecorded:
            return await ask_instructions(debugger, level, count)
        if counter is None:
            return ()
        # Other bytes, as of code made at run time, or another program at the same address.
        if not any(one.address == counter.address and one.raw == counter.raw for one in self._held):
            self._held = tuple(await facet.around(int(counter.address, 16)))
        return self._held

    async def show(self, level: int, count: int) -> None:
        """Show the code where a frame stands."""
        self._session.state.disassembly = await self.here(level, count)
        self._session.tell(Change.DISASSEMBLY)

    async def go(self, place: str) -> int | None:
        """Show the code at an address or symbol; its address, or None, with a notice, where there is none."""
        session = self._session
        code, memory = session.debugger.code, session.debugger.memory
        if code is None or memory is None:
            session.notice("this engine shows code only where it stands", "warning")
            return None
        try:
            address = await memory.address_of(place.strip().removeprefix("*"), session.state.selected_frame)
            if not any(int(one.address, 16) == address for one in self._held):
                found = tuple(await code.around(address))
                if not found:
                    session.notice(f"no readable code at {address:#x}", "warning")
                    return None
                self._held = found
        except LadderError as error:
            session.notice(f"code at {place}: {why_none(error)}", "warning")
            return None
        session.state.disassembly = self._held
        session.tell(Change.DISASSEMBLY)
        return address

    async def extend(self, *, forward: bool) -> None:
        """Read on where what is held ends, or before where it begins; nothing where nothing can be read."""
        session = self._session
        facet, held = session.debugger.code, self._held
        if facet is None or not held or self._busy or session.state.disassembly is not held:
            return
        self._busy = True
        try:
            if forward:
                last = held[-1]
                end = int(last.address, 16) + (last.size or len(last.raw.replace(" ", "")) // 2)
                joined = (*held, *(await facet.after(end)))[-_MOST:]
            else:
                joined = (*(await facet.before(int(held[0].address, 16))), *held)[:_MOST]
        except LadderError:
            return
        finally:
            self._busy = False
        if self._held is held and len(joined) > len(held):
            self._held = session.state.disassembly = joined
            session.tell(Change.DISASSEMBLY)

    def forget(self) -> None:
        """The process is gone: another one may have other code at the same addresses."""
        self._held = ()

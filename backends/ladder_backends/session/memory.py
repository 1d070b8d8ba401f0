"""Memory in windows, as far as it is looked at, and which bytes of it the last step changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ladder_backends.errors import LadderError
from ladder_backends.session.machine_state import MemoryState
from ladder_backends.session.state import Change
from ladder_backends.session.why_none import why_none

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import Memory
    from ladder_backends.model.memory import MemoryPlace
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.machine import Machine

WINDOW = 1_024
"""Bytes of a window: one question each."""

_MOST_WINDOWS = 64
_SHOWN_BYTES = 32
_SMALL = 1 << 32
"""Addresses below may be of a small space; those above are of memory that all lanes share."""

_WHOSE: Mapping[str, tuple[str, ...]] = {
    "shared": ("kernel", "block"),
    "local": ("kernel", "block", "thread"),
    "parameter": ("kernel",),
    "constant": ("kernel",),
}
"""Levels of the focus that have a memory of their own in each space."""

TOP = 1 << 64
"""The address behind the last one."""


class MemoryReading:
    """Reads memory into the state, and writes it."""

    def __init__(self, session: DebugSession, machine: Machine) -> None:
        self._session = session
        self._machine = machine
        self._wanted: set[int] = set()

    @property
    def _state(self) -> MemoryState:
        return self._session.state.machine.memory

    @property
    def spaces(self) -> tuple[str, ...]:
        """Address spaces that can be chosen from; none where there is only one."""
        facet = self._session.debugger.memory
        return tuple(facet.spaces) if facet is not None else ()

    async def go(self, expression: str) -> int | None:
        """Show memory where an expression of the selected frame points; None, with a notice, where it cannot."""
        session = self._session
        facet = session.debugger.memory
        if facet is None:
            session.notice("this engine does not read memory", "warning")
            return None
        try:
            place = await facet.place_of(expression, session.state.selected_frame)
            return await self._arrive(facet, expression, place)
        except LadderError as error:
            session.notice(f"memory at {expression}: {why_none(error)}", "warning")
            return None

    async def choose_space(self, space: str) -> int | None:
        """Show an address space where it is looked at first; None, with a notice, where that cannot be told."""
        session = self._session
        facet = session.debugger.memory
        if facet is None or space not in facet.spaces:
            session.notice("this engine knows one address space", "warning")
            return None
        try:
            return await self._arrive(facet, space, await facet.start_of(space, session.state.selected_frame))
        except LadderError as error:
            session.notice(f"{space} memory: {why_none(error)}", "warning")
            return None

    async def _arrive(self, facet: Memory, asked: str, place: MemoryPlace) -> int:
        state = self._state
        if state.layout is None:
            state.layout = await facet.layout()
        symbol = await facet.symbol_at(place.address)
        usual = facet.spaces[0] if facet.spaces else ""
        # What was found without a space is in the one that is looked at, unless that is a small one.
        space = place.space or (state.space if place.address < _SMALL else usual) or usual
        if space != state.space:
            state.space, state.size = space, await facet.size_of(space)
        state.spaces = tuple(facet.spaces)
        self.stand()
        state.asked, state.home, state.symbol, state.note = asked, place.address, symbol, ""
        self._session.tell(Change.MACHINE)
        return place.address

    def stand(self) -> None:
        """Forget what was read of another space, or of the same one of another lane or block."""
        state, focus = self._state, self._session.state.focus
        levels = _WHOSE.get(state.space, ())
        whose = (state.space, *(focus.get(level) if focus is not None else None for level in levels))
        if state.spaces and whose != state.whose:
            state.whose = whose
            state.windows, state.before, state.symbols, state.why = {}, {}, {}, {}
            self._wanted.clear()

    async def look(self, start: int, length: int, *, pointers: bool = False) -> None:
        """Read what is not read yet of a range; what cannot be read is None.

        Args:
            start: First address.
            length: Bytes.
            pointers: Ask too what pointers stored there point to.
        """
        session, state = self._session, self._state
        facet = session.debugger.memory
        if facet is None:
            return
        first = start - start % WINDOW
        missing = [
            base
            for base in range(max(0, first), min(TOP, start + length), WINDOW)
            if base not in state.windows and base not in self._wanted
        ]
        stop, whose = self._machine.stop, state.whose
        self._wanted.update(missing)
        try:
            blocks = await asyncio.gather(*(facet.read(base, WINDOW, state.space) for base in missing))
            if stop != self._machine.stop or whose != state.whose:
                return
            for base, block in zip(missing, blocks, strict=True):
                state.windows[base] = block.contents
                state.why[base] = block.why
            if pointers:
                await self._ask_symbols(start, length)
            state.note = ""
        except LadderError as error:
            for base in missing:
                state.windows.setdefault(base, (None,) * WINDOW)
            state.note = why_none(error)
        finally:
            self._wanted.difference_update(missing)
        while len(state.windows) > _MOST_WINDOWS:
            state.windows.pop(next(iter(state.windows)))
        session.tell(Change.MACHINE)

    async def _ask_symbols(self, start: int, length: int) -> None:
        """What pointers in the readable part of a range point to."""
        state, facet = self._state, self._session.debugger.memory
        if facet is None or state.layout is None:
            return
        size = state.layout.pointer
        begin: int | None = None
        for at in range(start, start + length + size, size):
            whole = at < start + length and None not in byte_range(state, at, size)
            if whole and begin is None:
                begin = at
            elif not whole and begin is not None:
                state.symbols.update(await facet.symbols(begin, (at - begin) // size))
                begin = None

    async def pointer_at(self, address: int) -> int | None:
        """The pointer that is stored at an address; None where it cannot be read."""
        facet, state = self._session.debugger.memory, self._state
        if facet is None:
            return None
        if state.layout is None:
            state.layout = await facet.layout()
        raw = (await facet.read(address, state.layout.pointer, state.space)).contents
        if None in raw or len(raw) < state.layout.pointer:
            return None
        return int.from_bytes(
            bytes(one for one in raw if one is not None), "little" if state.layout.little else "big"
        )

    async def write(self, address: int, contents: bytes) -> bool:
        """Write bytes and say what was written; whether it was."""
        session, facet = self._session, self._session.debugger.memory
        why = self._machine.read_only()
        if why or facet is None:
            session.notice(f"nothing was written: {why or 'this engine does not write memory'}", "warning")
            return False
        try:
            await facet.write(address, contents, self._state.space)
        except LadderError as error:
            session.notice(f"nothing was written at {address:#x}: {why_none(error)}", "error")
            return False
        shown = contents[:_SHOWN_BYTES].hex(" ") + (" …" if len(contents) > _SHOWN_BYTES else "")
        many = "byte" if len(contents) == 1 else "bytes"
        session.notice(f"wrote {len(contents)} {many} at {address:#x}: {shown}")
        self._state.windows.clear()
        self._state.symbols.clear()
        session.look_again()
        session.tell(Change.MACHINE)
        return True

    def stopped(self) -> None:
        """The target stands anew: what was read is what was before."""
        state = self._state
        state.before, state.windows, state.symbols, state.why = state.windows, {}, {}, {}
        self._wanted.clear()

    def forget(self) -> None:
        """The process is gone."""
        state = self._state
        state.windows, state.before, state.symbols, state.note, state.why = {}, {}, {}, "", {}


def byte_range(state: MemoryState, address: int, length: int) -> tuple[int | None, ...]:
    """Bytes as far as they were read since the last stop; None for the others."""
    return _range(state.windows, address, length)


def bytes_before(state: MemoryState, address: int, length: int) -> tuple[int | None, ...]:
    """Bytes as they were at the stop before, as far as they were read then."""
    return _range(state.before, address, length)


def differs(now: Sequence[int | None], before: Sequence[int | None]) -> bool:
    """Whether a byte that was read both times is another one."""
    return any(
        one is not None and other is not None and one != other for one, other in zip(now, before, strict=True)
    )


def is_read(state: MemoryState, start: int, length: int) -> bool:
    """Whether all of a range was asked for since the last stop."""
    first = max(0, start - start % WINDOW)
    return all(base in state.windows for base in range(first, min(TOP, start + length), WINDOW))


def _range(windows: Mapping[int, tuple[int | None, ...]], address: int, length: int) -> tuple[int | None, ...]:
    found: tuple[int | None, ...] = ()
    at = address
    while at < address + length:
        offset = at % WINDOW
        count = min(WINDOW - offset, address + length - at)
        piece = windows.get(at - offset, ())[offset : offset + count]
        found += piece + (None,) * (count - len(piece))
        at += count
    return found

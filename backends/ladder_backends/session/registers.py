"""Registers of the selected frame, and which of them the last step changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ladder_backends.errors import LadderError
from ladder_backends.late_dataclass import dataclass
from ladder_backends.session.state import Change, Run
from ladder_backends.session.why_none import why_none
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import Registers
    from ladder_backends.model.register import Register
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.machine import Machine

TEXT_AFTER = 0.06
"""Seconds that the target stands before the text is read that registers point to."""

_TEXT_GROUP = "general"
_MOST_SEEN = 512
"""Groups of frames and lanes whose values are remembered."""

_Place: TypeAlias = tuple[object, ...]


@dataclass(slots=True)
class _Seen:
    """Values of a group at a stop, and at the one before it where that was looked at too."""

    stop: int
    values: dict[str, str]
    before: dict[str, str]


class RegisterReading:
    """Reads groups of registers into the state."""

    def __init__(self, session: DebugSession, machine: Machine) -> None:
        self._session = session
        self._machine = machine
        self._seen: dict[_Place, _Seen] = {}
        self._looks = 0
        self._text: asyncio.Task[None] | None = None

    async def look(self, groups: Sequence[str]) -> None:
        """Read groups of the selected frame (names that the architecture lacks are passed over).

        The names of all groups are read with them. A newer look makes an older one's answer void.
        """
        self._looks += 1
        look = self._looks
        session = self._session
        state, facet = session.state.machine.registers, session.debugger.registers
        if facet is None:
            state.note = "this engine does not tell registers"
            session.tell(Change.MACHINE)
            return
        frame, form, stop = session.state.selected_frame, state.form, self._machine.stop
        focus = session.state.focus
        read: dict[str, tuple[Register, ...]] = {}
        names, note = state.groups, ""
        try:
            names = tuple(await facet.groups(frame))
            for group in groups:
                if group in names:
                    answer = tuple(await facet.read(group, frame, form))
                    read[group] = self._marked((focus, frame, group, form), answer, stop)
        except LadderError as error:
            note = why_none(error)
        if look != self._looks:
            return
        if form == "natural" and _TEXT_GROUP in read:
            # What pointed to text, and points there still, is taken to do so until it was looked at.
            known = {one.name: one for one in state.read.get(_TEXT_GROUP, ())}
            read[_TEXT_GROUP] = tuple(_with_old_note(one, known.get(one.name)) for one in read[_TEXT_GROUP])
        state.groups, state.read, state.frame, state.note = names, read, frame, "" if read else note
        session.tell(Change.MACHINE)
        if form == "natural" and _TEXT_GROUP in read:
            self._drop_text()
            self._text = asyncio.get_running_loop().create_task(self._look_for_text(facet, look))

    def _drop_text(self) -> None:
        if self._text is not None:
            self._text.cancel()
            self._text = None

    async def _look_for_text(self, facet: Registers, look: int) -> None:
        """Note what registers point to, where the target still stands; steps typed fast do not pay for it."""
        await asyncio.sleep(TEXT_AFTER)
        state = self._session.state.machine.registers
        registers = state.read.get(_TEXT_GROUP, ())
        if look != self._looks or not registers or self._session.state.run is Run.RUNNING:
            return
        try:
            noted = tuple(await facet.with_text(registers))
        except LadderError:
            return
        if look == self._looks and noted != registers and state.read.get(_TEXT_GROUP) is registers:
            state.read = {**state.read, _TEXT_GROUP: noted}
            self._session.tell(Change.MACHINE)

    async def print_as(self, form: str) -> None:
        """Print registers in another format from now on; who shows them looks again."""
        self._session.state.machine.registers.form = form
        self._session.tell(Change.MACHINE)

    async def write(self, name: str, value: str) -> None:
        """Set a register of the selected frame; everything on screen is looked at again.

        Raises:
            LadderError: The engine refused.
        """
        session = self._session
        why, facet = self._machine.read_only(), session.debugger.registers
        if why or facet is None:
            session.notice(f"{name} was not set: {why or 'this engine does not write registers'}", "warning")
            return
        await facet.write(name, value, session.state.selected_frame)
        session.notice(f"{name} = {clean_line(value)}")
        session.look_again()

    def forget(self) -> None:
        """The process is gone."""
        self._drop_text()
        self._seen.clear()
        state = self._session.state.machine.registers
        state.read, state.note = {}, ""

    def _marked(self, place: _Place, registers: tuple[Register, ...], stop: int) -> tuple[Register, ...]:
        """Registers with those marked that differ from the stop before; none where that was not looked at."""
        values = {one.name: one.value for one in registers if not one.error}
        seen = self._seen.get(place)
        if seen is None or seen.stop < stop - 1:
            seen = _Seen(stop, values, {})
        elif seen.stop != stop:
            seen = _Seen(stop, values, seen.values)
        else:
            seen.values = values
        self._seen[place] = seen
        if len(self._seen) > _MOST_SEEN:
            self._seen.pop(next(iter(self._seen)))
        return tuple(
            replace(one, changed=True) if seen.before.get(one.name, one.value) != one.value else one
            for one in registers
        )


def _with_old_note(now: Register, before: Register | None) -> Register:
    if before is not None and before.value == now.value and before.note.startswith('"') and not now.note:
        return replace(now, note=before.note)
    return now

"""What passes from rung to rung: the program, how it is started, its breakpoints and watches, and the place."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.errors import EngineMissing, LadderError
from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.launch import LaunchSettings
from ladder_backends.model.provenance import Provenance
from ladder_backends.rungs import dump_rung, rung_named
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Run
from ladder_backends.session.target_program import program_of
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.model.focus import Focus
    from ladder_backends.model.frame import Place
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.ladder import Ladder

_BUSY = (Run.STARTING, Run.RUNNING, Run.DEAD)


@dataclass(frozen=True, slots=True)
class Carried:
    """What a rung has taken over.

    Attributes:
        title: The program.
        settings: It is started with arguments, an environment, a folder or an input of its own.
        breakpoints: How many there are.
        watches: How many expressions are watched.
        place: Where the program stands on the rung that was left, or None.
    """

    title: str
    settings: bool
    breakpoints: int
    watches: int
    place: Place | None = None

    @property
    def words(self) -> str:
        """`settings and 3 breakpoints carried over`, or an empty string."""
        parts = ["settings"] if self.settings else []
        for count, what in ((self.breakpoints, "breakpoint"), (self.watches, "watched expression")):
            if count:
                parts.append(f"{count} {what}{'s' if count > 1 else ''}")
        listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
        return f"{listed} carried over" if listed else ""


class Carrying:
    """Knows what a rung can take over from the others, and does it."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self._left: DebugSession | None = None
        self._under_way: set[str] = set()
        self._arrived_with: dict[DebugSession, LaunchSettings] = {}

    def program_at_hand(self) -> LaunchTarget | None:
        """The program of the session on screen, else of another one, else of the files that are open.

        Arguments, environment, folder and input are those that its next start would have.
        """
        for session in self._by_recency():
            if (target := launch_of(session)) is not None:
                return target
        for session in self._by_recency():
            program = program_of(session.target) if session.target is not None else None
            if program is not None:
                return LaunchTarget(program.absolute())
        dump = self._ladder.jumps.dump
        return (
            LaunchTarget(dump.executable.absolute()) if dump is not None and dump.executable is not None else None
        )

    def lane_at_hand(self) -> Focus | None:
        """The block and thread in which another session of the program on screen stands, or None."""
        from ladder_backends.model.focus import Focus

        active = self._ladder.active
        program = _program(active)
        for session in self._by_recency():
            focus = session.state.focus
            if session is active or focus is None or (program is not None and _program(session) != program):
                continue
            levels = {level: focus[level] for level in ("block", "thread") if level in focus}
            if "block" in levels:
                return Focus.of(**levels)
        return None

    def offer(self, rung: str) -> LaunchTarget | None:
        """What could be opened live on a rung where nothing live is open: the program of another session."""
        if not rung_named(rung).debugger or rung_named(rung).missing:
            return None
        here = self._ladder.seats.session(rung, Seat.LIVE)
        if here is not None and here.state.run is not Run.NOTHING:
            return None
        for session in self._by_recency():
            if session is not here and session.state.provenance is Provenance.ENGINE:
                if (target := launch_of(session)) is not None:
                    return target
                program = program_of(session.target) if session.target is not None else None
                if session.state.rung == rung and program is not None:
                    # From a dump to the program that wrote it.
                    return LaunchTarget(program.absolute())
        dump = self._ladder.jumps.dump
        if rung == dump_rung().name and dump is not None and dump.executable is not None:
            return LaunchTarget(dump.executable.absolute())
        return None

    async def carry_to(self, rung: str) -> Carried | None:
        """Open the offered program on a rung, started like where it comes from; it does not run yet.

        Returns:
            What was carried over; None where nothing is offered.

        Raises:
            EngineMissing, TargetInvalid, EngineDied: It cannot be opened there; the rung is as it was.
        """
        target = self.offer(rung)
        if target is None or rung in self._under_way:
            # A key pressed twice opens it once.
            return None
        self._under_way.add(rung)
        try:
            return await self._carry(rung, target)
        finally:
            self._under_way.discard(rung)

    async def _carry(self, rung: str, target: LaunchTarget) -> Carried | None:
        ladder, where = self._ladder, rung_named(rung)
        missing = await asyncio.to_thread(ladder.engines.missing, where.debugger)
        if missing:
            shown = clean_line(target.program.name)
            raise EngineMissing(f"{shown} cannot be opened on {where.place}", missing, where.install)
        if ladder.state.rung != rung:
            # The user has gone on meanwhile.
            return None
        left = self._left
        place = left.state.place if left is not None and _program(left) == program_of(target) else None
        try:
            session = await ladder.open_target(target, debugger=where.debugger, run=False)
        except LadderError:
            await ladder.close_seat(rung, Seat.LIVE)
            raise
        state = session.state
        settings = not LaunchSettings(
            target.arguments, dict(target.environment), target.directory, target.stdin
        ).plain
        return Carried(state.title, settings, len(state.breakpoints), len(state.values.watches), place)

    # -- going from one to another

    def left(self, session: DebugSession | None) -> None:
        """Another session has come on screen in the place of this one; it catches up."""
        now = self._ladder.active
        if now is session:
            return
        if session is not None:
            self._left = session
        if now is not None and now.target is not None and now.state.run not in _BUSY:
            self._ladder.background(self._catch_up(now, session))

    async def _catch_up(self, session: DebugSession, left: DebugSession | None) -> None:
        try:
            with session.told():
                await session.catch_up()
                await self._take_settings(session, left)
        finally:
            self._arrived_with[session] = session.control.state.settings

    async def _take_settings(self, session: DebugSession, left: DebugSession | None) -> None:
        """What was changed there, and was not before, is so here too."""
        if (
            left is None
            or launch_of(left) is None
            or launch_of(session) is None
            or _program(left) != _program(session)
        ):
            return
        chosen = left.control.state.settings
        if chosen != self._arrived_with.get(left, _settings(left)) and chosen != session.control.state.settings:
            await session.control.adopt(chosen)
            session.notice("start settings carried over")
        self._arrived_with[left] = chosen

    def _by_recency(self) -> list[DebugSession]:
        """The session on screen, the one before it, then live ones before dumps."""
        first = [session for session in (self._ladder.active, self._left) if session is not None]
        every = list(self._ladder.every_session())
        live = [session for session in every if session.state.seat is Seat.LIVE]
        return [session for session in dict.fromkeys((*first, *reversed(live), *every)) if session in every]


def launch_of(session: DebugSession) -> LaunchTarget | None:
    """The program of a live session as its next start would have it; None where it was not started here."""
    target = session.target
    if not isinstance(target, LaunchTarget):
        return None
    chosen = session.control.as_chosen(target)
    assert isinstance(chosen, LaunchTarget)
    return chosen


def _program(session: DebugSession | None) -> object:
    return program_of(session.target) if session is not None and session.target is not None else None


def _settings(session: DebugSession) -> LaunchSettings:
    target = session.target
    assert isinstance(target, LaunchTarget)
    return LaunchSettings(target.arguments, dict(target.environment), target.directory, target.stdin)

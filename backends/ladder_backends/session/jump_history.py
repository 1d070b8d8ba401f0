"""The places that were jumped to, over dumps and live programs, and the way back to them.

A dump shows one moment, to which one can always return. A live program's moment is gone once it has run on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import file_name
from ladder_backends.session.alternatives import Act, Alternative, Way
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Run

if TYPE_CHECKING:
    from ladder_backends.debugger.target import GpuDumpTarget
    from ladder_backends.model.finding import Finding, Report
    from ladder_backends.model.frame import Frame
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.jump import JumpOutcome
    from ladder_backends.session.ladder import Ladder

MOST = 100
"""Places that are kept."""

_LOGICAL = ("kernel", "block", "thread")


class Past(NamedTuple):
    """A place that was jumped to.

    Attributes:
        focus: Kernel, block and thread.
        where: Its line of source, in few words.
        dump: The dump it is in, or None for a live program.
        session: The live session, or None.
        moment: When that one had stopped, on the monotonic clock.
        finding: For whose sake, or None.
    """

    seat: Seat
    focus: Focus
    where: str
    dump: GpuDumpTarget | None = None
    session: DebugSession | None = None
    moment: float = 0.0
    finding: Finding | None = None
    report: Report | None = None
    side: int = 0

    @property
    def is_held(self) -> bool:
        """An engine still holds this moment."""
        if self.seat is Seat.DUMP:
            return True
        state = self.session.state if self.session is not None else None
        return state is not None and state.run is Run.STOPPED and state.since == self.moment

    @property
    def label(self) -> str:
        """`dump  block (3,0,0) thread (232,0,0)  vadd vector_add_oob.cu:10`."""
        gone = "" if self.is_held else "  (gone)"
        return f"{self.seat}  {self.focus.describe('block', 'thread')}  {self.where}{gone}"


class JumpHistory:
    """Where one has been.

    Attributes:
        places: Oldest first.
        at: Index of the place that was gone to last; -1 before the first jump.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self.places: list[Past] = []
        self.at = -1

    def note(self, outcome: JumpOutcome, finding: Finding | None, side: int = 0) -> None:
        """A jump has led somewhere; what lay ahead of where one had gone back to is forgotten, as in a browser."""
        if outcome.reached is None:
            return
        past = self._past(outcome, finding, side)
        if self.at >= 0 and _same(self.places[self.at], past):
            self.places[self.at] = past
            return
        self._keep(past)

    def _keep(self, past: Past) -> None:
        del self.places[self.at + 1 :]
        self.places.append(past)
        del self.places[:-MOST]
        self.at = len(self.places) - 1

    def _here(self) -> Past | None:
        """Where the session on screen stands, however it came there; None where it stands in no lane."""
        session = self._ladder.active
        if session is None or session.state.run not in (Run.STOPPED, Run.DUMP):
            return None
        state = session.state
        if state.focus is None or "block" not in state.focus:
            return None
        focus = Focus.of(**{level: state.focus[level] for level in _LOGICAL if level in state.focus})
        frame = state.frames.frames[0] if state.frames.frames else None
        if state.seat is Seat.DUMP:
            return Past(Seat.DUMP, focus, _where(frame), self._ladder.jumps.dump)
        return Past(Seat.LIVE, focus, _where(frame), session=session, moment=state.since)

    def _past(self, outcome: JumpOutcome, finding: Finding | None, side: int) -> Past:
        assert outcome.reached is not None
        reached = outcome.reached
        focus = Focus.of(**{level: reached[level] for level in _LOGICAL if level in reached})
        where = _where(outcome.frame)
        report = self._ladder.state.report
        if outcome.way is Way.DUMP:
            return Past(Seat.DUMP, focus, where, self._ladder.jumps.dump, finding=finding, report=report, side=side)
        live = self._ladder.jumps.live.session
        since = live.state.since if live is not None else 0.0
        return Past(Seat.LIVE, focus, where, session=live, moment=since, finding=finding, report=report, side=side)

    # -- going there

    async def back(self) -> bool:
        """Go to the place before, from a lane that was walked to the last jump's; returns whether there is one."""
        here = self._here()
        if here is not None and self.at >= 0 and not _same(self.places[self.at], here):
            self._keep(here)
        return await self.go(self.at - 1)

    async def forward(self) -> bool:
        """Go to the place after; returns whether there is one."""
        return await self.go(self.at + 1)

    async def go(self, index: int) -> bool:
        """Stand in an earlier place again, without running anything; returns whether there is such a place."""
        if not 0 <= index < len(self.places):
            return False
        past, ladder = self.places[index], self._ladder
        self.at = index
        if past.finding is not None and past.report is ladder.state.report:
            ladder.state.selected_finding = past.finding.index
        if past.seat is Seat.DUMP:
            await self._into_dump(past)
        elif past.is_held and past.session is not None:
            ladder.switch_seat(past.session.state.rung, Seat.LIVE)
            await past.session.switch(past.focus)
        else:
            self._tell_gone(past)
            return True
        ladder.notice(f"{index + 1} of {len(self.places)}: {past.label}")
        return True

    async def _into_dump(self, past: Past) -> None:
        jumps = self._ladder.jumps
        if past.dump is not None and jumps.dump != past.dump:
            jumps.take(past.dump)
            async with jumps.lock:
                await jumps.place()
        await jumps.to_lane(past.focus, past.finding, side=past.side)

    def _tell_gone(self, past: Past) -> None:
        """That moment of a live program has passed: only another run leads there."""
        ladder = self._ladder
        session = ladder.jumps.live.session
        if session is not None:
            ladder.switch_seat(session.state.rung, Seat.LIVE)
            again = Alternative("run again to it", past.focus, act=Act.LIVE, note=ladder.jumps.live.price())
            session.state.asked, session.state.alternatives = past.focus, (again,)
            session.state.reason = "that moment of the program is gone"
        ladder.notice(f"that moment is gone ({past.label}): run again?", "warning")


def _where(frame: Frame | None) -> str:
    """`vadd vector_add_oob.cu:10`."""
    if frame is None:
        return ""
    place = f" {file_name(frame.place.file)}:{frame.place.line}" if frame.place is not None else ""
    return f"{frame.function}{place}"


def _same(one: Past, other: Past) -> bool:
    return (one.seat, one.focus, one.dump, one.session, one.moment) == (
        other.seat,
        other.focus,
        other.dump,
        other.session,
        other.moment,
    )

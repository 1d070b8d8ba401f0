"""Jumps from findings and coordinates into lanes of the dump that is at hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import GpuDumpTarget
from ladder_backends.errors import EngineMissing, LadderError, WrongProgram
from ladder_backends.rungs import dump_rung
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Change, Run

if TYPE_CHECKING:
    from ladder_backends.debugger.contract import Debugger
    from ladder_backends.model.finding import Finding
    from ladder_backends.model.focus import Focus
    from ladder_backends.session.alternatives import Alternative, Way
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.jump import JumpOutcome
    from ladder_backends.session.jump_history import JumpHistory
    from ladder_backends.session.ladder import Ladder
    from ladder_backends.session.live_jumps import LiveJumps
    from ladder_backends.session.live_wish import LiveWish

DUMPS = dump_rung().name


class Jumps:
    """Leads into the dump; of jumps that were pressed together the last one counts.

    Attributes:
        dump: What is jumped into, or None.
        recordings: What answers where there is no engine for it.
        wrong_program: The program that was named with the dump did not make it.
        lock: Held while a jump is under way, or the dump's session is made.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self.dump: GpuDumpTarget | None = None
        self.recordings: tuple[Path, ...] = ()
        self.wrong_program = False
        self.lock = asyncio.Lock()
        self._count = 0
        self._wishes = 0
        self._foreign: DebugSession | None = None
        self._live: LiveJumps | None = None
        self._history: JumpHistory | None = None

    @property
    def session(self) -> DebugSession | None:
        """The session that stands in the dump, or None."""
        return self._ladder.seats.session(DUMPS, Seat.DUMP)

    def take(self, dump: GpuDumpTarget) -> None:
        """Jump into this dump from now on; its engine is made ready."""
        self.dump, self.wrong_program = dump, False
        engines = self._ladder.engines
        if not engines.missing(DUMPS):
            engines.warm_up(DUMPS)

    def forget(self) -> None:
        """Another report was opened, without a dump: what stands in the old one has none of its lanes."""
        self.dump, self._foreign = None, self.session

    def name_program(self, program: Path | None) -> None:
        """Open the dump with this program, or with none, the next time it is opened."""
        if self.dump is not None:
            self.dump, self.wrong_program = replace(self.dump, executable=program), False

    @property
    def live(self) -> LiveJumps:
        """Jumps that run the program; imported with the first of them."""
        if self._live is None:
            from ladder_backends.session.live_jumps import LiveJumps

            self._live = LiveJumps(self._ladder)
        return self._live

    @property
    def history(self) -> JumpHistory:
        """The places that were jumped to."""
        if self._history is None:
            from ladder_backends.session.jump_history import JumpHistory

            self._history = JumpHistory(self._ladder)
        return self._history

    async def to_finding(
        self, finding: Finding, side: int = 0, way: Way | None = None, *, anew: bool = False
    ) -> JumpOutcome:
        """Stand in the finding's lane; state and outcome tell what was asked and what was reached.

        Args:
            finding: What was found.
            side: Which of its places; a hazard has two.
            way: How; None for the dump where it holds the lane, else live where the program was run here before.
            anew: Run the program again, whatever stands live.
        """
        from ladder_backends.session.alternatives import Way
        from ladder_backends.session.jump import JumpOutcome, asked_by

        self._wishes += 1
        wish = self._wishes
        self._ladder.state.selected_finding = finding.index
        self._ladder.tell(Change.FINDINGS)
        asked = asked_by(finding, side)
        if way is Way.LIVE and asked:
            return await self._live_to(finding, asked, side, anew=anew)
        await self._ladder.sanitizer.bring_dump(finding)
        if wish != self._wishes:
            return JumpOutcome(asked, None, reason="another jump came after this one", superseded=True)
        outcome = await self.to_lane(asked, finding, side=side)
        if outcome.reached is not None or not asked or outcome.superseded:
            return outcome
        offer = self.live.offer()
        if offer is None:
            return outcome
        if way is None and self.live.runs_unasked:
            return await self._live_to(finding, asked, side, why=outcome.reason)
        return self._offered(outcome, offer)

    async def live_to(self, wish: LiveWish, *, anew: bool = False) -> JumpOutcome:
        """Run the program to a lane that no finding names."""
        self._wishes += 1
        self._ladder.notice(self.live.price())
        outcome = await self.live.to(wish, anew=anew)
        self.history.note(outcome, None)
        return outcome

    async def _live_to(
        self, finding: Finding, asked: Focus, side: int, *, anew: bool = False, why: str = ""
    ) -> JumpOutcome:
        self._ladder.notice(f"{why}: {self.live.price()}" if why else self.live.price())
        outcome = await self.live.to_finding(finding, asked, side, anew=anew)
        self.history.note(outcome, finding, side)
        return outcome

    def _offered(self, outcome: JumpOutcome, offer: Alternative) -> JumpOutcome:
        """The outcome with one more way on, the first of all that are none in the dump."""
        held = tuple(each for each in outcome.alternatives if each.focus is not None)
        rest = outcome.alternatives[len(held) :]
        outcome = replace(outcome, alternatives=(*held, offer, *rest))
        if self.session is not None:
            self.session.state.alternatives = outcome.alternatives
        return outcome

    async def to_place(self, asked: Focus) -> JumpOutcome:
        """Stand in a lane of the dump that was typed or chosen; where it is not held, offer to run to it."""
        self._wishes += 1
        outcome = await self.to_lane(asked)
        if outcome.reached is None and "block" in asked and not outcome.superseded:
            offer = self.live.offer()
            return self._offered(outcome, offer) if offer is not None else outcome
        return outcome

    async def to_lane(self, asked: Focus, finding: Finding | None = None, *, side: int = 0) -> JumpOutcome:
        """Stand in a lane that is named by its coordinates, for the sake of a finding or none."""
        from ladder_backends.session.alternatives import alternatives_of_finding, programs_of_dump
        from ladder_backends.session.faulting import first_with_source
        from ladder_backends.session.jump import JumpOutcome, jump

        self._count += 1
        number = self._count
        extra = alternatives_of_finding(finding) if finding is not None else ()
        async with self.lock:
            if number != self._count:
                return JumpOutcome(asked, None, reason="another jump came after this one", superseded=True)
            if finding is not None and not asked:
                reason = finding.why or "the report names no lane for this finding"
                return self._not_reached(JumpOutcome(asked, None, reason=reason, alternatives=extra))
            try:
                session = await self._opened(finding is not None)
                outcome = await jump(session.debugger, asked, finding=finding)
            except LadderError as error:
                self.wrong_program = isinstance(error, WrongProgram)
                if self.wrong_program:
                    extra = (*programs_of_dump(asked), *extra)
                return self._not_reached(JumpOutcome(asked, None, reason=error.line(), alternatives=extra))
            lacks = self._ladder.sanitizer.lacks_dump(finding)
            if lacks and outcome.reached is None:
                outcome = replace(outcome, reason=f"{lacks}; in that of another tool, {outcome.reason}")
            self._ladder.switch_seat(DUMPS, Seat.DUMP)
            session.show_jump(outcome)
            if outcome.reached is not None and (level := first_with_source(outcome.frames.frames)):
                # An assertion failed: the line that holds it is the caller's.
                await session.select_frame(level)
            self.history.note(outcome, finding, side)
            if outcome.reached is not None:
                # The lane is shown first; what is watched in it comes behind.
                self._ladder.background(watches_of(session))
            if outcome.reached is None or outcome.reason:
                self._ladder.notice(outcome.reason, "warning")
            elif outcome.doubt:
                self._ladder.notice(outcome.doubt, "warning")
            elif lacks:
                self._ladder.notice(f"{lacks}: this is its lane in the dump of another tool's run", "warning")
            return outcome

    def _not_reached(self, outcome: JumpOutcome) -> JumpOutcome:
        if self.session is not None:
            self.session.show_jump(outcome)
        self._ladder.notice(outcome.reason, "warning")
        return outcome

    async def _opened(self, for_finding: bool) -> DebugSession:
        """The session that stands in the dump; opened at the first jump, and again after its engine has died."""
        session = self.session
        refused = session is not None and session.target is not None and session.state.run is Run.NOTHING
        if self.dump is None:
            foreign = for_finding and session is self._foreign
            if session is not None and session.target is not None and not refused and not foreign:
                return session
            report = self._ladder.state.report
            tool = report.tool if report is not None else ""
            none = "writes none" if tool == "racecheck" else "wrote none"
            without = tool in ("racecheck", "synccheck")
            raise EngineMissing(
                "there is no GPU core dump to jump into",
                f"{tool} {none}" if without else "the report alone holds no values",
                f"break on the line of the {'hazard' if tool == 'racecheck' else 'finding'} under {DUMPS}"
                if without
                else "run the sanitizer with --generate-coredump, and open its dump with the report",
            )
        if session is None or refused or session.state.run is Run.DEAD:
            session = await self.place()
        if session.target is None:
            await session.open(self.dump, look=False)
            self._ladder.engines.warm_up(DUMPS)
        return session

    async def place(self) -> DebugSession:
        """Put an engine for the dump on its rung; it is opened by whoever looks into it first."""
        engines = self._ladder.engines
        return self._ladder.seats.place(await self.engine(), lambda: engines.make(DUMPS), Seat.DUMP)

    async def engine(self) -> Debugger:
        """The debugger that opens GPU core dumps, or a recording of it where it is not installed."""
        engines = self._ladder.engines
        stand_in = engines.stand_in(DUMPS, self.recordings)
        if stand_in is None:
            return await engines.take(DUMPS)
        self._ladder.notice(stand_in.notice, "warning")
        return engines.replay(DUMPS, stand_in.recording)


async def watches_of(session: DebugSession) -> None:
    """Ask for what is watched, as the lane sees it that was jumped to."""
    trees = session.state.values
    if trees.watches or trees.branches or trees.forms:
        with session.told():
            await session.values.look_again()

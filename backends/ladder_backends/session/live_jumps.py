"""Live jumps on the ladder: which program is run, on which session, and what is left where one gave up."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import StepKind
from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.errors import LadderError
from ladder_backends.paths import cache_dir
from ladder_backends.rungs import device_rung, host_rung
from ladder_backends.session.alternatives import Act, Alternative, Way, alternatives_of_finding
from ladder_backends.session.jump import JumpOutcome
from ladder_backends.session.live_jump import LiveJump
from ladder_backends.session.live_wish import LiveLimits, LiveWish, changed_since, wish_of
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Change, Run
from ladder_backends.session.target_program import program_of
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.debugger.target import GpuDumpTarget
    from ladder_backends.model.finding import Finding
    from ladder_backends.model.focus import Focus
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.ladder import Ladder

_SMALL = "~0.7 s if it is small"


class LiveJumps:
    """Runs the program of the report to lanes, one at a time.

    Attributes:
        under_way: The jump that goes on, or that gave up and can be waited on for; else None.
        stopping: What goes on was told to stop.
        limits: Of each jump.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self.under_way: LiveJump | None = None
        self.limits = LiveLimits()
        self.stopping = False
        self._goes_on = False
        self._runs: LiveJump | None = None
        self._took: dict[Path, float] = {}
        self._doubt = ""

    # -- what is possible

    @property
    def target(self) -> LaunchTarget | None:
        """The program of the report, started as it was there; else the program at hand."""
        plan = self._ladder.state.sanitizer.plan
        if plan is not None and self._ladder.state.report is not None:
            return LaunchTarget(
                plan.program, plan.arguments, plan.directory, dict(plan.environment), stdin=plan.stdin
            )
        return self._ladder.carrying.program_at_hand()

    @property
    def runs_unasked(self) -> bool:
        """The program was run here before, at somebody's wish: running it again surprises nobody."""
        state = self._ladder.state
        target = self.target
        if target is None or state.sanitizer.active:
            # A run of the sanitizer holds the GPU, and is asked about the same program.
            return False
        ran = state.sanitizer.plan is not None and state.sanitizer.since > 0
        session = self.session
        return ran or (session is not None and session.target is not None and _same_program(session.target, target))

    @property
    def session(self) -> DebugSession | None:
        """The live session on the rung of CUDA kernels, or None."""
        rung = device_rung("CUDA")
        return self._ladder.seats.session(rung.name, Seat.LIVE) if rung is not None else None

    def why_not(self) -> str:
        """Why no program can be run to a lane here; empty where one can."""
        from ladder_backends.session.device_here import live_device_rung

        rung = device_rung("CUDA")
        if self.target is None:
            return "no program is known that could be run: open it with the report"
        if rung is None or (missing := self._ladder.engines.missing(rung.debugger)):
            return missing if rung is not None else "no debugger of CUDA kernels is installed"
        if live_device_rung() is None:
            return "no GPU is here to run it on"
        return ""

    def price(self) -> str:
        """What a live jump costs: `runs vector_add_oob again, 0.8 s last time`."""
        target = self.target
        name = clean_line(target.program.name) if target is not None else "the program"
        took = self._took.get(target.program) if target is not None else None
        again = f"{took:.1f} s last time" if took is not None else _SMALL
        return f"runs {name} again, {again}"

    def offer(self, words: str = "") -> Alternative | None:
        """The live jump as an alternative; None where it is not possible."""
        return None if self.why_not() else Alternative(words or "run to it live", act=Act.LIVE, note=self.price())

    # -- doing it

    @property
    def goes_on(self) -> bool:
        """One is under way now."""
        return self._goes_on

    async def to_finding(self, finding: Finding, asked: Focus, side: int = 0, *, anew: bool = False) -> JumpOutcome:
        """Run to the lane of a finding's side."""
        return await self.to(wish_of(finding, asked, side), finding=finding, anew=anew)

    async def to(
        self,
        wish: LiveWish,
        *,
        finding: Finding | None = None,
        target: LaunchTarget | None = None,
        anew: bool = False,
    ) -> JumpOutcome:
        """Run to a lane; what hinders it is an outcome.

        Args:
            wish: Where to.
            finding: For whose sake: tells what else to offer.
            target: What to run, where it is not the program of the report.
            anew: Run it again, even where it stands in the lane's launch already.
        """
        if self._goes_on:
            return self._missed(wish, "a live jump is under way already; Ctrl-C stops it", finding)
        self._begin(wish)
        try:
            if self.under_way is not None:
                await self.under_way.stay()
            try:
                session = await self._opened(target or self.target, anew)
            except LadderError as error:
                return self._missed(wish, error.line(), finding)
            live = LiveJump(session, wish, self._tell, self.limits)
            busy = session.state.run in (Run.RUNNING, Run.STOPPED)
            elsewhere = busy and not anew and not await live.is_in_launch()
            if self.stopping:
                return self._missed(wish, "you stopped it before the program was run", finding)
            if elsewhere:
                reason = f"{session.state.title} is live elsewhere, and would be ended: run it again?"
                again = Alternative(f"run again to {wish.words}", act=Act.LIVE, note=self.price())
                return self._missed(wish, reason, finding, (again,))
            self.under_way = self._runs = live
            return await self._told(live.go(anew=anew), finding)
        finally:
            self._end()

    async def wait_on(self) -> JumpOutcome | None:
        """Go on with the jump that gave up; None where there is none."""
        if self.under_way is None or self._goes_on:
            return None
        self._begin(self.under_way.wish)
        self._runs = self.under_way
        try:
            return await self._told(self.under_way.wait_on(), None)
        finally:
            self._end()

    async def stay(self) -> None:
        """Wait for nothing any longer."""
        jump, self.under_way = self.under_way, None
        if jump is not None:
            await jump.stay()
            self._ladder.notice("stays here; nothing is waited for")

    async def interrupt(self) -> None:
        """Stop what goes on where it is, or while its program is opened."""
        if not self._goes_on:
            return
        self.stopping = True
        if self._runs is not None:
            await self._runs.interrupt()
        elif (session := self.session) is not None and session.state.run is Run.STARTING:
            await session.interrupt()

    async def break_at(self, file: str, line: int, *, host: bool = False) -> None:
        """Run the program to a line, in whatever lane comes first; one of the host without a GPU too.

        Raises:
            LadderError: It cannot be opened.
        """
        ladder, target = self._ladder, self.target
        if host and self.why_not() and target is not None:
            session = await ladder.open_target(target, debugger=host_rung().debugger, run=False)
        else:
            session = await self._opened(target, anew=False)
            ladder.switch_rung(session.state.rung)
        if await session.set_breakpoint(f"{file}:{line}") is not None:
            await session.resume(StepKind.RUN)

    # -- pieces

    def _begin(self, wish: LiveWish) -> None:
        self._goes_on = True
        self._ladder.state.runs_to = wish.asked.describe("block", "thread")
        self._ladder.tell(Change.RUN)

    def _end(self) -> None:
        self._goes_on = self.stopping = False
        self._runs = None
        self._ladder.state.runs_to = ""
        self._ladder.tell(Change.RUN)

    async def _opened(self, target: LaunchTarget | None, anew: bool) -> DebugSession:
        """The session that the program is run in.

        Raises:
            LadderError: There is no program, or it cannot be opened.
        """
        ladder, rung = self._ladder, device_rung("CUDA")
        if target is None:
            raise LadderError("no program can be run", "none is known", "open it with the report")
        if rung is None:
            raise LadderError("no program can be run", "no debugger of CUDA kernels is installed")
        self._doubt = await asyncio.to_thread(_made_another, ladder.jumps.dump, target.program)
        if not self._doubt and cache_dir() not in target.program.parents:
            # Parts of a case are as old as their unpacking.
            self._doubt = await asyncio.to_thread(changed_since, target.program, ladder.state.report_files)
        if self._doubt:
            ladder.notice(self._doubt, "warning")
        session = self.session
        if session is not None and session.state.run not in (Run.NOTHING, Run.DEAD):
            if session.target is not None and _same_program(session.target, target):
                ladder.switch_seat(rung.name, Seat.LIVE)
                return session
            if session.state.run in (Run.RUNNING, Run.STOPPED) and not anew:
                raise LadderError(
                    f"{rung.name} holds {session.state.title} live",
                    "it would be ended",
                    "end it first, or run it again from the list of ways",
                )
        engine = await ladder.engines.take(rung.debugger)
        session = ladder.seats.place(engine, lambda: ladder.engines.make(rung.debugger), Seat.LIVE)
        session.control.follow_first(ladder.at_fork, target)
        ladder.sources.of_target(target)
        session.rebuild.built = ladder.sources.finder.made_at
        await session.open(target, run=False)
        return session

    async def _told(self, jumping: object, finding: Finding | None) -> JumpOutcome:
        outcome: JumpOutcome = await jumping  # type: ignore[misc]
        session = self.session
        if finding is not None and outcome.reached is None:
            outcome = replace(outcome, alternatives=(*outcome.alternatives, *alternatives_of_finding(finding)))
            if session is not None:
                session.state.alternatives = outcome.alternatives
        if outcome.reached is not None and session is not None:
            # Nothing but the lane was asked for on the way; the views round it come behind.
            session.look_again()
        if outcome.exact:
            target = session.target if session is not None else None
            if isinstance(target, LaunchTarget) and len(outcome.phases) > 1:
                self._took[target.program] = outcome.seconds
            words = f"reached {outcome.asked.describe()} live in {outcome.seconds:.1f} s"
            if self._doubt:
                # Said before the run, and gone by now.
                words = f"{words}; {self._doubt}"
                outcome = replace(outcome, note=outcome.note or self._doubt)
            self._ladder.notice(words, "warning" if self._doubt else "information")
        if outcome.reason:
            self._ladder.notice(outcome.reason, "warning")
        if not any(each.act is Act.WAIT for each in outcome.alternatives):
            self.under_way = None
        return outcome

    def _missed(
        self, wish: LiveWish, reason: str, finding: Finding | None, ways: tuple[Alternative, ...] = ()
    ) -> JumpOutcome:
        extra = alternatives_of_finding(finding) if finding is not None else ()
        self._ladder.notice(reason, "warning")
        return JumpOutcome(wish.asked, None, reason=reason, alternatives=(*ways, *extra), way=Way.LIVE)

    def _tell(self, text: str) -> None:
        self._ladder.notice(text)


def _made_another(target: GpuDumpTarget | None, program: Path) -> str:
    """Words for a dump that another program has made; empty where it is this one's, or cannot be compared."""
    if target is None or target.executable == program:
        # What is opened together was compared when it was.
        return ""
    from ladder_backends.images import MatchVerdict, match_executable, read_gpu_dump

    try:
        match = match_executable(read_gpu_dump(target.dump), program)
    except (LadderError, OSError):
        return ""
    if match.verdict is not MatchVerdict.DIFFERS:
        return ""
    return f"{clean_line(program.name)} is not the program that made the dump: {match.reason}"


def _same_program(one: object, other: LaunchTarget) -> bool:
    if not isinstance(one, LaunchTarget):
        return False
    return program_of(one) == program_of(other) and (one.arguments, one.directory) == (
        other.arguments,
        other.directory,
    )

"""The ladder: findings, the debug sessions of each rung, and the way from a finding into its lane."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder_backends.debugger.registry import load_debugger
from ladder_backends.debugger.target import CoreTarget, GpuDumpTarget, LaunchTarget, Target
from ladder_backends.rungs import dump_rung, host_rung, rung_named
from ladder_backends.session.carrying import Carried, Carrying
from ladder_backends.session.engines import Engines
from ladder_backends.session.hardware_desk import HardwareDesk
from ladder_backends.session.jumps import Jumps
from ladder_backends.session.notifier import Notifier, Subscriber
from ladder_backends.session.opened_files import OpenedFiles
from ladder_backends.session.pair_desk import PairDesk
from ladder_backends.session.sanitizer_run import SanitizerRuns
from ladder_backends.session.seat import Seat, seat_of
from ladder_backends.session.seats import Seats
from ladder_backends.session.sources_at_hand import SourcesAtHand
from ladder_backends.session.state import Change, LadderState, Notice

if TYPE_CHECKING:
    from ladder_backends.model.finding import Finding
    from ladder_backends.model.focus import Focus
    from ladder_backends.model.frame import Place
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.jump import JumpOutcome
    from ladder_backends.session.rank_desk import RankDesk
    from ladder_backends.session.sources import SourceFile


class Ladder:
    """Everything that is open, over all rungs. Screens and headless commands hold one.

    Args:
        source_roots: Folders in which basenames of sources are looked up, besides those of the files opened.
        record: File that engines are recorded to.

    Attributes:
        sessions: The session on screen of each rung.
        seats: Every session: beside the one on screen, a rung holds one of the other kind.
        sources: Where sources are looked for.
        files: Opens reports, dumps and cases.
        jumps: Leads into the dump that is at hand.
        carrying: What passes from rung to rung.
        sanitizer: Runs of compute-sanitizer.
        hardware: Reads the machine that this runs on.
        pairs: Tests its pairs of GPUs.
        engines: Makes debuggers.
        non_stop: Threads of programs that are started stop one by one, where the engine can do that.
        at_fork: Which side of a fork is followed: `parent`, `child` or `both`.
    """

    state: LadderState
    sessions: dict[str, DebugSession]

    def __init__(self, *, source_roots: Iterable[str | Path] = (), record: Path | None = None) -> None:
        self.state = LadderState(source_roots=tuple(str(root) for root in source_roots))
        self.engines = Engines(record)
        self._notifier = Notifier()
        self._tasks: set[asyncio.Task[None]] = set()
        self.seats = Seats(self.state, self._notifier, self.notice, self.background)
        self.sessions = self.seats.shown
        self.sources = SourcesAtHand(self.state, self.background)
        self.files = OpenedFiles(self)
        self.jumps = Jumps(self)
        self.carrying = Carrying(self)
        self.sanitizer = SanitizerRuns(self, self.tell)
        self.hardware = HardwareDesk(self)
        self.pairs = PairDesk(self)
        self._ranks: RankDesk | None = None
        self.non_stop = False
        self.at_fork = "parent"

    # -- listening

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Changes of the ladder and of every session on it."""
        return self._notifier.subscribe(subscriber)

    def tell(self, change: Change) -> None:
        """Notify subscribers of a change that a part of the ladder made to its state."""
        self._notifier.tell(change)

    def notice(self, text: str, severity: str = "information") -> None:
        """Tell the user one line."""
        self.state.notice = Notice(" ".join(text.split()), severity)
        self._notifier.tell(Change.NOTICE)

    @property
    def ranks(self) -> RankDesk:
        """Looks at parallel jobs; made when somebody first does, since a first frame would wait for it."""
        if self._ranks is None:
            from ladder_backends.session.rank_desk import RankDesk

            self._ranks = RankDesk(self)
        return self._ranks

    # -- rungs and seats

    @property
    def active(self) -> DebugSession | None:
        """The session of the rung on screen; on the rung of findings, the one that jumps go to."""
        rung = self.state.rung
        if rung_named(rung).findings:
            return self.sessions.get(dump_rung().name) or self.sessions.get(host_rung().name)
        return self.sessions.get(rung)

    def switch_rung(self, rung: str) -> None:
        """Show another rung; nothing is lost on the one left."""
        if rung != self.state.rung:
            before = self.active
            self.state.rung = rung
            self._notifier.tell(~Change.NONE)
            self.carrying.left(before)

    def switch_seat(self, rung: str, seat: Seat) -> bool:
        """Show the rung's session of a kind; returns whether there is one. The other goes on aside."""
        before = self.active
        switched = self.seats.switch(rung, seat)
        self.carrying.left(before)
        return switched

    def next_seat(self) -> bool:
        """Show the other session of the rung whose session is on screen; returns whether there is one."""
        session = self.active
        return session is not None and self.switch_seat(session.state.rung, session.state.seat.other)

    async def close_seat(self, rung: str, seat: Seat) -> None:
        """End the rung's session of a kind; the other one stays, and comes on screen.

        Raises:
            DeadlinePassed: Its engine has not ended; it may still hold its target.
        """
        await self.seats.close_seat(rung, seat)

    def every_session(self) -> Iterator[DebugSession]:
        """Every session, on screen or not."""
        return self.seats.every()

    def program_at_hand(self) -> LaunchTarget | None:
        """The program that is being looked at, with arguments, environment and folder; None where none is known."""
        return self.carrying.program_at_hand()

    async def carry_to(self, rung: str) -> Carried | None:
        """Open the program at hand on a rung, where nothing live is open on it; it does not run yet.

        Raises:
            EngineMissing, TargetInvalid, EngineDied: It cannot be opened there; the rung is as it was.
        """
        return await self.carrying.carry_to(rung)

    # -- opening

    async def open_target(
        self, target: Target, *, debugger: str | None = None, on_host: str = "", run: bool = True
    ) -> DebugSession:
        """Open a program, process, core or GPU dump on the rung that fits it (or on the named debugger).

        What is open there of the same kind is closed; a dump and a live program stand side by side.

        Args:
            target: What to open; where the file is of another kind than the target says, the file is believed.
            debugger: Entry point name, where the user has chosen.
            on_host: Entry point name of the debugger for targets that work on no GPU, where it is another one.
            run: Let a program run at once.

        Raises:
            TargetInvalid, EngineMissing, EngineDied: It cannot be opened; the session stays and says why.
        """
        # What reads files and drives engines is imported when there is something to open, after the first paint.
        from ladder_backends.session.target_kind import choose_debugger

        choice = await asyncio.to_thread(choose_debugger, target)
        fitting = on_host if on_host and choice.debugger == host_rung().debugger else choice.debugger
        name = debugger or fitting
        target = target if debugger else choice.target
        if self.non_stop and isinstance(target, LaunchTarget) and load_debugger(name).stops_threads_apart:
            target = replace(target, non_stop=True)
        if isinstance(target, CoreTarget):
            target = replace(target, folders=tuple(Path(root) for root in self.sources.roots(target.core)))
        if isinstance(target, GpuDumpTarget):
            self.jumps.dump = target
            engine = await self.jumps.engine()
        else:
            engine = await self.engines.take(name)
        session = self.seats.place(engine, lambda: self.engines.make(name), seat_of(target))
        session.control.follow_first(self.at_fork, target)
        self.sources.of_target(target)
        session.rebuild.built = self.sources.finder.made_at
        self.switch_rung(engine.rung)
        if choice.notice and not debugger:
            self.notice(choice.notice)
        await session.open(target, run=run)
        self.sources.tell_of_edits(session)
        return session

    async def open_files(self, paths: tuple[Path, ...]) -> None:
        """Open a case, or any combination of report, GPU dump, executable and recording, told apart by content.

        Raises:
            CaseInvalid, TargetInvalid, ReportInvalid, RecordingInvalid: A file cannot be opened.
            EngineMissing: There is nothing to show without an engine, and none is installed.
        """
        await self.files.open(paths)

    # -- sources

    def source(self, file: str, fullname: str = "", line: int | None = None) -> SourceFile:
        """Find the source file a tool names; says when it is missing, ambiguous or edited since."""
        return self.sources.find(file, fullname, line)

    async def source_files(self) -> tuple[Path, ...]:
        """Source files on disk, below the source roots."""
        return await self.sources.files()

    def place_now(self, place: Place) -> Place | None:
        """Where the line of a place is in the source as it is now; None where it is gone or unclear."""
        return self.sources.place_now(place)

    def choose_source(self, file: str, path: Path) -> None:
        """Take the user's answer to an ambiguous or missing source."""
        self.sources.choose(file, path)
        self._notifier.tell(Change.SOURCE)

    # -- jumping

    async def jump(self, finding: Finding, side: int = 0) -> JumpOutcome:
        """Stand in the finding's lane; state and outcome tell what was asked and what was reached."""
        return await self.jumps.to_finding(finding, side)

    async def jump_to(self, asked: Focus) -> JumpOutcome:
        """Stand in a lane of the open dump, named by its coordinates."""
        return await self.jumps.to_place(asked)

    # -- ending

    async def close(self) -> None:
        """End every session.

        Raises:
            DeadlinePassed: An engine has not ended; it may still hold its target.
        """
        await self.sanitizer.close()
        await self.pairs.close()
        if self._ranks is not None:
            await self._ranks.close()
        await self.hardware.close()
        for task in tuple(self._tasks):
            task.cancel()
        answers = await asyncio.gather(self.seats.close(), self.engines.close(), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something without anyone waiting for it, until the ladder is closed."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

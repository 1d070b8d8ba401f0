"""The ladder: findings, one debug session per rung, and the way from a finding into its lane."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder_backends.debugger.registry import load_debugger
from ladder_backends.debugger.target import CoreTarget, GpuDumpTarget, LaunchTarget, Target
from ladder_backends.errors import EngineMissing, LadderError
from ladder_backends.model.frame import Place, file_name
from ladder_backends.paths import current_folder
from ladder_backends.python_frames.detect import interpreter_among
from ladder_backends.rungs import dump_rung, findings_rung, host_rung
from ladder_backends.session.engines import Engines
from ladder_backends.session.notifier import Notifier, Subscriber
from ladder_backends.session.sources import SourceFile, SourceFinder, SourceState
from ladder_backends.session.state import Change, LadderState, Notice, Run

if TYPE_CHECKING:
    from ladder_backends.case.model import Opened
    from ladder_backends.debugger.contract import Debugger
    from ladder_backends.model.finding import Finding
    from ladder_backends.model.focus import Focus
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.jump import JumpOutcome

SANITIZER = findings_rung().name
FOLLOW_INTERVAL = 0.25
"""Seconds between two looks at a report that a tool is still writing."""
DUMPS = dump_rung().name
HOST = host_rung().name
_MOST_LOOKED_AT = 16


class Ladder:
    """Everything that is open, over all rungs. Screens and headless commands hold one.

    Args:
        source_roots: Folders in which basenames of sources are looked up, besides those of the files opened.
        record: File that engines are recorded to.

    Attributes:
        non_stop: Threads of programs that are started stop one by one, where the engine can do that.
        at_fork: Which side of a fork is followed: `parent`, `child` or `both`.
    """

    state: LadderState
    sessions: dict[str, DebugSession]

    def __init__(self, *, source_roots: Iterable[str | Path] = (), record: Path | None = None) -> None:
        self.state = LadderState(source_roots=tuple(str(root) for root in source_roots))
        self.sessions = {}
        self._engines = Engines(record)
        self._notifier = Notifier()
        self._leave: dict[str, Callable[[], None]] = {}
        self._sources = SourceFinder(self._roots())
        self.non_stop = False
        self.at_fork = "parent"
        self._dump: GpuDumpTarget | None = None
        self._recordings: tuple[Path, ...] = ()
        self._jumping = asyncio.Lock()
        self._jumps = 0
        self._tasks: set[asyncio.Task[None]] = set()

    # -- listening and rungs

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Changes of the ladder and of every session on it."""
        return self._notifier.subscribe(subscriber)

    @property
    def active(self) -> DebugSession | None:
        """The session of the rung on screen; on the sanitizer rung, the one that jumps go to."""
        rung = self.state.rung
        if rung == SANITIZER:
            return self.sessions.get(DUMPS) or self.sessions.get(HOST)
        return self.sessions.get(rung)

    def switch_rung(self, rung: str) -> None:
        """Show another rung; nothing is lost on the one left."""
        if rung != self.state.rung:
            self.state.rung = rung
            self._notifier.tell(~Change.NONE)

    def notice(self, text: str, severity: str = "information") -> None:
        """Tell the user one line."""
        self.state.notice = Notice(" ".join(text.split()), severity)
        self._notifier.tell(Change.NOTICE)

    # -- opening

    async def open_target(self, target: Target, *, debugger: str | None = None, run: bool = True) -> DebugSession:
        """Open a program, process, core or GPU dump on the rung that fits it (or on the named debugger).

        Args:
            target: What to open; where the file is of another kind than the target says, the file is believed.
            debugger: Entry point name, where the user has chosen.
            run: Let a program run at once.

        Raises:
            TargetInvalid, EngineMissing, EngineDied: It cannot be opened; the session stays and says why.
        """
        # What reads files and drives engines is imported when there is something to open, after the first paint.
        from ladder_backends.session.target_kind import choose_debugger

        choice = await asyncio.to_thread(choose_debugger, target)
        name = debugger or choice.debugger
        target = target if debugger else choice.target
        if self.non_stop and isinstance(target, LaunchTarget) and load_debugger(name).stops_threads_apart:
            target = replace(target, non_stop=True)
        if isinstance(target, CoreTarget):
            target = replace(target, folders=tuple(Path(root) for root in self._roots(target.core)))
        if isinstance(target, GpuDumpTarget):
            self._dump = target
            engine = await self._dump_engine()
        else:
            engine = await self._engines.take(name)
        session = await self._place(engine, lambda: self._engines.make(name))
        session.control.follow_first(self.at_fork, target)
        self._look_for_sources(target)
        session.rebuild.built = self._sources.made_at
        self.switch_rung(engine.rung)
        if choice.notice and not debugger:
            self.notice(choice.notice)
        await session.open(target, run=run)
        self._tell_of_edits(session)
        return session

    async def open_files(self, paths: tuple[Path, ...]) -> None:
        """Open a case, or any combination of report, GPU dump, executable and recording, told apart by content.

        Raises:
            CaseInvalid, TargetInvalid, ReportInvalid, RecordingInvalid: A file cannot be opened.
            EngineMissing: There is nothing to show without an engine, and none is installed.
        """
        from ladder_backends.case import open_files
        from ladder_backends.sanitizer import read_report

        opened = await asyncio.to_thread(open_files, list(paths))
        state = self.state
        state.case_title = opened.title
        self._recordings = opened.recordings
        before = self.sessions.get(DUMPS)
        if opened.dump is not None:
            self._dump = GpuDumpTarget(opened.dump, opened.executable)
            if not self._engines.missing(DUMPS):
                self._engines.warm_up(DUMPS)
        self._sources = self._finder_for(opened)
        self._background(self._sources.prepare())
        for note in opened.notes:
            self.notice(note, "warning")
        if opened.reports:
            size = _size_of(opened.reports[0])
            report = await asyncio.to_thread(read_report, opened.reports)
            state.report = report
            state.selected_finding = 0 if report.findings else None
            state.rung = SANITIZER
            self._notifier.tell(~Change.NONE)
            if not report.complete and len(opened.reports) == 1:
                self._background(self._follow(opened.reports[0], size))
            if self._dump is not None:
                async with self._jumping:
                    # The findings are on screen already: a jump may have opened the dump meanwhile.
                    if self.sessions.get(DUMPS) is before:
                        await self._place_dump_session()
            return
        if self._dump is not None:
            await self.open_target(self._dump)
        elif opened.core is not None:
            await self.open_target(CoreTarget(opened.core, opened.executable))
        elif opened.recordings:
            await self._open_recording(opened)
        elif opened.executable is not None:
            # To open is to look; nothing runs that was not asked for.
            await self.open_target(LaunchTarget(opened.executable), run=False)

    async def _follow(self, path: Path, size: int) -> None:
        """Show findings as a tool adds them to its report, of which `size` bytes are shown already."""
        from ladder_backends.sanitizer.follow import ReportFollower

        follower, state = ReportFollower(path), self.state
        # What is shown already is read again only once there is more.
        grows = False
        while True:
            grows = grows or _size_of(path) != size
            if grows and follower.has_more() and await asyncio.to_thread(follower.read_more):
                if state.report is not follower.report:
                    state.report = follower.report
                if state.selected_finding is None and state.report.findings:
                    state.selected_finding = 0
                self._notifier.tell(Change.FINDINGS)
            else:
                await asyncio.sleep(FOLLOW_INTERVAL)

    def source(self, file: str, fullname: str = "", line: int | None = None) -> SourceFile:
        """Find the source file a tool names; says when it is missing, ambiguous or edited since."""
        return self._sources.find(file, fullname, line)

    async def source_files(self) -> tuple[Path, ...]:
        """Source files on disk, below the source roots."""
        return await self._sources.files()

    def place_now(self, place: Place) -> Place | None:
        """Where the line of a place is in the source as it is now; None where it is gone or unclear."""
        from ladder_backends.session.moved_lines import line_now

        before = self._sources.find(place.file, place.fullname).lines
        line = line_now(before, self._sources.lines_now(place.file, place.fullname), place.line)
        return Place(place.file, line, place.fullname) if line is not None else None

    def _tell_of_edits(self, session: DebugSession) -> None:
        """Say which of the sources that are known at the start are newer than the program."""
        build, state = session.state.build, session.state
        if build.program is None or state.run is Run.DEAD:
            return
        places = [place for binding in state.breakpoints for place in binding.places]
        places = [place for place in (state.entry, *places) if place is not None and place.fullname]
        files = {place.fullname: place for place in places[:_MOST_LOOKED_AT]}.values()
        edited = [
            file_name(one.fullname)
            for one in files
            if self.source(one.file, one.fullname).state is SourceState.EDITED
        ]
        if edited:
            session.notice(
                f"{', '.join(edited[:3])} {'was' if len(edited) == 1 else 'were'} edited after "
                f"{build.program.name} was built — build it again to debug what is written there",
                "warning",
            )

    def choose_source(self, file: str, path: Path) -> None:
        """Take the user's answer to an ambiguous or missing source."""
        self._sources.choose(file, path)
        self._notifier.tell(Change.SOURCE)

    # -- jumping

    async def jump(self, finding: Finding, side: int = 0) -> JumpOutcome:
        """Stand in the finding's lane; state and outcome tell what was asked and what was reached."""
        from ladder_backends.session.jump import asked_by

        self.state.selected_finding = finding.index
        self._notifier.tell(Change.FINDINGS)
        return await self._jump(asked_by(finding, side), finding)

    async def jump_to(self, asked: Focus) -> JumpOutcome:
        """Stand in a lane of the open dump, named by its coordinates."""
        return await self._jump(asked, None)

    async def _jump(self, asked: Focus, finding: Finding | None) -> JumpOutcome:
        from ladder_backends.session.alternatives import alternatives_of_finding
        from ladder_backends.session.jump import JumpOutcome, jump

        self._jumps += 1
        number = self._jumps
        extra = alternatives_of_finding(finding) if finding is not None else ()
        async with self._jumping:
            if number != self._jumps:
                return JumpOutcome(asked, None, reason="another jump came after this one")
            if finding is not None and not asked:
                reason = finding.why or "the report names no lane for this finding"
                return self._not_reached(JumpOutcome(asked, None, reason=reason, alternatives=extra))
            try:
                session = await self._dump_session()
                outcome = await jump(session.debugger, asked, finding=finding)
            except LadderError as error:
                return self._not_reached(JumpOutcome(asked, None, reason=error.line(), alternatives=extra))
            session.show_jump(outcome)
            if outcome.reached is None or outcome.reason:
                self.notice(outcome.reason, "warning")
            return outcome

    def _not_reached(self, outcome: JumpOutcome) -> JumpOutcome:
        session = self.sessions.get(DUMPS)
        if session is not None:
            session.show_jump(outcome)
        self.notice(outcome.reason, "warning")
        return outcome

    async def _dump_session(self) -> DebugSession:
        """The session that stands in the dump; opened at the first jump, and again after its engine has died."""
        session = self.sessions.get(DUMPS)
        refused = session is not None and session.target is not None and session.state.run is Run.NOTHING
        if self._dump is None:
            if session is not None and session.target is not None and not refused:
                return session
            racecheck = self.state.report is not None and self.state.report.tool == "racecheck"
            raise EngineMissing(
                "there is no GPU core dump to jump into",
                "racecheck writes none" if racecheck else "the report alone holds no values",
                f"break on the line of the hazard under {DUMPS}"
                if racecheck
                else "run the sanitizer with --generate-coredump, and open its dump with the report",
            )
        if session is None or refused or session.state.run is Run.DEAD:
            session = await self._place_dump_session()
        if session.target is None:
            await session.open(self._dump, look=False)
            self._engines.warm_up(DUMPS)
        return session

    async def _place_dump_session(self) -> DebugSession:
        return await self._place(await self._dump_engine(), lambda: self._engines.make(DUMPS))

    async def _dump_engine(self) -> Debugger:
        """The debugger that opens GPU core dumps, or a recording of it where it is not installed."""
        stand_in = self._engines.stand_in(DUMPS, self._recordings)
        if stand_in is None:
            return await self._engines.take(DUMPS)
        self.notice(stand_in.notice, "warning")
        return self._engines.replay(DUMPS, stand_in.recording)

    # -- sessions

    async def _place(self, debugger: Debugger, replacement: Callable[[], Debugger]) -> DebugSession:
        """Put a debugger on its rung; what stood there is closed."""
        from ladder_backends.session.debug_session import DebugSession

        session = DebugSession(debugger, replacement=replacement)
        rung = debugger.rung
        old = self.sessions.get(rung)
        if old is not None:
            self._leave.pop(rung)()
            self._background(_close(old))
        self.sessions[rung] = session
        self.state.debug[rung] = session.state
        self._leave[rung] = session.subscribe(self._notifier.tell)
        self._notifier.tell(~Change.NONE)
        return session

    async def _open_recording(self, opened: Opened) -> None:
        recording = opened.recordings[0]
        name = self._engines.engine_of(recording)
        session = await self._place(
            self._engines.replay(name, recording), lambda: self._engines.replay(name, recording)
        )
        self.switch_rung(session.state.rung)
        await session.open(self._engines.target_of(recording))

    async def close(self) -> None:
        """End every session.

        Raises:
            DeadlinePassed: An engine has not ended; it may still hold its target.
        """
        for task in tuple(self._tasks):
            task.cancel()
        answers = await asyncio.gather(
            *(session.close() for session in self.sessions.values()), self._engines.close(), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- sources

    def _roots(self, *files: Path | None) -> tuple[str, ...]:
        folders = [str(file.absolute().parent) for file in files if file is not None]
        return tuple(dict.fromkeys((*self.state.source_roots, str(current_folder()), *folders)))

    def _finder_for(self, opened: Opened) -> SourceFinder:
        built = [file for file in (opened.executable, opened.dump, *opened.reports) if file is not None]
        embedded = {}
        for source in opened.sources:
            with contextlib.suppress(OSError):
                text = source.file.read_text("utf-8", "backslashreplace")
                embedded[source.path or source.file.name] = text
        return SourceFinder(self._roots(*built), embedded=embedded, built=built)

    def _look_for_sources(self, target: Target) -> None:
        """Sources of a program that was named on its own; those of files opened together are known already."""
        program = target.program if isinstance(target, LaunchTarget) else None
        if isinstance(target, CoreTarget):
            program = target.executable
        if program is not None:
            # An interpreter is not made from what it runs: neither scripts nor extensions lie or age with it.
            interpreter = interpreter_among([os.path.realpath(program)]) is not None
            self._sources = (
                SourceFinder(self._roots(*_scripts(target)))
                if interpreter
                else SourceFinder(self._roots(program), built=[program])
            )
            self._background(self._sources.prepare())


def _scripts(target: Target) -> list[Path]:
    """Files among the arguments of an interpreter: the script first of all."""
    if not isinstance(target, LaunchTarget):
        return []
    folder = target.directory or Path()
    return [folder / word for word in target.arguments[:8] if word.endswith(".py")]


def _size_of(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


async def _close(session: DebugSession) -> None:
    with contextlib.suppress(LadderError):
        await session.close()

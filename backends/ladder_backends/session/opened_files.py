"""Opening files: a case, or reports, dumps, cores, executables and recordings that belong together."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import CoreTarget, GpuDumpTarget, LaunchTarget
from ladder_backends.rungs import findings_rung
from ladder_backends.session.seat import seat_of
from ladder_backends.session.state import Change

if TYPE_CHECKING:
    from ladder_backends.case.model import Opened
    from ladder_backends.session.ladder import Ladder

FOLLOW_INTERVAL = 0.25
"""Seconds between two looks at a report that a tool is still writing."""


class OpenedFiles:
    """Puts files where they are shown: findings on their rung, dumps, cores and programs on that of a debugger."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder

    async def open(self, paths: tuple[Path, ...]) -> None:
        """Open files that belong together, told apart by content.

        Raises:
            CaseInvalid, TargetInvalid, ReportInvalid, RecordingInvalid: A file cannot be opened.
            EngineMissing: There is nothing to show without an engine, and none is installed.
        """
        from ladder_backends.case import open_files

        opened = await asyncio.to_thread(open_files, list(paths))
        ladder = self._ladder
        ladder.state.case_title = opened.title
        ladder.jumps.recordings = opened.recordings
        dump = GpuDumpTarget(opened.dump, opened.executable) if opened.dump is not None else None
        before = ladder.jumps.session
        if dump is not None:
            ladder.jumps.take(dump)
        ladder.sources.of_files(opened)
        for note in opened.notes:
            ladder.notice(note, "warning")
        if opened.reports:
            if dump is None:
                ladder.jumps.forget()
            await self.show_report(opened)
            if ladder.jumps.dump is not None:
                async with ladder.jumps.lock:
                    # The findings are on screen already: a jump may have opened the dump meanwhile.
                    if ladder.jumps.session is before:
                        await ladder.jumps.place()
        elif dump is not None:
            await ladder.open_target(dump)
        elif opened.core is not None:
            await ladder.open_target(CoreTarget(opened.core, opened.executable))
        elif opened.recordings:
            await self._replay(opened.recordings[0])
        elif opened.executable is not None:
            # To open is to look; nothing runs that was not asked for.
            await ladder.open_target(LaunchTarget(opened.executable), run=False)

    async def show_report(self, opened: Opened) -> None:
        """Show the findings of a report, and follow it where a tool is still writing it.

        Raises:
            ReportInvalid: It cannot be read.
        """
        from ladder_backends.sanitizer.run_report import report_of

        ladder, state, paths = self._ladder, self._ladder.state, opened.reports
        size = _size_of(paths[0])
        report = await asyncio.to_thread(report_of, opened)
        await ladder.sanitizer.take_kept(opened)
        state.report, state.report_files = report, paths
        state.selected_finding = 0 if report.findings else None
        state.rung = findings_rung().name
        ladder.tell(~Change.NONE)
        if not report.complete and len(paths) == 1 and opened.run is None:
            ladder.background(self._follow(paths[0], size))

    async def _follow(self, path: Path, size: int) -> None:
        """Show findings as a tool adds them to its report, of which `size` bytes are shown already."""
        from ladder_backends.sanitizer.follow import ReportFollower

        follower, state = ReportFollower(path), self._ladder.state
        shown = state.report
        # What is shown already is read again only once there is more.
        grows = False
        while True:
            if state.report is not shown:
                # Something else was opened, or a run was begun.
                return
            grows = grows or _size_of(path) != size
            # Read in slices, between which keys are heard; panes look at the report only in between.
            chunk = await asyncio.to_thread(follower.fetch) if grows and follower.has_more() else b""
            if state.report is not shown:
                return
            if chunk:
                follower.take(chunk)
                if follower.position < min(size, _size_of(path)):
                    # What is shown already stays until as much is read again.
                    await asyncio.sleep(0)
                    continue
                if state.report is not follower.report:
                    state.report = shown = follower.report
                    if state.selected_finding is not None and state.selected_finding >= len(shown.findings):
                        # The file was begun anew, by another run.
                        state.selected_finding = None
                if state.selected_finding is None and state.report.findings:
                    state.selected_finding = 0
                self._ladder.tell(Change.FINDINGS)
            else:
                await asyncio.sleep(FOLLOW_INTERVAL)

    async def _replay(self, recording: Path) -> None:
        ladder = self._ladder
        name = ladder.engines.engine_of(recording)
        engine = ladder.engines.replay(name, recording)
        target = ladder.engines.target_of(recording)
        session = ladder.seats.place(engine, lambda: ladder.engines.replay(name, recording), seat_of(target))
        ladder.switch_rung(session.state.rung)
        await session.open(target)


def _size_of(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0

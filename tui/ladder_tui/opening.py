"""What the console opens once its screen is up, as told by the command line."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import LaunchTarget, Target
from ladder_backends.errors import LadderError
from ladder_backends.late_dataclass import dataclass
from ladder_backends.rungs import findings_rung, rung_named

if TYPE_CHECKING:
    from ladder_backends.model.focus import Focus
    from ladder_backends.model.ranks import Job
    from ladder_backends.sanitizer.plan import Plan
    from ladder_backends.session.ladder import Ladder
    from ladder_demos.catalogue import Demo


@dataclass(frozen=True, slots=True)
class Opening:
    """What to open; empty for the start screen.

    Attributes:
        files: A case, or any combination of report, dump, executable, recording and sources.
        target: What to put a debugger on.
        debugger: The debugger's name, or None to choose by the target.
        focus: A lane to go to at once.
        record: File that the engine's streams are recorded into, or None.
        notes: Lines to show first: what stands in for what, what was left out.
        picks_process: Begin with the list of processes to choose from.
        plan: What compute-sanitizer is to do, instead of a target.
        save: Folder that this run is kept in, or None for the state folder.
        at_launch: The program stops at each kernel launch.
        at_failure: The program stops at each call of CUDA that fails.
        hardware: Begin on the hardware rung.
        simulate: Name or file of a simulated machine for it; empty for this one.
        pairs: How far its pairs are tested at once: `quick`, `deep`, `soak`, or not where empty.
        busy_too: GPUs in use are tested, too.
        ranks: Begin on the ranks rung.
        job: The job for it; None to choose, where there are several.
    """

    files: tuple[Path, ...] = ()
    target: Target | None = None
    debugger: str | None = None
    focus: Focus | None = None
    record: Path | None = None
    notes: tuple[str, ...] = ()
    picks_process: bool = False
    plan: Plan | None = None
    save: Path | None = None
    at_launch: bool = False
    at_failure: bool = False
    hardware: bool = False
    simulate: str = ""
    pairs: str = ""
    busy_too: bool = False
    ranks: bool = False
    job: Job | None = None

    async def open(self, ladder: Ladder) -> None:
        """Open it on a ladder.

        Raises:
            LadderError: It cannot be opened.
        """
        for note in self.notes:
            ladder.notice(note)
        if self.hardware:
            await ladder.hardware.open(self.simulate)
            if self.pairs:
                await ladder.pairs.start(self.pairs, busy_too=self.busy_too)
        elif self.ranks:
            await ladder.ranks.open(self.job)
        elif self.files:
            await ladder.open_files(self.files)
        elif self.target is not None:
            await self._open_target(ladder, self.target)
        elif self.plan is not None:
            # Where it cannot begin, too: there is the way to begin it otherwise.
            ladder.switch_rung(findings_rung().name)
            await ladder.sanitizer.start(self.plan, self.save)
        if self.focus is not None:
            await ladder.jump_to(self.focus)

    async def _open_target(self, ladder: Ladder, target: Target) -> None:
        if not (self.at_launch or self.at_failure):
            await ladder.open_target(target, debugger=self.debugger)
            return
        from ladder_backends.debugger.contract import StepKind
        from ladder_backends.debugger.facets import ApiFailures, LaunchStops

        session = await ladder.open_target(target, debugger=self.debugger, run=False)
        if self.at_launch:
            await session.device.choose_launches(LaunchStops.APPLICATION)
        if self.at_failure:
            await session.device.choose_failures(ApiFailures.STOP_ALL)
        await session.resume(StepKind.RUN)

    async def open_and_remember(self, ladder: Ladder) -> None:
        """Open it, and put it first in the start screen's list.

        Raises:
            LadderError: It cannot be opened.
        """
        from ladder_tui.recent import remember

        await self.open(ladder)
        if self.hardware or self.ranks:
            return
        folder = ladder.state.sanitizer.folder if self.plan is not None else None
        await asyncio.to_thread(remember, Opening(files=(folder,)) if folder is not None else self)

    @property
    def empty(self) -> bool:
        """Nothing to open: the start screen."""
        return not (self.files or self.target or self.plan or self.hardware or self.ranks)


def demo_opening(demo: Demo, *, record: Path | None = None, live: bool = False) -> Opening:
    """What a demo opens; a program is compiled first, which may take a second.

    Args:
        demo: Which.
        record: File that the engine's streams are recorded into, or None.
        live: Run it on this machine's GPU, instead of opening what was recorded on another.

    Raises:
        LadderError: It does not compile, or cannot run here.
    """
    from ladder_demos.catalogue import DemoKind

    if live:
        return _live_opening(demo, record)
    if demo.kind is DemoKind.CASE:
        if not demo.shipped:
            remedy = f"ladder-tui demo {demo.name} --live runs it on a GPU"
            raise LadderError(f"the demo {demo.name} cannot be opened", "its case is not shipped", remedy)
        # What a recording of a live session answers is not to be seen from its first stop.
        runs = demo.live is not None and demo.live.rung == demo.rung and bool(rung_named(demo.rung).device)
        notes = (demo.shows,) if runs else ()
        return Opening(files=(demo.path,), record=record, notes=notes)
    from ladder_demos.compile import build_python_demo, compile_demo

    if demo.kind is DemoKind.PYTHON:
        target = LaunchTarget(Path(sys.executable), arguments=(str(build_python_demo(demo)),))
        return Opening(target=target, debugger=demo.rung, record=record)
    return Opening(target=LaunchTarget(compile_demo(demo)), debugger=demo.rung, record=record)


def _live_opening(demo: Demo, record: Path | None) -> Opening:
    from ladder_demos.live import live_run

    made = live_run(demo)
    if not isinstance(made, LaunchTarget):
        return Opening(plan=made, record=record)
    assert demo.live is not None
    return Opening(
        target=made,
        debugger=demo.live.rung,
        record=record,
        at_launch=demo.live.at_launch,
        at_failure=demo.live.at_failure,
    )

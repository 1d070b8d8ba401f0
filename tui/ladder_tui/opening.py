"""What the console opens once its screen is up, as told by the command line."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import LaunchTarget, Target

if TYPE_CHECKING:
    from ladder_backends.model.focus import Focus
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

    async def open(self, ladder: Ladder) -> None:
        """Open it on a ladder.

        Raises:
            LadderError: It cannot be opened.
        """
        for note in self.notes:
            ladder.notice(note)
        if self.files:
            await ladder.open_files(self.files)
        elif self.target is not None:
            await ladder.open_target(self.target, debugger=self.debugger)
        elif self.plan is not None:
            await ladder.sanitizer.start(self.plan, self.save)
        if self.focus is not None:
            await ladder.jump_to(self.focus)

    async def open_and_remember(self, ladder: Ladder) -> None:
        """Open it, and put it first in the start screen's list.

        Raises:
            LadderError: It cannot be opened.
        """
        from ladder_tui.recent import remember

        await self.open(ladder)
        folder = ladder.state.sanitizer.folder if self.plan is not None else None
        await asyncio.to_thread(remember, Opening(files=(folder,)) if folder is not None else self)

    @property
    def empty(self) -> bool:
        """Nothing to open: the start screen."""
        return not self.files and self.target is None and self.plan is None


def demo_opening(demo: Demo, *, record: Path | None = None) -> Opening:
    """What a demo opens; a program is compiled first, which may take a second.

    Raises:
        LadderError: It does not compile.
    """
    from ladder_demos.catalogue import DemoKind

    if demo.kind is DemoKind.CASE:
        return Opening(files=(demo.path,), record=record)
    from ladder_demos.compile import build_python_demo, compile_demo

    if demo.kind is DemoKind.PYTHON:
        target = LaunchTarget(Path(sys.executable), arguments=(str(build_python_demo(demo)),))
        return Opening(target=target, debugger=demo.rung, record=record)
    return Opening(target=LaunchTarget(compile_demo(demo)), debugger=demo.rung, record=record)

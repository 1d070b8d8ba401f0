"""The sources of what is open: where they are looked for, and which of them were edited since."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder_backends.debugger.target import CoreTarget, LaunchTarget, Target
from ladder_backends.model.frame import Place, file_name
from ladder_backends.paths import current_folder
from ladder_backends.session.sources import SourceFile, SourceFinder, SourceState
from ladder_backends.session.state import LadderState, Run

if TYPE_CHECKING:
    from ladder_backends.case.model import Opened
    from ladder_backends.session.debug_session import DebugSession

_MOST_LOOKED_AT = 16


class SourcesAtHand:
    """Finds sources for whatever was opened last.

    Args:
        state: The ladder's; names folders of the user's own.
        background: Does something without anyone waiting for it.

    Attributes:
        finder: Of what was opened last.
    """

    def __init__(self, state: LadderState, background: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self._state = state
        self._background = background
        self.finder = SourceFinder(self.roots())

    def find(self, file: str, fullname: str = "", line: int | None = None) -> SourceFile:
        """The source file a tool names; says when it is missing, ambiguous or edited since."""
        return self.finder.find(file, fullname, line)

    async def files(self) -> tuple[Path, ...]:
        """Source files on disk, below the source roots."""
        return await self.finder.files()

    def place_now(self, place: Place) -> Place | None:
        """Where the line of a place is in the source as it is now; None where it is gone or unclear."""
        from ladder_backends.session.moved_lines import line_now

        before = self.finder.find(place.file, place.fullname).lines
        line = line_now(before, self.finder.lines_now(place.file, place.fullname), place.line)
        return Place(place.file, line, place.fullname) if line is not None else None

    def choose(self, file: str, path: Path) -> None:
        """Take the user's answer to an ambiguous or missing source."""
        self.finder.choose(file, path)

    def roots(self, *files: Path | None) -> tuple[str, ...]:
        """Where sources are looked for: the user's folders, the working folder, those of the files."""
        folders = [str(file.absolute().parent) for file in files if file is not None]
        return tuple(dict.fromkeys((*self._state.source_roots, str(current_folder()), *folders)))

    def of_files(self, opened: Opened) -> None:
        """Sources of files that were opened together, those that lie among them first."""
        built = [file for file in (opened.executable, opened.dump, *opened.reports) if file is not None]
        embedded = {}
        for source in opened.sources:
            with contextlib.suppress(OSError):
                text = source.file.read_text("utf-8", "backslashreplace")
                embedded[source.path or source.file.name] = text
        self.finder = SourceFinder(self.roots(*built), embedded=embedded, built=built)
        self._background(self.finder.prepare())

    def of_target(self, target: Target) -> None:
        """Sources of a program that was named on its own; those of files opened together are known already."""
        program = target.program if isinstance(target, LaunchTarget) else None
        if isinstance(target, CoreTarget):
            program = target.executable
        if program is not None:
            from ladder_backends.python_frames.detect import interpreter_among

            # An interpreter is not made from what it runs: neither scripts nor extensions lie or age with it.
            interpreter = interpreter_among([os.path.realpath(program)]) is not None
            self.finder = (
                SourceFinder(self.roots(*_scripts(target)))
                if interpreter
                else SourceFinder(self.roots(program), built=[program])
            )
            self._background(self.finder.prepare())

    def tell_of_edits(self, session: DebugSession) -> None:
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
            if self.find(one.file, one.fullname).state is SourceState.EDITED
        ]
        if edited:
            session.notice(
                f"{', '.join(edited[:3])} {'was' if len(edited) == 1 else 'were'} edited after "
                f"{build.program.name} was built — build it again to debug what is written there",
                "warning",
            )


def _scripts(target: Target) -> list[Path]:
    """Files among the arguments of an interpreter: the script first of all."""
    if not isinstance(target, LaunchTarget):
        return []
    folder = target.directory or Path()
    return [folder / word for word in target.arguments[:8] if word.endswith(".py")]

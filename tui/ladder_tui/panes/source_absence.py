"""What the source pane says, and asks, where there is no source."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.model.frame import Frame, Place, file_name
from ladder_backends.paths import typed_path
from ladder_backends.session.lane_words import in_no_lane
from ladder_backends.session.own_frames import own_frame
from ladder_backends.session.sources import SourceFile, SourceFinder
from ladder_backends.session.state import DebugState, LadderState, Run
from ladder_backends.text import clean_line
from ladder_tui.actions import key_of
from ladder_tui.panes import PANES

if TYPE_CHECKING:
    from ladder_tui.panes.source_pane import SourcePane


def why_no_source(state: LadderState, debug: DebugState | None, source: SourceFile | None) -> str:
    """Why there is nothing to show, and what to do about it.

    Args:
        state: What is open.
        debug: Its target, where it has one.
        source: The file that was looked for; None where no place is known.
    """
    if source is not None:
        why = (source.note or f"{source.name} is not here") + ("; Enter asks for it" if source.lost else "")
        nearest = _where_python_stands(debug) or _where_own_code_stands(debug)
        return f"{why}.{nearest}" if nearest else why
    if debug is None or debug.run is Run.NOTHING:
        if state.report is not None:
            return "The report names no source file."
        return "Nothing is open. Start with: ladder-tui run PROGRAM"
    if debug.run is Run.STARTING:
        return "The target is starting."
    if debug.run is Run.RUNNING:
        return f"The target runs; {key_of('run.interrupt')} stops it."
    if nowhere := in_no_lane(debug):
        return f"No source: {nowhere}."
    if debug.run in (Run.STOPPED, Run.DUMP):
        code = f"{key_of('pane.go')} {PANES['disassembly'].letter}"
        if nearest := _where_python_stands(debug) or _where_own_code_stands(debug):
            return f"No line information here.{nearest}"
        return f"No line information here. Stack shows where it stands; Disassembly ({code}) shows the code."
    if debug.run is Run.DEAD:
        return f"The engine is gone; {key_of('run.continue')} starts it again."
    return ""


def _where_python_stands(debug: DebugState | None) -> str:
    """A sentence, where a Python frame could be shown in place of a native one without source; else empty."""
    if debug is None or debug.python.woven is None or debug.python.selected is not None:
        return ""
    frame = debug.python.woven.frame(0)
    if frame is None:
        return ""
    stack = f"{key_of('pane.go')} {PANES['stack'].letter}"
    where = f"{file_name(frame.file)}:{frame.line} in {frame.function}"
    return f" Python stands at {where}; Enter on its row in Stack ({stack}) shows it."


def _where_own_code_stands(debug: DebugState | None) -> str:
    """A sentence, where an outer frame of those that were read is the program's own; else empty."""
    if debug is None or debug.run not in (Run.STOPPED, Run.DUMP):
        return ""
    frame = own_frame(frame for frame in _frames_read(debug) if frame.level > debug.selected_frame)
    if frame is None or frame.place is None:
        return ""
    stack = f"{key_of('pane.go')} {PANES['stack'].letter}"
    where = f"{file_name(frame.place.file)}:{frame.place.line} in {frame.function}"
    return f" The program's own code is at {where}; Enter on frame {frame.level} in Stack ({stack}) shows it."


def _frames_read(debug: DebugState) -> Iterator[Frame]:
    """What is known of the focused thread's stack: as the stack shows it, then as the list of threads does."""
    yield from debug.frames.frames
    thread = debug.focus.index("thread") if debug.focus is not None else None
    if debug.threads.current:
        for group in debug.threads.groups:
            if any(one.id == thread for one in group.threads):
                yield from group.frames


def ask_where(pane: SourcePane, place: Place, found: Callable[[Path], None]) -> None:
    """Ask for the file of a place, its folder or one above, and hand on which file that is."""
    name = clean_line(file_name(place.file))

    def look(typed: str) -> None:
        if typed.strip():
            pane.work(_look_below(pane, typed_path(typed), place, found))

    pane.ladder_app.workspace.prompt.ask(f"where is {name}?", look, placeholder="its folder, or one above")


async def _look_below(pane: SourcePane, folder: Path, place: Place, found: Callable[[Path], None]) -> None:
    if not await asyncio.to_thread(folder.is_file):
        looked = await asyncio.to_thread(SourceFinder([folder]).find, place.file, place.fullname)
        if looked.path is None:
            name = clean_line(file_name(place.file))
            many = f"several files are called {name}: name the folder of one"
            none = f"no {name} below {clean_line(str(folder))}"
            pane.ladder_app.say(many if looked.candidates else none, "warning")
            return
        folder = looked.path
    found(folder)

"""Python frames of the thread that is looked at: read after the native stack is shown, woven in when they come.

They are read while the stack is on screen and the process runs Python, a moment after the last stop: steps in
quick succession ask once, for the newest. Until the answer comes, a stack whose interpreter loops stand where they
stood is woven with what was read of them before.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import Target
from ladder_backends.errors import EngineError, LadderError
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding
from ladder_backends.model.events import EngineExited, Event, TargetExited
from ladder_backends.model.frame import Frame, FrameKind, FrameWindow, Place
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import VariableWindow
from ladder_backends.session.python_reading import PythonReading
from ladder_backends.session.state import Change, DebugState, Run

if TYPE_CHECKING:
    from ladder_backends.debugger.facets.python_target import ThreadNumbers
    from ladder_backends.model.python_stack import PythonFrame, PythonRow, PythonSnapshot, PythonThread, WovenStack
    from ladder_backends.session.follower import Follower
    from ladder_backends.session.notifier import Notifier

AFTER_STOP = 0.12
"""Seconds after a stop before its Python frames are read: a further step within them makes that needless."""

_MOST_NATIVE = (256, 1_024)
"""Native frames that are read to find a place for every Python frame, first and last."""

_PYTHON_LINE = re.compile(r"\.pyw?:\d+$")
_LOOKED_AT = Change.RUN | Change.FRAMES | Change.FOCUS | Change.SOURCE


class PythonStack:
    """Keeps `DebugState.python` in step with the native stack.

    Attributes:
        visible: The stack is on screen, so that each stop is worth the reading.
    """

    def __init__(
        self, state: DebugState, follower: Follower, notifier: Notifier, target: Callable[[], Target | None]
    ) -> None:
        self.visible = False
        self._state = state
        self._follower = follower
        self._notifier = notifier
        self._asking: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._moment: object = None
        self._frames: FrameWindow | None = None
        self._thread: PythonThread | None = None
        self._loops: tuple[str, ...] = ()
        self._exact = False
        self._from = PythonReading(state, lambda: follower.debugger, target)
        # Before any screen: those see a stack and what is woven into it as one.
        notifier.subscribe(self._changed)

    # -- following

    def show(self, visible: bool) -> None:
        """The stack came into view, or left it."""
        if visible == self.visible:
            return
        self.visible = visible
        if visible and self._moment is None:
            self._changed(_LOOKED_AT)

    def take(self, event: Event) -> None:
        """A process that ends takes its threads' numbers with it, also where another one follows at once."""
        if isinstance(event, TargetExited | EngineExited):
            self._from.forget()

    def cancel(self) -> None:
        """Ask nothing more, and forget what was read."""
        self._clear()
        self._from.forget()

    def _changed(self, change: Change) -> None:
        if not change & _LOOKED_AT:
            return
        state, told = self._state, self._state.python
        if state.run not in (Run.STOPPED, Run.DUMP) or not state.frames.frames:
            if self._moment is not None:
                self._clear()
            return
        if told.place is not None and state.place is not told.place:
            # A native frame was selected, or everything was looked at again.
            told.selected = told.place = None
        if not self.visible or not told.on or self._cannot():
            return
        moment = (state.since, state.focus)
        if moment != self._moment:
            self._moment = moment
            told.why = ""
            self._stop_asking()
            self._weave_again()
            self._asking = asyncio.get_running_loop().create_task(self._follow(moment))
        elif state.frames is not self._frames:
            woven = told.woven is not None
            self._weave_again()
            if woven and told.woven is None and not state.frames.start:
                # The same stop with another stack, as after frames were left by hand.
                self._stop_asking()
                self._asking = asyncio.get_running_loop().create_task(self._follow(moment))

    def _cannot(self) -> bool:
        """The kind of target holds no Python that could be read."""
        debugger = self._follower.debugger
        return debugger.python is None or debugger.provenance is not Provenance.ENGINE

    def _clear(self) -> None:
        told = self._state.python
        self._stop_asking()
        self._moment = self._frames = None
        told.woven = told.selected = told.place = None
        told.why = ""

    def _stop_asking(self) -> None:
        for task in (self._asking, self._reading):
            if task is not None:
                task.cancel()
        self._asking = self._reading = None

    def _weave_again(self) -> None:
        """Weave what is known into the stack as it is now, where its loops stand as they stood."""
        frames, told = self._state.frames, self._state.python
        self._frames = frames
        told.woven = None
        if self._thread is None or (frames.start and frames.more):
            return
        if frames.start:
            # The outermost frames of a long stack: they meet from their end.
            told.woven = self._woven(frames, self._thread) if self._exact else None
            return
        from ladder_backends.python_frames.plumbing import loops_of

        loops = tuple(frames.frames[position].address for position in loops_of(frames.frames))
        common = min(len(loops), len(self._loops))
        same = loops[:common] == self._loops[:common] and (frames.more or len(loops) == len(self._loops))
        if common and same and self._exact:
            told.woven = self._woven(frames, self._thread)

    def _woven(self, frames: FrameWindow, thread: PythonThread) -> WovenStack:
        from ladder_backends.python_frames.weaving import weave

        return weave(frames.frames, thread, complete=not frames.more)

    # -- asking

    @property
    def readable(self) -> bool:
        """The target stands, and is of a kind whose Python frames could be read."""
        return self._state.run in (Run.STOPPED, Run.DUMP) and not self._cannot()

    async def look(self) -> None:
        """Read the Python frames of where the target stands now; what came, or why nothing, is in the state."""
        told = self._state.python
        self._stop_asking()
        self._moment = (self._state.since, self._state.focus)
        if self._state.run not in (Run.STOPPED, Run.DUMP):
            told.why = "the target does not stand: stop it first"
        elif self._cannot():
            recorded = self._follower.debugger.provenance is not Provenance.ENGINE
            told.why = (
                "not in this recording: Python frames are read from the process itself"
                if recorded
                else "this engine has no Python frames"
            )
        else:
            self._from.by_hand = True
            self._asking = task = asyncio.get_running_loop().create_task(self._read(self._moment))
            await asyncio.wait([task])
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error
        self._notifier.tell(Change.FRAMES)

    async def settled(self) -> None:
        """Wait until nothing is being read."""
        while (task := self._asking) is not None and not task.done():
            await asyncio.wait([task])

    async def toggle(self) -> None:
        """Take the Python frames out of the stack, or read them; says why where there are none."""
        told = self._state.python
        if told.on and told.woven is not None:
            told.on = False
            self._clear()
            self._follower.notice("Python frames off")
            if self._state.run in (Run.STOPPED, Run.DUMP):
                self._follower.look_again(self._state.selected_frame)
            self._notifier.tell(Change.FRAMES)
            return
        told.on = True
        await self.look()
        if told.woven is not None:
            self._follower.notice(f"Python frames by {told.source}")
        else:
            self._follower.notice(f"no Python frames: {told.why or 'this process runs no Python'}", "warning")

    async def _follow(self, moment: object) -> None:
        await asyncio.sleep(AFTER_STOP)
        self._from.by_hand = False
        try:
            await self._read(moment)
        except EngineError:
            # An engine that died or is busy tells of that itself.
            return

    async def _read(self, moment: object) -> None:
        told = self._state.python
        try:
            snapshot, numbers = await self._from.snapshot(variables=False)
        except LadderError as error:
            if self._is(moment):
                told.woven, self._thread = None, None
                told.why = error.why or error.what
                if error.remedy:
                    told.why += f" — {error.remedy}"
                self._notifier.tell(Change.FRAMES)
            return
        if snapshot is None:
            if self._is(moment):
                told.woven, self._thread, told.why = None, None, ""
            return
        thread = snapshot.thread(numbers.pthread, numbers.os_thread)
        if thread is None or not thread.frames:
            if self._is(moment):
                told.woven, self._thread = None, None
                told.why = "this thread runs no Python"
                self._notifier.tell(Change.FRAMES)
            return
        frames = await self._whole_stack(thread)
        if self._is(moment):
            self._show(snapshot, thread, frames)

    def _is(self, moment: object) -> bool:
        """What was read is of where the target still stands."""
        return self._moment == moment and not self._follower.running

    def _show(self, snapshot: PythonSnapshot, thread: PythonThread, frames: FrameWindow) -> None:
        from ladder_backends.python_frames.plumbing import loops_of

        told = self._state.python
        known = told.woven is not None and thread == self._thread and self._state.frames is self._frames
        told.source, told.seconds, told.why = snapshot.source, snapshot.seconds, ""
        told.gil = _holder(snapshot, thread)
        self._thread = thread
        if known and len(frames.frames) == len(self._state.frames.frames):
            return
        self._state.frames = self._frames = frames
        self._loops = tuple(frames.frames[position].address for position in loops_of(frames.frames))
        told.woven = self._woven(frames, thread)
        self._exact = told.woven.exact
        self._notifier.tell(Change.FRAMES)

    async def _whole_stack(self, thread: PythonThread) -> FrameWindow:
        """The native stack as far out as its Python frames are, in as few questions as that takes."""
        frames = self._state.frames
        for count in _MOST_NATIVE:
            if not frames.more and not frames.start:
                break
            frames = await self._follower.debugger.frames(0, count)
        return frames

    # -- selecting

    async def select(self, row: PythonRow) -> None:
        """Show a Python frame: its source line at once, its arguments and locals when they are read."""
        state, told, frame = self._state, self._state.python, row.frame
        if told.woven is None:
            return
        place = self._place(frame)
        level = row.level if row.level >= 0 else max(1, len(state.frames.frames) - 1)
        told.selected, told.place = row.index, place
        state.place, state.selected_frame = place, level
        state.variables = VariableWindow(frame_level=level, note="reading …")
        self._notifier.tell(Change.FRAMES | Change.SOURCE | Change.VARIABLES)
        if self._reading is not None:
            self._reading.cancel()
        self._reading = task = asyncio.get_running_loop().create_task(self._read_variables(row, level, place))
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error

    async def _read_variables(self, row: PythonRow, level: int, place: Place) -> None:
        state, told = self._state, self._state.python
        if row.level >= 0:
            await self._follower.debugger.select_frame(row.level)
        window = VariableWindow(frame_level=level)
        frame: PythonFrame | None = row.frame if row.frame.variables is not None else None
        try:
            if frame is None:
                snapshot, numbers = await self._from.snapshot(variables=True)
                frame = _same(snapshot, numbers, row)
            if frame is None or frame.variables is None:
                window = replace(window, note="the frame is gone: it moved while it was read")
            else:
                note = "" if frame.variables else "no arguments or locals"
                window = replace(window, variables=frame.variables, note=note)
        except LadderError as error:
            window = replace(window, note=error.why or error.what)
        if told.selected != row.index or told.place is not place:
            return
        shown = Frame(level, f"{row.frame.function} in {row.frame.file}", place, kind=FrameKind.PYTHON)
        state.variables = self._follower.mark(window, shown)
        self._notifier.tell(Change.VARIABLES)

    def _place(self, frame: PythonFrame) -> Place:
        """Where a Python frame's line lies; a relative name is relative to where the process is."""
        full = frame.file if frame.file.startswith("/") else ""
        if not full and self._from.folder is not None and not frame.file.startswith("<"):
            candidate = os.path.realpath(self._from.folder / frame.file)
            full = candidate if os.path.isfile(candidate) else ""
        return Place(frame.file, max(1, frame.line), full)


def python_line_words(binding: BreakpointBinding) -> str:
    """What to know of a breakpoint that waits for a line of Python; empty for any other.

    Compilers for Python (numba, Triton) do make machine code with such lines, so that it may wait in earnest.
    """
    if binding.state is not BindingState.PENDING or _PYTHON_LINE.search(binding.intent.location) is None:
        return ""
    return "; a line of plain Python is never stopped at: break in the C function that it calls"


def _holder(snapshot: PythonSnapshot, thread: PythonThread) -> str:
    """The name of another thread that holds the interpreter lock, with the kernel's number where that is known."""
    other = next((each for each in snapshot.threads if each.owns_gil and each is not thread), None)
    if other is None:
        return ""
    number = f" (LWP {other.os_thread})" if other.os_thread is not None else ""
    return f"{other.name or 'another thread'}{number}"


def _same(snapshot: PythonSnapshot | None, numbers: ThreadNumbers, row: PythonRow) -> PythonFrame | None:
    """The frame of a row in another snapshot of the same moment."""
    thread = snapshot.thread(numbers.pthread, numbers.os_thread) if snapshot is not None else None
    if thread is None or row.index >= len(thread.frames):
        return None
    frame = thread.frames[row.index]
    same = (frame.function, frame.line) == (row.frame.function, row.frame.line)
    return frame if same else None

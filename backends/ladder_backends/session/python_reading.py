"""Reads Python threads of what a debugger holds: by py-spy, or where that cannot, by CPython's own gdb script."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import AttachTarget, CoreTarget, LaunchTarget, Target
from ladder_backends.errors import EngineError, LadderError
from ladder_backends.session.state import DebugState

if TYPE_CHECKING:
    from ladder_backends.debugger.contract import Debugger
    from ladder_backends.debugger.facets.python_target import ThreadNumbers
    from ladder_backends.model.python_stack import PythonSnapshot
    from ladder_backends.python_frames.detect import Interpreter

_SCRIPT_DEADLINE = 20.0
"""Seconds for CPython's script in the engine, which is deaf meanwhile, where a person has asked for it."""

_SCRIPT_PATIENCE = 2.0
"""The same at a stop."""

_SCRIPT_CHEAP = 0.3
"""Seconds up to which the script may have taken last for it to run again at a stop without being asked for."""


class PythonReading:
    """Whom to ask for Python threads, and what of the answers stays true for a process.

    Attributes:
        by_hand: A person has asked and waits for it, so that it may take its time.
        folder: Where the process is, for names of files relative to it; None where it cannot be looked into.
    """

    def __init__(
        self, state: DebugState, debugger: Callable[[], Debugger], target: Callable[[], Target | None]
    ) -> None:
        self.by_hand = False
        self.folder: Path | None = None
        self._state = state
        self._debugger = debugger
        self._target = target
        self._numbers: dict[int | None, ThreadNumbers] = {}
        self._script_took = 0.0

    def forget(self) -> None:
        """The process has ended: another one has other threads."""
        self._numbers.clear()
        self.folder = None

    async def snapshot(self, *, variables: bool) -> tuple[PythonSnapshot | None, ThreadNumbers]:
        """The process's Python threads by the best source there is; None where it runs no Python."""
        from ladder_backends.python_frames import PythonUnreadable, interpreter_of, snapshot, snapshot_of_core
        from ladder_backends.python_frames.plumbing import is_loop

        numbers = await self._thread_numbers()
        target = self._target()
        loops = any(is_loop(frame) for frame in self._state.frames.frames)
        interpreter: Interpreter | None = None
        try:
            if isinstance(target, CoreTarget):
                interpreter = await self._interpreter_of_core()
                if interpreter is None and not loops:
                    return None, numbers
                return await snapshot_of_core(target.core, variables=variables), numbers
            pid = _process_of(numbers.os_thread) if isinstance(target, LaunchTarget | AttachTarget) else None
            if pid is None:
                return None, numbers
            interpreter = await asyncio.to_thread(interpreter_of, pid)
            if interpreter is None and not loops:
                return None, numbers
            self.folder = Path(f"/proc/{pid}/cwd")
            return await snapshot(pid, variables=variables), numbers
        except PythonUnreadable as unreadable:
            if interpreter is None:
                raise
            return await self._by_script(interpreter, numbers, unreadable), numbers

    async def _thread_numbers(self) -> ThreadNumbers:
        """The numbers of the focused thread; the engine is asked once for each."""
        facet, focus = self._debugger().python, self._state.focus
        assert facet is not None
        thread = focus.index("thread") if focus is not None else None
        numbers = self._numbers.get(thread)
        if numbers is None:
            numbers = await facet.thread_numbers()
            if thread is not None:
                # In a lane it is the thread that launched the kernel, and the next one may have another.
                self._numbers[thread] = numbers
        return numbers

    async def _interpreter_of_core(self) -> Interpreter | None:
        from ladder_backends.python_frames.detect import interpreter_among

        facet, target = self._debugger().python, self._target()
        assert facet is not None
        images = list(await facet.images())
        if isinstance(target, CoreTarget) and target.executable is not None:
            images.append(str(await asyncio.to_thread(target.executable.resolve)))
        images += [frame.module for frame in self._state.frames.frames if frame.module]
        return interpreter_among(images)

    async def _by_script(
        self, interpreter: Interpreter, numbers: ThreadNumbers, unreadable: LadderError
    ) -> PythonSnapshot:
        """The focused thread by CPython's own script in gdb; what py-spy lacked is the reason where that fails."""
        from ladder_backends.model.python_stack import PythonSnapshot, PythonThread
        from ladder_backends.python_frames.py_bt import frames_of, script_for

        facet = self._debugger().python
        assert facet is not None
        script, _ = await asyncio.to_thread(script_for, interpreter)
        if script is None:
            raise unreadable
        if self._script_took > _SCRIPT_CHEAP and not self.by_hand:
            unreadable.why += f"; py-bt took {self._script_took:.1f} s and is asked by key only"
            raise unreadable
        begun = time.monotonic()
        try:
            deadline = _SCRIPT_DEADLINE if self.by_hand else _SCRIPT_PATIENCE
            frames, lost = frames_of(await facet.backtrace(script, deadline))
        except EngineError:
            raise unreadable from None
        finally:
            self._script_took = time.monotonic() - begun
        if not frames:
            if lost:
                unreadable.why += "; py-bt cannot read this optimised Python either"
            raise unreadable
        thread = PythonThread(numbers.os_thread, numbers.pthread, "", False, frames)
        return PythonSnapshot((thread,), "py-bt", self._script_took)


def _process_of(os_thread: int | None) -> int | None:
    """The process of a kernel thread of this machine that a debugger holds (proc(5)), or None.

    One that nobody traces only has the number of a thread on another machine.
    """
    if os_thread is None:
        return None
    from ladder_backends.processes import ProcFiles

    status = ProcFiles().status(os_thread)
    told = status.get("Tgid", "")
    return int(told) if told.isdecimal() and status.get("TracerPid", "0") != "0" else None

"""The Python frames of a process that is held, for all its threads at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ladder_backends.errors import LadderError
from ladder_backends.model.frame import FrameWindow
from ladder_backends.model.thread import Thread

if TYPE_CHECKING:
    from ladder_backends.model.python_stack import PythonSnapshot, PythonThread, WovenStack

READ_DEADLINE = 2.0
"""Seconds for which a process is held for the sake of its Python frames at most."""


@dataclass(frozen=True, slots=True)
class HeldPython:
    """What was read.

    Attributes:
        snapshot: The Python threads, or None.
        why: Why there are none, one line.
    """

    snapshot: PythonSnapshot | None
    why: str = ""

    @property
    def source(self) -> str:
        """Who read them."""
        return self.snapshot.source if self.snapshot is not None else ""

    def is_cut(self, thread: Thread, frames: FrameWindow) -> bool:
        """Some Python frames of a thread have no place in what was read of its native stack."""
        known, woven = self._thread(thread), self.woven(thread, frames)
        return known is not None and woven is not None and woven.placed < len(known.frames)

    def woven(self, thread: Thread, frames: FrameWindow) -> WovenStack | None:
        """A thread's native stack with its Python frames; None for a thread that runs no Python."""
        from ladder_backends.python_frames import weave

        known = self._thread(thread)
        if known is None or not known.frames:
            return None
        return weave(frames.frames, known, complete=not frames.more)

    def _thread(self, thread: Thread) -> PythonThread | None:
        return self.snapshot.thread(0, thread.system_id) if self.snapshot is not None else None


async def read_python(pid: int) -> HeldPython | None:
    """Read the Python threads of a process; None where it runs no Python."""
    from ladder_backends.python_frames import interpreter_of, snapshot

    if await asyncio.to_thread(interpreter_of, pid) is None:
        return None
    try:
        return HeldPython(await snapshot(pid, deadline=READ_DEADLINE))
    except LadderError as error:
        why = error.why or error.what
        return HeldPython(None, f"{why} — {error.remedy}" if error.remedy else why)

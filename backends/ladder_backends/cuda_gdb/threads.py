"""Threads of the host, looked at without leaving the lane that is in focus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.threads import GdbThreads

if TYPE_CHECKING:
    from ladder_backends.cuda_gdb.standing import Standing
    from ladder_backends.gdb.event_reader import EventReader
    from ladder_backends.model.frame import FrameWindow
    from ladder_backends.model.thread import Thread


THREAD_LIBRARIES = (
    "/lib/*/libthread_db*",
    "/usr/lib/*/libthread_db*",
    "/lib64/libthread_db*",
    "/usr/lib64/libthread_db*",
)
"""Where the library lies that gdb knows a process's threads by, as its auto-load patterns."""


class LaneEngine(Engine, Protocol):
    """Who is asked."""

    def keeping_lane(self) -> AbstractAsyncContextManager[None]:
        """Round a question about the host: the lane and its frame are in focus behind it."""


class CudaThreads(GdbThreads):
    """As gdb's; behind each look the engine stands where it stood."""

    def __init__(self, engine: LaneEngine, events: EventReader, standing: Standing) -> None:
        super().__init__(engine, events)
        self._lane_engine, self._standing = engine, standing

    async def list(self) -> Sequence[Thread]:
        """Every thread of the host."""
        async with self._lane_engine.keeping_lane():
            return await super().list()

    async def stacks(self, threads: Sequence[int], depth: int) -> Mapping[int, FrameWindow]:
        """The innermost frames of each thread."""
        async with self._lane_engine.keeping_lane():
            return await super().stacks(threads, depth)

    async def find_stop(self) -> None:
        """Look for a thread that stands where the focused one has ended; never from within a lane."""
        if not self._standing.on_device:
            await super().find_stop()

"""The stack of one moment: the lane's frames, and below them those of the host thread that launched the kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from ladder_backends.cuda_gdb.focus import is_lane
from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.errors import CommandFailed, DeadlinePassed, NotRecorded
from ladder_backends.gdb.questions import Engine, Questions
from ladder_backends.gdb.translation import frame_of, rows_of
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameKind, FrameWindow
from ladder_backends.model.provenance import Provenance

HOST_PATIENCE = 0.08
"""Seconds that the lane's frames wait for those of the host, so that a stop is shown in one piece."""


class HostSide(Protocol):
    """What the engine tells of the host."""

    thread: int | None


class LaneEngine(Engine, Protocol):
    """Who is asked."""

    async def back_in_frame(self) -> None:
        """Be in the selected frame of the lane again."""


class LaunchStack:
    """Reads both stacks without leaving the lane; frames of the host have the levels behind the lane's.

    Attributes:
        depth: Frames of the lane, where all of them are known; None before.
    """

    def __init__(
        self,
        engine: LaneEngine,
        questions: Questions,
        standing: Standing,
        host: HostSide,
        provenance: Provenance,
        locate: Callable[[FrameWindow], Awaitable[FrameWindow]],
    ) -> None:
        self._engine, self._questions, self._standing, self._host = engine, questions, standing, host
        self._provenance, self._locate = provenance, locate
        self.depth: int | None = None
        self._keeps_lane: bool | None = None

    def forget(self) -> None:
        """The target runs, or stands in another lane."""
        self.depth = None

    def host_level(self, level: int) -> int | None:
        """The level of a frame in its thread of the host, or None where it is one of the lane's."""
        return level - self.depth if self.depth is not None and level >= self.depth else None

    async def frames(self, start: int, count: int) -> FrameWindow:
        """A window over both."""
        window = (
            await self._questions.frames(start, count) if self.host_level(start) is None else FrameWindow((), start)
        )
        lane = tuple(replace(one, kind=FrameKind.DEVICE, provenance=self._provenance) for one in window.frames)
        window = replace(window, frames=lane)
        if not self._standing.live or window.more:
            return window
        if lane or self.depth is None:
            if not lane and start:
                return window
            self.depth = start + len(lane)
        first = max(0, start - self.depth)
        wanted = start + count - self.depth - first
        if self._host.thread is None or self._keeps_lane is False:
            return window
        if wanted <= 0:
            return replace(window, more=True)
        reading = asyncio.ensure_future(self._launched_by(self._host.thread, first, wanted))
        reading.add_done_callback(taken)
        try:
            if lane:
                await asyncio.wait({reading}, timeout=HOST_PATIENCE)
                if not reading.done():
                    return replace(window, more=True)
            host = await reading
        finally:
            reading.cancel()
        return replace(window, frames=(*lane, *host.frames), more=host.more)

    async def _launched_by(self, thread: int, first: int, count: int) -> FrameWindow:
        """Frames of the thread; naming it in the question alone leaves the lane in focus."""
        depth, lane = self.depth or 0, self._standing.focus
        # Sent in one piece, so that nothing else is asked in the wrong frame.
        answer, _ = await asyncio.gather(
            self._engine.command(f"-stack-list-frames --thread {thread} {first} {first + count}"),
            self._engine.back_in_frame(),
            return_exceptions=True,
        )
        if isinstance(answer, CommandFailed | NotRecorded | DeadlinePassed):
            return FrameWindow((), first)
        if isinstance(answer, BaseException):
            raise answer
        if not await self._lane_kept(lane):
            return FrameWindow((), first)
        frames: list[Frame] = []
        for offset, row in enumerate(rows_of(answer.results.get("stack"))):
            frame = frame_of(row, first + offset)
            if frame is not None:
                frames.append(replace(frame, provenance=self._provenance))
        window = await self._locate(FrameWindow(tuple(frames[:count]), first, more=len(frames) > count))
        moved = tuple(replace(one, level=one.level + depth, launcher=one.level == 0) for one in window.frames)
        return replace(window, frames=moved)

    async def _lane_kept(self, lane: Focus | None) -> bool:
        """See once whether this engine keeps the lane; one that does not is not asked again."""
        if self._keeps_lane is None and lane is not None:
            try:
                now = await self._standing.ask()
            except NotRecorded:
                return True
            self._keeps_lane = is_lane(now)
            if not self._keeps_lane:
                await self._standing.return_to(lane)
        return self._keeps_lane is not False


def taken(reading: asyncio.Future[Any]) -> None:
    """Nobody waits for this answer, or who waited may have gone: then nobody is left to hear why it failed."""
    if not reading.cancelled():
        reading.exception()

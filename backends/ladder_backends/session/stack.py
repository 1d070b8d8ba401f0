"""The stack of the focus as a window that moves: further frames, the outermost one, a search through all of them.

A whole deep stack is never counted or held: ways through it go from window to window, show how far they are, and
end when they are cancelled or the target goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ladder_backends.model.events import (
    EngineExited,
    Event,
    FocusChanged,
    TargetExited,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.stack_walk import StackWalk
from ladder_backends.session.state import Change, DebugState

if TYPE_CHECKING:
    from ladder_backends.session.follower import Follower

WINDOW = 64
"""Frames that come when the cursor reaches an end of the window."""

STRIDE = 1_000
"""Frames of one question on a long way: some 50 ms of the engine's time, which a key pressed meanwhile waits."""

MOST = 2_000
"""Frames that are held at once."""

_Found = Callable[[Frame], bool]


class SessionStack:
    """Moves `state.frames` along the stack of the focus."""

    def __init__(self, state: DebugState, notifier: Notifier, follower: Follower) -> None:
        self._state = state
        self._notifier = notifier
        self._follower = follower
        self._walking: asyncio.Task[int | None] | None = None
        self._loading = False

    def take(self, event: Event) -> None:
        """A way through a stack ends with the stack."""
        if isinstance(event, TargetRunning | TargetStopped | TargetExited | FocusChanged | EngineExited):
            self.cancel()

    def cancel(self) -> bool:
        """End a way that is gone; returns whether there was one."""
        walking, self._walking = self._walking, None
        if walking is None:
            return False
        walking.cancel()
        self._state.walk = None
        self._notifier.tell(Change.FRAMES)
        return True

    async def further(self) -> None:
        """Hold some frames more beyond the outermost one that is held."""
        held = self._state.frames
        if not self._loading and held.more:
            await self._load(held.start + len(held.frames), WINDOW)

    async def nearer(self) -> None:
        """Hold some frames more before the innermost one that is held."""
        held = self._state.frames
        if not self._loading and held.start:
            start = max(0, held.start - WINDOW)
            await self._load(start, held.start - start)

    async def show(self, start: int, count: int) -> None:
        """Hold these frames, with those that are held already where the two meet, else in their place."""
        await self._load(start, count)

    async def innermost(self) -> int | None:
        """Hold the beginning of the stack; the level of its first frame."""
        self.cancel()
        self._hold(await self._ask(0, WINDOW))
        return 0

    async def outermost(self) -> int | None:
        """Go to the last frame; its level, or None where the way was cancelled."""
        return await self._walk("", lambda frame: False)

    async def find(self, needle: str, holds: _Found) -> int | None:
        """Go on to the next frame beyond those held for which `holds` is so; its level, or None.

        Args:
            needle: What is searched, as shown on the way.
            holds: Looks at one frame.
        """
        return await self._walk(needle, holds)

    async def _walk(self, needle: str, holds: _Found) -> int | None:
        self.cancel()
        walking = asyncio.get_running_loop().create_task(self._go(needle, holds))
        self._walking = walking
        try:
            return await walking
        except asyncio.CancelledError:
            if self._walking is walking:
                # Who asked was cancelled, not the way.
                raise
            return None
        finally:
            if self._walking is walking:
                self._walking = self._state.walk = None
                self._notifier.tell(Change.FRAMES)

    async def _go(self, needle: str, holds: _Found) -> int | None:
        held = before = self._state.frames
        while held.more:
            level = held.start + len(held.frames)
            self._state.walk = StackWalk(needle, level)
            self._notifier.tell(Change.FRAMES)
            before, held = held, await self._ask(level, STRIDE)
            found = next((frame.level for frame in held.frames if holds(frame)), None)
            if found is not None:
                self._hold(held)
                return found
        if needle:
            self._follower.notice(f"not found in {held.start + len(held.frames):,} frames: {needle}", "warning")
            return None
        if held is not before:
            # The last window may be short: what leads to it is held as well.
            frames = (*before.frames, *held.frames)[-STRIDE:]
            self._hold(held := FrameWindow(frames, frames[0].level))
        return held.frames[-1].level if held.frames else None

    async def _load(self, start: int, count: int) -> None:
        self._loading = True
        try:
            held, window = self._state.frames, await self._ask(start, count)
        finally:
            self._loading = False
        # Else the target went on meanwhile.
        if self._state.frames is held:
            self._hold(joined(held, replace(window, start=start)))

    async def _ask(self, start: int, count: int) -> FrameWindow:
        return await self._follower.debugger.frames(start, count)

    def _hold(self, window: FrameWindow) -> None:
        self._state.frames = window
        self._notifier.tell(Change.FRAMES)


def joined(held: FrameWindow, read: FrameWindow) -> FrameWindow:
    """What is held and what was read as one window, where they meet; where it gets too long, the far end goes."""
    ends, read_ends = held.start + len(held.frames), read.start + len(read.frames)
    if not held.frames or read.start > ends or read_ends < held.start:
        return read
    before = held.frames[: max(0, read.start - held.start)]
    after = held.frames[read_ends - held.start :] if read.more else ()
    frames = (*before, *read.frames, *after)
    start, more = min(held.start, read.start), held.more if after else read.more
    surplus = max(0, len(frames) - MOST)
    if read.start < held.start:
        return FrameWindow(frames[:MOST], start, more=more or bool(surplus))
    return FrameWindow(frames[surplus:], start + surplus, more=more)

"""Reads all threads while someone looks at them: innermost frames at once, whole stacks when the target rests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Debugger
from ladder_backends.errors import EngineDied, LadderError, NotRecorded
from ladder_backends.model.thread import ThreadState
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.state import Change, DebugState, Run
from ladder_backends.session.thread_groups import group_threads

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import Threads
    from ladder_backends.model.frame import FrameWindow

FEW = 16
"""Threads that are read with the stop itself; more of them wait until the target rests."""

RESTS_AFTER = 0.15
"""Seconds that a target has stood still when its many threads are read."""

DEPTH = 16
"""Frames of each stack that are compared."""

MOST = 2_000
"""Threads whose stacks are read; those beyond are told apart by their innermost frame alone."""

BATCH = 48
"""Threads whose stacks are asked for together: what is asked meanwhile waits some ten milliseconds behind them."""


class ThreadReading:
    """Fills `state.threads.groups`.

    Args:
        debugger: Gives the engine of the moment.
    """

    def __init__(self, debugger: Callable[[], Debugger], state: DebugState, notifier: Notifier) -> None:
        self._debugger = debugger
        self._state = state
        self._notifier = notifier
        self._task: asyncio.Task[None] | None = None

    def outdated(self) -> None:
        """What was read is not so any more; a reading that goes on is dropped."""
        threads = self._state.threads
        if self._task is not None:
            self._task.cancel()
            self._task = None
        threads.current, threads.read = False, None

    def wanted(self) -> None:
        """Someone looks: read what is not current. Whoever looks is told by `Change.THREADS`."""
        state = self._state
        facet = self._debugger().threads
        stands = state.run in (Run.STOPPED, Run.DUMP) or (state.run is Run.RUNNING and state.threads.non_stop)
        if facet is None or not stands or state.threads.current or self._task is not None:
            return
        wait = 0.0 if state.threads.count <= FEW and not state.threads.non_stop else RESTS_AFTER
        self._task = asyncio.get_running_loop().create_task(self._read(facet, wait))

    async def _read(self, facet: Threads, wait: float) -> None:
        state, task = self._state, asyncio.current_task()
        try:
            if wait:
                await asyncio.sleep(wait)
            await self._read_all(facet)
            state.threads.note = ""
        except NotRecorded:
            state.threads.note = "the threads are not in this recording"
        except LadderError as error:
            # An engine that is gone tells so itself.
            state.threads.note = "" if isinstance(error, EngineDied) else error.line()
        finally:
            if self._task is task:
                self._task = None
                state.threads.read = None
        state.threads.current = True
        self._notifier.tell(Change.THREADS)

    async def _read_all(self, facet: Threads) -> None:
        seen = self._state.threads
        threads = await facet.list()
        if seen.locking is None:
            seen.locking = await facet.locking()
        seen.names = {thread.id: thread.name for thread in threads if thread.name}
        if len({thread.process for thread in threads}) > 1:
            seen.processes = await facet.processes()
        standing = [thread.id for thread in threads if thread.state is not ThreadState.RUNNING]
        stacks: dict[int, FrameWindow] = {}
        if len(standing) > FEW:
            seen.groups, seen.whole, seen.read = group_threads(threads, {}, seen.frozen), False, 0
            self._notifier.tell(Change.THREADS)
        walked = standing[:MOST]
        for start in range(0, len(walked), BATCH):
            stacks.update(await facet.stacks(walked[start : start + BATCH], DEPTH))
            if len(walked) > BATCH:
                seen.read = min(len(walked), start + BATCH)
                self._notifier.tell(Change.THREADS)
        seen.groups, seen.whole = group_threads(threads, stacks, seen.frozen), len(walked) == len(standing)

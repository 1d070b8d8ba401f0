"""The stacks of all threads of a process that is held for no longer than they take to read."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import AttachTarget
from ladder_backends.errors import DeadlinePassed, EngineDied, EngineError, LadderError
from ladder_backends.model.events import EngineExited, EngineNotice, Event, TargetExited, TargetStopped
from ladder_backends.model.frame import FrameWindow
from ladder_backends.model.thread import Thread
from ladder_backends.session.held_python import HeldPython, read_python

if TYPE_CHECKING:
    from ladder_backends.debugger.contract import Debugger

MOST_THREADS = 500
"""Threads whose stacks are read; those beyond are counted."""

MOST_FRAMES = 60
"""Frames of each stack."""

MOST_FRAMES_OF_PYTHON = 1_000
"""Frames of a stack whose outermost ones are to be met by Python frames."""

BUDGET = 10.0
"""Seconds that reading may take; the process is let go after that, with what was read."""

STANDS_WITHIN = 60.0
"""Seconds within which a process must stand once it was told to stop; it is let go after that."""

_AT_ONCE = 50
_LOOK_EVERY = 0.5
_MOST_WHOLE = 32


@dataclass(frozen=True, slots=True)
class ThreadStack:
    """One thread and the innermost of its frames."""

    thread: Thread
    frames: FrameWindow


@dataclass(frozen=True, slots=True)
class AllStacks:
    """What was read.

    Attributes:
        stacks: In the order of the engine's thread numbers.
        threads: How many threads there were.
        late: The budget was over before all were read.
        seconds: How long the reading took.
    """

    stacks: tuple[ThreadStack, ...] = ()
    threads: int = 0
    late: bool = False
    seconds: float = 0.0


async def read_all_stacks(debugger: Debugger) -> AllStacks:
    """Read the stacks of a stopped target; what does not answer within the budget is left out.

    Raises:
        EngineDied: The engine ended meanwhile.
    """
    began = time.monotonic()
    facet = debugger.threads
    if facet is None:
        window = await debugger.frames(0, MOST_FRAMES)
        return AllStacks((ThreadStack(Thread(1), window),), 1, seconds=time.monotonic() - began)
    found: list[ThreadStack] = []
    threads: list[Thread] = []
    late = True
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(BUDGET):
            threads = list(await facet.list())
            for start in range(0, min(len(threads), MOST_THREADS), _AT_ONCE):
                some = threads[start : min(start + _AT_ONCE, MOST_THREADS)]
                stacks = await facet.stacks([thread.id for thread in some], MOST_FRAMES)
                found += [ThreadStack(each, stacks[each.id]) for each in some if each.id in stacks]
            late = False
    if late:
        # The engine may still work on the last question, and would hear of nothing else.
        with contextlib.suppress(EngineError):
            await debugger.interrupt()
    return AllStacks(tuple(found), len(threads), late, time.monotonic() - began)


@dataclass(frozen=True, slots=True)
class HeldProcess:
    """What was read of a process while it was held.

    Attributes:
        stacks: The stacks of its threads.
        held: Seconds from the request to stop it to the moment when it was let go.
        notices: What the debugger said about it.
        python: Their Python frames, or None where the process runs no Python.
    """

    stacks: AllStacks
    held: float
    notices: tuple[EngineNotice, ...] = ()
    python: HeldPython | None = None


async def hold_and_read(debugger: Debugger, pid: int) -> HeldProcess:
    """Attach, read the stacks of all threads, let go: nothing else is asked while the process stands.

    Args:
        debugger: Not opened yet; it is to be closed afterwards.
        pid: Process id.

    Raises:
        TargetInvalid, EngineMissing: It cannot be attached to.
        EngineDied: The engine, or the process, ended meanwhile.
        DeadlinePassed: It was told to stop and did not stand in time; it was let go.
    """
    notices: list[EngineNotice] = []
    stands: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
    # The engine tells that the process has gone as soon as it has, and forgets its symbols after that.
    gone: list[float] = []

    def take(event: Event) -> None:
        if isinstance(event, EngineNotice):
            notices.append(event)
        elif isinstance(event, TargetStopped) and not stands.done():
            stands.set_result(event.at)
        elif isinstance(event, TargetExited | EngineExited):
            gone.append(time.monotonic())
            if not stands.done():
                stands.set_result(None)

    debugger.listen(take)
    await _open(debugger, pid)
    at = await _standing(debugger, pid, stands)
    if at is None:
        raise EngineDied(f"process {pid} was not read", "it ended while it was being stopped")
    # Python's side is read from outside, by another process, while the engine unwinds.
    reading = asyncio.ensure_future(read_python(pid))
    try:
        stacks = await read_all_stacks(debugger)
        python = await reading
        if python is not None:
            stacks = await _with_whole_stacks(debugger, stacks, python)
        await let_go(debugger)
    finally:
        reading.cancel()
    held = (gone[0] if gone else time.monotonic()) - at + (debugger.stopping_took or 0.0)
    return HeldProcess(stacks, held, tuple(notices), python)


async def _open(debugger: Debugger, pid: int) -> None:
    """Attach; one that is traced and does not stop is given up after a while."""
    opening = asyncio.ensure_future(debugger.open(AttachTarget(pid)))
    awaited = 0.0
    try:
        while not (await asyncio.wait([opening], timeout=_LOOK_EVERY))[0]:
            awaited = awaited + _LOOK_EVERY if await asyncio.to_thread(_is_awaited, pid) else 0.0
            if awaited >= STANDS_WITHIN and not opening.done():
                awaited = 0.0
                with contextlib.suppress(LadderError):
                    await debugger.interrupt()
        await opening
    finally:
        opening.cancel()


def _is_awaited(pid: int) -> bool:
    """Whether a process has a tracer and does not stand (proc(5))."""
    from ladder_backends.processes import ProcFiles

    status = ProcFiles().status(pid)
    return status.get("TracerPid", "0") != "0" and status.get("State", "t")[:1] not in ("t", "T")


async def _standing(debugger: Debugger, pid: int, stands: asyncio.Future[float | None]) -> float | None:
    """When the process stood; None where it has ended."""
    try:
        async with asyncio.timeout(STANDS_WITHIN):
            return await stands
    except TimeoutError:
        # A busy engine hears of nothing else.
        with contextlib.suppress(LadderError):
            await debugger.interrupt()
        gone = await let_go(debugger)
    now = "the process was let go" if gone else "it is let go when the engine hears again"
    raise DeadlinePassed(
        f"process {pid} was not read",
        f"{debugger.name} did not tell within {STANDS_WITHIN:g} s that it stands",
        f"{now}; look at what it does, and try again",
    )


async def _with_whole_stacks(debugger: Debugger, all_stacks: AllStacks, python: HeldPython) -> AllStacks:
    """Read those stacks further out that are cut before their Python frames have all come."""
    facet = debugger.threads
    cut = [each for each in all_stacks.stacks if each.frames.more and python.is_cut(each.thread, each.frames)]
    if facet is None or all_stacks.late or not cut:
        return all_stacks
    stacks: Mapping[int, FrameWindow] = {}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(0.1, BUDGET - all_stacks.seconds)):
            stacks = await facet.stacks([each.thread.id for each in cut[:_MOST_WHOLE]], MOST_FRAMES_OF_PYTHON)
    whole = (ThreadStack(each.thread, stacks.get(each.thread.id, each.frames)) for each in all_stacks.stacks)
    return replace(all_stacks, stacks=tuple(whole))


async def let_go(debugger: Debugger) -> bool:
    """Detach at once, without waiting for the end of the engine; `close` does it where this returns false."""
    if debugger.process is not None:
        with contextlib.suppress(EngineError):
            await debugger.process.detach()
            return True
    return False

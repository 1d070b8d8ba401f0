"""500 threads and 50,000 frames while someone looks at them: the stop, the step, the list, the way to the end."""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.paths import find_engine
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Change

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
STEPS = 20


def rows() -> Iterator[dict[str, Any]]:
    """See `run.py`."""
    if find_engine("gdb").path is None or shutil.which("gcc") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for name in ("threads", "deep"):
            command = ["gcc", "-g", "-O0", "-pthread", "-o", f"{folder}/{name}", str(PROGRAMS / f"{name}.c")]
            subprocess.run(command, check=True)
        yield from asyncio.run(threads(Path(folder) / "threads"))
        yield from asyncio.run(deep(Path(folder) / "deep"))


async def threads(program: Path) -> list[dict[str, Any]]:
    """Stops with the list on screen, and the time until all stacks are compared."""
    session = await stopped(program, "meet")
    read = asyncio.Event()

    def look(change: Change) -> None:
        if change & (Change.THREADS | Change.RUN):
            session.threads.wanted()
        if session.state.threads.current:
            read.set()

    session.subscribe(look)
    begun = time.monotonic()
    session.threads.wanted()
    await read.wait()
    listed = time.monotonic() - begun
    shown: list[float] = []
    session.subscribe(
        lambda change: shown.append(time.monotonic() - session.state.since) if change & Change.FRAMES else None
    )
    keys: list[float] = []
    for _ in range(STEPS):
        pressed = time.monotonic()
        await session.resume(StepKind.STEP_INSTRUCTION)
        await session.at_rest()
        keys.append(time.monotonic() - pressed)
    await session.close()
    what = "500 threads, list on screen"
    return [
        {
            "what": f"{what}: stop to shown, median",
            "ours": 1e3 * statistics.median(shown),
            "unit": "ms",
            "budget": 200,
        },
        {
            "what": f"{what}: key to shown, median",
            "ours": 1e3 * statistics.median(keys),
            "unit": "ms",
            "budget": 200,
        },
        {"what": f"{what}: all stacks compared", "ours": 1e3 * listed, "unit": "ms", "budget": 1_000},
    ]


async def deep(program: Path) -> list[dict[str, Any]]:
    """To the outermost of 50,000 frames, and how fast that ends when it is called off."""
    session = await stopped(program, "")
    begun = time.monotonic()
    await session.stack.outermost()
    walked = time.monotonic() - begun
    await session.stack.innermost()
    way = asyncio.ensure_future(session.stack.outermost())
    await asyncio.sleep(0.5)
    begun = time.monotonic()
    session.stack.cancel()
    await way
    await session.evaluate("1 + 1")
    ended = time.monotonic() - begun
    await session.close()
    return [
        {"what": "50,000 frames: to the outermost", "ours": walked, "unit": "s", "budget": 10},
        {"what": "50,000 frames: called off, next answer", "ours": 1e3 * ended, "unit": "ms", "budget": 300},
    ]


async def stopped(program: Path, location: str) -> DebugSession:
    """A session on a program that stands."""
    session = DebugSession(GdbDebugger())
    await session.open(LaunchTarget(program), run=False)
    if location:
        await session.set_breakpoint(location)
    await session.resume(StepKind.RUN)
    await session.at_rest()
    return session

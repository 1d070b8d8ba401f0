"""A stop, from its record to the one notification that shows it, beside the raw commands that answer the same."""

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
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import Event, TargetStopped
from ladder_backends.paths import find_engine
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Change

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
STOPS = 60
SCENES = (
    ("stop, small program", "steps.c", "steps.c:19", 5.0),
    ("stop, 500 threads", "threads.c", "meet", 5.0),
    ("stop, 50,000 frames", "deep.c", "deep.c:5", 5.0),
    ("stop, vector of a million elements", "big_vector.cpp", "big_vector.cpp:8", 5.0),
)


def rows() -> Iterator[dict[str, Any]]:
    """See `run.py`."""
    if find_engine("gdb").path is None or shutil.which("gcc") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for what, source, location, slack in SCENES:
            program = Path(folder) / Path(source).stem
            compiler = "g++" if source.endswith("pp") else "gcc"
            command = [compiler, "-g", "-O0", "-pthread", "-o", str(program), str(PROGRAMS / source)]
            subprocess.run(command, check=True)
            raw = asyncio.run(raw_stops(program, location))
            ours = asyncio.run(session_stops(program, location))
            yield {
                "what": f"{what}, median",
                "ours": statistics.median(ours),
                "unit": "ms",
                "partner": statistics.median(raw),
                "of": "raw commands",
                # The floor and a few milliseconds, as a ratio of the floor of this run.
                "budget": 1 + slack / statistics.median(raw),
            }
            yield {"what": f"{what}, p95", "ours": p95(ours), "unit": "ms", "budget": 200.0}


async def session_stops(program: Path, location: str) -> list[float]:
    """Milliseconds from the record of each stop to its notification."""
    session = DebugSession(GdbDebugger())
    shown: list[float] = []

    def told(change: Change) -> None:
        if change & Change.FRAMES and session.state.frames.frames:
            shown.append(1e3 * (time.monotonic() - session.state.since))

    await session.open(LaunchTarget(program), run=False)
    await session.set_breakpoint(location)
    await session.resume(StepKind.RUN)
    await session.at_rest()
    await session.at_rest()
    session.subscribe(told)
    for _ in range(STOPS):
        await session.resume(StepKind.STEP_INSTRUCTION)
        await session.at_rest()
        await asyncio.sleep(0.01)
    await session.close()
    return shown


async def raw_stops(program: Path, location: str) -> list[float]:
    """Milliseconds from the record of each stop to the answers of hand-written commands, sent together."""
    debugger = GdbDebugger()
    stopped: asyncio.Queue[TargetStopped] = asyncio.Queue()

    def take(event: Event) -> None:
        if isinstance(event, TargetStopped):
            stopped.put_nowait(event)

    debugger.listen(take)
    await debugger.open(LaunchTarget(program))
    await debugger.set_breakpoint(BreakpointIntent(1, location))
    await debugger.resume(StepKind.RUN)
    await stopped.get()
    times = []
    for _ in range(STOPS):
        await debugger.resume(StepKind.STEP_INSTRUCTION)
        stop = await stopped.get()
        await asyncio.gather(
            debugger.command("-stack-list-frames 0 29"),
            debugger.command("-stack-list-variables --all-values"),
        )
        times.append(1e3 * (time.monotonic() - stop.at))
        await asyncio.sleep(0.01)
    await debugger.close()
    return times


def p95(values: list[float]) -> float:
    """The value that 95 % do not exceed."""
    return sorted(values)[int(0.95 * (len(values) - 1))]

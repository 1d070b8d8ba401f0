"""An expression in every lane of a block, against the same commands over a bare pipe."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from typing import Any

from bench_jump import BareEngine

from ladder_backends.case import open_files
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import GpuDumpTarget
from ladder_backends.model.focus import Focus
from ladder_backends.model.unit_values import UnitLayout, UnitRow, unit_value
from ladder_backends.paths import find_engine
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.distribution import distribution
from ladder_backends.session.state import Change
from ladder_demos.catalogue import find_demo

TURNS = 20
LANES = 64
MANY = 8_192


async def ours(target: GpuDumpTarget) -> tuple[list[float], list[float]]:
    """Milliseconds until all have answered, and until the first answers were told."""
    session = DebugSession(CudaGdbDebugger())
    state = session.state.lane_values
    whole: list[float] = []
    first: list[float] = []
    try:
        await session.open(target)
        await session.at_rest()
        for _ in range(TURNS):
            told: list[float] = []

            def look(change: Change, told: list[float] = told) -> None:
                if state.values and state.running:
                    told.append(time.perf_counter())

            leave = session.subscribe(look)
            began = time.perf_counter()
            session.lane_values.evaluate("i", "block")
            await session.lane_values.at_rest()
            whole.append((time.perf_counter() - began) * 1000)
            first.append((told[0] - began) * 1000)
            leave()
            assert len(state.values) == LANES
    finally:
        await session.close()
    return whole, first


def bare(target: GpuDumpTarget) -> list[float]:
    """The same by hand: which threads are held, then a move and a question for each, and the way back."""
    assert target.executable is not None
    engine = BareEngine(target.executable)
    engine.ask(f'-interpreter-exec console "target cudacore {target.dump}"')
    commands = ["-cuda-info-threads kernel 0 block (0,0,0)"]
    for thread in range(LANES):
        commands += [
            f"-cuda-focus-switch kernel 0 block (0,0,0) thread ({thread},0,0)",
            "-data-evaluate-expression i",
        ]
    commands.append("-cuda-focus-switch kernel 0 block (0,0,0) thread (0,0,0)")
    took = [engine.ask(*commands) * 1000 for _ in range(TURNS)]
    engine.end()
    return took


def taking_together() -> float:
    """Milliseconds for the distribution of many answers."""
    rows = tuple(
        UnitRow(
            number,
            "",
            tuple(Focus.of(thread=(number * 32 + column, 0, 0)) for column in range(32)),
            number * 32,
        )
        for number in range(MANY // 32)
    )
    layout = UnitLayout("block", rows=rows, total=MANY)
    values = [unit_value(place, str(place * 3 % 1_009)) for place in layout.places()]
    began = time.perf_counter()
    distribution(layout, values)
    return (time.perf_counter() - began) * 1000


def rows() -> Iterator[dict[str, Any]]:
    """Ratios to the bare commands, and figures of our own."""
    yield {"what": f"taking {MANY:,} answers together", "ours": taking_together(), "unit": "ms", "budget": 100.0}
    if find_engine("cuda-gdb").path is None:
        yield {"what": "no cuda-gdb here", "failed": True}
        return
    opened = open_files([find_demo("uninit").path])
    assert opened.dump is not None
    target = GpuDumpTarget(opened.dump, opened.executable)
    whole, first = asyncio.run(ours(target))
    yield {
        "what": f"an expression in {LANES} lanes",
        "ours": statistics.median(whole),
        "unit": "ms",
        "partner": statistics.median(bare(target)),
        "of": "the commands over a pipe",
        "budget": 3.0,
    }
    yield {"what": "first answers told", "ours": statistics.median(first), "unit": "ms", "budget": 20.0}

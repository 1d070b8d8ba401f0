"""A whole sweep of the quick arms: how long a healthy machine takes, with the times of a real one slept.

The times are those of one H200 with CuPy 14: 1.5 s until a process has loaded CuPy, 0.45 s until CUDA has started
on a GPU and its kernels are loaded. Transfers take what the model of the machine says.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ladder_backends.p2p.arms import Depth
from ladder_backends.session.p2p_sweep import PairSweep
from ladder_backends.session.p2p_wish import Wish
from ladder_backends.simulator.machine import load

TIMES = "[times]\nstart = 1.5\ncontext = 0.45\npace = 1.0\n"
BUDGETS = {1: 10.0, 2: 10.0, 4: 30.0, 8: 60.0}
MACHINE = """
title = "{count} GPUs that take as long as real ones"
{gpus}
[[link]]
GBps = 394.0
latency_us = 4.3
[staged]
GBps = 37.0
{times}
"""


def rows() -> Iterator[dict[str, Any]]:
    """One row a size of machine, in seconds; what each stage took goes to standard error."""
    for count, budget in BUDGETS.items():
        took, stages = asyncio.run(swept(count))
        told = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in stages.items())
        print(f"  {count} GPUs: {told}", file=sys.stderr)
        yield {
            "what": f"quick sweep, {count} GPU{'s' if count > 1 else ''}",
            "ours": took,
            "unit": "s",
            "budget": budget,
        }


async def swept(count: int) -> tuple[float, dict[str, float]]:
    """Seconds in all, and by stage."""
    stages: dict[str, float] = {}
    began = last = time.monotonic()
    stage = ""

    def changed() -> None:
        nonlocal last, stage
        now = time.monotonic()
        if stage:
            stages[stage] = stages.get(stage, 0.0) + now - last
        last, stage = now, "" if sweep.state.over else str(sweep.state.stage)

    sweep = PairSweep(changed)
    with tempfile.TemporaryDirectory(prefix="ladder-bench-") as folder:
        path = Path(folder) / "machine.toml"
        path.write_text(MACHINE.format(count=count, gpus="[[gpu]]\nmemory_GiB = 141\n" * count, times=TIMES))
        layer = {"kind": "simulated", "machine": str(path), "state": folder}
        await sweep.sweep(Wish(layer, load(str(path)).title, Depth.QUICK))
    assert all(pair.kind == "right" for pair in sweep.state.pairs.values())
    return time.monotonic() - began, stages

"""After a test was ended: does its GPU still answer, and is it at rest?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import aclosing

from ladder_backends.p2p.worker_process import Ended
from ladder_backends.session.p2p_workers import Workers

_AT_WORK = 90
"""Percent that no GPU is at without anybody using it."""


async def unwell(workers: Workers, gpus: Iterable[int]) -> list[str]:
    """Why each of some GPUs counts as wedged; empty where it is well. Each is asked by a fresh process."""
    return list(await asyncio.gather(*(_unwell(workers, gpu) for gpu in gpus)))


async def _unwell(workers: Workers, gpu: int) -> str:
    at_work: int | None = None
    right = False
    try:
        async with aclosing(workers.take("health", (gpu,)).lines()) as lines:
            async for told in lines:
                if told["event"] == "health":
                    right, at_work = bool(told["right"]), told["utilisation"]
    except Ended as ended:
        why = "a small allocation hangs" if ended.hung else f"CUDA does not start: {ended.why}"
        return f"{why}, after a test on it was ended"
    if not right:
        return "its memory does not hold what is written, after a test on it was ended"
    if at_work is not None and at_work > _AT_WORK:
        return f"{at_work} % busy with no process of ours, after a test on it was ended"
    return ""

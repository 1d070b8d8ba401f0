"""Holds ranks with breakpoints in, says so, and waits to be killed. Run as a program by the test."""

from __future__ import annotations

import asyncio
import sys

from ladder_backends.model.ranks import Job, Launcher, Rank
from ladder_backends.ranks.engine import RankEngine
from ladder_backends.ranks.engine.fitness import start_of
from ladder_backends.ranks.engine.set_breakpoints import RankBreakpoints


async def main(how: str, pids: list[int]) -> None:
    ranks = tuple(Rank(number, pid, "", start_of(pid) or 0, "") for number, pid in enumerate(pids))
    engine = RankEngine(Job("killed", Launcher.PIDS, None, len(ranks), ranks))
    everyone = range(len(ranks))
    await engine.warm()
    if how == "attaching":
        print("ready", *(each.pid for each in engine.engines), flush=True)
        await engine.attach()
        await asyncio.sleep(60)
    await engine.attach()
    if how != "standing":
        await engine.go_on(everyone)
        await RankBreakpoints(engine).set(everyone, "work", "turn < 0" if how == "running" else "")
        await asyncio.sleep(0.5)
    print("ready", *(each.pid for each in engine.engines), flush=True)
    await asyncio.sleep(60)


asyncio.run(main(sys.argv[1], [int(each) for each in sys.argv[2:]]))

"""Steps of many ranks: each goes by one thread while its others run, and all are waited for together."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import time
from collections.abc import Iterable, Sequence

from ladder_backends.errors import CommandFailed
from ladder_backends.model.ranks import Unreachable
from ladder_backends.ranks.engine.held_rank import HeldRank, Hold
from ladder_backends.ranks.engine.node_gdb import NodeGdb
from ladder_backends.ranks.engine.printing import own_frames, place_words
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.replies import Reply, group

STEP_PATIENCE = 5.0
"""Seconds after which a rank that has not come to the end of its step is told of; it runs on."""


class RankStep(enum.StrEnum):
    """How far ranks go."""

    NEXT = "next"
    STEP = "step"
    FINISH = "finish"
    OWN_CODE = "own code"
    """Out of libraries, to where the innermost frame of the rank's own code goes on."""


async def step(
    engine: RankEngine, ranks: Iterable[int], kind: RankStep, patience: float = STEP_PATIENCE
) -> Reply[str]:
    """Let ranks that stand go a step, and tell where they stand then, equal places together."""
    wanted = tuple(sorted(set(ranks)))
    silent: list[Unreachable] = []
    going: list[HeldRank] = []
    for number in wanted:
        held = engine.held(number)
        if held is None:
            silent.extend(await engine.go_on([number]))
        elif held.thread is None or not held.threads[held.thread]:
            silent.append(Unreachable(number, "it runs", "interrupt it first"))
        elif held.hold is Hold.CRASHED:
            silent.append(Unreachable(number, f"it has crashed ({held.signal})"))
        else:
            going.append(held)
    work = []
    for each in engine.engines:
        mine = [held for held in going if each.reader.ranks.get(held.group) is held]
        if mine and each.hears:
            work.append(_on_one(each, mine, kind, patience))
    places: dict[int, str] = {}
    for found, failed in await asyncio.gather(*work):
        places.update(found)
        silent.extend(failed)
    for number in wanted:
        if number not in places and engine.held(number) is None and all(each.rank != number for each in silent):
            silent.extend(await engine.go_on([number]))
    return group(wanted, places, silent)


async def _on_one(
    engine: NodeGdb, ranks: Sequence[HeldRank], kind: RankStep, patience: float
) -> tuple[dict[int, str], list[Unreachable]]:
    commands: dict[str, str] = {}
    if kind is RankStep.OWN_CODE:
        frames = await own_frames(engine, ranks)
        for held in ranks:
            level, held.frame = next(iter(frames.get(held.rank.rank, ())), (0, held.frame))
            commands[held.group] = f"-exec-finish --thread {held.thread} --frame {level - 1}" if level else ""
    else:
        commands = {held.group: f"-exec-{kind.value} --thread {held.thread}" for held in ranks}
    silent: list[Unreachable] = []
    asked = []
    moved: list[tuple[HeldRank, int]] = []
    for held in ranks:
        thread = held.thread
        if thread is None or not commands[held.group]:
            continue
        # A step may wait for what other threads do: progress threads, those of collectives.
        await engine.go_on_threads(held, [each for each in held.threads if each != thread])
        held.current, held.frame, held.reason = thread, None, ""
        engine.reader.goes_on(held, [thread])
        asked.append((held, thread, engine.submit(commands[held.group])))
    for held, thread, answer in asked:
        try:
            await answer
            moved.append((held, thread))
        except CommandFailed as refused:
            held.threads[thread] = True
            held.settle()
            silent.append(Unreachable(held.rank.rank, refused.what.rstrip(".")))
    await _arrived(engine, moved, patience)
    places: dict[int, str] = {}
    for held, thread in moved:
        if not held.live:
            continue
        if not held.threads.get(thread):
            silent.append(Unreachable(held.rank.rank, f"it has not come to the end of its step in {patience:g} s"))
        else:
            crashed = f" ({held.reason})" if held.hold is Hold.CRASHED else ""
            places[held.rank.rank] = place_words(held.frame) + crashed
    for held in ranks:
        if held.live and not commands[held.group]:
            places[held.rank.rank] = place_words(held.frame)
    return places, silent


async def _arrived(engine: NodeGdb, moved: Sequence[tuple[HeldRank, int]], patience: float) -> None:
    end = time.monotonic() + patience
    while any(held.live and not held.threads.get(thread) for held, thread in moved):
        left = end - time.monotonic()
        if left <= 0 or not engine.alive:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(engine.moved(), left)

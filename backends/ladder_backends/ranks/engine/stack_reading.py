"""Stacks of all threads of many ranks at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.translation import number_of, rows_of, text_of
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.ranks import RankFrame, RankStack, Unreachable
from ladder_backends.ranks.engine.group_reader import rank_frame
from ladder_backends.ranks.engine.held_rank import HeldRank
from ladder_backends.ranks.engine.node_gdb import NodeGdb
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.replies import Reply, group

DEEPEST = 512
"""Frames of a stack that are read."""

_SYSTEM_ID = re.compile(r"\(?LWP (\d+)\)?|process (\d+)")


@dataclass(frozen=True, slots=True)
class StacksReply:
    """Stacks of a set of ranks.

    Attributes:
        asked: Ranks that were asked.
        stacks: One a thread, by rank and the engine's order of threads: the main thread is the first of its rank.
        unreachable: Ranks without stacks, and why.
        predicted: Seconds that ranks were expected to stand for it.
        pause: Seconds that they did.
    """

    asked: tuple[int, ...]
    stacks: tuple[RankStack, ...]
    unreachable: tuple[Unreachable, ...] = ()
    predicted: float = 0.0
    pause: float = 0.0

    @property
    def main(self) -> Reply[tuple[RankFrame, ...]]:
        """The stacks of the main threads, equal ones together."""
        first: dict[int, tuple[RankFrame, ...]] = {}
        for stack in self.stacks:
            first.setdefault(stack.rank, stack.frames)
        return group(self.asked, first, self.unreachable, self.predicted, self.pause)


async def read_stacks(engine: RankEngine, ranks: Iterable[int]) -> StacksReply:
    """Stacks of held ranks; those that run stand for as long as that takes."""
    wanted = tuple(sorted(set(ranks)))
    async with engine.standing(wanted) as standing:
        fresh = [held for held in standing.ranks if held.current is None]
        stacks = await stacks_of(engine, standing.ranks)
        predicted = engine.predicted(len(fresh), fresh=False)
    silent = list(standing.unreachable)
    there = {stack.rank for stack in stacks}
    silent += [engine.no_stack(held.rank.rank) for held in standing.ranks if held.rank.rank not in there]
    return StacksReply(wanted, tuple(stacks), tuple(silent), predicted, standing.pause)


async def snapshot(engine: RankEngine, ranks: Iterable[int] | None = None, *, keep: bool = False) -> StacksReply:
    """Attach to ranks (all of the job where None), read all stacks, let them go on: one burst.

    With `keep` the engine keeps hold of them, running; otherwise they are let go.

    Raises:
        BudgetTooSmall: They would stand for longer than the job bears.
    """
    unreachable = await engine.attach(ranks)
    asked = tuple(sorted({each.rank for each in unreachable} | {held.rank.rank for held in engine.all_held}))
    if ranks is not None:
        asked = tuple(sorted(set(ranks)))
    held = [found for rank in asked if (found := engine.held(rank)) is not None and found.stands]
    stacks = await stacks_of(engine, held)
    predicted = engine.pauses[-1].predicted if engine.pauses else 0.0
    numbers = [each.rank.rank for each in held]
    told = {stack.rank for stack in stacks} | {each.rank for each in unreachable}
    silent = tuple(engine.no_stack(rank) for rank in asked if rank not in told)
    if keep:
        await engine.go_on(numbers)
    else:
        await engine.release(numbers)
    pause = max((each.pause for each in held), default=0.0)
    return StacksReply(asked, tuple(stacks), (*unreachable, *silent), predicted, pause)


async def stacks_of(engine: RankEngine, ranks: Sequence[HeldRank]) -> list[RankStack]:
    """Stacks of ranks that stand."""
    work = []
    for each in engine.engines:
        mine = [held for held in ranks if each.reader.ranks.get(held.group) is held]
        if mine and each.hears:
            work.append(_of_one(each, mine))
    found = [stack for some in await asyncio.gather(*work) for stack in some]
    order = {held.rank.rank: place for place, held in enumerate(ranks)}
    return sorted(found, key=lambda stack: order[stack.rank])


async def _of_one(engine: NodeGdb, ranks: Sequence[HeldRank]) -> list[RankStack]:
    names = engine.submit("-thread-info")
    asked = [
        (held, thread, engine.submit(f"-stack-list-frames --thread {thread} --no-frame-filters 0 {DEEPEST - 1}"))
        for held in ranks
        for thread in sorted(held.threads)
    ]
    threads: dict[int, tuple[int, str]] = {}
    for row in rows_of((await names).results.get("threads")):
        match = _SYSTEM_ID.search(text_of(row.get("target-id")))
        system = int(match[1] or match[2]) if match is not None else 0
        threads[number_of(row.get("id")) or 0] = (system, text_of(row.get("name")))
    stacks = []
    for held, thread, answer in asked:
        try:
            frames = frames_of(await answer)
        except CommandFailed:
            continue
        system, name = threads.get(thread, (0, ""))
        stacks.append(RankStack(held.rank.rank, system, name, tuple(reversed(frames)), "t"))
    return stacks


def frames_of(answer: ResultRecord) -> list[RankFrame]:
    """Frames of an answer to `-stack-list-frames`, innermost first."""
    frames = []
    for row in rows_of(answer.results.get("stack")):
        frame = rank_frame(dict(row))
        if frame is not None:
            frames.append(frame)
    return frames

"""One look at a job: every source that stops nothing, and native stacks where they are wanted or all there is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ladder_backends.model.ranks import Collective, Evidence, Job, Rank, RankStack, RasCounts, Reading, Unreachable
from ladder_backends.model.stack_step import StackStep
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.python_frames import interpreter_of
from ladder_backends.ranks.native_stacks import PREDICTED, find_eu_stack, read_native_stacks
from ladder_backends.ranks.python_stacks import read_python_stacks
from ladder_backends.ranks.ras.reading import read_ras
from ladder_backends.ranks.recorder.reading import read_recorders
from ladder_backends.ranks.triage import triage

if TYPE_CHECKING:
    from ladder_backends.ranks.gdb_stacks import GdbStacks


@dataclass(frozen=True, slots=True)
class Look:
    """What a look is to ask.

    Attributes:
        stacks: How far it goes for stacks.
        triggers: It may write to the pipes by which torch is asked to dump.
        services: It asks the job's own services: debug server, RAS.
    """

    stacks: StackStep = StackStep.AUTO
    triggers: bool = True
    services: bool = True


async def look_at(
    job: Job, wish: Look | None = None, proc: ProcFiles | None = None, gdb: GdbStacks | None = None
) -> Evidence:
    """Ask every source about every rank of this host, those that stop nothing side by side.

    Args:
        job: Whose ranks.
        wish: What is asked.
        proc: Where processes are read.
        gdb: What reads stacks where a gdb is wished for; one that is warm already costs less time.
    """
    wish = wish or Look()
    proc = proc or ProcFiles()
    at = time.time()
    looking = asyncio.ensure_future(triage(job.ranks, proc=proc))
    readings: list[Reading] = []
    collectives: Mapping[int, tuple[Collective, ...]] = {}
    ras: tuple[RasCounts, ...] = ()
    if wish.services:
        (collectives, recorder), (ras, told) = await asyncio.gather(
            read_recorders(job, may_trigger=wish.triggers), read_ras(job, proc=proc)
        )
        readings = [recorder, told]
    seen = await looking
    readings.insert(0, seen.reading)
    gone = {each.rank for each in seen.reading.silent}
    python: tuple[RankStack, ...] = ()
    native: tuple[RankStack, ...] = ()
    if wish.stacks is not StackStep.NONE:
        python, reading = await read_python_stacks(job.ranks, leave_out=gone, proc=proc)
        readings.append(reading)
    if wish.stacks in (StackStep.AUTO, StackStep.NATIVE):
        every = wish.stacks is StackStep.NATIVE
        wanted = job.ranks if every else await asyncio.to_thread(_without_python, job.ranks)
        if wanted:
            native, reading = await read_native_stacks(wanted, leave_out=gone, proc=proc)
            readings.append(reading)
    if wish.stacks is StackStep.GDB:
        engine = gdb or _gdb(job, collectives)
        try:
            native, reading = await engine.read(gone)
        finally:
            if gdb is None:
                await engine.close()
        readings.append(reading)
    unreachable = [Unreachable(rank, why) for rank, why in job.missing]
    unreachable += seen.reading.silent
    return Evidence(
        job,
        at,
        tuple(readings),
        seen.activity,
        python,
        native,
        collectives,
        ras,
        tuple(sorted(unreachable, key=lambda each: each.rank)),
    )


async def look_often(
    job: Job,
    wish: Look | None = None,
    *,
    times: int = 2,
    between: float = 1.0,
    announce: Callable[[float], None] = lambda _seconds: None,
) -> AsyncIterator[Evidence]:
    """Several looks, `between` seconds from the end of one to the beginning of the next.

    Args:
        job: Whose ranks.
        wish: What is asked at each.
        times: How many looks.
        between: Seconds.
        announce: Told for how many seconds a rank will stand at most, before one does.
    """
    wish = wish or Look()
    gdb = _gdb(job, None, announce) if wish.stacks is StackStep.GDB else None
    if gdb is None and await asyncio.to_thread(holds, job, wish):
        announce(PREDICTED)
    try:
        for number in range(times):
            if number:
                await asyncio.sleep(between)
            yield await look_at(job, wish, gdb=gdb)
    finally:
        if gdb is not None:
            await gdb.close()


def holds(job: Job, wish: Look) -> bool:
    """Whether a look makes any rank stand."""
    if wish.stacks is StackStep.AUTO:
        return find_eu_stack() is not None and bool(_without_python(job.ranks))
    return wish.stacks is StackStep.GDB or (wish.stacks is StackStep.NATIVE and find_eu_stack() is not None)


def _gdb(
    job: Job,
    collectives: Mapping[int, tuple[Collective, ...]] | None,
    announce: Callable[[float], None] = lambda _seconds: None,
) -> GdbStacks:
    # A gdb is the dearest of all: what starts none imports none of it.
    from ladder_backends.ranks.gdb_stacks import GdbStacks

    return GdbStacks(job, collectives, announce)


def _without_python(ranks: Sequence[Rank]) -> tuple[Rank, ...]:
    return tuple(rank for rank in ranks if interpreter_of(rank.pid) is None)

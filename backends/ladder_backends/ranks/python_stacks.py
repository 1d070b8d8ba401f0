"""Python stacks of all ranks at once, by py-spy without blocking: no rank stops."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Collection, Sequence

from ladder_backends.model.python_stack import PythonSnapshot
from ladder_backends.model.ranks import Rank, RankFrame, RankSource, RankStack, Reading, Unreachable
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.python_frames import PythonUnreadable, find_py_spy, interpreter_of, snapshot
from ladder_backends.ranks.triage import is_same_process

PREDICTED = 0.0
"""Seconds that a rank stands still: it does not."""

_DEADLINE = 10.0


async def read_python_stacks(
    ranks: Sequence[Rank], *, leave_out: Collection[int] = (), proc: ProcFiles | None = None
) -> tuple[tuple[RankStack, ...], Reading]:
    """The Python threads of those ranks that run Python.

    Args:
        ranks: Of this host.
        leave_out: Numbers of ranks that are known not to be there any more.
        proc: Where it is read whether they are.
    """
    proc = proc or ProcFiles()
    begun = time.monotonic()
    asked = [rank for rank in ranks if rank.rank not in leave_out]
    found: dict[int, tuple[RankStack, ...]] = {}
    silent: list[Unreachable] = []
    python = [rank for rank in asked if interpreter_of(rank.pid) is not None]
    if not python:
        return (), Reading(RankSource.PY_SPY, note="no rank runs Python")
    executable = find_py_spy()
    if executable.path is None:
        why, remedy = executable.missing, "install py-spy, or set LADDER_PY_SPY to it"
        silent = [Unreachable(rank.rank, why, remedy) for rank in python]
        return (), Reading(RankSource.PY_SPY, (), tuple(silent), note=why)
    slots = asyncio.Semaphore(2 * (os.cpu_count() or 1))

    async def one(rank: Rank) -> None:
        async with slots:
            try:
                told = await snapshot(rank.pid, deadline=_DEADLINE)
            except PythonUnreadable as error:
                silent.append(Unreachable(rank.rank, error.why or error.what, error.remedy))
                return
        if is_same_process(rank, proc):
            found[rank.rank] = stacks_of(rank, told, proc)
        else:
            silent.append(Unreachable(rank.rank, f"process {rank.pid} has ended meanwhile"))

    await asyncio.gather(*(one(rank) for rank in python))
    stacks = tuple(stack for number in sorted(found) for stack in found[number])
    without = len(asked) - len(python)
    note = f"{without} of {len(asked)} ranks run no Python" if without else ""
    reading = Reading(
        RankSource.PY_SPY,
        tuple(sorted(found)),
        tuple(sorted(silent, key=lambda each: each.rank)),
        PREDICTED,
        0.0,
        time.monotonic() - begun,
        note,
    )
    return stacks, reading


def stacks_of(rank: Rank, told: PythonSnapshot, proc: ProcFiles) -> tuple[RankStack, ...]:
    """The threads of one snapshot."""
    return tuple(
        RankStack(
            rank.rank,
            thread.os_thread or 0,
            thread.name,
            tuple(
                RankFrame(frame.function, frame.file, frame.line, language="python", entry=frame.entry)
                for frame in reversed(thread.frames)
            ),
            thread_state(rank.pid, thread.os_thread, proc),
        )
        for thread in told.threads
    )


def thread_state(pid: int, thread: int | None, proc: ProcFiles) -> str:
    """The kernel's letter of a thread; empty where it is not known."""
    if not thread:
        return ""
    fields = proc.raw(f"{pid}/task/{thread}", "stat", 4096).rpartition(b")")[2].split()
    return fields[0].decode("ascii", "replace") if fields else ""

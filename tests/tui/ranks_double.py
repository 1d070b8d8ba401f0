"""Jobs, looks and verdicts for the ranks rung, made by hand: no process is looked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ladder_backends.model.ranks import (
    Collective,
    Evidence,
    Job,
    Launcher,
    Rank,
    RankActivity,
    RankFrame,
    RankSource,
    RankStack,
    Reading,
    Unreachable,
)

C10D = "/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"


def job(size: int = 8, key: str = "torchrun:none@127.0.0.1:29500", missing: Sequence[int] = ()) -> Job:
    ranks = tuple(
        Rank(rank, 4000 + rank, "n1", 77, "/usr/bin/python3", ("python3", "train.py"), rank, "S")
        for rank in range(size)
        if rank not in missing
    )
    gone = tuple((rank, "no live process") for rank in missing)
    title = f"torchrun train.py · {size} ranks"
    return Job(key, Launcher.TORCHRUN, 99, size, ranks, gone, ("environment",), title=title)


def hang(of: Job | None = None, at: float = 1_000.0, *, late: int = 3) -> Evidence:
    """One rank reads a file, the others wait in all_reduce #4."""
    job_ = of or job()
    stacks, collectives = [], {}
    for rank in job_.ranks:
        frames = [RankFrame("<module>", "/src/train.py", 240, language="python")]
        frames.append(RankFrame("step", "/src/train.py", 212, language="python", entry=False))
        kept: dict[str, Any] = {
            "group": "0 (default_pg)",
            "dtype": "bfloat16",
            "sizes": ((16,),),
            "time_out": 600.0,
        }
        told = [Collective(seq, "all_reduce", state="completed", age=60.0, **kept) for seq in range(1, 4)]
        if rank.rank == late:
            frames.append(RankFrame("next_batch", "/src/loader.py", 41, language="python", entry=False))
        else:
            frames.append(RankFrame("all_reduce", C10D, 3913, language="python", entry=False))
            told.append(Collective(4, "all_reduce", state="started", age=41.0, **kept))
        stacks.append(RankStack(rank.rank, rank.pid, "MainThread", tuple(frames)))
        collectives[rank.rank] = tuple(told)
    every = tuple(rank.rank for rank in job_.ranks)
    return Evidence(
        job_,
        at,
        (
            Reading(RankSource.PROC, every),
            Reading(RankSource.RECORDER, every),
            Reading(RankSource.RAS, note="no rank runs NCCL"),
            Reading(RankSource.PY_SPY, every),
        ),
        tuple(RankActivity(rank, "S", syscall="read" if rank == late else "futex") for rank in every),
        tuple(stacks),
        (),
        collectives,
        unreachable=tuple(Unreachable(rank, why) for rank, why in job_.missing),
    )


class Looks:
    """Stands in for discovery and for looking: what it gives, and what it was asked."""

    def __init__(self, jobs: Sequence[Job], give: Callable[[Job], Evidence]) -> None:
        self.jobs = tuple(jobs)
        self.give = give
        self.asked: list[str] = []
        self.at = 1_000.0

    async def look(self, job_: Job, wish: Any = None, proc: Any = None, gdb: Any = None) -> Evidence:
        self.asked.append(str(wish.stacks))
        self.at += 1
        told = replace(self.give(job_), at=self.at)
        if str(wish.stacks) != "native":
            return told
        reading = Reading(RankSource.EU_STACK, told.readings[0].answered, predicted=0.15, measured=0.02)
        native = tuple(
            RankStack(one.rank, one.thread, "python", (RankFrame("main"), RankFrame("read"))) for one in told.python
        )
        return replace(told, native=native, readings=(*told.readings, reading))

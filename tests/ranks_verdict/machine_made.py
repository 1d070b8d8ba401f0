"""Evidence made by hand: a job, its stacks, collectives and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    RankStack,
    RasCounts,
    Unreachable,
)

C10D = "/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
MAIN = RankFrame("main", "/src/solver.c", 40, "/src/solver")


def pid(rank: int) -> int:
    return 4000 + rank


def job(size: int, missing: Mapping[int, str] | None = None) -> Job:
    gone = missing or {}
    ranks = tuple(
        Rank(rank, pid(rank), "n1", 77, "/usr/bin/python3", state="S") for rank in range(size) if rank not in gone
    )
    return Job("torchrun:29500", Launcher.TORCHRUN, 99, size, ranks, tuple(gone.items()), ("environment",))


def call(seq: int, op: str = "all_reduce", **more: Any) -> Collective:
    kept: dict[str, Any] = {
        "sizes": ((16,),), "output_sizes": ((16,),), "dtype": "float", "state": "scheduled", "age": 41.0,
        "group": "0 (default_pg)",
    }  # fmt: skip
    return Collective(seq, op, **{**kept, **more})


def done(last: int, **more: Any) -> tuple[Collective, ...]:
    return tuple(call(seq, state="completed", **more) for seq in range(1, last + 1))


def script(rank: int, *lines: tuple[str, int], inside: str = "", at: str = "/src/train.py") -> RankStack:
    """A Python stack: functions and lines of a script, in torch's collective where one is named."""
    frames = [RankFrame(function, at, line, language="python", entry=not number) for number, (function, line) in
              enumerate(lines)]  # fmt: skip
    if inside:
        frames.append(RankFrame(inside, C10D, 3913, language="python", entry=False))
    return RankStack(rank, pid(rank), "MainThread", tuple(frames))


def native(rank: int, *functions: str, line: int = 17) -> RankStack:
    """A stack of an MPI program: main, what is named, each with its line where it is the program's own."""
    frames = [
        RankFrame(name) if name.startswith(("PMPI_", "MPI_", "opal_", "__", "read", "clock_"))
        else RankFrame(name, "/src/solver.c", line)
        for name in functions
    ]  # fmt: skip
    return RankStack(rank, pid(rank), "solver", (MAIN, *frames))


def look(size: int, at: float = 1_000.0, **told: Any) -> Evidence:
    missing = told.pop("missing", None)
    return Evidence(told.pop("job", None) or job(size, missing), at, **told)


def twice(evidence: Evidence, **changed: Any) -> list[Evidence]:
    """The same at two looks; `changed` differs at the first."""
    return [replace(evidence, **changed), replace(evidence, at=evidence.at + 5)]


def active(rank: int, state: str = "S", **more: Any) -> RankActivity:
    return RankActivity(rank, state, **more)


def ras(rank: int, count: int, *, unchanged: bool = True, state: str = "RUNNING") -> RasCounts:
    return RasCounts(rank, "0a6a2b5b", {"AllReduce": count}, unchanged, state)


def quiet(ranks: Sequence[int], reason: str = "no answer within 3 s") -> tuple[Unreachable, ...]:
    return tuple(Unreachable(rank, reason) for rank in ranks)

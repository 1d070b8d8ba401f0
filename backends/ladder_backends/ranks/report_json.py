"""A job, and looks at it, in the shape of `ladder-tui ranks --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ladder_backends.model.rank_verdict import RankVerdict
from ladder_backends.model.ranks import Evidence, Job, Rank, RankActivity, Reading
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.stacks import StackTree, merge
from ladder_backends.ranks.stacks.tree_json import tree_json
from ladder_backends.ranks.verdict import joined_stacks, verdict_json

_MOST_COLLECTIVES = 5
"""Of each rank's collectives, the last ones that are told."""


def job_json(job: Job) -> dict[str, Any]:
    """A job as it was found."""
    return {
        "key": job.key,
        "launcher": str(job.launcher),
        "launcher_pid": job.launcher_pid,
        "title": job.title,
        "size": job.size,
        "found": len(job.ranks),
        "hosts": list(job.hosts),
        "restart": job.restart,
        "sources": list(job.sources),
        "mesh": {"axes": dict(job.mesh.axes), "source": job.mesh.source} if job.mesh is not None else None,
        "missing": [{"rank": rank, "reason": why} for rank, why in job.missing],
        "elsewhere": fold(job.elsewhere),
        "notes": list(job.notes),
        "ranks": [_rank_json(rank, job) for rank in job.ranks],
    }


def jobs_json(jobs: Sequence[Job]) -> dict[str, Any]:
    """All jobs of this host."""
    return {"format": 1, "jobs": [job_json(job) for job in jobs]}


def look_json(
    samples: Sequence[Evidence], verdicts: Sequence[RankVerdict], tree: StackTree | None = None
) -> dict[str, Any]:
    """The last of several looks, with what all of them say."""
    now = samples[-1]
    merged = tree_json(tree if tree is not None else tree_of(now))
    activity = {each.rank: each for each in now.activity}
    return {
        "format": 1,
        "at": round(now.at, 3),
        "job": job_json(now.job),
        **_asked(now, merged),
        "classes": merged["classes"],
        "tree": merged["tree"],
        "verdict": verdict_json(verdicts[0], verdicts[1:]) if verdicts else None,
        "samples": len(samples),
        "activity": [_activity_json(activity[rank.rank]) for rank in now.job.ranks if rank.rank in activity],
        "collectives": [
            _collectives_json(now, rank.rank) for rank in now.job.ranks if rank.rank in now.collectives
        ],
        "ras": [
            {
                "rank": each.rank,
                "communicator": each.communicator,
                "counts": dict(each.counts),
                "unchanged": each.unchanged,
                "state": each.state or None,
            }
            for each in now.ras
        ],
        "evidence": [_reading_json(reading) for reading in now.readings],
    }


def tree_of(evidence: Evidence) -> StackTree:
    """The merged stacks of a look; ranks without one are told with their reasons."""
    stacks = joined_stacks(evidence)
    heard = {stack.rank for stack in stacks}
    silent = {each.rank: each for each in evidence.unreachable}
    for reading in reversed(evidence.readings):
        if reading.source in ("py-spy", "eu-stack", "gdb"):
            for each in reading.silent:
                silent.setdefault(each.rank, each)
    return merge(stacks, unreachable=[each for rank, each in sorted(silent.items()) if rank not in heard])


def _asked(now: Evidence, merged: dict[str, Any]) -> dict[str, Any]:
    """Whom the look asked: every rank that the job should have; and who answered at all."""
    numbers = {rank.rank for rank in now.job.ranks} | {rank for rank, _ in now.job.missing}
    asked = max(now.job.size or 0, len(numbers))
    gone = {each.rank for each in now.unreachable}
    answered = sum(1 for rank in now.job.ranks if rank.rank not in gone)
    rows = {row["rank"]: row for row in merged["unreachable"]}
    for rank in now.job.elsewhere:
        rows[rank] = {"rank": rank, "reason": "it runs on another host, where nobody has looked", "remedy": None}
    return {"asked": asked, "answered": answered, "unreachable": [rows[rank] for rank in sorted(rows)]}


def _rank_json(rank: Rank, job: Job) -> dict[str, Any]:
    return {
        "rank": rank.rank,
        "pid": rank.pid,
        "host": rank.host,
        "local_rank": rank.local_rank,
        "executable": rank.executable,
        "command": list(rank.command),
        "state": rank.state,
        "wchan": rank.wchan or None,
        "tracer": rank.tracer or None,
        "place": job.mesh.coordinates(rank.rank) if job.mesh is not None else None,
        "others": [{"pid": other.pid, "command": other.command, "why": other.why} for other in rank.others],
    }


def _activity_json(each: RankActivity) -> dict[str, Any]:
    return {
        "rank": each.rank,
        "state": each.state,
        "wchan": each.wchan or None,
        "syscall": each.syscall or None,
        "tracer": each.tracer or None,
        "threads": each.threads,
        "cpu": round(each.cpu, 3) if each.cpu is not None else None,
        "between": round(each.between, 3),
        "obstacle": each.obstacle or None,
        "remedy": each.remedy or None,
    }


def _collectives_json(now: Evidence, rank: int) -> dict[str, Any]:
    every = now.collectives[rank]
    return {
        "rank": rank,
        "recorded": len(every),
        "last": [
            {
                "group": each.group,
                "seq": each.seq,
                "op": each.op,
                "sizes": [list(size) for size in each.sizes],
                "dtype": each.dtype,
                "state": each.state,
                "age": round(each.age, 3) if each.age is not None else None,
                "source": str(each.source),
            }
            for each in every[-_MOST_COLLECTIVES:]
        ],
    }


def _reading_json(reading: Reading) -> dict[str, Any]:
    return {
        "source": str(reading.source),
        "answered": fold(reading.answered),
        "silent": [
            {"rank": each.rank, "reason": each.reason, "remedy": each.remedy or None} for each in reading.silent
        ],
        "pause_predicted": reading.predicted,
        "pause_measured": round(reading.measured, 4),
        "took": round(reading.took, 4),
        "note": reading.note or None,
    }

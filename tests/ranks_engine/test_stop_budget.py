"""How long ranks may be held, who says so, and a job that its own watchdog would end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Collective
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine import RankEngine
from ladder_backends.ranks.engine.stop_budget import BREATH, Limit, StopBudget, limits_of


def process(folder: Path, pid: int, libraries: str, **variables: str) -> None:
    (folder / str(pid)).mkdir()
    (folder / str(pid) / "maps").write_text(f"7f00-7f01 r-xp 00000000 00:00 1 {libraries}\n")
    (folder / str(pid) / "environ").write_text("".join(f"{name}={value}\0" for name, value in variables.items()))


def test_limits_come_from_the_recorder_the_environment_and_the_user(tmp_path: Path) -> None:
    process(tmp_path, 1, "/lib/libnccl.so.2", TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC="120")
    process(tmp_path, 2, "/lib/libnccl.so.2", NCCL_RAS_ENABLE="0", TORCH_NCCL_ENABLE_MONITORING="0")
    process(tmp_path, 3, "/lib/libmpi.so.40")
    proc = ProcFiles(tmp_path)
    assert [(each.seconds, each.source) for each in limits_of([1, 2, 3], proc=proc)] == [
        (60.0, "NCCL RAS gives a silent peer up"),
        (120.0, "heartbeat of PyTorch's NCCL watchdog"),
    ]
    assert limits_of([2, 3], proc=proc) == ()
    waiting = Collective(17, "all_reduce", state="started", age=590.0, time_out=600.0)
    done = Collective(16, "all_reduce", state="completed", age=599.0, time_out=600.0)
    limits = limits_of([3], {0: (done, waiting), 1: (done,)}, 1000.0, proc)
    assert [(each.seconds, each.source) for each in limits] == [
        (10.0, "time-out of all_reduce 17 (flight recorder)"),
        (600.0, "time-out of group default (flight recorder)"),
        (1000.0, "as asked"),
    ]


async def test_a_budget_counts_over_short_breaths_and_anew_after_long_ones() -> None:
    over: list[Limit] = []
    budget = StopBudget([Limit(100.0, "long"), Limit(10.0, "short")], over.append)
    assert budget.left is None
    now = time.monotonic()
    budget.follow(now - 3)
    assert budget.left == pytest.approx(5, abs=0.2)
    budget.follow(None)
    budget.follow(time.monotonic())
    assert budget.left == pytest.approx(5, abs=0.2)
    budget.follow(None)
    budget.follow(time.monotonic() + BREATH)
    assert budget.left == pytest.approx(8 + BREATH, abs=0.2)
    budget.change([Limit(0.1, "now")])
    await asyncio.sleep(0)
    budget.follow(None)
    budget.follow(time.monotonic() - 5)
    await asyncio.sleep(0.05)
    assert [limit.source for limit in over] == ["now"]
    # It goes on a moment later: that is no hold of its own.
    budget.follow(time.monotonic() - 5)
    await asyncio.sleep(0.02)
    assert len(over) == 1
    budget.close()
    budget.follow(time.monotonic() - 5)
    assert budget.left is None


@pytest.mark.parametrize("allowed", [None, 3.0])
async def test_a_job_outlives_its_watchdog_with_a_budget_alone(steady, allowed: float | None) -> None:
    steady.may_die = allowed is None
    dog = subprocess.Popen(  # noqa: ASYNC220 - returns at once
        [
            sys.executable,
            Path(__file__).parent / "watchdog.py",
            "3",
            steady.folder,
            *map(str, steady.pids.values()),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert dog.stdout is not None
    engine = RankEngine(steady.job, hold_at_most=allowed)
    try:
        assert dog.stdout.readline() == "watching\n"
        await engine.attach()
        end = time.monotonic() + 8
        while time.monotonic() < end and dog.poll() is None:  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.05)
        # Held without a budget, the job is ended by its watchdog.
        assert dog.poll() == (1 if allowed is None else None)
    finally:
        dog.kill()
        dog.wait()
        dog.stdout.close()
        await engine.close()

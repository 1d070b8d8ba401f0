"""Ranks of PyTorch whose collectives give up after five seconds: full stacks of all, and the job lives on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Collective, Job, Launcher, Rank
from ladder_backends.ranks.engine import BudgetTooSmall, RankEngine, read_stacks, snapshot
from ladder_backends.ranks.engine.fitness import start_of

pytestmark = pytest.mark.torch
_PYTHON = os.environ.get("LADDER_TORCH_PYTHON", "")
SIZE, TIME_OUT = 2, 5.0


class TorchJob:
    """Ranks that were started by hand."""

    def __init__(self, folder: Path, processes: list[subprocess.Popen[bytes]]) -> None:
        self.folder, self.processes = folder, processes

    def beat(self, rank: int) -> int:
        with contextlib.suppress(OSError):
            return int.from_bytes((self.folder / f"beat-{rank}").read_bytes()[:8], "little")
        return 0

    def lives(self, seconds: float = 20.0) -> bool:
        before = [self.beat(rank) for rank in range(SIZE)]
        end = time.monotonic() + seconds
        while time.monotonic() < end and all(process.poll() is None for process in self.processes):
            if all(self.beat(rank) > before[rank] for rank in range(SIZE)):
                return True
            time.sleep(0.05)
        return False

    @property
    def job(self) -> Job:
        ranks = tuple(
            Rank(number, process.pid, "", start_of(process.pid) or 0, "")
            for number, process in enumerate(self.processes)
        )
        return Job("torch", Launcher.PIDS, None, SIZE, ranks)


@pytest.fixture
def reducing(tmp_path: Path, free_port: int) -> Iterator[TorchJob]:
    if not _PYTHON:
        pytest.skip("LADDER_TORCH_PYTHON names no Python with torch")
    script = Path(__file__).parent / "programs" / "reducing.py"
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port), "WORLD_SIZE": str(SIZE)}
    with open(tmp_path / "output", "wb") as output:
        processes = [
            subprocess.Popen(
                [_PYTHON, script, tmp_path, str(TIME_OUT)],
                env={**os.environ, **shared, "RANK": str(rank), "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            for rank in range(SIZE)
        ]
    job = TorchJob(tmp_path, processes)
    try:
        assert job.lives(60), (tmp_path / "output").read_text()[-2000:]
        yield job
        assert job.lives(), (tmp_path / "output").read_text()[-2000:]
    finally:
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


@pytest.mark.timeout(240)
async def test_full_stacks_within_a_time_out_of_five_seconds(reducing: TorchJob) -> None:
    engine = RankEngine(reducing.job, hold_at_most=TIME_OUT)
    try:
        # Seconds, while the ranks run.
        assert await engine.warm() == ()
        assert reducing.lives()
        found = await snapshot(engine, keep=True)
        assert found.main.headline == "answered 2 of 2"
        assert found.pause < TIME_OUT
        names = {frame.function for stack in found.stacks for frame in stack.frames}
        assert any("gloo" in name or "c10d" in name for name in names), sorted(names)
        assert reducing.lives()
        again = await read_stacks(engine, range(SIZE))
        assert len(again.stacks) >= len(found.stacks)
    finally:
        await engine.close()


@pytest.mark.timeout(240)
async def test_a_collective_that_is_nearly_over_is_not_made_to_wait(reducing: TorchJob) -> None:
    waiting = Collective(7, "all_reduce", state="started", age=TIME_OUT - 0.2, time_out=TIME_OUT)
    engine = RankEngine(reducing.job, collectives={0: (waiting,)})
    try:
        await engine.warm()
        with pytest.raises(BudgetTooSmall, match="time-out of all_reduce 7"):
            await snapshot(engine)
        assert engine.all_held == []
    finally:
        await engine.close()

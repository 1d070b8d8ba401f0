"""Jobs of PyTorch on real GPUs: ranks that share one under gloo, NCCL's own RAS, and a rank of two that parts."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .test_two_gpus import gpus_here

PROGRAM = Path(__file__).parent / "programs" / "gpu_ranks.py"

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch beside the tests")


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


class Job:
    """A job under torchrun."""

    def __init__(self, folder: Path, ranks: int, backend: str, sleeper: int) -> None:
        self.output = folder / "output"
        environment = {
            **os.environ,
            "DEMO_DEBUG_PORT": str(free_port()),
            "NCCL_NVLS_ENABLE": "0",
            "OMP_NUM_THREADS": "1",
            "TORCH_FR_BUFFER_SIZE": "2000",
        }
        command = [sys.executable, "-m", "torch.distributed.run", "--master-port", str(free_port())]
        with self.output.open("wb") as out:
            self.process = subprocess.Popen(
                [*command, "--nproc-per-node", str(ranks), PROGRAM, backend, str(sleeper)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
            )

    def wait(self, words: str) -> None:
        end = time.monotonic() + 90
        while words not in self.output.read_text(errors="replace"):
            assert self.process.poll() is None, self.output.read_text(errors="replace")[-3000:]
            assert time.monotonic() < end, self.output.read_text(errors="replace")[-3000:]
            time.sleep(0.1)

    def look(self, *options: str) -> tuple[int, Any]:
        """What the command says of it, as JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "ladder_tui", "ranks", "--pid", str(self.process.pid), "--json", *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, json.loads(done.stdout)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Callable[[int, str, int], Job]]:
    started: list[Job] = []

    def start(ranks: int, backend: str, sleeper: int = -1) -> Job:
        started.append(Job(tmp_path, ranks, backend, sleeper))
        return started[-1]

    yield start
    for one in started:
        alive = one.process.poll() is None
        one.end()
        assert alive, "the job ended before the test did"


def readings(document: Any) -> dict[str, Any]:
    return {one["source"]: one for one in document["evidence"]}


def test_a_rank_that_leaves_three_others_waiting_on_one_gpu(job: Callable[..., Job]) -> None:
    running = job(4, "gloo", 2)
    running.wait("step 4")
    time.sleep(2)
    status, document = running.look()
    print(json.dumps(document["verdict"]))
    assert (status, document["asked"], document["answered"]) == (1, 4, 4)
    assert "Rank 2 has not joined all_reduce #6" in document["verdict"]["sentence"]
    assert "gpu_ranks.py" in document["verdict"]["sentence"]
    begun = time.monotonic()
    status, document = running.look("--stacks", "gdb")
    print(f"native stacks of 4 ranks with CUDA in {time.monotonic() - begun:.1f} s")
    print(json.dumps([one for one in document["evidence"] if one.get("pause_measured")]))
    assert status == 1


def test_what_ras_tells_of_a_job_of_nccl(job: Callable[..., Job]) -> None:
    running = job(1, "nccl")
    running.wait("step 3")
    status, document = running.look()
    assert status == 0, document["verdict"]
    told = readings(document)["RAS"]
    print(told)
    assert told["answered"] == "0"
    assert told["note"].startswith("NCCL")


@pytest.mark.skipif(gpus_here() < 2, reason="needs two GPUs")
def test_a_rank_that_leaves_the_others_in_nccl(job: Callable[..., Job]) -> None:
    ranks = gpus_here()
    running = job(ranks, "nccl", 1)
    running.wait("step 4")
    time.sleep(3)
    status, document = running.look("--stacks", "gdb")
    print(json.dumps(document["verdict"]))
    assert (status, document["asked"], document["answered"]) == (1, ranks, ranks)
    assert document["verdict"]["sentence"].startswith("Rank 1 has not joined")

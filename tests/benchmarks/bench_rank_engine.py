"""Attach to all ranks of a job and read all stacks: a warm engine beside one raw gdb, and beside one each."""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ladder_backends.model.ranks import Job, Launcher, Rank
from ladder_backends.paths import find_engine
from ladder_backends.ranks.engine import RankEngine, read_stacks
from ladder_backends.ranks.engine.fitness import start_of
from ladder_backends.ranks.engine.printing import evaluate

RANKS, RUNS = 16, 5
_SOURCE = Path(__file__).parents[1] / "ranks_engine" / "programs" / "steady_ranks.c"


def rows() -> Iterator[dict[str, Any]]:
    """See `run.py`."""
    gdb, compiler, launcher = find_engine("gdb").path, shutil.which("mpicc.openmpi"), shutil.which("mpirun.openmpi")
    if gdb is None or compiler is None or launcher is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "steady"
        subprocess.run([compiler, "-g", "-O0", "-o", program, _SOURCE, "-lm"], check=True)
        command = [launcher, "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS), program, folder]
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            pids = _ranks(program)
            yield from _measured(gdb, pids)
        finally:
            job.terminate()
            job.wait(30)


def _measured(gdb: Path, pids: Sequence[int]) -> Iterator[dict[str, Any]]:
    raw, ours, apart = [], [], []
    work, raw_work = [], []
    again: list[float] = []
    values: list[float] = []
    for _ in range(RUNS):
        before = _of_children()
        raw.append(_timed(lambda: _one_gdb(gdb, pids)))
        raw_work.append(_of_children() - before)
        took = asyncio.run(_ours(pids))
        work.append(took[3])
        ours.append(took[0])
        again.append(took[1])
        values.append(took[2])
    apart.append(_timed(lambda: _gdb_each(gdb, pids)))
    what = f"attach to {RANKS} ranks and read all stacks"
    yield {
        "what": what,
        "ours": statistics.median(ours),
        "unit": "s",
        "partner": statistics.median(raw),
        "of": "one raw gdb",
        "budget": 1.2,
    }
    yield {
        "what": f"{what}, time on a processor",
        "ours": statistics.median(work),
        "unit": "s",
        "partner": statistics.median(raw_work),
        "of": "one raw gdb",
        "budget": 1.2,
    }
    yield {
        "what": what,
        "ours": statistics.median(ours),
        "unit": "s",
        "partner": statistics.median(apart),
        "of": f"{RANKS} raw gdbs",
        "budget": 0.5,
    }
    yield {"what": f"all stacks of {RANKS} held ranks", "ours": statistics.median(again), "unit": "s"}
    yield {"what": f"an expression on {RANKS} held ranks", "ours": statistics.median(values), "unit": "s"}


def _of_children() -> float:
    """Seconds on a processor of processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_process(pid: int | None) -> float:
    """Seconds on a processor of one that runs, all threads; see `stat` in proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _timed(work: Any) -> float:
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def _ranks(program: Path) -> list[int]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = []
        for name in os.listdir("/proc"):
            if name.isdecimal():
                try:
                    if os.readlink(f"/proc/{name}/exe") == str(program):
                        found.append(int(name))
                except OSError:
                    continue
        if len(found) == RANKS:
            time.sleep(2)
            return found
        time.sleep(0.1)
    raise RuntimeError("the job did not start")


def _one_gdb(gdb: Path, pids: Sequence[int]) -> None:
    command = [str(gdb), "-nx", "-batch", "-iex", "set debuginfod enabled off"]
    for number, pid in enumerate(pids, 1):
        if number > 1:
            command += ["-ex", "add-inferior", "-ex", f"inferior {number}"]
        command += ["-ex", f"attach {pid}"]
    command += ["-ex", "thread apply all bt"]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)


def _gdb_each(gdb: Path, pids: Sequence[int]) -> None:
    command = [str(gdb), "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "thread apply all bt", "-p"]
    quiet = subprocess.DEVNULL
    running = [subprocess.Popen([*command, str(pid)], stdin=quiet, stdout=quiet, stderr=quiet) for pid in pids]
    for each in running:
        each.wait(300)


async def _ours(pids: Sequence[int]) -> tuple[float, float, float, float]:
    ranks = tuple(Rank(number, pid, "", start_of(pid) or 0, "") for number, pid in enumerate(pids))
    engine = RankEngine(Job("bench", Launcher.PIDS, None, len(ranks), ranks))
    try:
        # The job runs meanwhile.
        await engine.warm()
        before = _of_process(engine.engines[0].pid) + time.process_time()
        marks = [time.monotonic()]
        await engine.attach()
        first = await read_stacks(engine, range(len(ranks)))
        assert not first.unreachable
        marks.append(time.monotonic())
        work = _of_process(engine.engines[0].pid) + time.process_time() - before
        await read_stacks(engine, range(len(ranks)))
        marks.append(time.monotonic())
        await evaluate(engine, range(len(ranks)), "turns")
        marks.append(time.monotonic())
    finally:
        await engine.close()
    took = [after - before for before, after in itertools.pairwise(marks)]
    return took[0], took[1], took[2], work

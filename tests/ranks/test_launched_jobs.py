"""Jobs that are started here: their output always flows, and who ended first is told."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ladder_backends.errors import LadderError
from ladder_backends.ranks.deaths import RankEnd, first_of, first_words, with_messages
from ladder_backends.ranks.launching import LaunchedJob
from ladder_backends.ranks.process_table import ProcessTable


def launcher(flavour, ranks):
    if flavour == "openmpi":
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return ["mpirun.openmpi", *as_root, "--oversubscribe", "-n", str(ranks)]
    return [f"mpirun.{flavour}", "-n", str(ranks)]


async def until(what, patience=30.0):
    end = time.monotonic() + patience
    while not what():
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


async def started(program, flavour, ranks, folder, out=None):
    """A launched job whose ranks are all up, seen and watched."""
    folder.mkdir(exist_ok=True)
    null = os.open(os.devnull, os.O_WRONLY)
    job = LaunchedJob(
        [*launcher(flavour, ranks), str(program), str(folder)], out if out is not None else null, null
    )
    running = asyncio.ensure_future(job.run())
    await until(lambda: all((folder / f"up-{rank}").exists() for rank in range(ranks)) or running.done())
    await until(lambda: (job.job is not None and len(job.job.ranks) == ranks) or running.done())
    await asyncio.sleep(0.3)
    return job, running


@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
@pytest.mark.parametrize(("order", "how"), [("crash-1", "signal 11 (SIGSEGV)"), ("exit-2", "exit code 3")])
async def test_the_rank_that_ended_first_is_told(mpi_program, tmp_path, flavour, order, how):
    job, running = await started(mpi_program(flavour, "mpi_waiting"), flavour, 3, tmp_path / "job")
    (job_folder := tmp_path / "job").joinpath(order).touch()
    code = await asyncio.wait_for(running, 30)
    assert code != 0
    first = first_of(job.ends)
    assert first is not None
    assert first.rank == int(order[-1])
    assert how in first_words(job.ends)
    assert sorted(end.rank for end in job.ends) == [0, 1, 2]
    assert job_folder.exists()


async def test_a_job_that_ends_well_has_no_first(mpi_program, tmp_path):
    job, running = await started(mpi_program("openmpi", "mpi_waiting"), "openmpi", 2, tmp_path / "job")
    (tmp_path / "job" / "end").touch()
    assert await asyncio.wait_for(running, 30) == 0
    assert first_words(job.ends) == ""
    assert [end.status for end in job.ends] == [0, 0]


async def test_a_reader_that_stops_reading_does_not_stop_the_job(mpi_program, tmp_path):
    read, write = os.pipe()
    job, running = await started(mpi_program("openmpi", "mpi_waiting"), "openmpi", 2, tmp_path / "job", out=write)
    try:
        (tmp_path / "job" / "flood-0").touch()
        (tmp_path / "job" / "flood-1").touch()
        # Some hundred megabytes go past in the time it takes; a pipe that nobody empties holds 64 KiB.
        await asyncio.sleep(3)
        (tmp_path / "job" / "end").touch()
        assert await asyncio.wait_for(running, 40) == 0
        assert job.dropped > 0
    finally:
        os.close(read)
        os.close(write)


async def test_what_is_no_program_is_refused():
    with pytest.raises(LadderError, match="cannot be started"):
        await LaunchedJob(["/no/such/mpirun"]).run()


def test_a_job_ends_with_the_command_that_started_it(mpi_program, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    program = mpi_program("openmpi", "mpi_waiting")
    command = [Path(sys.executable).parent / "ladder-tui", "ranks", "--", *launcher("openmpi", 2), program, folder]
    console = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 30
        while not all((folder / f"up-{rank}").exists() for rank in (0, 1)):
            assert time.monotonic() < end
            time.sleep(0.05)
        below = [process.pid for process in ProcessTable().descendants(console.pid)]
        assert len(below) >= 3
    finally:
        console.kill()
        console.wait()
    try:
        end = time.monotonic() + 20
        while any(pid in (table := ProcessTable().processes) and table[pid].state not in "ZX" for pid in below):
            assert time.monotonic() < end
            time.sleep(0.1)
    finally:
        (folder / "end").touch()


def test_the_command_tells_who_died(mpi_program, tmp_path, ladder_tui):
    folder = tmp_path / "job"
    folder.mkdir()
    program = mpi_program("openmpi", "mpi_waiting")
    (folder / "late").write_text("")
    script = (
        f"(while [ ! -e {folder}/up-1 ]; do sleep 0.05; done; sleep 1; touch {folder}/crash-1) & exec "
        + " ".join([*launcher("openmpi", 2), str(program), str(folder)])
    )
    done = ladder_tui("ranks", "--json", "--", "bash", "-c", script)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["first"].startswith("rank 1 (process ")
    assert "SIGSEGV" in told["first"]
    assert told["job"]["size"] == 2
    assert {end["rank"] for end in told["ends"]} == {0, 1}


def end(rank, at, status):
    return RankEnd(rank, 100 + rank, at, status)


def test_who_ended_first_where_the_order_is_not_known():
    killed, crashed, exited = signal.SIGKILL, signal.SIGSEGV, 1 << 8
    assert first_of([end(0, 1.0, killed), end(1, 1.002, crashed)]).rank == 1
    assert first_of([end(0, 1.0, killed), end(1, 1.5, exited)]).rank == 0
    assert first_of([end(0, 1.0, 0), end(1, 1.5, exited)]).rank == 1
    assert first_of([end(0, 1.0, 0)]) is None
    assert first_of([]) is None
    assert "0 followed at once" in first_words([end(0, 1.0, killed), end(1, 1.002, crashed)])


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("mpirun noticed that process rank 2 with PID 0 on node vm exited on signal 11 (Segmentation fault).", 11),
        ("  Process name: [[33418,1],2]\n  Exit code:    3\n", 3 << 8),
        ("  rank      : 2 (local_rank: 2)\n  exitcode  : -9 (pid: 4711)\n", 9),
        ("  rank      : 2 (local_rank: 2)\n  exitcode  : 1 (pid: 4711)\n", 1 << 8),
    ],
)
def test_launchers_say_what_the_kernel_did_not(words, status):
    (told,) = with_messages([end(2, 1.0, None)], words)
    assert (told.status, told.source) == (status, "launcher")
    (kept,) = with_messages([end(2, 1.0, 0)], words)
    assert kept.status == 0

"""The ranks rung over a real job of Open MPI: found, looked at, asked, held in a debugger; it lives on."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ladder_backends.debugger.registry import load_debugger
from ladder_backends.model.ranks import Job
from ladder_backends.model.stack_step import StackStep
from ladder_backends.ranks.choosing import job_of
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.engine.stop_budget import Limit
from ladder_backends.ranks.native_stacks import find_eu_stack
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Run

RANKS = 4

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
static int step = 17;
static void exchange(int rank) {
    double mine = 1, all;
    if (rank == 3)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    step -= rank == 3;
    FILE *up = fopen(argv[1], "a");
    fputs("up\\n", up);
    fclose(up);
    exchange(rank);
    return MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("mpicc.openmpi")
    if compiler is None or shutil.which("mpirun.openmpi") is None:
        pytest.skip("no Open MPI: demos/setup --tests installs it on Debian")
    folder = tmp_path_factory.mktemp("mismatch")
    (folder / "mismatch.c").write_text(PROGRAM)
    subprocess.run([compiler, "-g", "-O0", "-o", "mismatch", "mismatch.c"], cwd=folder, check=True, timeout=60)
    return folder / "mismatch"


@pytest.fixture
def job(program: Path, tmp_path: Path) -> Iterator[Job]:
    """Rank 3 in MPI_Barrier, the others in MPI_Allreduce; alive afterwards, then ended by its launcher."""
    up = tmp_path / "up"
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    command = ["mpirun.openmpi", *as_root, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(RANKS)]
    with open(tmp_path / "output", "wb") as output:
        launcher = subprocess.Popen(
            [*command, program, up], stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        end = time.monotonic() + 40
        while not up.exists() or up.read_text().count("up") < RANKS:
            assert launcher.poll() is None, (tmp_path / "output").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        yield job_of(Discovery(), launcher.pid)
        assert launcher.poll() is None, (tmp_path / "output").read_text()
    finally:
        launcher.terminate()
        launcher.wait(20)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def until(what: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not what():  # noqa: ASYNC110 - what is waited for is told by the kernel, too
            await asyncio.sleep(0.02)


@pytest.mark.skipif(find_eu_stack() is None, reason="eu-stack of elfutils is not installed")
async def test_what_stops_nothing_comes_first_and_stacks_tell_the_rest(job: Job) -> None:
    ladder = Ladder()
    try:
        await ladder.ranks.open(job)
        state = ladder.state.ranks
        assert ladder.state.rung == "ranks"
        # A program without Python tells nothing as long as it is not stopped; nothing was.
        assert (len(state.looks), state.stopped, state.verdicts[0].id) == (2, 0, "nothing")
        await ladder.ranks.look(StackStep.NATIVE)
        assert state.stopped == 1
        # One look at stacks names the two places, and does not say yet that they stand there for good.
        assert (state.verdicts[0].id, state.verdicts[0].suspects, state.verdicts[0].samples) == (
            "stacks-wrong-op",
            (3,),
            1,
        )
        await ladder.ranks.look()
        verdict = state.verdicts[0]
        assert verdict.sentence.startswith("Rank 3 is in MPI_Barrier, ranks 0-2 in MPI_Allreduce.")
        assert verdict.samples == 2
        assert verdict.now == f"ladder-tui attach {job.ranks[3].pid}"
        assert state.tree is not None
        assert [node.listed for node in state.tree.children[0].children] == ["3", "0-2"]
        assert (state.tree.asked, state.tree.answered) == (RANKS, RANKS)
    finally:
        await ladder.close()


async def test_an_expression_over_ranks_lets_them_go_on(job: Job) -> None:
    ladder = Ladder()
    try:
        await ladder.ranks.open(job)
        ladder.ranks.name("late", (3,))
        assert ladder.ranks.leading_set("$late step", (0, 1)) == ((3,), "step")
        await ladder.ranks.ask("step", range(RANKS))
        printed = ladder.state.ranks.printed
        assert printed is not None
        assert printed.classes == (("0-2", 3, "17"), ("3", 1, "16"))
        assert (printed.asked, printed.silent) == (RANKS, ())
        assert printed.pause > 0
        assert all(state_of(rank.pid) not in "tT" for rank in job.ranks)
        await ladder.ranks.ask("no_such_name", (0,))
        printed = ladder.state.ranks.printed
        assert printed is not None
        assert printed.classes == ()
        assert "no_such_name" in printed.silent[0][1]
    finally:
        await ladder.close()


async def test_a_rank_in_a_debugger_goes_on_in_time(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = Ladder()
    try:
        await ladder.ranks.open(job)
        ladder.ranks._limits = (Limit(2.0, "time-out of all_reduce 4"),)
        session = await ladder.ranks.debugger(3)
        assert ladder.state.rung == "gdb"
        assert type(session.debugger) is load_debugger("ranks")
        await until(lambda: session.state.run is Run.STOPPED)
        assert ladder.ranks.held() == (3,)
        assert ladder.state.ranks.goes_on_at is not None
        await until(lambda: session.state.run is Run.RUNNING)
        assert ladder.state.notice is not None
        assert "rank 3 goes on now: time-out of all_reduce 4" in ladder.state.notice.text
        assert ladder.state.ranks.goes_on_at is None
        assert ladder.ranks.held() == ()
    finally:
        await ladder.close()
    await until(lambda: state_of(job.ranks[3].pid) not in "tT")


async def test_a_rank_stands_for_as_long_as_is_wished(job: Job) -> None:
    ladder = Ladder()
    try:
        await ladder.ranks.open(job)
        ladder.ranks._limits = (Limit(1.0, "a heartbeat"),)
        assert ladder.ranks.hold()
        session = await ladder.ranks.debugger(2)
        await until(lambda: session.state.run is Run.STOPPED)
        assert ladder.state.ranks.goes_on_at is None
        await asyncio.sleep(1.2)
        assert session.state.run is Run.STOPPED
        assert not ladder.ranks.hold()
        await until(lambda: session.state.run is Run.RUNNING)
    finally:
        await ladder.close()


async def test_stacks_by_gdb_are_of_one_moment(job: Job) -> None:
    ladder = Ladder()
    try:
        await ladder.ranks.open(job)
        await ladder.ranks.look(StackStep.GDB)
        await ladder.ranks.look()
        state = ladder.state.ranks
        assert [
            str(reading.source) for look in state.looks[2:] for reading in look.readings if reading.measured
        ] == [
            "gdb",
            "gdb",
        ]
        verdict = state.verdicts[0]
        assert (verdict.id, verdict.suspects, verdict.samples) == ("stacks-wrong-op", (3,), 2)
        assert all(state_of(rank.pid) not in "tT" for rank in job.ranks)
    finally:
        await ladder.close()

"""Jobs of Open MPI and MPICH, found and looked at while they run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from ladder_backends.model.ranks import Launcher, RankSource
from ladder_backends.model.stack_step import StackStep
from ladder_backends.ranks.choosing import NoSuchJob, job_named, job_of, job_of_pids, only_job
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.looking import Look, look_at, look_often
from ladder_backends.ranks.mpir import read_table
from ladder_backends.ranks.native_stacks import find_eu_stack, read_native_stacks
from ladder_backends.ranks.verdict import verdicts

FLAVOURS = ("openmpi", "mpich")


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_job_is_found_by_its_launcher_and_by_each_of_its_ranks(waiting_job, flavour):
    running = waiting_job(flavour, 3)
    job = running.find()
    assert (job.launcher, job.size, job.missing, job.launcher_pid) == (Launcher(flavour), 3, (), running.pid)
    assert [rank.rank for rank in job.ranks] == [0, 1, 2]
    assert all(os.readlink(f"/proc/{rank.pid}/exe") == rank.executable for rank in job.ranks)
    assert all(rank.started > 0 and rank.state in "SR" and rank.others == () for rank in job.ranks)
    found = Discovery()
    for pid in (running.pid, *(rank.pid for rank in job.ranks)):
        assert job_of(found, pid).key == job.key
    assert job_named(found, job.key).key == job_named(found, str(running.pid)).key == job.key
    assert flavour in job.title


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_shells_round_a_rank_are_told_as_wrappers(waiting_job, flavour):
    running = waiting_job(flavour, 2, wrapper=("bash", "-c"))
    job = running.find()
    assert [rank.rank for rank in job.ranks] == [0, 1]
    for rank in job.ranks:
        assert "mpi_waiting" in rank.executable
        (shell,) = rank.others
        assert (shell.why, os.path.basename(os.readlink(f"/proc/{shell.pid}/exe"))) == ("wrapper", "bash")
        assert job_of(Discovery(), shell.pid).key == job.key


def test_the_table_of_open_mpi_is_read_without_stopping_its_launcher(waiting_job):
    running = waiting_job("openmpi", 3)
    rows = read_table(running.pid)
    job = running.find()
    assert [row.pid for row in rows] == [rank.pid for rank in job.ranks]
    assert {row.executable for row in rows} == {job.ranks[0].executable}
    assert job.sources == ("environment", f"MPIR table of process {running.pid}")
    assert read_table(os.getpid()) == ()
    assert read_table(2**22 + 5) == ()


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_two_jobs_with_equal_ranks_are_kept_apart(waiting_job, flavour):
    one, two = waiting_job(flavour, 2), waiting_job(flavour, 2)
    first, second = one.find(), two.find()
    assert first.key != second.key
    assert {rank.pid for rank in first.ranks}.isdisjoint(rank.pid for rank in second.ranks)
    assert [rank.rank for rank in first.ranks] == [rank.rank for rank in second.ranks] == [0, 1]
    found = Discovery()
    with pytest.raises(NoSuchJob) as choice:
        only_job(found)
    assert first.key in choice.value.line()
    assert second.key in choice.value.line()
    with pytest.raises(NoSuchJob, match=r"started \d jobs"):
        job_of(found, os.getpid())


def test_a_rank_that_ended_is_missing_with_its_reason(waiting_job):
    running = waiting_job("mpich", 3, "-disable-auto-cleanup")
    running.may_die = True
    gone = running.find().rank(1)
    running.tell("exit-1")
    running.wait_until(lambda: len(running.find().ranks) == 2, "rank 1 ends")
    job = running.find()
    assert [rank.rank for rank in job.ranks] == [0, 2]
    ((number, why),) = job.missing
    assert number == 1
    assert "no live process" in why
    assert gone is not None
    assert str(gone.pid) not in [str(rank.pid) for rank in job.ranks]


async def test_a_rank_that_ends_between_finding_and_looking_is_told_and_nothing_hangs(waiting_job):
    running = waiting_job("mpich", 4, "-disable-auto-cleanup")
    running.may_die = True
    job = running.find()
    running.tell("exit-2")
    running.wait_until(lambda: len(running.find().ranks) == 3, "rank 2 ends")
    begun = time.monotonic()
    evidence = await look_at(job)
    assert time.monotonic() - begun < 20
    (gone,) = evidence.unreachable
    assert gone.rank == 2
    assert "has ended" in gone.reason
    assert evidence.reading(RankSource.PROC).answered == (0, 1, 3)
    if find_eu_stack() is not None:
        assert {stack.rank for stack in evidence.native} == {0, 1, 3}


async def test_native_stacks_of_all_ranks_and_the_job_lives(waiting_job):
    if find_eu_stack() is None:
        pytest.skip("no eu-stack: demos/setup --tests installs elfutils")
    running = waiting_job("openmpi", 3)
    looks = [each async for each in look_often(running.find(), between=0.2)]
    last = looks[-1]
    reading = last.reading(RankSource.EU_STACK)
    assert reading.answered == (0, 1, 2)
    assert reading.predicted > 0
    assert 0 < reading.measured < 10
    main = [stack for stack in last.native if stack.thread == last.job.rank(stack.rank).pid]
    assert len(main) == 3
    for stack in main:
        names = [frame.function for frame in stack.frames]
        assert names.index("main") < names.index("wait_for_orders")
        frame = stack.frames[names.index("wait_for_orders")]
        assert os.path.basename(frame.file) == "mpi_waiting.c"
        assert frame.line > 0
        assert frame.module == last.job.ranks[0].executable
        assert frame.offset >= 0
        assert stack.state in "SR"
    assert last.reading(RankSource.PY_SPY).note == "no rank runs Python"
    assert not verdicts(looks)[0].diverges


async def test_a_rank_that_waits_in_the_kernel_is_left_alone(waiting_job):
    if find_eu_stack() is None:
        pytest.skip("no eu-stack: demos/setup --tests installs elfutils")
    running = waiting_job("openmpi", 3)
    job = running.find()
    running.tell("vfork-1")
    running.wait_until(lambda: running.find().rank(1).state == "D", "rank 1 waits in the kernel")
    begun = time.monotonic()
    stacks, reading = await read_native_stacks(job.ranks)
    assert time.monotonic() - begun < 2.5
    assert {stack.rank for stack in stacks} == {0, 2}
    (silent,) = reading.silent
    assert silent.rank == 1
    assert "state D" in silent.reason
    (running.folder / "vfork-1").unlink()
    running.wait_until(lambda: running.find().rank(1).state in "SR", "its wait is over")


async def test_ranks_named_by_their_processes(waiting_job):
    running = waiting_job("openmpi", 2)
    pids = [rank.pid for rank in running.find().ranks]
    job = job_of_pids([pids[1], pids[0]])
    assert [(rank.rank, rank.pid) for rank in job.ranks] == [(0, pids[1]), (1, pids[0])]
    evidence = await look_at(job, Look(StackStep.NONE, services=False))
    assert [each.rank for each in evidence.activity] == [0, 1]
    for pids_named, why in (([1 << 22], "there is no process"), ([pids[0], pids[0]], "named twice")):
        with pytest.raises(NoSuchJob, match=why):
            job_of_pids(pids_named)


async def test_a_stopped_rank_is_stopped_still_and_told(waiting_job):
    running = waiting_job("openmpi", 2)
    job = running.find()
    os.kill(job.ranks[1].pid, signal.SIGSTOP)
    try:
        evidence = await look_at(job)
        # The other one looks for messages now and then.
        assert [each.state for each in evidence.activity] in (["S", "T"], ["R", "T"])
        assert running.find().rank(1).state == "T"
    finally:
        os.kill(job.ranks[1].pid, signal.SIGCONT)
    running.wait_until(lambda: running.find().rank(1).state in "SR", "rank 1 goes on")


def test_a_process_of_no_job_is_refused_with_what_to_do():
    with pytest.raises(NoSuchJob) as refused:
        job_of(Discovery(), os.getpid())
    assert "belongs to no job" in refused.value.line()
    assert "--pids" in refused.value.line()
    with pytest.raises(NoSuchJob, match="there is no process"):
        job_of(Discovery(), (1 << 22) + 7)


def test_what_a_dead_rank_leaves_behind_is_not_taken_for_it(waiting_job):
    running = waiting_job("mpich", 3, "-disable-auto-cleanup")
    running.may_die = True
    running.tell("orphan-1")
    running.wait_until(lambda: len(running.find().ranks) == 2, "rank 1 ends")
    running.note()
    job = running.find()
    assert [rank.rank for rank in job.ranks] == [0, 2]
    ((number, why),) = job.missing
    assert number == 1
    assert "left over of it" in why
    (pid,) = [int(word) for word in why.replace("(", " ").split() if word.isdecimal()]
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_rank_that_writes_over_its_environment_is_found(waiting_job, flavour):
    running = waiting_job(flavour, 3)
    before = {rank.rank: rank.pid for rank in running.find().ranks}
    running.tell("hide-1")
    hidden = f"/proc/{before[1]}/environ"

    def is_hidden():
        with open(hidden, "rb") as file:
            return b"RANK" not in file.read()

    running.wait_until(is_hidden, "rank 1 hides")
    job = running.find()
    assert {rank.rank: rank.pid for rank in job.ranks} == before
    assert job.missing == ()
    if flavour == "mpich":
        assert any(f"process {before[1]} shows no environment" in note for note in job.notes)


async def test_stacks_by_one_warm_gdb(waiting_job, gdb):
    running = waiting_job("openmpi", 3)
    announced = []
    looks = look_often(running.find(), Look(StackStep.GDB), between=0.1, announce=announced.append)
    for evidence in [each async for each in looks]:
        reading = evidence.reading(RankSource.GDB)
        assert reading.answered == (0, 1, 2)
        assert reading.predicted > 0
        assert 0 < reading.measured < 10
        assert {stack.rank for stack in evidence.native} == {0, 1, 2}
        functions = {frame.function for stack in evidence.native for frame in stack.frames}
        assert "wait_for_orders" in functions
    assert len(announced) == 2
    assert all(seconds > 0 for seconds in announced)


async def test_what_forbids_a_debugger_is_told_of_the_rank(waiting_job):
    running = waiting_job("openmpi", 2)
    job = running.find()
    tracer = subprocess.Popen(  # noqa: ASYNC220
        ["gdb", "-nx", "-q", "-batch", "-p", str(job.ranks[1].pid), "-ex", "shell sleep 3"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        running.wait_until(lambda: running.find().rank(1).tracer == tracer.pid, "gdb holds rank 1")
        evidence = await look_at(job)
        assert evidence.activity[0].obstacle == ""
        assert f"(process {tracer.pid}) traces it already" in evidence.activity[1].obstacle
        assert evidence.activity[1].remedy
        if find_eu_stack() is not None:
            (silent,) = evidence.reading(RankSource.EU_STACK).silent
            assert silent.rank == 1
            assert "traces it already" in silent.reason
    finally:
        tracer.wait(30)
    running.wait_until(lambda: running.find().rank(1).state in "SR", "rank 1 goes on")


def test_a_program_that_mpi_was_linked_into_is_the_rank_below_a_script(start, tmp_path):
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("no Open MPI: demos/setup --tests installs it on Debian")
    source, program, script = tmp_path / "static.c", tmp_path / "static", tmp_path / "wrap.py"
    source.write_text(
        "#include <stdio.h>\n#include <unistd.h>\nint MPI_Init(int *c, char ***v) { return !c || !v; }\n"
        'int main(int c, char **v) { puts("stands"); fflush(stdout); sleep(60 + MPI_Init(&c, &v)); }\n'
    )
    subprocess.run(["gcc", "-static", "-o", program, source], check=True, timeout=60)
    script.write_text(f"import subprocess\nsubprocess.run([{str(program)!r}])\n")
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    running = start(["mpirun.openmpi", *as_root, "--oversubscribe", "-n", "2", sys.executable, script], 2)
    running.wait_until(lambda: running.output().count("stands") == 2, "both stand")
    running.may_die = True
    job = running.find()
    assert [rank.executable for rank in job.ranks] == [str(program)] * 2
    assert [[other.why for other in rank.others] for rank in job.ranks] == [["wrapper"]] * 2

"""Steps of a real Slurm of one node, which runs for these tests only."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Launcher
from ladder_backends.ranks.choosing import job_of
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.nodes.far_look import FarJob
from ladder_backends.ranks.nodes.nodes import Nodes
from ladder_backends.ranks.nodes.transports import first_that_applies, transports

_NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
_CONF = """ClusterName=ladder
SlurmctldHost={host}
SlurmctldPort={port}
SlurmdPort={other}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName={host} CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def _free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@pytest.fixture(scope="module")
def slurm(tmp_path_factory) -> Iterator[dict[str, str]]:
    """A Slurm of this host alone; variables for its commands."""
    paths = {name: shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for name in _NEEDED}
    if not all(paths.values()):
        pytest.skip("no Slurm: apt-get install slurmctld slurmd slurm-client munge")
    if os.geteuid() != 0:
        pytest.skip("slurmd starts tasks of its users as root only")
    folder = tmp_path_factory.mktemp("slurm")
    for each in (folder, folder / "state", folder / "spool"):
        each.mkdir(exist_ok=True)
        each.chmod(0o755)
    key = folder / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    conf = folder / "slurm.conf"
    conf.write_text(_CONF.format(host=host, port=_free_port(), other=_free_port(), folder=folder, user="root"))
    told = {"SLURM_CONF": str(conf)}
    munge = [f"--key-file={key}", f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
             f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"]  # fmt: skip
    commands = (
        [paths["munged"], "--force", "--foreground", *munge],
        [paths["slurmctld"], "-D"],
        [paths["slurmd"], "-D"],
    )
    running: list[subprocess.Popen[bytes]] = []
    log = open(folder / "log", "wb")  # noqa: SIM115
    try:
        for command in commands:
            running.append(
                subprocess.Popen(
                    [str(word) for word in command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, **told},
                )
            )
            time.sleep(0.5)
        end = time.monotonic() + 30
        while True:
            answer = subprocess.run(
                ["sinfo", "-h", "-o", "%T"], env={**os.environ, **told}, capture_output=True, text=True
            ).stdout
            if "idle" in answer:
                break
            if time.monotonic() > end:
                pytest.skip(f"Slurm does not come up here: {(folder / 'log').read_text(errors='replace')[-500:]}")
            time.sleep(0.2)
        yield told
    finally:
        for process in reversed(running):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        log.close()


def step(start, tmp_path, slurm, program, ranks, *options, name="step") -> tuple[object, Path]:
    folder = tmp_path / name
    folder.mkdir()
    running = start(["srun", "-n", str(ranks), *options, *program, str(folder)], ranks, folder=folder, env=slurm)
    running.wait_until(lambda: (folder / "up-0").exists(), "rank 0 comes up")
    return running, folder


@pytest.mark.parametrize(("flavour", "speaks"), [("openmpi", "pmix"), ("mpich", "pmi2")])
def test_a_step_whatever_it_speaks(start, tmp_path, slurm, mpi_program, flavour, speaks):
    program = mpi_program(flavour, "mpi_waiting")
    running, folder = step(start, tmp_path, slurm, [program], 3, f"--mpi={speaks}")
    running.wait_until(lambda: all((folder / f"up-{rank}").exists() for rank in range(3)), "all come up")
    found = Discovery()
    job = job_of(found, running.pid)
    assert (job.launcher, job.size, job.missing, job.elsewhere) == (Launcher.SLURM, 3, (), ())
    assert job.key.startswith("slurm:")
    assert [rank.rank for rank in job.ranks] == [0, 1, 2]
    assert {rank.executable for rank in job.ranks} == {str(program)}
    assert "mpi_waiting" in job.title
    assert job_of(found, job.ranks[1].pid).key == job.key
    (folder / "end").touch()
    running.may_die = True
    assert running.process.wait(30) == 0


async def test_an_agent_comes_by_srun_into_the_running_step(start, tmp_path, slurm, mpi_program, monkeypatch):
    running, folder = step(start, tmp_path, slurm, [mpi_program("mpich", "mpi_waiting")], 2, "--mpi=pmi2")
    running.wait_until(lambda: all((folder / f"up-{rank}").exists() for rank in range(2)), "all come up")
    job = job_of(Discovery(), running.pid)
    for name, value in slurm.items():
        monkeypatch.setenv(name, value)
    host = socket.gethostname().partition(".")[0]
    said: list[str] = []
    transport = await first_that_applies(transports(job), host, said.append)
    assert transport.name == "srun"
    assert said[0].startswith(f"srun: srun --jobid={job.key[6:].partition('.')[0]} --overlap")
    nodes = await Nodes.start([host], transport)
    try:
        assert nodes.silent == {}
        blank = replace(job, ranks=(), missing=(), elsewhere=(0, 1))
        far = FarJob(blank, nodes)
        found = await far.find()
        assert [(rank.rank, rank.pid) for rank in found.ranks] == [(rank.rank, rank.pid) for rank in job.ranks]
        look = await far.look()
        assert [each.rank for each in look.activity] == [0, 1]
        assert look.unreachable == ()
    finally:
        await nodes.close()
    assert running.process.poll() is None
    (folder / "end").touch()
    running.may_die = True
    assert running.process.wait(30) == 0


def test_a_launcher_inside_a_batch_script_is_the_job(start, tmp_path, slurm, mpi_program):
    folder = tmp_path / "batch"
    folder.mkdir()
    program = mpi_program("openmpi", "mpi_waiting")
    script = tmp_path / "batch.sh"
    script.write_text(f"#!/bin/bash\nmpirun.openmpi --allow-run-as-root --oversubscribe -n 2 {program} {folder}\n")
    running = start(["sbatch", "-W", "-n", "2", "-o", tmp_path / "out", script], 2, env=slurm)
    running.may_die = True
    try:
        running.wait_until(lambda: all((folder / f"up-{rank}").exists() for rank in range(2)), "all come up")
        jobs = [job for job in Discovery().jobs if any(str(folder) in rank.command for rank in job.ranks)]
        (job,) = jobs
        assert (job.launcher, job.size, job.missing) == (Launcher.OPENMPI, 2, ())
        assert job.title.startswith("mpirun.openmpi")
    finally:
        (folder / "end").touch()
        running.process.wait(30)

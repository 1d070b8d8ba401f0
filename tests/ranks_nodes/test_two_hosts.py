"""A job of Open MPI over two real hosts, by ssh: one is cut off, one loses its agent; the job lives on."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess

import pytest

from ladder_backends.model.ranks import Job, Launcher
from ladder_backends.ranks.nodes.far_look import FarJob
from ladder_backends.ranks.nodes.nodes import Nodes
from ladder_backends.ranks.nodes.transports import Transport
from ladder_backends.ranks.report_json import tree_of


@pytest.fixture
def job_over_two(cluster, tmp_path):
    """Two ranks on each host, and the process ids that they have here."""
    compiler = shutil.which("mpicc.openmpi")
    if compiler is None:
        pytest.skip("no mpicc.openmpi: demos/setup --tests installs it")
    program, folder = tmp_path / "waiting", tmp_path / "job"
    folder.mkdir()
    subprocess.run(
        [compiler, "-g", "-O0", "-o", program, cluster.programs / "mpi_waiting.c"], check=True, timeout=60
    )
    output = open(tmp_path / "output", "wb")  # noqa: SIM115
    launcher = subprocess.Popen(
        cluster.hosts[0].inside(
            "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--host", "n1:2,n2:2", "-n", "4",
            "--mca", "plm_rsh_args", f"-F {cluster.config}", "--mca", "plm_rsh_agent", "ssh",
            "--mca", "oob_tcp_if_include", "wire", "--mca", "btl_tcp_if_include", "wire",
            # A link that is down is no failure of the job's own here.
            "--mca", "orte_keep_fqdn_hostnames", "1", program, folder,
        ),
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        cluster.wait_for(
            lambda: launcher.poll() is not None or all((folder / f"up-{rank}").exists() for rank in range(4)),
            "all ranks come up",
        )
        assert launcher.poll() is None, (tmp_path / "output").read_text(errors="replace")
        here = [
            pid
            for host in cluster.hosts
            for pid in cluster.children(host.init)
            if os.readlink(f"/proc/{pid}/exe") == str(program)
        ]
        # mpirun's own children on the first host hang below nsenter.
        here += [pid for pid in cluster.children(launcher.pid) if os.readlink(f"/proc/{pid}/exe") == str(program)]
        assert len(set(here)) == 4, here
        yield set(here)
        assert all(cluster.alive(pid) for pid in here), (tmp_path / "output").read_text(errors="replace")
    finally:
        launcher.kill()
        launcher.wait()
        output.close()


def transport(cluster) -> Transport:
    """From the first host over ssh, as a console there reaches both."""
    return Transport("ssh", (*cluster.hosts[0].inside(*cluster.ssh), "{host}"), by_shell=True)


async def start(cluster, **options) -> tuple[Nodes, FarJob]:
    nodes = await Nodes.start(["n1", "n2"], transport(cluster), **options)
    assert nodes.silent == {}
    probe = FarJob(Job("", Launcher.OPENMPI, None, 4, (), elsewhere=(0, 1, 2, 3)), nodes)
    (key,) = {job.key for jobs in (await probe.jobs()).values() for job in jobs}
    return nodes, FarJob(Job(key, Launcher.OPENMPI, None, 4, (), elsewhere=(0, 1, 2, 3)), nodes)


async def test_ranks_of_two_hosts_are_one_job(cluster, job_over_two):
    nodes, far = await start(cluster)
    try:
        job = await far.find()
        assert [rank.rank for rank in job.ranks] == [0, 1, 2, 3]
        assert [rank.host for rank in job.ranks] == ["n1", "n1", "n2", "n2"]
        assert (job.missing, job.elsewhere) == ((), ())
        look = await far.look()
        assert look.unreachable == ()
        tree = tree_of(look)
        assert (tree.answered, tree.asked) == (4, 4)
        assert set(far.skew) == {"n1", "n2"}
    finally:
        await nodes.close()


async def test_a_host_that_is_cut_off_is_told_of(cluster, job_over_two):
    nodes, far = await start(cluster, lost_after=3.0)
    try:
        await far.find()
        two = cluster.hosts[1]
        assert not two.run("ip", "link", "set", "wire", "down").returncode
        look = await far.look()
        tree = tree_of(look)
        assert (tree.answered, tree.asked) == (2, 4)
        assert {each.rank for each in look.unreachable} == {2, 3}
        assert nodes.answered.startswith("answered 1 of 2 nodes; n2: nothing was heard of it")
        # Before the job's own launcher gives the host up.
        assert not two.run("ip", "link", "set", "wire", "up").returncode
    finally:
        await nodes.close()


async def test_an_agent_that_is_killed_in_mid_sweep(cluster, job_over_two):
    nodes, far = await start(cluster)
    try:
        await far.find()
        two = cluster.hosts[1]
        told = await nodes.live[1].link.ask("hello", programs=[])
        looking = asyncio.ensure_future(far.look())
        await asyncio.sleep(0.35)
        assert not two.run("kill", "-KILL", str(told["pid"])).returncode
        look = await looking
        tree = tree_of(look)
        assert (tree.answered, tree.asked) == (2, 4)
        assert "n2: its agent has ended" in nodes.answered
        assert all(each.reason.startswith("node n2 did not answer") for each in look.unreachable)
    finally:
        await nodes.close()


async def test_agents_leave_nothing_behind(cluster, job_over_two):
    nodes, _ = await start(cluster)
    pids = [(await node.link.ask("hello", programs=[]))["pid"] for node in nodes.live]
    await nodes.close()
    for host, pid in zip(cluster.hosts, pids, strict=True):
        cluster.wait_for(
            lambda host=host, pid=pid: host.run("kill", "-0", str(pid)).returncode != 0, "the agent ends"
        )

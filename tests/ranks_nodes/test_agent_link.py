"""The agent over a real pipe: what it tells, and that it ends with its link and harms nobody."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal

import pytest

from ladder_backends.model.ranks import Job, Launcher, Rank
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.python_frames import find_py_spy
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.native_stacks import stacks_in
from ladder_backends.ranks.nodes.far_look import FarJob
from ladder_backends.ranks.nodes.framing import FrameReader, LinkTorn, frame
from ladder_backends.ranks.nodes.inside.agent import native_threads
from ladder_backends.ranks.nodes.node_link import NodeLost
from ladder_backends.ranks.nodes.nodes import Nodes
from ladder_backends.ranks.nodes.transports import HostInvalid, Transport, launched_by

HERE = Transport("here", ("env",))


async def gone(pid: int) -> bool:
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        await asyncio.sleep(0.05)
    return False


async def test_an_agent_tells_what_this_console_finds_itself(ranks, monkeypatch):
    py_spy = find_py_spy().path
    if py_spy is None:
        pytest.skip("no py-spy")
    monkeypatch.setenv("LADDER_PY_SPY", str(py_spy))
    ranks(3)
    (ours,) = [job for job in Discovery().jobs if job.key == "torch:n1:29555"]
    nodes = await Nodes.start(["n1"], HERE)
    try:
        assert nodes.silent == {}
        empty = Job("torch:n1:29555", Launcher.TORCH, None, 3, (), elsewhere=(0, 1, 2))
        far = FarJob(empty, nodes)
        job = await far.find()
        assert [(each.rank, each.pid, each.command) for each in job.ranks] == [
            (each.rank, each.pid, each.command) for each in ours.ranks
        ]
        assert (job.missing, job.elsewhere) == ((), ())
        look = await far.look()
        assert [each.rank for each in look.activity] == [0, 1, 2]
        assert look.unreachable == ()
        assert {stack.rank for stack in look.python} == {0, 1, 2}
        assert all(stack.frames[-1].function == "wait_here" for stack in look.python)
        assert {stack.thread for stack in look.python} == {each.pid for each in ours.ranks}
        assert -0.01 - nodes.live[0].link.doubt < far.skew["n1"]
    finally:
        await nodes.close()


async def test_an_agent_ends_with_its_link_and_without_beats(ranks):
    ranks(1)
    nodes = await Nodes.start(["n1"], HERE)
    (node,) = nodes.live
    pid = (await node.link.ask("hello", programs=[]))["pid"]
    await nodes.close()
    assert await gone(pid)


async def test_an_agent_that_is_killed_is_told_of_at_once(ranks):
    ranks(1)
    nodes = await Nodes.start(["n1", "n2"], HERE)
    pid = (await nodes.live[1].link.ask("hello", programs=[]))["pid"]
    os.kill(pid, signal.SIGKILL)

    async def wait(node):
        return await node.link.ask("look", 20.0, ranks=[], python=False, native="none", between=1.0)

    told = await nodes.each(wait)
    assert list(told) == ["n1"]
    assert nodes.answered == "answered 1 of 2 nodes; n2: its agent has ended"
    await nodes.close()


async def test_a_stopped_agent_is_lost_after_a_while(ranks):
    ranks(1)
    nodes = await Nodes.start(["n1"], HERE, lost_after=1.5)
    (node,) = nodes.live
    pid = (await node.link.ask("hello", programs=[]))["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(NodeLost, match="nothing was heard"):
            await node.link.ask("clock")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        await nodes.close()
    assert await gone(pid)


async def test_the_agents_engine_lets_go_when_the_agent_is_killed(ranks):
    if shutil.which("gdb") is None:
        pytest.skip("no gdb")
    (rank,) = ranks(1)
    said: list[str] = []
    nodes = await Nodes.start(["n1"], HERE)
    (node,) = nodes.live
    node.link.listener = said.append
    agent = (await node.link.ask("hello", programs=[]))["pid"]
    engine = (await node.link.ask("engine", words=["gdb", "-nx", "-q", "-iex", "set debuginfod enabled off"]))[
        "pid"
    ]
    await node.link.ask("engine-text", text=f"attach {rank.pid}\necho HELD\\n\n")
    proc = ProcFiles()
    for _ in range(400):
        if proc.status(rank.pid).get("TracerPid") == str(engine) and "HELD" in "".join(said):
            break
        await asyncio.sleep(0.05)
    assert proc.status(rank.pid)["TracerPid"] == str(engine)
    os.kill(agent, signal.SIGKILL)
    for _ in range(200):
        if proc.status(rank.pid).get("TracerPid") == "0":
            break
        await asyncio.sleep(0.05)
    assert proc.status(rank.pid)["TracerPid"] == "0"
    assert proc.status(rank.pid)["State"][:1] == "S"
    assert await gone(engine)
    await nodes.close()


async def test_a_host_without_the_program_says_why():
    nodes = await Nodes.start(["n1"], Transport("ssh", ("sh", "-c", "echo no route to {host} >&2; exit 255")))
    assert nodes.answered == "answered 0 of 1 nodes; n1: no route to n1"


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "a b", "", "$(x)", "a;b"])
def test_a_host_is_never_taken_for_an_option(host):
    with pytest.raises(HostInvalid):
        launched_by("ssh {host}").command(host, ["true"])


def test_words_for_a_shell_over_there_are_quoted():
    assert launched_by("ssh -p 22 {host}").command("n1", ["python3", "-c", "f(1)"]) == [
        "ssh", "-p", "22", "n1", "python3 -c 'f(1)'",
    ]  # fmt: skip
    assert launched_by("srun -w {host}").command("n1", ["python3", "-c", "f(1)"])[-1] == "f(1)"


def test_frames_come_in_any_pieces():
    lines = b"Welcome to n1\n" + b"".join(frame(number, {"a": "ä\n" * number}) for number in range(1, 5))
    for size in (1, 3, 7, 1000):
        reader = FrameReader()
        told = [each for at in range(0, len(lines), size) for each in reader.feed(lines[at : at + size])]
        assert [each["a"] for each in told] == ["ä\n" * number for number in range(1, 5)]
        assert not reader.cut
        assert reader.greeting == b"Welcome to n1\n"


@pytest.mark.parametrize(
    ("torn", "why"),
    [
        (frame(1, {}) + frame(3, {}), "message 2 is missing"),
        (frame(1, {}) + b"hello\n", "something else wrote"),
        (b'@1 9 {"a":1}\n', "7 bytes of 9"),
        (b"@1 3 [1]\n", "no object"),
        (b"@1 2 {]\n", "no JSON"),
    ],
)
def test_torn_links_are_noticed(torn, why):
    with pytest.raises(LinkTorn, match=why):
        FrameReader().feed(torn)


def test_the_agent_reads_eu_stack_as_this_console_does():
    text = """PID 7 - process
TID 7:
#0  0x00007f0000000001     clock_nanosleep@@GLIBC_2.17 - /usr/lib/libc.so.6
    [7f00]@0x7f0000000000+0x1
#1  0x000000000040111b - 1 main - /bin/x
    /src/x.c:12:3
#2  0x0000000000401000 - /bin/x
TID 8:
#0  0x00007f0000000001 poll
"""
    rank = Rank(0, 7, "n", 1, "/bin/x")
    ours = stacks_in(text, rank, ProcFiles())
    told = native_threads(text)
    assert [thread for thread, _ in told] == [stack.thread for stack in ours]
    for (_, rows), stack in zip(told, ours, strict=True):
        assert [tuple(row) for row in rows] == [
            (f.function, f.file, f.line, f.module, f.language, f.offset, f.entry) for f in stack.frames
        ]

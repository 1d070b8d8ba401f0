"""`ranks --hosts`: looks at a job over many nodes, by an agent on each that ends with the look."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from argparse import Namespace
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from ladder_tui.cli.output import say

if TYPE_CHECKING:
    from ladder_backends.model.ranks import Evidence, Job
    from ladder_backends.ranks.looking import Look
    from ladder_backends.ranks.nodes.far_look import FarJob
    from ladder_backends.ranks.nodes.nodes import Nodes


async def look_on_nodes(arguments: Namespace, samples: int, between: float) -> list[Evidence]:
    """Some looks at the job of the arguments on all its nodes.

    Raises:
        LadderError: There is no such job, or no way to the nodes.
    """
    looks: list[Evidence] = []
    async with _far_job(arguments) as far:
        for number in range(samples):
            if number:
                await asyncio.sleep(between)
            looks.append(await far.look(_wish(arguments)))
        _say_nodes(far)
    return looks


def keep_looking_on_nodes(arguments: Namespace, every: float) -> int:
    """Look at all nodes again and again, each look kept; returns the exit code of the last."""
    return asyncio.run(_keep_looking(arguments, every))


async def _keep_looking(arguments: Namespace, every: float) -> int:
    from ladder_backends.ranks.verdict import verdicts
    from ladder_tui.cli.ranks import exit_code
    from ladder_tui.cli.ranks_every import keep

    code = 0
    before: Evidence | None = None
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with _far_job(arguments) as far:
        while not ended.is_set():
            begun = time.monotonic()
            now = await far.look(_wish(arguments))
            if not any(reading.answered for reading in now.readings):
                say("no rank of the job answers any more")
                break
            looks = [before, now] if before is not None else [now]
            told = verdicts(looks)
            code = exit_code(looks, told)
            await asyncio.to_thread(keep, looks, arguments)
            say(f"{time.strftime('%H:%M:%S')} {told[0].sentence}; {far.nodes.answered}")
            before = now
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), max(0.05, every - (time.monotonic() - begun)))
    return code


@contextlib.asynccontextmanager
async def _far_job(arguments: Namespace) -> AsyncIterator[FarJob]:
    from ladder_backends.errors import LadderError
    from ladder_backends.model.ranks import Job, Launcher
    from ladder_backends.ranks.discovery import Discovery
    from ladder_backends.ranks.nodes.far_look import FarJob
    from ladder_backends.ranks.nodes.job_hosts import hosts_of
    from ladder_backends.ranks.nodes.nodes import Nodes
    from ladder_backends.ranks.nodes.transports import first_that_applies, launched_by, transports
    from ladder_tui.cli.ranks import find

    here: Job | None = None
    missing: LadderError | None = None
    try:
        here = await asyncio.to_thread(find, arguments)
    except LadderError as none:
        # A login node has no rank of its own: the nodes may know the job.
        missing = none
    hosts = [host.strip() for host in arguments.hosts.split(",") if host.strip() not in ("", "-")]
    if not hosts:
        if here is None and missing is not None:
            raise missing
        assert here is not None
        known = here
        hosts = list(await asyncio.to_thread(lambda: hosts_of(known, Discovery())))
        if not hosts:
            raise LadderError("nobody tells the nodes of this job", "", "name them: --hosts n1,n2")
    hosts = list(dict.fromkeys(hosts))
    if arguments.launch is not None:
        transport = launched_by(arguments.launch)
    else:
        transport = await first_that_applies(transports(here), hosts[0], say)
    nodes = await Nodes.start(hosts, transport, say=say)
    try:
        if here is None:
            blank = Job("", Launcher.PIDS, None, None, ())
            here = _named(await FarJob(blank, nodes).jobs(), arguments.job, nodes, missing)
        far = FarJob(here, nodes)
        await far.find()
        yield far
    finally:
        await nodes.close()


def _named(found: dict[str, tuple[Job, ...]], wanted: str | None, nodes: Nodes, missing: Exception | None) -> Job:
    """The job that is meant among those of the nodes, without its ranks."""
    from dataclasses import replace

    from ladder_backends.errors import LadderError

    jobs = {job.key: job for told in found.values() for job in told if wanted is None or wanted in job.key}
    if len(jobs) != 1:
        keys = ", ".join(list(jobs)[:6]) or nodes.answered
        raise LadderError(
            f"{len(jobs)} jobs are meant" if jobs else "no such job was found on the nodes",
            keys,
            "name one with --job",
        ) from missing
    (job,) = jobs.values()
    return replace(job, ranks=(), missing=(), elsewhere=(), notes=(), launcher_pid=None)


def _wish(arguments: Namespace) -> Look:
    from ladder_backends.model.stack_step import StackStep
    from ladder_backends.ranks.looking import Look

    return Look(StackStep(arguments.stacks), not arguments.no_triggers, not arguments.no_services)


def _say_nodes(far: FarJob) -> None:
    say(far.nodes.answered)
    if far.skew:
        worst = max(far.skew, key=lambda host: abs(far.skew[host]))
        doubt = max((node.link.doubt for node in far.nodes.live), default=0.0)
        within = f"{abs(far.skew[worst]) * 1e3:.1f} ms of the same moment"
        say(f"all looked within {within} ({worst} was furthest off), ± {doubt * 1e3:.1f} ms")

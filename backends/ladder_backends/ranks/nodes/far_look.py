"""A look at the ranks of many nodes: what their agents tell, in the shape of a look at this host, and joined."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ladder_backends.model.ranks import (
    Collective,
    Evidence,
    Job,
    Rank,
    RankActivity,
    RankSource,
    RankStack,
    Reading,
    Unreachable,
)
from ladder_backends.model.stack_step import StackStep
from ladder_backends.ranks.claims import READ
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.looking import Look, look_at
from ladder_backends.ranks.native_stacks import PREDICTED
from ladder_backends.ranks.nodes.nodes import Node, Nodes, mapping
from ladder_backends.ranks.nodes.told_files import ToldFiles
from ladder_backends.ranks.process_table import MARKERS
from ladder_backends.ranks.rank_environment import PREFIXES, rank_environment
from ladder_backends.ranks.recorder.dump import DumpInvalid, read_dump
from ladder_backends.ranks.recorder.files import dump_paths
from ladder_backends.ranks.stacks.wire import stacks_from_wire
from ladder_backends.ranks.syscalls import syscall_name
from ladder_backends.text import clean_line

_BETWEEN = 0.2
_LEAD = 0.3
"""Seconds from now to the moment at which all nodes look together."""
_DEADLINE = 60.0
_NAMES = ("RANK=", "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID=")


class FarJob:
    """One job over many nodes.

    Args:
        job: As it was found on this host; its ranks may all be elsewhere.
        nodes: The other nodes.
        say: Told of what concerns all of it.
    """

    def __init__(self, job: Job, nodes: Nodes, say: Callable[[str], None] = lambda _line: None) -> None:
        self.here = job
        self.nodes = nodes
        self.job = job
        self.skew: dict[str, float] = {}
        self._files: dict[str, ToldFiles] = {}
        self._say = say

    async def find(self) -> Job:
        """The ranks of all nodes as one job."""
        found = await self.jobs()
        jobs = {host: job for host, told in found.items() for job in told if job.key == self.here.key}
        self.job = join_jobs(self.here, jobs, self.nodes.silent)
        return self.job

    async def jobs(self) -> dict[str, tuple[Job, ...]]:
        """All jobs of each node that answers, as it has them."""

        async def one(node: Node) -> tuple[Job, ...]:
            told = await node.link.ask(
                "processes",
                _DEADLINE,
                ranks=_NAMES,
                keep=[*(name.decode() + "=" for name in sorted(READ)), *(name.decode() for name in PREFIXES)],
                libraries=[name.decode() for name in MARKERS],
            )
            files = self._files[node.host] = ToldFiles(told.get("processes"))
            return Discovery(files, lambda _pid, _proc: (), node.name).jobs

        return await self.nodes.each(one)

    async def look(self, wish: Look | None = None) -> Evidence:
        """Look at all nodes at the same moment, and join what they tell; who is lost meanwhile is told."""
        wish = wish or Look()
        by_host: dict[str, list[Rank]] = {}
        for rank in self.job.ranks:
            by_host.setdefault(rank.host, []).append(rank)
        names = {node.name for node in self.nodes.live}
        near = [rank for rank in self.job.ranks if rank.host not in names and rank in self.here.ranks]
        at = time.time() + _LEAD

        async def far(node: Node) -> Evidence:
            ranks = by_host.get(node.name, [])
            if not ranks:
                return Evidence(self.job)
            return await self._far(node, ranks, wish, at)

        async def close_by() -> Evidence | None:
            await asyncio.sleep(max(0.0, at - time.time()))
            return await look_at(replace(self.here, ranks=tuple(near), missing=()), wish) if near else None

        told, ours = await asyncio.gather(self.nodes.each(far), close_by())
        heard = {rank.rank for rank in near}
        for node in self.nodes.live:
            heard |= {rank.rank for rank in by_host.get(node.name, [])}
        lost = {}
        for host, why in self.nodes.silent.items():
            lost[host] = f"node {host} did not answer: {why}"
        silent = [Unreachable(rank, why) for rank, why in self.job.missing]
        for rank in self.job.ranks:
            if rank.rank not in heard:
                why = lost.get(rank.host) or next(iter(lost.values()), f"nobody has looked on {rank.host}")
                silent.append(Unreachable(rank.rank, why, "look again"))
        if lost:
            every = "; ".join(lost.values())[:400]
            silent += [Unreachable(rank, every, "look again") for rank in self.job.elsewhere]
        looks = [*([ours] if ours is not None else []), *told.values()]
        return join_looks(self.job, at, looks, silent)

    async def _far(self, node: Node, ranks: Sequence[Rank], wish: Look, at: float) -> Evidence:
        native = {StackStep.AUTO: "auto", StackStep.NATIVE: "all", StackStep.GDB: "all"}.get(wish.stacks, "none")
        details: dict[str, Any] = {
            "ranks": [(rank.rank, rank.pid, rank.started) for rank in ranks],
            "at": at + node.link.offset,
            "between": _BETWEEN,
            "python": wish.stacks is not StackStep.NONE,
            "native": native,
            **{name: node.programs.get(name, "") for name in ("py-spy", "eu-stack")},
        }
        told = await node.link.ask("look", _DEADLINE, **details)
        fired = told.get("fired")
        if isinstance(fired, int | float):
            self.skew[node.host] = fired - node.link.offset - at
        readings: list[Reading] = []
        activity, gone = _activity(ranks, mapping(told.get("seen")), _seconds(told.get("between")))
        took = _seconds(told.get("between"))
        readings.append(Reading(RankSource.PROC, tuple(each.rank for each in activity), tuple(gone), took=took))
        stacks: dict[str, tuple[RankStack, ...]] = {}
        pids = {rank.rank: rank.pid for rank in ranks}
        for name, source, pause in (("python", RankSource.PY_SPY, 0.0), ("native", RankSource.EU_STACK, PREDICTED)):
            found, silent = stacks_from_wire(told.get(name), pids)
            stacks[name] = found
            answered = tuple(sorted({stack.rank for stack in found}))
            if answered or silent:
                readings.append(Reading(source, answered, silent, pause, pause, took))
        collectives, recorder = await self._recorders(node, ranks) if wish.services else ({}, None)
        if recorder is not None:
            readings.append(recorder)
        return Evidence(
            self.job, at, tuple(readings), activity, stacks["python"], stacks["native"], collectives,
            unreachable=tuple(gone),
        )  # fmt: skip

    async def _recorders(
        self, node: Node, ranks: Sequence[Rank]
    ) -> tuple[Mapping[int, tuple[Collective, ...]], Reading | None]:
        """What flight recorders have dumped on the node; nobody is asked to dump."""
        begun = time.monotonic()
        files = self._files.get(node.host) or ToldFiles({})
        environments = {rank.rank: rank_environment(rank.pid, files) for rank in ranks}
        of_torch = [rank for rank in ranks if any(name.startswith("TORCH") for name in environments[rank.rank])]
        if not of_torch:
            return {}, None
        up = await node.link.ask("clock")
        boot = _seconds(up.get("clock")) - _seconds(up.get("up"))
        tick = _seconds(up.get("tick")) or 100.0
        asked = []
        for rank in of_torch:
            paths = [
                path if path.startswith("/") else f"/proc/{rank.pid}/cwd/{path}"
                for path in dump_paths(rank, environments[rank.rank])
            ]
            asked.append((rank.rank, paths, boot + rank.started / tick - 1.0))
        told = mapping((await node.link.ask("files", _DEADLINE, files=asked)).get("files"))
        found: dict[int, tuple[Collective, ...]] = {}
        silent = []
        for rank in of_torch:
            row = told.get(str(rank.rank))
            why = "it has dumped nothing"
            if isinstance(row, list) and len(row) == 3 and isinstance(row[2], str):
                try:
                    dump = read_dump(base64.b64decode(row[2]), at=time.time() - _seconds(row[1]))
                    found[rank.rank] = dump.collectives
                    continue
                except (DumpInvalid, binascii.Error) as error:
                    why = f"its dump {clean_line(str(row[0]))[:200]} is none: {error}"
            silent.append(Unreachable(rank.rank, why))
        note = "from files" if found else ""
        return found, Reading(
            RankSource.RECORDER, tuple(found), tuple(silent), took=time.monotonic() - begun, note=note
        )


def join_jobs(here: Job, found: Mapping[str, Job], silent: Mapping[str, str]) -> Job:
    """One job out of what each node has of it.

    Args:
        here: What this host has.
        found: By node.
        silent: By node, why it told nothing.
    """
    ranks = {rank.rank: rank for rank in here.ranks}
    notes = list(here.notes)
    absent = dict(here.missing)
    size = here.size
    for host, job in found.items():
        for rank in job.ranks:
            known = ranks.setdefault(rank.rank, rank)
            if known is not rank and (known.host, known.pid) != (rank.host, rank.pid):
                notes.append(
                    f"{known.host} and {rank.host} both have a rank {rank.rank}; that of {known.host} was taken"
                )
        for number, why in job.missing:
            absent.setdefault(number, f"{host}: {why}")
        size = size if size is not None else job.size
        notes += [f"{host}: {note}" for note in job.notes]
    missing = {number: why for number, why in absent.items() if number not in ranks}
    elsewhere = [number for number in here.elsewhere if number not in ranks]
    unknown = [number for number in range(size or 0) if number not in ranks and number not in missing]
    if silent:
        # Whoever is nowhere that was looked at may well live where nobody could look.
        lying = [number for number, why in missing.items() if "on this host" in why]
        for number in lying:
            del missing[number]
        elsewhere = sorted({*elsewhere, *unknown, *lying})
    else:
        elsewhere = sorted({*elsewhere, *unknown})
    sources = tuple(dict.fromkeys((*here.sources, *(source for job in found.values() for source in job.sources))))
    title = here.title or next((job.title for job in found.values()), "")
    return replace(
        here,
        size=size,
        ranks=tuple(ranks[number] for number in sorted(ranks)),
        missing=tuple(sorted(missing.items())),
        elsewhere=tuple(elsewhere),
        notes=tuple(notes),
        sources=sources,
        title=title,
    )


def join_looks(job: Job, at: float, looks: Sequence[Evidence], silent: Sequence[Unreachable]) -> Evidence:
    """Looks at parts of a job as one; of each source the slowest counts."""
    readings: dict[RankSource, Reading] = {}
    for look in looks:
        for reading in look.readings:
            known = readings.get(reading.source)
            if known is None:
                readings[reading.source] = reading
                continue
            notes = [each for each in dict.fromkeys((known.note, reading.note)) if each]
            readings[reading.source] = Reading(
                reading.source,
                tuple(sorted((*known.answered, *reading.answered))),
                tuple(sorted((*known.silent, *reading.silent), key=lambda each: each.rank)),
                max(known.predicted, reading.predicted),
                max(known.measured, reading.measured),
                max(known.took, reading.took),
                "; ".join(notes),
            )
    every = {each.rank: each for look in looks for each in look.unreachable}
    every.update({each.rank: each for each in silent})
    return Evidence(
        job,
        at,
        tuple(readings.values()),
        tuple(sorted((each for look in looks for each in look.activity), key=lambda each: each.rank)),
        tuple(stack for look in looks for stack in look.python),
        tuple(stack for look in looks for stack in look.native),
        {rank: told for look in looks for rank, told in look.collectives.items()},
        tuple(each for look in looks for each in look.ras),
        tuple(every[rank] for rank in sorted(every)),
    )


def _activity(
    ranks: Sequence[Rank], seen: Mapping[str, Any], between: float
) -> tuple[tuple[RankActivity, ...], list[Unreachable]]:
    """What two glances of an agent tell, as those of this host do."""
    found: list[RankActivity] = []
    gone: list[Unreachable] = []
    for rank in ranks:
        files = ToldFiles({str(rank.pid): mapping(seen.get(str(rank.rank)))})
        now, before = (files.raw(rank.pid, name).rpartition(b")")[2].split() for name in ("stat", "before"))
        if len(now) < 20 or not now[19].isdigit() or int(now[19]) != rank.started or now[0] in (b"Z", b"X"):
            gone.append(Unreachable(rank.rank, f"process {rank.pid} has ended", "look at the job again"))
            continue
        status = files.status(rank.pid)
        tracer, threads = status.get("TracerPid", "0"), status.get("Threads", "0")
        cpu = None
        if len(before) > 19 and all(each.isdigit() for each in (*now[11:13], *before[11:13])):
            cpu = (sum(map(int, now[11:13])) - sum(map(int, before[11:13]))) / 100
        wchan = clean_line(files.text(rank.pid, "wchan").strip())[:100]
        found.append(
            RankActivity(
                rank.rank,
                now[0].decode("ascii", "replace"),
                "" if wchan == "0" else wchan,
                syscall_name(files.text(rank.pid, "syscall")),
                int(tracer) if tracer.isdecimal() else 0,
                int(threads) if threads.isdecimal() else 0,
                cpu,
                between,
            )
        )
    return tuple(found), gone


def _seconds(told: object) -> float:
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else 0.0

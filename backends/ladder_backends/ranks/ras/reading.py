"""Asks RAS twice, and tells of each rank of the job what did not change between."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping

from ladder_backends.model.ranks import Job, RankSource, RasCounts, Reading, Unreachable
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.rank_environment import rank_environment
from ladder_backends.ranks.ras.client import DEFAULT_ADDRESS, RasReport, RasSilent, ask, read_address
from ladder_backends.ranks.ras.report import OPERATION, RasStatus, read_json, read_text

BETWEEN = 1.0
"""Seconds between the two questions: ranks that move begin thousands of operations in them."""

_LIBRARIES = (b"/libnccl", b"/librccl")
_LISTENS = "0A"
_SOCKET = re.compile(r"socket:\[(\d+)\]")


async def read_ras(
    job: Job, *, proc: ProcFiles | None = None, between: float = BETWEEN
) -> tuple[tuple[RasCounts, ...], Reading]:
    """What NCCL itself tells of the job's ranks; nothing, with the reason, where it has no RAS."""
    proc = proc or ProcFiles()
    begun = time.monotonic()
    if not any(any(name in proc.raw(rank.pid, "maps", 16 << 20) for name in _LIBRARIES) for rank in job.ranks[:8]):
        return (), Reading(RankSource.RAS, note="no rank has NCCL loaded")
    environments = [rank_environment(rank.pid, proc) for rank in job.ranks]
    if any(each.get("NCCL_RAS_ENABLE", "").strip() == "0" for each in environments):
        return (), _silent(job, begun, "it is switched off (NCCL_RAS_ENABLE=0)")
    addresses = dict.fromkeys(each.get("NCCL_RAS_ADDR") or DEFAULT_ADDRESS for each in environments)
    try:
        host, port = read_address(next(iter(addresses)))
        owners = _owners(port, proc)
        if owners is None and host in ("localhost", "127.0.0.1", "::1"):
            # A job of gloo has NCCL loaded and never begins it: there is nobody to be silent.
            return (), Reading(RankSource.RAS, note=f"no RAS of NCCL listens at {host}:{port}")
        if owners is not None and not any(_holds(rank.pid, owners, proc) for rank in job.ranks):
            raise RasSilent(f"port {port} belongs to another job: start this one with a NCCL_RAS_ADDR of its own")
        first = _read(await ask(host, port))
        await asyncio.sleep(between)
        second = _read(await ask(host, port))
    except RasSilent as why:
        return (), _silent(job, begun, str(why))
    counts = tuple(join(job, first, second))
    told = {each.rank for each in counts}
    silent = tuple(Unreachable(rank.rank, "RAS names outliers only") for rank in job.ranks if rank.rank not in told)
    note = f"NCCL {second.version}" if second.version else ""
    return counts, Reading(RankSource.RAS, tuple(sorted(told)), silent, took=time.monotonic() - begun, note=note)


def join(job: Job, first: RasStatus, second: RasStatus) -> list[RasCounts]:
    """The members of the second answer as ranks of the job, each with whether the first one told the same."""
    ranks = {rank.pid: rank.rank for rank in job.ranks}
    before = {(member.communicator, member.rank): member for member in first.members}
    found: dict[tuple[int, str], RasCounts] = {}
    for member in second.members:
        size = second.sizes.get(member.communicator)
        rank = ranks.get(member.pid) if member.pid is not None else None
        if rank is None and size is not None and size == job.size and member.pid is None:
            rank = member.rank
        if rank is None:
            continue
        earlier = before.get((member.communicator, member.rank))
        same = earlier is not None and (earlier.counts, earlier.state) == (member.counts, member.state)
        found[rank, member.communicator] = RasCounts(rank, member.communicator, member.counts, same, member.state)
    _add_the_many(job, first, second, found)
    return [found[key] for key in sorted(found)]


def _add_the_many(job: Job, first: RasStatus, second: RasStatus, found: dict[tuple[int, str], RasCounts]) -> None:
    """The text form gives the count of those that are no outliers, without their names.

    Who they are is known where there is one communicator only, which then is the job's.
    """
    communicators = {member.communicator for member in second.members} | set(second.most)
    if len(communicators) != 1:
        return
    (name,) = communicators
    if name not in second.most:
        return
    same = first.most.get(name) == second.most[name]
    for rank in job.ranks:
        counts: Mapping[str, int] = {OPERATION: second.most[name]}
        found.setdefault((rank.rank, name), RasCounts(rank.rank, name, counts, same))


def _read(report: RasReport) -> RasStatus:
    if not report.is_json:
        return read_text(report.text)
    try:
        return read_json(report.text)
    except ValueError:
        raise RasSilent("RAS answers something that is no JSON") from None


def _silent(job: Job, begun: float, why: str) -> Reading:
    silent = tuple(Unreachable(rank.rank, why) for rank in job.ranks)
    return Reading(RankSource.RAS, (), silent, took=time.monotonic() - begun, note=why)


def _owners(port: int, proc: ProcFiles) -> set[str] | None:
    """Inodes of the sockets that listen on a port of this host; None where that may not be read."""
    found: set[str] = set()
    readable = False
    for name in ("net/tcp", "net/tcp6"):
        for line in proc.raw("self", name, 8 << 20).decode("ascii", "replace").splitlines()[1:]:
            readable = True
            fields = line.split()
            if len(fields) > 9 and fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(fields[9])
    return found if readable and found else None


def _holds(pid: int, inodes: set[str], proc: ProcFiles) -> bool:
    links = (_SOCKET.fullmatch(link) for link in proc.open_files(pid))
    return any(link is not None and link[1] in inodes for link in links)

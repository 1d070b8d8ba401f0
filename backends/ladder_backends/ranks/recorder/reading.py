"""All that a job's flight recorders tell: live from debug servers, by a trigger, or from files that lie there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ladder_backends.model.ranks import Collective, Job, Rank, RankSource, Reading, Unreachable
from ladder_backends.ranks.rank_environment import rank_environment
from ladder_backends.ranks.recorder.debug_server import ask_servers, find_servers
from ladder_backends.ranks.recorder.dump import DumpInvalid, RecorderDump, read_dump
from ladder_backends.ranks.recorder.files import (
    PipeRefused,
    dump_file,
    pipe_of,
    read_file,
    records,
    trigger,
)
from ladder_backends.ranks.recorder.store import StoreUnreadable
from ladder_backends.text import clean_line

_POLL = 0.05


@dataclass(slots=True)
class RecorderAnswers:
    """What was told, while it is gathered.

    Attributes:
        why: By rank, why nothing was told so far.
        live: Ranks that were asked now, as against files of some earlier moment.
        oldest: Seconds since the oldest of the files was written.
    """

    dumps: dict[int, RecorderDump] = field(default_factory=dict)
    why: dict[int, str] = field(default_factory=dict)
    live: set[int] = field(default_factory=set)
    triggered: set[int] = field(default_factory=set)
    oldest: float = 0.0


async def read_recorders(
    job: Job, *, may_trigger: bool = True, deadline: float = 3.0
) -> tuple[Mapping[int, tuple[Collective, ...]], Reading]:
    """The collectives of every rank whose recorder tells, in the order of recording.

    Args:
        job: Whose.
        may_trigger: Write to the pipe of a rank that has one and no debug server, which makes it dump.
        deadline: Seconds for a server's answer, and for a file to be written.
    """
    begun = time.monotonic()
    answers = RecorderAnswers()
    environments = {rank.rank: rank_environment(rank.pid) for rank in job.ranks}
    if not any(_is_torch(environment) for environment in environments.values()):
        return {}, Reading(RankSource.RECORDER, note="no rank is of torch")
    await _from_servers(job, environments, answers, deadline)
    if may_trigger:
        await _by_trigger(job, environments, answers, deadline)
    for rank in job.ranks:
        if rank.rank not in answers.dumps:
            await asyncio.to_thread(_from_file, rank, environments[rank.rank], answers)
    silent = tuple(
        Unreachable(rank.rank, answers.why.get(rank.rank) or _why_none(environments[rank.rank]), _REMEDY)
        for rank in job.ranks
        if rank.rank not in answers.dumps
    )
    found = {number: dump.collectives for number, dump in sorted(answers.dumps.items())}
    reading = Reading(
        RankSource.RECORDER,
        tuple(found),
        silent,
        took=time.monotonic() - begun,
        note=_note(answers),
    )
    return found, reading


_REMEDY = (
    "start the job with TORCH_FR_BUFFER_SIZE=2000, and call torch.distributed.debug.start_debug_server"
    " or set TORCH_NCCL_DEBUG_INFO_PIPE_FILE"
)


async def _from_servers(
    job: Job, environments: Mapping[int, Mapping[str, str]], answers: RecorderAnswers, deadline: float
) -> None:
    here = {rank.rank for rank in job.ranks}
    host, port = next(((each.get("MASTER_ADDR", ""), each["MASTER_PORT"]) for each in environments.values()
                       if each.get("MASTER_PORT", "").isdecimal()), ("", ""))  # fmt: skip
    if not port or not 0 < int(port) < 1 << 16:
        return
    try:
        servers = await find_servers(host or "127.0.0.1", int(port), sorted(here))
    except StoreUnreadable as error:
        answers.why.update(dict.fromkeys(here, str(error)))
        return
    # The ranks are processes of this host: a name that only the cluster resolves is not needed.
    local = {rank: ("127.0.0.1", place[1]) for rank, place in servers.items()}
    told, silent = await ask_servers(local, deadline)
    answers.why.update(silent)
    now = time.time()
    for rank, documents in told.items():
        _merge(rank, documents, now, answers)


def _merge(rank: int, documents: list[bytes], now: float, answers: RecorderAnswers) -> None:
    """One rank may record for gloo and for NCCL: both are told, by their time."""
    dumps = []
    for document in documents:
        try:
            dumps.append(read_dump(document, at=now))
        except DumpInvalid as error:
            answers.why[rank] = f"its debug server gives no dump: {error}"
    if dumps:
        collectives = sorted(
            (each for dump in dumps for each in dump.collectives), key=lambda each: -(each.age or 0.0)
        )
        answers.dumps[rank] = RecorderDump(dumps[0].version, tuple(collectives), dumps[0].dropped, now)
        answers.live.add(rank)


async def _by_trigger(
    job: Job, environments: Mapping[int, Mapping[str, str]], answers: RecorderAnswers, deadline: float
) -> None:
    waiting: dict[int, Rank] = {}
    begun = time.time()
    for rank in job.ranks:
        path = pipe_of(rank, environments[rank.rank]) if rank.rank not in answers.dumps else ""
        if not path:
            continue
        try:
            trigger(path)
        except PipeRefused as refused:
            answers.why[rank.rank] = str(refused)
        else:
            waiting[rank.rank] = rank
    answers.triggered = set(waiting)
    until = time.monotonic() + deadline
    while waiting and time.monotonic() < until:
        await asyncio.sleep(_POLL)
        for number, rank in list(waiting.items()):
            # Time stamps of files are coarser than the clock.
            if dump_file(rank, environments[number], begun - 0.02) is None:
                continue
            await asyncio.to_thread(_from_file, rank, environments[number], answers)
            if number in answers.dumps:
                answers.live.add(number)
                del waiting[number]
    for number in waiting:
        answers.why[number] = f"it was asked to dump, and has written nothing within {deadline:g} s"


def _from_file(rank: Rank, environment: Mapping[str, str], answers: RecorderAnswers) -> None:
    dump = dump_file(rank, environment, _began(rank))
    if dump is None:
        return
    try:
        answers.dumps[rank.rank] = read_dump(read_file(dump), at=dump.at)
    except OSError as error:
        answers.why[rank.rank] = f"its dump {clean_line(dump.path)} cannot be read: {error.strerror}"
    except DumpInvalid as error:
        answers.why[rank.rank] = f"its dump {clean_line(dump.path)} is none: {error}"
    else:
        answers.oldest = max(answers.oldest, time.time() - dump.at)


def _began(rank: Rank) -> float:
    """Seconds since the epoch at which the rank's process began."""
    try:
        with open("/proc/uptime", encoding="ascii") as file:
            up = float(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return 0.0
    return time.time() - up + rank.started / (os.sysconf("SC_CLK_TCK") or 100) - 1.0


def _is_torch(environment: Mapping[str, str]) -> bool:
    return any(name.startswith(("TORCH", "MASTER_PORT")) for name in environment)


def _why_none(environment: Mapping[str, str]) -> str:
    if not environment:
        return "its environment may not be read"
    if records(environment) is False:
        return "its flight recorder is switched off"
    return "it has no debug server, no pipe to ask by, and has dumped nothing"


def _note(answers: RecorderAnswers) -> str:
    words = []
    if answers.triggered:
        number = len(answers.triggered)
        words.append(f"wrote a byte to {number} pipe{'s' if number > 1 else ''}, which makes a rank dump")
    old = [rank for rank in answers.dumps if rank not in answers.live]
    if old:
        words.append(f"{len(old)} from files up to {answers.oldest:.0f} s old")
    return "; ".join(words)

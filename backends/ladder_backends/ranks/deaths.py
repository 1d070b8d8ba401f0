"""Which rank ended first, and how: the kernel tells of each process's end, in order; none is a child of ours.

pidfd_open(2) gives a descriptor that becomes readable at the end; `PIDFD_GET_INFO` (Linux 6.15, ioctl_pidfd(2))
tells the exit status after it. On older kernels it is read from `/proc/PID/stat` where that is quick enough.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import re
import signal
import struct
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ladder_backends.model.ranks import Job, Rank
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.rank_list import fold
from ladder_backends.text import clean_line

_GET_INFO = 0xC040FF0B
_INFO = struct.Struct("<QQ11Ii")
_WITH_EXIT = 1 << 3
_PATIENCE = 0.3
"""Seconds within which a launcher has picked up what its child left."""

_TOGETHER = 0.05
"""Seconds within which the order of two ends is not known."""

# Open MPI 4 (orte help-orterun), torchrun (elastic/multiprocessing/errors), MPICH (hydra's pmip_cb.c).
_MESSAGES = (
    re.compile(r"process rank (?P<rank>\d+) with PID (?P<pid>\d+) on node \S+ exited on signal (?P<signal>\d+)"),
    re.compile(r"Process name: \[\[\d+,\d+\],(?P<rank>\d+)\]\s+Exit code:\s+(?P<code>\d+)"),
    re.compile(r"rank\s*: (?P<rank>\d+) \(local_rank: \d+\)\s+exitcode\s*: (?P<code>-?\d+) \(pid: (?P<pid>\d+)\)"),
    re.compile(r"KILLED AT RANK (?P<rank>\d+)|EXIT CODE: (?P<code>\d+)"),
)


@dataclass(frozen=True, slots=True)
class RankEnd:
    """The end of one rank.

    Attributes:
        at: Seconds since the epoch.
        status: As `waitpid` gives it; None where nobody could tell.
        start: How often the ranks had been started again before (torchrun).
        source: Who told the status.
    """

    rank: int
    pid: int
    at: float
    status: int | None = None
    start: int = 0
    source: str = ""

    @property
    def badly(self) -> bool | None:
        """It did not end with 0; None where that is not known."""
        return None if self.status is None else self.status != 0

    @property
    def words(self) -> str:
        """How it ended, a clause."""
        if self.status is None:
            return "ended, how is not known"
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            return f"ended by signal {number} ({signal_name(number)})"
        return f"ended with exit code {os.WEXITSTATUS(self.status)}"


class DeathWatch:
    """Hears of the end of every process that it was told of.

    Attributes:
        ends: In the order of time.
    """

    def __init__(self, proc: ProcFiles | None = None) -> None:
        self.ends: list[RankEnd] = []
        self._proc = proc or ProcFiles()
        self._open: dict[tuple[int, int], int] = {}
        self._seen: set[tuple[int, int]] = set()
        self._asking: set[asyncio.Task[None]] = set()

    def watch(self, job: Job) -> None:
        """Watch the ranks of a job; those that are watched already are left alone."""
        for rank in job.ranks:
            key = (rank.pid, rank.started)
            if key in self._seen:
                continue
            try:
                descriptor = os.pidfd_open(rank.pid)
            except OSError:
                continue
            # Between the look and the opening the number may have become another's.
            fields = self._proc.raw(rank.pid, "stat", 4096).rpartition(b")")[2].split()
            if len(fields) < 20 or int(fields[19]) != rank.started:
                os.close(descriptor)
                continue
            self._seen.add(key)
            self._open[key] = descriptor
            asyncio.get_running_loop().add_reader(descriptor, self._ended, key, rank, job.restart)

    @property
    def alive(self) -> int:
        """How many of the watched are alive."""
        return len(self._open)

    async def settle(self) -> None:
        """Wait until all that is known to have ended is known with its status."""
        while self._asking:
            await asyncio.wait(self._asking)

    def close(self) -> None:
        """Watch nobody any more."""
        loop = asyncio.get_running_loop()
        for descriptor in self._open.values():
            loop.remove_reader(descriptor)
            os.close(descriptor)
        self._open.clear()

    def _ended(self, key: tuple[int, int], rank: Rank, start: int) -> None:
        descriptor = self._open.pop(key)
        asyncio.get_running_loop().remove_reader(descriptor)
        end = RankEnd(rank.rank, rank.pid, time.time(), start=start)
        self.ends.append(end)
        task = asyncio.ensure_future(self._ask(descriptor, rank, end))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, descriptor: int, rank: Rank, end: RankEnd) -> None:
        status = _left(self._proc, rank)
        source = "/proc"
        until = time.monotonic() + _PATIENCE
        while status is None and time.monotonic() < until:
            status, source = _told(descriptor), "kernel"
            if status is None:
                await asyncio.sleep(0.01)
        os.close(descriptor)
        if status is not None:
            self.ends[self.ends.index(end)] = replace(end, status=status, source=source)


def _told(descriptor: int) -> int | None:
    """The status of a process that its parent has picked up."""
    asked = bytearray(_INFO.pack(_WITH_EXIT, *(0 for _ in range(13))))
    try:
        fcntl.ioctl(descriptor, _GET_INFO, asked)
    except OSError:
        return None
    told = _INFO.unpack(asked)
    return int(told[-1]) if told[0] & _WITH_EXIT else None


def _left(proc: ProcFiles, rank: Rank) -> int | None:
    """The status of a process that nobody has picked up yet: the last field of `stat`, proc(5)."""
    fields = proc.raw(rank.pid, "stat", 4096).rpartition(b")")[2].split()
    if len(fields) < 50 or fields[0] not in (b"Z", b"X") or int(fields[19]) != rank.started:
        return None
    return int(fields[49])


def with_messages(ends: Iterable[RankEnd], output: str) -> list[RankEnd]:
    """Ends with what the launcher said of them, where nobody else could tell."""
    told: dict[int, int] = {}
    for pattern in _MESSAGES[:3]:
        for match in pattern.finditer(output):
            groups = match.groupdict()
            if groups.get("signal"):
                status = int(groups["signal"])
            else:
                code = int(groups["code"])
                status = -code if code < 0 else (code & 0xFF) << 8
            told.setdefault(int(groups["rank"]), status)
    return [
        replace(end, status=told[end.rank], source="launcher") if end.status is None and end.rank in told else end
        for end in ends
    ]


def signal_name(number: int) -> str:
    """`SIGSEGV`, or the number."""
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return str(number)


def first_of(ends: Sequence[RankEnd]) -> RankEnd | None:
    """Who ended badly first; None where nobody did.

    What ends within some hundredths of a second is heard of in no order: there, one that was ended from outside
    gives way to one that failed by itself, since launchers end the rest at once.
    """
    bad = [end for end in ends if end.badly]
    if not bad:
        return None
    together = [end for end in bad if end.at - bad[0].at < _TOGETHER]
    return next((end for end in together if not _from_outside(end)), bad[0])


def first_words(ends: Sequence[RankEnd]) -> str:
    """Who ended badly first, and when the others did; empty where nobody did."""
    first = first_of(ends)
    if first is None:
        return ""
    later = [end for end in ends if end is not first and end.at >= first.at - _TOGETHER]
    again = f" (start {first.start + 1})" if first.start else ""
    text = f"rank {first.rank} (process {first.pid}) {first.words} first{again}"
    if later:
        gap = max(0.0, min(end.at for end in later) - first.at)
        after = "at once" if gap < _TOGETHER else f"{gap:.2f} s later"
        text += f"; {fold(end.rank for end in later)} followed {after}"
    return clean_line(text)


def _from_outside(end: RankEnd) -> bool:
    status = end.status or 0
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGTERM)

"""How long ranks may be held: until a time-out of their own would end the job, less a margin."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ladder_backends.model.ranks import Collective
from ladder_backends.processes.proc_files import ProcFiles

RAS_DEAD = 60.0
"""Seconds of silence after which NCCL's RAS gives a peer up for the rest of the job."""

HEARTBEAT = 480.0
"""Seconds after which PyTorch's NCCL monitor ends a rank whose watchdog does not move, unless it is told."""

RESUME_AT = 0.8
"""Share of the budget after which ranks are let go on."""

BREATH = 1.0
"""Seconds that ranks have to run for the next hold to be counted anew."""

_HEARTBEAT_NAMES = ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "NCCL_HEARTBEAT_TIMEOUT_SEC")
_NCCL = re.compile(rb"/libnccl[^/\n]*\.so")
_ENVIRONMENT = 1 << 20
_MAPS = 16 << 20
_SHORTEST = 0.1


@dataclass(frozen=True, slots=True)
class Limit:
    """One time-out.

    Attributes:
        seconds: From the moment that a rank is held.
        source: Who would end the job: `time-out of all_reduce 17 (flight recorder)`.
    """

    seconds: float
    source: str


def limits_of(
    pids: Iterable[int],
    collectives: Mapping[int, Sequence[Collective]] | None = None,
    user: float | None = None,
    proc: ProcFiles | None = None,
) -> tuple[Limit, ...]:
    """Every time-out that is known to run against ranks, the shortest first.

    Args:
        pids: Process ids of the ranks.
        collectives: What flight recorders tell, by rank; of one that is under way only the rest is left.
        user: Seconds that a person gave.
        proc: Where the kernel tells of processes.
    """
    proc = proc or ProcFiles()
    found: list[Limit] = []
    if user is not None:
        found.append(Limit(user, "as asked"))
    for entries in (collectives or {}).values():
        for each in entries:
            if each.time_out is None or each.time_out <= 0 or each.state == "completed":
                continue
            left = each.time_out - (each.age or 0.0)
            found.append(Limit(max(left, _SHORTEST), f"time-out of {each.op} {each.seq} (flight recorder)"))
        if entries and (last := entries[-1]).state == "completed" and last.time_out:
            found.append(Limit(last.time_out, f"time-out of group {last.group or 'default'} (flight recorder)"))
    for pid in pids:
        found.extend(_of_process(pid, proc))
    best: dict[str, Limit] = {}
    for limit in found:
        if limit.source not in best or limit.seconds < best[limit.source].seconds:
            best[limit.source] = limit
    return tuple(sorted(best.values(), key=lambda limit: limit.seconds))


def _of_process(pid: int, proc: ProcFiles) -> list[Limit]:
    """What its environment and its libraries tell."""
    if _NCCL.search(proc.raw(pid, "maps", _MAPS)) is None:
        return []
    variables = {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for row in proc.raw(pid, "environ", _ENVIRONMENT).split(b"\0")
        for name, equals, value in [row.partition(b"=")]
        if equals
    }
    found = []
    if variables.get("NCCL_RAS_ENABLE", "1") != "0":
        found.append(Limit(RAS_DEAD, "NCCL RAS gives a silent peer up"))
    told = next((variables[name] for name in _HEARTBEAT_NAMES if name in variables), "")
    if variables.get("TORCH_NCCL_ENABLE_MONITORING", "1") not in ("0", "false", "False"):
        try:
            found.append(Limit(float(told or HEARTBEAT), "heartbeat of PyTorch's NCCL watchdog"))
        except ValueError:
            found.append(Limit(HEARTBEAT, "heartbeat of PyTorch's NCCL watchdog"))
    return found


class StopBudget:
    """Counts down while anything is held, and has it go on in time.

    Args:
        limits: The shortest one counts; none holds for ever.
        resume: Called, once, when `RESUME_AT` of it is used up.
    """

    def __init__(self, limits: Sequence[Limit], resume: Callable[[Limit], None]) -> None:
        self._limits = tuple(sorted(limits, key=lambda limit: limit.seconds))
        self._resume = resume
        self._since: float | None = None
        self._used = 0.0
        self._ran_at: float | None = None
        self._over_at: float | None = None
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> Limit | None:
        """The one that counts."""
        return self._limits[0] if self._limits else None

    @property
    def limits(self) -> tuple[Limit, ...]:
        """All of them, the shortest first."""
        return self._limits

    @property
    def allowed(self) -> float | None:
        """Seconds that may be used up of the whole; None for no limit."""
        return self.limit.seconds * RESUME_AT if self.limit is not None else None

    @property
    def left(self) -> float | None:
        """Seconds until ranks are let go on; None where nothing is held or there is no limit."""
        if self._since is None or self.allowed is None:
            return None
        return max(0.0, self.allowed - self._used - (time.monotonic() - self._since))

    def change(self, limits: Sequence[Limit]) -> None:
        """Take other limits; what has been used up stays so."""
        self._limits = tuple(sorted(limits, key=lambda limit: limit.seconds))
        self._set()

    def follow(self, since: float | None) -> None:
        """Tell since when anything is held, in seconds of `time.monotonic()`; None for nothing.

        What was used up before counts on, unless everything ran for `BREATH` seconds in between: ranks that go from
        stop to stop get nowhere.
        """
        if since is not None and self._over_at is not None:
            # What was let go on then is not held since before: it only has not gone on yet.
            since = max(since, self._over_at)
        if since == self._since or self._closed:
            return
        now = time.monotonic()
        if self._since is not None and since is None:
            self._used += now - self._since
            self._ran_at = now
        elif since is not None and self._ran_at is not None and not 0 <= since - self._ran_at < BREATH:
            # Who tells of a beginning before the last end counts by himself.
            self._used = 0.0
        self._since = since
        self._set()

    def close(self) -> None:
        """Count no more, whatever is told."""
        self._closed = True
        self._since = None
        self._set()

    def _set(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        left = self.left
        if left is not None:
            self._timer = asyncio.get_running_loop().call_later(left, self._over)

    def _over(self) -> None:
        self._timer = None
        limit = self.limit
        if limit is not None and self._since is not None:
            self._used, self._ran_at = 0.0, None
            self._since = self._over_at = time.monotonic()
            self._resume(limit)

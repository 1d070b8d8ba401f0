"""Ranks that a job should have and that no process of this host is: dead ones, and those of other hosts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ladder_backends.ranks.claims import Claim
from ladder_backends.ranks.mpir import TableRow
from ladder_backends.ranks.process_table import Process

MOST_MISSING = 4096
"""Missing ranks that are told one by one."""

_NOBODY = "no live process on this host says that it is this rank"


@dataclass(frozen=True, slots=True)
class Absence:
    """Who is not here.

    Attributes:
        missing: By rank, why it has no live process.
        elsewhere: Ranks of other hosts.
        note: What is not certain of this; empty where all is.
    """

    missing: Mapping[int, str]
    elsewhere: tuple[int, ...] = ()
    note: str = ""


def absence(
    size: int,
    present: Collection[int],
    claims: Sequence[Claim],
    rows: Sequence[TableRow] = (),
    is_here: Callable[[str], bool] = lambda _host: True,
    processes: Mapping[int, Process] | None = None,
) -> Absence:
    """Tell the absent ranks of a job apart.

    Args:
        size: Ranks of the whole job.
        present: Those that were found, alive or as zombies.
        claims: What the processes of this host say.
        rows: The launcher's table, in which each rank has a host.
        is_here: Whether a host's name is this one's.
        processes: All of this host.
    """
    absent = [number for number in range(size) if number not in present]
    if not absent:
        return Absence({})
    if rows:
        return _by_table(absent, rows, is_here, processes or {})
    told = {number for claim in claims for number in claim.here}
    if told:
        missing = {number: _NOBODY for number in absent if number in told}
        return Absence(missing, tuple(number for number in absent if number not in told))
    local = max((claim.local_size or 0 for claim in claims), default=0)
    if not local or local >= size:
        return Absence(dict.fromkeys(absent[:MOST_MISSING], _NOBODY))
    if len(present) >= local:
        return Absence({}, tuple(absent))
    starts = {claim.rank - claim.local_rank for claim in claims if claim.local_rank is not None}
    if len(starts) == 1:
        # Ranks of a host stand in one row, as torchrun numbers them.
        here = range(min(starts), min(starts) + local)
        missing = {number: _NOBODY for number in absent if number in here}
        return Absence(missing, tuple(number for number in absent if number not in here))
    lost = local - len(present)
    note = f"{lost} of the {local} ranks of this host have no live process; which ones nobody tells"
    why = "no live process on this host; it may be one of another host"
    return Absence(dict.fromkeys(absent[:MOST_MISSING], why), (), note)


def _by_table(
    absent: Sequence[int],
    rows: Sequence[TableRow],
    is_here: Callable[[str], bool],
    processes: Mapping[int, Process],
) -> Absence:
    missing: dict[int, str] = {}
    elsewhere = []
    for number in absent:
        if number >= len(rows):
            missing[number] = _NOBODY
            continue
        row = rows[number]
        process = processes.get(row.pid)
        if not is_here(row.host):
            elsewhere.append(number)
        elif process is None:
            missing[number] = f"no live process: the launcher started it as process {row.pid}, which has ended"
        elif process.state in "ZX":
            missing[number] = f"no live process: {row.pid} has ended and waits for its launcher (zombie)"
        else:
            missing[number] = _NOBODY
    return Absence(missing, tuple(elsewhere))

"""Finds the parallel jobs of this host: their ranks, which of them are not there, and who says so.

The environment of every process is read, a launcher's own table beside it; nothing is stopped, and nobody is asked.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from ladder_backends.model.ranks import Beside, Job, Launcher, Rank
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.absence import absence
from ladder_backends.ranks.candidates import Chosen, choose
from ladder_backends.ranks.claims import Claim
from ladder_backends.ranks.mesh import mesh_of
from ladder_backends.ranks.mpir import TableRow, read_table
from ladder_backends.ranks.process_table import Process, ProcessTable
from ladder_backends.ranks.rank_list import fold
from ladder_backends.text import clean_line

_CONTROL_PORT = re.compile(r"[\w.:\-\[\]]{1,200}")
_PROXIES = ("hydra_pmi_proxy", "hydra_pmi_prox", "slurmstepd", "orted", "prted")
"""Programs between a launcher and its ranks, by their names in the kernel (15 characters)."""
_REAPERS = ("systemd", "init", "tini", "dumb-init", "containerd-shim")
"""Programs that take up processes whose parents have ended."""
_LEFT_OVER = "left over"

ENVIRONMENT = "environment"


@dataclass(slots=True)
class _Found:
    """What is known of a job while it is put together."""

    key: str
    launcher: Launcher
    claims: dict[int, Claim] = field(default_factory=dict)
    carriers: dict[int, list[Process]] = field(default_factory=dict)
    left: list[Process] = field(default_factory=list)

    @property
    def pids(self) -> set[int]:
        return {process.pid for carriers in self.carriers.values() for process in carriers}


class Discovery:
    """One look at this host.

    Args:
        proc: Where it is read from.
        table_of: Reads the table of a launcher.
        host: The name of the host that it is of; this one where it is empty.
    """

    def __init__(
        self,
        proc: ProcFiles | None = None,
        table_of: Callable[[int, ProcFiles], tuple[TableRow, ...]] = read_table,
        host: str = "",
    ) -> None:
        self.table = ProcessTable(proc)
        self.host = host or clean_line(socket.gethostname())
        self._table_of = table_of
        self._tables: dict[int, tuple[TableRow, ...]] = {}
        self.jobs: tuple[Job, ...] = tuple(self._find())

    def launcher_table(self, pid: int) -> tuple[TableRow, ...]:
        """The table of a launcher; read once."""
        if pid not in self._tables:
            self._tables[pid] = self._table_of(pid, self.table.proc)
        return self._tables[pid]

    def _find(self) -> list[Job]:
        found: dict[str, _Found] = {}
        keys = {pid: self._key(process) for pid, process in self.table.processes.items() if process.claim}
        for pid, key in keys.items():
            claim = self.table.processes[pid].claim
            assert claim is not None
            job = found.setdefault(key, _Found(key, claim.launcher))
            job.claims[pid] = claim
            job.carriers.setdefault(claim.rank, []).append(self.table.processes[pid])
        self._drop_surroundings(found, keys)
        _give_back_orphans(found)
        for job in found.values():
            _keep_last_start(job)
        jobs = [self._job(job) for job in found.values() if job.carriers]
        return sorted(jobs, key=lambda job: min((rank.started for rank in job.ranks), default=0))

    def _key(self, process: Process) -> str:
        """The job of a claim; where the environment does not tell, the launcher's own process does."""
        claim = process.claim
        assert claim is not None
        key = claim.key
        if key.endswith(":"):
            key += self._launcher_name(process)
        elif claim.launcher in (Launcher.TORCHRUN, Launcher.TORCH):
            # Each network namespace has a port 29500 of its own.
            ours, theirs = (self.table.proc.link(pid, "ns/net") for pid in ("self", process.pid))
            if ours and theirs and ours != theirs:
                key += f" in {theirs}"
        return key

    def _launcher_name(self, process: Process) -> str:
        """What names the launcher of MPICH's ranks: its control port on every host, else its process."""
        for above in self.table.ancestors(process.pid):
            if above.claim is not None and above.claim.key.endswith(":"):
                continue
            command = self.table.command(above.pid)
            if "--control-port" in command[:-1]:
                port = command[command.index("--control-port") + 1]
                if _CONTROL_PORT.fullmatch(port):
                    return port
            if above.pid == 1 or above.name in _REAPERS:
                break
            return str(above.pid)
        return _LEFT_OVER

    def _drop_surroundings(self, found: dict[str, _Found], keys: dict[int, str]) -> None:
        """Leave out of a job what only surrounds another: a torchrun under srun carries srun's rank."""
        for pid, key in keys.items():
            claim = self.table.processes[pid].claim
            if claim is None or not claim.outer:
                continue
            outer = {name for name, _ in claim.outer}
            for above in self.table.ancestors(pid):
                other = keys.get(above.pid)
                if other is None or other == key or above.claim is None:
                    continue
                if above.claim.key in outer and above.pid in found[other].pids:
                    carriers = found[other].carriers[above.claim.rank]
                    carriers[:] = [process for process in carriers if process.pid != above.pid]
                    if not carriers:
                        del found[other].carriers[above.claim.rank]

    def _job(self, found: _Found) -> Job:
        roots = self._roots(found)
        launcher = self._launcher(found, roots)
        rows = self.launcher_table(launcher) if launcher is not None else ()
        sources = [ENVIRONMENT]
        notes: list[str] = []
        chosen = {
            number: choose(carriers, self.table, frozenset(roots)) for number, carriers in found.carriers.items()
        }
        size = _size(found, notes)
        if rows:
            sources.append(f"MPIR table of process {launcher}")
            if size is None:
                size = len(rows)
            elif size != len(rows):
                notes.append(f"the environment tells of {size} ranks, the launcher's table of {len(rows)}")
            self._add_from_table(rows, chosen, found)
        self._add_by_elimination(found, chosen, size, roots, notes)
        ranks = []
        missing: dict[int, str] = {}
        for number, one in sorted(chosen.items()):
            if one.process is None or one.process.state in "ZX":
                missing[number] = _why_missing(one)
                continue
            if one.doubt:
                notes.append(f"rank {number}: {one.doubt}; {one.process.pid} was taken, which is older")
            ranks.append(self._rank(number, one, found))
        claims = list(found.claims.values())
        away = absence(size or 0, chosen, claims, rows, self._is_here, self.table.processes)
        missing.update(away.missing)
        if away.note:
            notes.append(away.note)
        if size is not None and (beyond := [rank.rank for rank in ranks if rank.rank >= size]):
            notes.append(f"rank {fold(beyond)} lies beyond the size of {size}")
        if found.left:
            left = ", ".join(str(process.pid) for process in found.left[:8])
            notes.append(f"of an earlier start of this job still alive: process {left}")
        restart = max((claim.restart for claim in found.claims.values()), default=0)
        if restart:
            notes.append("torchrun has started the ranks again " + ("once" if restart == 1 else f"{restart} times"))
        return Job(
            found.key,
            found.launcher,
            launcher,
            size,
            tuple(ranks),
            tuple(sorted(missing.items())),
            tuple(sources),
            mesh_of(ranks[0].command, size) if ranks and size else None,
            self._title(launcher, ranks),
            restart,
            tuple(notes),
            away.elsewhere,
        )

    def _rank(self, number: int, chosen: Chosen, found: _Found) -> Rank:
        process = chosen.process
        assert process is not None
        proc = self.table.proc
        claim = found.claims.get(process.pid)
        status = proc.status(process.pid)
        tracer = status.get("TracerPid", "0")
        return Rank(
            number,
            process.pid,
            self.host,
            process.started,
            clean_line(proc.link(process.pid, "exe").removesuffix(" (deleted)")),
            self.table.command(process.pid),
            claim.local_rank if claim is not None else None,
            status.get("State", "X")[:1],
            wait_channel(proc, process.pid),
            int(tracer) if tracer.isdecimal() else 0,
            chosen.others,
        )

    def _roots(self, found: _Found) -> set[int]:
        """The processes right above the job's: its launcher, or the launcher's deputies."""
        members = found.pids
        roots: set[int] = set()
        for pid in members:
            above = next((each for each in self.table.ancestors(pid) if each.pid not in members), None)
            # Whoever takes orphans up is no launcher: init, or a reaper that has children of all kinds.
            if above is not None and above.pid > 1 and not self._reaps(above, members):
                roots.add(above.pid)
        return roots

    def _reaps(self, above: Process, members: set[int]) -> bool:
        """A subreaper has no parent but init, and is older than what it has taken up by another session."""
        if above.parent > 1 or above.name in _PROXIES:
            return False
        session = self._session(above.pid)
        ours = {self._session(pid) for pid in members if self.table.processes[pid].parent == above.pid}
        return above.name in _REAPERS and session not in ours

    def _session(self, pid: int) -> str:
        fields = self.table.proc.raw(pid, "stat", 4096).rpartition(b")")[2].split()
        return fields[3].decode("ascii", "replace") if len(fields) > 3 else ""

    def _launcher(self, found: _Found, roots: set[int]) -> int | None:
        """The launcher's process: the root with the most ranks below, or what started that deputy here."""
        if not roots:
            return None
        members = found.pids

        def below(pid: int) -> int:
            return sum(1 for process in self.table.descendants(pid) if process.pid in members)

        best = max(sorted(roots), key=below)
        process = self.table.processes[best]
        parent = self.table.processes.get(process.parent)
        if process.name.startswith("hydra_pmi_prox") and parent is not None and parent.name.startswith("mpi"):
            return parent.pid
        return best

    def _add_from_table(self, rows: tuple[TableRow, ...], chosen: dict[int, Chosen], found: _Found) -> None:
        """Ranks that the launcher's table tells of, and whose environments could not be read."""
        taken = {one.process.pid for one in chosen.values() if one.process is not None}
        for number, row in enumerate(rows):
            process = self.table.processes.get(row.pid)
            if number in chosen or process is None or process.pid in taken or not self._is_here(row.host):
                continue
            # A process that only has that number today carries no claim of this job, and is not below its launcher.
            if process.claim is not None and found.claims.get(process.pid) is None:
                continue
            carriers = [process, *self.table.descendants(process.pid)]
            chosen[number] = choose(carriers, self.table)

    def _add_by_elimination(
        self, found: _Found, chosen: dict[int, Chosen], size: int | None, roots: set[int], notes: list[str]
    ) -> None:
        """A child of the launcher that hides its environment is the one rank that nobody else is."""
        absent = [number for number in range(size or 0) if number not in chosen]
        taken = {one.process.pid for one in chosen.values() if one.process is not None}
        hidden = [
            process
            for root in roots
            for process in self.table.descendants(root)
            if process.hidden and process.parent in roots and process.pid not in taken
            if self.table.maps_parallel_library(process.pid)
        ]
        if len(hidden) == 1 and len(absent) == 1:
            chosen[absent[0]] = choose(hidden, self.table)
            notes.append(
                f"process {hidden[0].pid} shows no environment; it is taken for rank {absent[0]}, the only one left"
            )
        elif hidden:
            pids = ", ".join(str(process.pid) for process in hidden[:8])
            notes.append(f"process {pids} of the same launcher shows no environment: which rank it is nobody tells")

    def _is_here(self, host: str) -> bool:
        return host in ("", "localhost", self.host) or host.partition(".")[0] == self.host.partition(".")[0]

    def _title(self, launcher: int | None, ranks: list[Rank]) -> str:
        # A deputy's command line says nothing of the job.
        deputy = launcher is None or self.table.processes[launcher].name.startswith(_PROXIES)
        started = () if launcher is None or deputy else self.table.command(launcher)
        return " ".join(started or (ranks[0].command if ranks else ()))[:200]


def find_jobs(proc: ProcFiles | None = None) -> tuple[Job, ...]:
    """The parallel jobs of this host, the oldest first; takes some milliseconds."""
    return Discovery(proc).jobs


def wait_channel(proc: ProcFiles, pid: int | str) -> str:
    """Function of the kernel in which a thread waits, clean; empty where it runs or that may not be read."""
    text = clean_line(proc.text(pid, "wchan").strip())
    return "" if text == "0" else text[:100]


def _give_back_orphans(found: dict[str, _Found]) -> None:
    """Children that a dead rank of MPICH left are carriers of the one job of that size that lacks the rank."""
    for key in [key for key in found if key.endswith(f":{_LEFT_OVER}")]:
        orphans = found[key]
        for number, carriers in list(orphans.carriers.items()):
            size = orphans.claims[carriers[0].pid].size
            fitting = [
                job
                for job in found.values()
                if job is not orphans and job.launcher is orphans.launcher and number not in job.carriers
                if any(claim.size == size for claim in job.claims.values())
            ]
            if len(fitting) == 1:
                fitting[0].carriers[number] = orphans.carriers.pop(number)
                for process in fitting[0].carriers[number]:
                    fitting[0].claims[process.pid] = orphans.claims[process.pid]


def _keep_last_start(found: _Found) -> None:
    """Only the ranks of torchrun's last start are the job; what is left of earlier ones is kept apart."""
    last = max((claim.restart for claim in found.claims.values()), default=0)
    for number, carriers in list(found.carriers.items()):
        old = [process for process in carriers if found.claims[process.pid].restart < last]
        if old:
            found.left += old
            carriers[:] = [process for process in carriers if process not in old]
            if not carriers:
                del found.carriers[number]


def _size(found: _Found, notes: list[str]) -> int | None:
    told: dict[int, int] = {}
    members = found.pids
    for pid, claim in found.claims.items():
        if claim.size is not None and pid in members:
            told[claim.size] = told.get(claim.size, 0) + 1
    if len(told) > 1:
        notes.append("the ranks tell of different sizes: " + ", ".join(str(size) for size in sorted(told)))
    return max(told, key=lambda size: (told[size], size)) if told else None


def _why_missing(chosen: Chosen) -> str:
    if chosen.process is not None:
        return f"no live process: {chosen.process.pid} has ended and waits for its parent (zombie)"
    left: tuple[Beside, ...] = chosen.others
    if not left:
        return "no live process"
    names = ", ".join(f"{other.pid} ({other.why})" for other in left[:4])
    return f"no live process; left over of it: {names}"

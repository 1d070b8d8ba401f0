"""Which job a person means: by any of its processes, by its launcher, by its key, by a list of processes."""

from __future__ import annotations

from collections.abc import Sequence

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import Job, Launcher, Rank
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.candidates import choose
from ladder_backends.ranks.discovery import Discovery, wait_channel
from ladder_backends.ranks.rank_list import fold
from ladder_backends.text import clean_line

_LIST = "ladder-tui ranks --list shows the jobs of this host"


class NoSuchJob(LadderError):
    """No job of this host is meant, or several could be."""


def job_of(found: Discovery, pid: int) -> Job:
    """The job that a process belongs to: a rank, what stands beside one, its launcher, or what started that.

    Raises:
        NoSuchJob: It is of no job, or started several.
    """
    for job in found.jobs:
        members = {rank.pid for rank in job.ranks} | {other.pid for rank in job.ranks for other in rank.others}
        if pid in members or pid == job.launcher_pid:
            return job
    processes = found.table.processes
    if pid not in processes:
        raise NoSuchJob(f"there is no process {pid}", "", _LIST)
    below = {process.pid for process in found.table.descendants(pid)}
    started = [job for job in found.jobs if any(rank.pid in below for rank in job.ranks)]
    if not started:
        # A deputy of a launcher, or a thread of a rank that is given by its own number.
        above = {process.pid for process in found.table.ancestors(pid)}
        started = [job for job in found.jobs if any(rank.pid in above for rank in job.ranks)]
    if not started:
        started = _by_table(found, pid) or _from_table(found, pid)
    if len(started) == 1:
        return started[0]
    if started:
        raise NoSuchJob(f"process {pid} has started {len(started)} jobs", _keys(started), "name one with --job")
    name = processes[pid].name
    raise NoSuchJob(
        f"process {pid} ({name}) belongs to no job",
        "neither it nor anything below it carries the environment of a rank",
        f"{_LIST}; --pids 4711,4712 takes processes as they are named",
    )


def job_named(found: Discovery, text: str) -> Job:
    """The job of a key, of a part of it that no other has, or of its launcher's process id.

    Raises:
        NoSuchJob: There is none, or several.
    """
    wanted = text.strip()
    exact = [job for job in found.jobs if wanted in (job.key, str(job.launcher_pid))]
    near = exact or [job for job in found.jobs if wanted and wanted in job.key]
    if len(near) == 1:
        return near[0]
    if near:
        raise NoSuchJob(f"{clean_line(wanted)!r} is in the key of {len(near)} jobs", _keys(near), "name one whole")
    why = f"there are {_keys(found.jobs)}" if found.jobs else "no job was found on this host"
    raise NoSuchJob(f"no job is called {clean_line(wanted)!r}", why, _LIST)


def only_job(found: Discovery) -> Job:
    """The job, where there is one only.

    Raises:
        NoSuchJob: There is none, or a choice.
    """
    if len(found.jobs) == 1:
        return found.jobs[0]
    if found.jobs:
        raise NoSuchJob(f"there are {len(found.jobs)} jobs here", _keys(found.jobs), "name one with --job or --pid")
    raise NoSuchJob(
        "no parallel job was found on this host",
        "no process that may be read carries the environment of a rank",
        "--pids 4711,4712 takes processes as they are named; root sees those of all users",
    )


def job_of_pids(pids: Sequence[int], proc: ProcFiles | None = None) -> Job:
    """Processes as ranks 0, 1, 2 in the order named: the last resort where nothing tells.

    Raises:
        NoSuchJob: One of them is not there, or is named twice.
    """
    found = Discovery(proc)
    table = found.table
    ranks: list[Rank] = []
    for number, pid in enumerate(pids):
        process = table.processes.get(pid)
        if process is None or process.state in "ZX":
            raise NoSuchJob(f"there is no process {pid}", "", "look at the list of processes again")
        if pid in pids[:number]:
            raise NoSuchJob(f"process {pid} is named twice", "", "name each once")
        tracer = table.proc.status(pid).get("TracerPid", "0")
        ranks.append(
            Rank(
                number,
                pid,
                found.host,
                process.started,
                clean_line(table.proc.link(pid, "exe").removesuffix(" (deleted)")),
                table.command(pid),
                None,
                process.state,
                wait_channel(table.proc, pid),
                int(tracer) if tracer.isdecimal() else 0,
            )
        )
    key = f"pids:{fold(pids)}" if list(pids) == sorted(pids) else "pids:" + ",".join(map(str, pids))
    title = " ".join(ranks[0].command)[:200] if ranks else ""
    return Job(key, Launcher.PIDS, None, len(ranks), tuple(ranks), (), ("you",), None, title)


def _by_table(found: Discovery, pid: int) -> list[Job]:
    """Jobs of which a launcher's table names a process: srun starts none by itself, so that none is below it."""
    named = {row.pid for row in found.launcher_table(pid)}
    if not named:
        return []
    below = {process.pid for each in named for process in found.table.descendants(each)} | named
    return [job for job in found.jobs if any(rank.pid in below for rank in job.ranks)]


def _from_table(found: Discovery, pid: int) -> list[Job]:
    """A job by its launcher's table alone: nothing of it shows an environment."""
    rows = found.launcher_table(pid)
    ranks = []
    missing = []
    for number, row in enumerate(rows):
        process = found.table.processes.get(row.pid)
        if process is None or process.state in "ZX":
            missing.append((number, f"no live process: it was started as process {row.pid} on {row.host}"))
            continue
        chosen = choose([process, *found.table.descendants(process.pid)], found.table)
        if chosen.process is not None:
            best = chosen.process
            exe = clean_line(found.table.proc.link(best.pid, "exe").removesuffix(" (deleted)"))
            command = found.table.command(best.pid)
            ranks.append(
                Rank(
                    number, best.pid, found.host, best.started, exe, command, None, best.state, others=chosen.others
                )
            )
    if not ranks:
        return []
    source = f"MPIR table of process {pid}"
    title = " ".join(found.table.command(pid))[:200]
    return [Job(f"mpir:{pid}", Launcher.PIDS, pid, len(rows), tuple(ranks), tuple(missing), (source,), None, title)]


def _keys(jobs: Sequence[Job]) -> str:
    shown = [f"{job.key} ({len(job.ranks)} ranks)" for job in jobs[:6]]
    more = f" and {len(jobs) - 6} more" if len(jobs) > 6 else ""
    return ", ".join(shown) + more

"""Which of the processes that carry a rank's environment is the rank: wrappers and workers inherit it.

Nearest to the launcher that maps a library of MPI, torch, NCCL or CUDA: that is the program below a shell, and
above its DataLoader workers. Where none does, as in a program that is only starting or linked statically, the one
below what is known to be a wrapper.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ladder_backends.images.elf import ElfImage, ElfInvalid
from ladder_backends.model.ranks import Beside
from ladder_backends.ranks.process_table import Process, ProcessTable

_WRAPPER_NAMES = """ash bash busybox csh dash fish ksh mksh sh tcsh zsh env time timeout nice ionice nohup stdbuf
setsid script numactl taskset hwloc-bind chrt prlimit xterm tmux screen sudo su gdb cuda-gdb lldb rr strace ltrace
perf nsys ncu compute-sanitizer apptainer singularity docker podman srun mpirun mpiexec prun catchsegv tini
dumb-init"""
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())
"""Programs that start another one and are no rank, by the names of their files."""

_BEGINNINGS = ("MPI_Init", "PMPI_Init", "MPI_Init_thread", "ncclCommInitRank")

_WORKER_NAME = "pt_data_worker"
"""Name that torch gives a DataLoader worker (torch/utils/data/_utils/worker.py, since 2.6)."""

_HELPERS: tuple[tuple[str, str], ...] = (
    # Sources: CPython's Lib/multiprocessing/{spawn,resource_tracker,forkserver}.py, torch/_inductor/compile_worker.
    ("multiprocessing.resource_tracker", "resource tracker"),
    ("multiprocessing.forkserver", "fork server"),
    ("multiprocessing.spawn", "worker"),
    ("_inductor/compile_worker", "compile worker"),
    ("_inductor.compile_worker", "compile worker"),
)
"""Words of a command line that only a process beside a rank has."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rank's process, and the others that carry its environment.

    Attributes:
        process: None where only left-over workers of it are alive.
        doubt: Why another process could be meant; empty where there is none.
    """

    process: Process | None
    others: tuple[Beside, ...] = ()
    doubt: str = ""


def choose(carriers: Sequence[Process], table: ProcessTable, roots: frozenset[int] = frozenset()) -> Chosen:
    """Choose among the carriers of one rank of one job.

    Args:
        carriers: Processes that claim this rank.
        table: The look they are of.
        roots: Processes below which the job's ranks live, its launcher's; what is not below any of them has lost
            its parent. Empty where there is no such process.
    """
    living = [process for process in carriers if process.state not in "ZX"] or list(carriers)
    whys = {process.pid: _helper(process, table) for process in living}
    whole = [process for process in living if not whys[process.pid] and not _orphan(process, table, roots)]
    if not whole:
        left = tuple(_beside(each, table, whys[each.pid] or "left-over child") for each in living)
        return Chosen(None, left)
    mapping = [process for process in whole if table.maps_parallel_library(process.pid)]
    if not mapping and len(whole) > 1:
        mapping = [process for process in whole if _holds_library(process, table)]
    programs = mapping or [process for process in whole if not _is_wrapper(process, table)] or whole
    depths = {process.pid: _depth(process, table) for process in programs}
    if not mapping and programs is whole:
        # Nothing but shells: the innermost one is what runs.
        best = max(programs, key=lambda process: (depths[process.pid], -process.started))
    else:
        best = min(programs, key=lambda process: (depths[process.pid], process.started, process.pid))
    above = {process.pid for process in table.ancestors(best.pid)}
    below = {process.pid for process in table.descendants(best.pid)}
    others = []
    rivals = []
    for process in living:
        if process is best:
            continue
        if process.pid in above:
            why = "wrapper"
        elif process.pid in below:
            why = whys[process.pid] or _child(process, best, table)
        else:
            why = whys[process.pid] or ("left-over child" if _orphan(process, table, roots) else "beside it")
            if process in programs and depths.get(process.pid) == depths[best.pid]:
                rivals.append(process.pid)
        others.append(_beside(process, table, why))
    doubt = f"process {best.pid} and {', '.join(map(str, rivals))} stand side by side" if rivals else ""
    return Chosen(best, tuple(sorted(others, key=lambda other: other.pid)), doubt)


def is_wrapper_command(command: Sequence[str]) -> bool:
    """Whether a command line is that of a program that only starts another one."""
    return bool(command) and os.path.basename(command[0].lstrip("-")) in _WRAPPERS


def _is_wrapper(process: Process, table: ProcessTable) -> bool:
    executable = os.path.basename(table.proc.link(process.pid, "exe").removesuffix(" (deleted)"))
    return executable in _WRAPPERS or is_wrapper_command(table.command(process.pid))


def _holds_library(process: Process, table: ProcessTable) -> bool:
    """A program that a library of MPI or NCCL was linked into defines the function that begins it."""
    try:
        with ElfImage.open(table.proc.root / str(process.pid) / "exe") as image:
            return bool(image.symbol_values(_BEGINNINGS))
    except (OSError, ElfInvalid):
        return False


def _helper(process: Process, table: ProcessTable) -> str:
    if process.name == _WORKER_NAME:
        return "DataLoader worker"
    line = " ".join(table.command(process.pid)[:6])
    return next((why for words, why in _HELPERS if words in line), "")


def _child(process: Process, best: Process, table: ProcessTable) -> str:
    """A child with the very command line of its parent was forked, as workers of a DataLoader are by default."""
    command = table.command(process.pid)
    if command != table.command(best.pid):
        return "child"
    return "forked worker"


def _orphan(process: Process, table: ProcessTable, roots: frozenset[int]) -> bool:
    return bool(roots) and not any(above.pid in roots for above in table.ancestors(process.pid))


def _depth(process: Process, table: ProcessTable) -> int:
    return len(table.ancestors(process.pid))


def _beside(process: Process, table: ProcessTable, why: str) -> Beside:
    return Beside(process.pid, " ".join(table.command(process.pid))[:400], why)

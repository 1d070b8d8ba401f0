"""All processes of this host at one look, with what their environments claim."""

from __future__ import annotations

from dataclasses import dataclass, field

from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.claims import Claim, claim_in, variables_in
from ladder_backends.text import clean_line

_LARGEST_ENVIRON = 2 << 20
_LONGEST_COMMAND = 64 << 10
_MOST_WORDS = 1_000
_MAPS = 16 << 20
MARKERS = (b"libmpi", b"libpmpi", b"libtorch", b"libnccl", b"libcuda.so", b"libcudart", b"libamdhip64", b"librccl")
"""Libraries without which no process is a rank of MPI or torch; by the first letters of their files' names."""


@dataclass(slots=True)
class Process:
    """One process.

    Attributes:
        name: Its name in the kernel, at most 15 characters, clean.
        state: The kernel's letter.
        started: Clock ticks since the boot, field 22 of `stat` (proc(5)).
        claim: What its environment says; None where it says nothing, or may not be read.
        hidden: Its environment may not be read, or holds no variable any more: titles are written over it.
    """

    pid: int
    parent: int
    name: str
    state: str
    started: int
    claim: Claim | None = None
    hidden: bool = False
    children: list[int] = field(default_factory=list)


class ProcessTable:
    """The look. It reads, and costs some 30 µs a process; nothing is stopped.

    Args:
        proc: Where it is read from.
    """

    def __init__(self, proc: ProcFiles | None = None) -> None:
        self.proc = proc or ProcFiles()
        self.processes: dict[int, Process] = {}
        self._markers: dict[int, bool] = {}
        for pid in self.proc.pids():
            process = self._read(pid)
            if process is not None:
                self.processes[pid] = process
        for process in self.processes.values():
            if process.parent in self.processes:
                self.processes[process.parent].children.append(process.pid)

    def ancestors(self, pid: int) -> list[Process]:
        """Its parent, the parent of that, and so on."""
        found: list[Process] = []
        seen = {pid}
        process = self.processes.get(pid)
        while process is not None and process.parent not in seen:
            seen.add(process.parent)
            process = self.processes.get(process.parent)
            if process is not None:
                found.append(process)
        return found

    def descendants(self, pid: int) -> list[Process]:
        """All below it, those next to it first."""
        found: list[Process] = []
        seen, layer = {pid}, [pid]
        while layer:
            known = [self.processes[each] for each in layer if each in self.processes]
            layer = [child for process in known for child in process.children if child not in seen]
            seen.update(layer)
            found += [self.processes[child] for child in layer]
        return found

    def maps_parallel_library(self, pid: int) -> bool:
        """Whether it has a library of MPI, torch, NCCL or CUDA mapped; asked of each process once."""
        if pid not in self._markers:
            maps = self.proc.raw(pid, "maps", _MAPS)
            self._markers[pid] = any(b"/" + marker in maps for marker in MARKERS)
        return self._markers[pid]

    def command(self, pid: int) -> tuple[str, ...]:
        """Its command line, word by word, clean; its name in brackets where it has none."""
        raw = self.proc.raw(pid, "cmdline", _LONGEST_COMMAND).rstrip(b"\0")
        words = tuple(
            clean_line(word.decode("utf-8", "backslashreplace")) for word in raw.split(b"\0")[:_MOST_WORDS]
        )
        if words != ("",):
            return words
        return (f"[{self.processes[pid].name}]",) if pid in self.processes else ()

    def _read(self, pid: int) -> Process | None:
        raw = self.proc.raw(pid, "stat", 4096)
        head, bracket, rest = raw.rpartition(b")")
        fields = rest.split()
        if not bracket or len(fields) < 20:
            return None
        name = clean_line(head.partition(b"(")[2].decode("utf-8", "backslashreplace"))
        process = Process(pid, int(fields[1]), name, fields[0].decode("ascii", "replace"), int(fields[19]))
        environ = self.proc.raw(pid, "environ", _LARGEST_ENVIRON)
        process.claim = claim_in(variables_in(environ))
        process.hidden = process.claim is None and b"PATH=" not in environ and process.state not in "ZX"
        return process

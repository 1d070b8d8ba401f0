"""The list of running processes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping

from ladder_backends.model.process import GpuUse, RunningProcess
from ladder_backends.processes.gpu_use import GpuUses
from ladder_backends.processes.obstacles import obstacle_at_a_glance, user_name
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.text import clean_line

MOST_PROCESSES = 20_000
"""Processes that are looked at; the youngest of more."""

_LONGEST_COMMAND = 400
_CONTAINER_ID = re.compile(r"([0-9a-f]{12})[0-9a-f]{20,}")


class ProcessList:
    """Reads the list, again and again; what never changes of a process is read once.

    Args:
        proc: Where it is read from.
        gpus: Who is asked for GPU use.
    """

    def __init__(self, proc: ProcFiles | None = None, gpus: GpuUses | None = None) -> None:
        self._proc = proc or ProcFiles()
        self._gpus = gpus or GpuUses()
        self._users: dict[int, str] = {}
        self._tick = os.sysconf("SC_CLK_TCK") or 100
        self._boot = _boot_time(self._proc)

    @property
    def knows_gpus(self) -> bool:
        """A GPU driver is loaded: use can be told."""
        return self._gpus.present

    def read(self) -> tuple[RunningProcess, ...]:
        """Every process that could be debugged, in the order of ids; blocks for some 0.1 ms a process.

        Threads of the kernel, zombies and this console itself are left out.
        """
        proc = self._proc
        driver = self._gpus.told_by_driver()
        ours = {name: proc.link("self", f"ns/{name}") for name in ("pid", "mnt")}
        found = []
        for pid in proc.pids()[-MOST_PROCESSES:]:
            process = self._one(pid, driver, ours)
            if process is not None:
                found.append(process)
        return tuple(found)

    def one(self, pid: int) -> RunningProcess | None:
        """One process; None where there is none, or nothing to debug in it."""
        ours = {name: self._proc.link("self", f"ns/{name}") for name in ("pid", "mnt")}
        return self._one(pid, self._gpus.told_by_driver(), ours)

    def close(self) -> None:
        """Let the driver's library go."""
        self._gpus.close()

    def _one(self, pid: int, driver: dict[int, GpuUse], ours: Mapping[str, str]) -> RunningProcess | None:
        proc = self._proc
        status = proc.status(pid)
        state = status.get("State", "")[:1]
        if not status or state in ("Z", "X") or not status.get("VmSize") or pid == os.getpid():
            return None
        uid = _number(status.get("Uid", "").replace("␉", " ").split()[1:2])
        if uid not in self._users:
            self._users[uid] = user_name(uid)
        obstacle = obstacle_at_a_glance(pid, status, proc)
        return RunningProcess(
            pid=pid,
            parent=_number([status.get("PPid", "")]),
            command=_command(proc.raw(pid, "cmdline", 4096), status.get("Name", "")),
            user=self._users[uid],
            uid=uid,
            state=state,
            started=self._started(pid),
            threads=_number([status.get("Threads", "")]),
            directory=clean_line(proc.link(pid, "cwd")),
            gpu=self._gpus.of(pid, proc, driver),
            container=self._container(pid, ours),
            obstacle=obstacle.cause if obstacle is not None else "",
            remedy=obstacle.remedy if obstacle is not None else "",
        )

    def _started(self, pid: int) -> float:
        """Seconds since the epoch; field 22 of `stat` counts clock ticks since the boot, proc(5)."""
        fields = self._proc.raw(pid, "stat", 4096).rpartition(b")")[2].split()
        return self._boot + int(fields[19]) / self._tick if len(fields) > 19 and fields[19].isdigit() else 0.0

    def _container(self, pid: int, ours: Mapping[str, str]) -> str:
        other = [name for name, link in ours.items() if link and (their := self._proc.link(pid, f"ns/{name}"))
                 and their != link]  # fmt: skip
        if not other:
            return ""
        found = _CONTAINER_ID.search(self._proc.text(pid, "cgroup"))
        return found[1] if found is not None else "another container" if "pid" in other else "other files"


def _command(raw: bytes, name: str) -> str:
    words = [
        word.decode("utf-8", "backslashreplace") for word in raw[: 2 * _LONGEST_COMMAND].rstrip(b"\0").split(b"\0")
    ]
    line = clean_line(" ".join(words).strip())
    return line[:_LONGEST_COMMAND] if line else f"[{name}]"


def _boot_time(proc: ProcFiles) -> float:
    for line in proc.raw(".", "stat", 1 << 20).splitlines():
        if line.startswith(b"btime ") and line[6:].isdigit():
            return float(line[6:])
    return time.time()


def _number(texts: list[str]) -> int:
    return int(texts[0]) if texts and texts[0].isdecimal() else 0

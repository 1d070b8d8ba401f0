"""Trees like /proc, and processes in states of which the kernel tells."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ladder_backends.processes import ProcFiles

STATUS = """Name:\t{name}
Umask:\t0022
State:\t{state}
Tgid:\t{pid}
Pid:\t{pid}
PPid:\t{parent}
TracerPid:\t{tracer}
Uid:\t{uids}
Gid:\t{uids}
VmSize:\t    2356 kB
Threads:\t{threads}
CapInh:\t0000000000000000
CapPrm:\t{permitted}
CapEff:\t{effective}
NoNewPrivs:\t0
Seccomp:\t{seccomp}
"""
"""As a kernel 6.1 writes it, shortened."""

ALL_CAPABILITIES = "000001ffffffffff"
DOCKER_CAPABILITIES = "00000000a80425fb"
NO_CAPABILITIES = "0000000000000000"


class ProcTree:
    """Writes a tree like /proc."""

    def __init__(self, root: Path) -> None:
        self.files = ProcFiles(root)
        self.root = root

    def add(
        self,
        pid: int | str,
        *,
        name: str = "train",
        state: str = "S (sleeping)",
        parent: int = 1,
        tracer: int = 0,
        uid: int = 1000,
        threads: int = 1,
        effective: str = NO_CAPABILITIES,
        permitted: str | None = None,
        seccomp: int = 0,
        **files: str | bytes,
    ) -> None:
        """A process; more files by name."""
        folder = self.root / str(pid)
        (folder / "ns").mkdir(parents=True)
        (folder / "environ").touch()
        if os.geteuid() == 0:
            # The kernel gives a process's files to its user.
            os.chown(folder / "environ", uid, uid)
        told = STATUS.format(
            name=name,
            state=state,
            pid=pid,
            parent=parent,
            tracer=tracer,
            uids=f"{uid}\t{uid}\t{uid}\t{uid}",
            threads=threads,
            effective=effective,
            permitted=permitted or effective,
            seccomp=seccomp,
        )
        (folder / "status").write_text(told)
        for other, content in files.items():
            (folder / other).write_bytes(content.encode() if isinstance(content, str) else content)

    def link(self, pid: int | str, name: str, to: str) -> None:
        """A link of a process."""
        (self.root / str(pid) / name).symlink_to(to)

    def setting(self, name: str, value: str) -> None:
        """A file under `sys`."""
        file = self.root / "sys" / name
        file.parent.mkdir(parents=True)
        file.write_text(f"{value}\n")


@pytest.fixture
def tree(tmp_path: Path) -> ProcTree:
    """A tree with a console of user 1000 and no capabilities in it."""
    (tmp_path / "proc").mkdir()
    return ProcTree(tmp_path / "proc")


Started = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def started() -> Iterator[Started]:
    """Starts a program and waits for its first line; it is ended afterwards."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*command: str | Path, lines: int = 1) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE)
        running.append(process)
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        return process

    yield start
    for process in running:
        process.kill()
        process.wait(timeout=20)
        assert process.stdout is not None
        process.stdout.close()

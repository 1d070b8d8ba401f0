"""The files of proc(5), each read with a bound; what cannot be read is empty, never an error."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ladder_backends.text import clean_line

_LARGEST = 64 << 10
_MOST_FILES = 512


class ProcFiles:
    """One tree of process files.

    Args:
        root: Where it is mounted; a copy of such a tree will do.
    """

    def __init__(self, root: Path = Path("/proc")) -> None:
        self.root = root

    def pids(self) -> list[int]:
        """Every process id, in ascending order."""
        try:
            return sorted(int(name) for name in os.listdir(self.root) if name.isdecimal())
        except OSError:
            return []

    def raw(self, pid: int | str, name: str, most: int = _LARGEST) -> bytes:
        """The first `most` bytes of a file."""
        try:
            with open(f"{self.root}/{pid}/{name}", "rb", buffering=0) as file:
                found = file.read(most) or b""
                # The kernel gives long files in pieces of about a page, whatever is asked for.
                while 0 < len(found) < most and (more := file.read(most - len(found))):
                    found += more
                return found
        except (OSError, ValueError):
            return b""

    def text(self, pid: int | str, name: str) -> str:
        """A file as text; bytes that are no UTF-8 show as `\\xff`. It is not clean yet."""
        return self.raw(pid, name).decode("utf-8", "backslashreplace")

    def status(self, pid: int | str) -> Mapping[str, str]:
        """`status` by field name, clean; empty where there is no such process."""
        rows = (line.partition(":") for line in self.text(pid, "status").splitlines())
        return {name: clean_line(value.strip()) for name, _, value in rows}

    def link(self, pid: int | str, name: str) -> str:
        """Where a link points to, as it is."""
        try:
            return os.readlink(f"{self.root}/{pid}/{name}")
        except OSError:
            return ""

    def tasks(self, pid: int) -> list[str]:
        """The threads of a process, each as a name under which its files are read: `4711/task/4712`."""
        try:
            numbers = sorted(int(name) for name in os.listdir(f"{self.root}/{pid}/task") if name.isdecimal())
        except OSError:
            return []
        return [f"{pid}/task/{number}" for number in numbers]

    def owner(self, pid: int | str) -> int | None:
        """User id that owns the files of a process: root's where the process may not be looked into, proc(5)."""
        try:
            # The folder itself keeps its user's.
            return os.stat(f"{self.root}/{pid}/environ").st_uid
        except OSError:
            return None

    def open_files(self, pid: int | str) -> Iterator[str]:
        """Where the descriptors of a process lead, of the first hundreds."""
        try:
            with os.scandir(f"{self.root}/{pid}/fd") as entries:
                for number, entry in enumerate(entries):
                    if number >= _MOST_FILES:
                        return
                    yield self.link(pid, f"fd/{entry.name}")
        except OSError:
            return

    def setting(self, name: str) -> str:
        """A file under `sys`: `kernel/yama/ptrace_scope`."""
        return self.text("sys", name).strip()

    def may_trace(self, pid: int) -> bool | None:
        """Whether the kernel lets this user trace a process, without doing it; None where it cannot be asked.

        To open `mem` the kernel makes the check that it makes for attaching (`PTRACE_MODE_ATTACH`, ptrace(2)).
        """
        try:
            os.close(os.open(f"{self.root}/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC))
        except PermissionError:
            return False
        except OSError:
            return None
        return True

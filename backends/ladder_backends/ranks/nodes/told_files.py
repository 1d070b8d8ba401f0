"""The files of another node's processes, as its agent told them: who reads need not know that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ladder_backends.processes.proc_files import ProcFiles

_NOWHERE = Path("/dev/null")
"""No folder: what is asked of the file system itself is not there."""


class ToldFiles(ProcFiles):
    """Files by process.

    Args:
        processes: By process id as text: `stat`, `environ`, `cmdline`, `maps`, `status`, `wchan`,
            `syscall`, and `exe`.
    """

    def __init__(self, processes: object) -> None:
        super().__init__(_NOWHERE)
        self._told: dict[str, Mapping[str, Any]] = {}
        if isinstance(processes, dict):
            self._told = {
                pid: files
                for pid, files in processes.items()
                if isinstance(files, dict) and pid.isascii() and pid.isdecimal() and len(pid) < 11
            }

    def pids(self) -> list[int]:
        """Every process that was told."""
        return sorted(map(int, self._told))

    def raw(self, pid: int | str, name: str, most: int = 1 << 20) -> bytes:
        """The first bytes of a file."""
        text = self._told.get(str(pid), {}).get(name, "")
        return text.encode("latin-1", "replace")[:most] if isinstance(text, str) else b""

    def link(self, pid: int | str, name: str) -> str:
        """Where a link points to; only that of the program was told."""
        text = self._told.get(str(pid), {}).get(name, "")
        return text if isinstance(text, str) else ""

    def tasks(self, pid: int) -> list[str]:
        """None was told."""
        return []

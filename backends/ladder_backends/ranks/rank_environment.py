"""Variables of a rank's environment that say where its evidence lies."""

from __future__ import annotations

from collections.abc import Mapping

from ladder_backends.processes.proc_files import ProcFiles

_LARGEST_ENVIRON = 2 << 20
PREFIXES = (b"TORCH_", b"TORCHELASTIC_", b"NCCL_", b"RCCL_", b"MASTER_", b"HOME=", b"XDG_CACHE_HOME=", b"RANK=")


def rank_environment(pid: int, proc: ProcFiles | None = None) -> Mapping[str, str]:
    """The variables of torch and NCCL that a process started with; empty where they may not be read."""
    raw = (proc or ProcFiles()).raw(pid, "environ", _LARGEST_ENVIRON)
    found: dict[str, str] = {}
    for entry in raw.split(b"\0"):
        if entry.startswith(PREFIXES):
            name, _, value = entry.partition(b"=")
            found.setdefault(name.decode("utf-8", "replace"), value.decode("utf-8", "surrogateescape"))
    return found

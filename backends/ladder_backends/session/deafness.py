"""Why a process does not stop when it is interrupted, read from `/proc`."""

from __future__ import annotations

from pathlib import Path

_PROC = Path("/proc")
_SIGINT_BIT = 1 << 1
_NOWHERE = ("", "0")


def why_deaf(pid: int, proc: Path = _PROC) -> str:
    """One clause on why SIGINT does not stop a process; empty where `/proc` tells nothing of the kind.

    A debugger gets to see every signal that its target is given, but not one that all threads block, nor any while
    the kernel does not let the process go.
    """
    tasks = [_status(path) for path in sorted((proc / f"{pid}/task").glob("*"))]
    tasks = [task for task in tasks if task]
    sleeping = [task for task in tasks if task.get("State", "").startswith("D")]
    if sleeping:
        where = _where(proc / f"{pid}/task" / sleeping[0].get("Pid", str(pid)))
        return f"it sleeps in the kernel{where}, and nothing can interrupt that until it ends"
    if tasks and all(int(task.get("SigBlk", "0"), 16) & _SIGINT_BIT for task in tasks):
        return "it blocks SIGINT"
    return ""


def _status(task: Path) -> dict[str, str]:
    try:
        lines = (task / "status").read_text(errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {name: value.strip() for name, _, value in pairs}


def _where(task: Path) -> str:
    try:
        channel = (task / "wchan").read_text(errors="replace").strip()
    except OSError:
        return ""
    return "" if channel in _NOWHERE else f" in {channel}"

"""Why a process does not stop when it is interrupted, read from `/proc`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.processes import ProcFiles

_SIGINT_BIT = 1 << 1
_NOWHERE = ("", "0")


def why_deaf(pid: int, proc: ProcFiles | None = None) -> str:
    """One clause on why SIGINT does not stop a process; empty where `/proc` tells nothing of the kind.

    A debugger gets to see every signal that its target is given, but not one that all threads block, nor any while
    the kernel does not let the process go.
    """
    from ladder_backends.processes import ProcFiles

    proc = proc or ProcFiles()
    tasks = {name: status for name in proc.tasks(pid) if (status := proc.status(name))}
    sleeping = next((name for name, task in tasks.items() if task.get("State", "").startswith("D")), None)
    if sleeping is not None:
        channel = clean_line(proc.text(sleeping, "wchan").strip())
        where = "" if channel in _NOWHERE else f" in {channel}"
        return f"it sleeps in the kernel{where}, and nothing can interrupt that until it ends"
    if tasks and all(_mask(task.get("SigBlk", "0")) & _SIGINT_BIT for task in tasks.values()):
        return "it blocks SIGINT"
    return ""


def _mask(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        return 0

"""Why a process cannot be attached to: one cause, one remedy."""

from __future__ import annotations

import os
from pathlib import Path

from ladder_backends.errors import TargetInvalid
from ladder_backends.text import clean_line

_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")


def check_process(pid: int) -> None:
    """Check what can be known before attaching.

    Raises:
        TargetInvalid: There is no such process, it is ours, it has ended, or another tracer holds it.
    """
    if pid == os.getpid():
        raise TargetInvalid(f"cannot attach to {pid}", "it is this console itself")
    status = _status(pid)
    if not status:
        raise TargetInvalid(f"cannot attach to {pid}", "there is no such process", "look at `ps` again")
    if status.get("State", "").startswith("Z"):
        raise TargetInvalid(f"cannot attach to {pid}", "it has ended and waits for its parent (zombie)")
    tracer = status.get("TracerPid", "0")
    if tracer != "0":
        holder = _status(int(tracer)).get("Name", "another program") if tracer.isdigit() else "another program"
        raise TargetInvalid(
            f"cannot attach to {pid}", f"{holder} (process {tracer}) traces it already", "let that one detach first"
        )


def explain_refusal(pid: int, message: str) -> TargetInvalid:
    """The engine's refusal to attach as cause and remedy."""
    what = f"cannot attach to {pid}"
    if "Operation not permitted" not in message:
        return TargetInvalid(what, message.rstrip("."))
    status = _status(pid)
    owner = status.get("Uid", "").split()[:1]
    if owner and owner[0] != str(os.geteuid()) and os.geteuid() != 0:
        return TargetInvalid(what, f"it belongs to user {owner[0]}", "run the console as that user or as root")
    scope = _read(_YAMA).strip()
    if scope not in ("", "0") and os.geteuid() != 0:
        return TargetInvalid(
            what,
            f"kernel.yama.ptrace_scope is {scope}",
            "run `sudo sysctl kernel.yama.ptrace_scope=0`, or the console as root",
        )
    return TargetInvalid(
        what,
        "the system does not permit tracing",
        "in a container, start it with `--cap-add SYS_PTRACE`",
    )


def _status(pid: int) -> dict[str, str]:
    rows = (line.partition(":") for line in _read(Path(f"/proc/{pid}/status")).splitlines())
    return {name: clean_line(value.strip()) for name, _, value in rows}


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "backslashreplace")
    except OSError:
        return ""

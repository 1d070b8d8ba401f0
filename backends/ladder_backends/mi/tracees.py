"""Which processes an engine holds, and which of them it did not start itself; from proc(5), `/proc/PID/status`."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator

_FIELD = re.compile(rb"^(PPid|TracerPid):\s*(\d+)", re.MULTILINE)


def attached_tracees(engine: int) -> list[int] | None:
    """Process ids that the engine traces and that do not descend from it: they were there before it came.

    Returns None where the kernel does not tell.
    """
    parents: dict[int, int] = {}
    traced: list[int] = []
    for process, parent, tracer in _processes():
        parents[process] = parent
        if tracer == engine:
            traced.append(process)
    if engine not in parents:
        return None
    return [process for process in traced if not _descends(process, engine, parents)]


def own_commands(engine: int) -> list[int]:
    """Process ids of commands that the engine runs for itself, as by `shell`, and waits for.

    They are its children, untraced, in its process group and session. A program that it starts, even one that it
    has let go since, has a session of its own.
    """
    found: list[int] = []
    with contextlib.suppress(OSError):
        place = os.getpgid(engine), os.getsid(engine)
        for process, parent, tracer in _processes():
            with contextlib.suppress(OSError):
                if parent == engine and not tracer and (os.getpgid(process), os.getsid(process)) == place:
                    found.append(process)
    return found


def _processes() -> Iterator[tuple[int, int, int]]:
    """Process id, parent and tracer (0 for none) of each process that may be read."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/status", "rb") as status:
                fields = {key: int(value) for key, value in _FIELD.findall(status.read())}
        except OSError:
            continue
        yield int(name), fields.get(b"PPid", 0), fields.get(b"TracerPid", 0)


def _descends(process: int, engine: int, parents: dict[int, int]) -> bool:
    seen = set()
    while process not in seen and process > 1:
        seen.add(process)
        process = parents.get(process, 0)
        if process == engine:
            return True
    return False

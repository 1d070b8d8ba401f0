"""Which processes an engine holds, and which of them it did not start itself; from proc(5), `/proc/PID/status`."""

from __future__ import annotations

import os
import re

_FIELD = re.compile(rb"^(PPid|TracerPid):\s*(\d+)", re.MULTILINE)


def attached_tracees(engine: int) -> list[int] | None:
    """Process ids that the engine traces and that do not descend from it: they were there before it came.

    Returns None where the kernel does not tell.
    """
    parents: dict[int, int] = {}
    traced: list[int] = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return None
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/status", "rb") as status:
                fields = {key: int(value) for key, value in _FIELD.findall(status.read())}
        except OSError:
            continue
        parents[int(name)] = fields.get(b"PPid", 0)
        if fields.get(b"TracerPid") == engine:
            traced.append(int(name))
    if engine not in parents:
        return None
    return [process for process in traced if not _descends(process, engine, parents)]


def own_commands(engine: int) -> list[int]:
    """Process ids of commands that the engine runs for itself, as by `shell`, and waits for.

    They are its children, untraced, in its process group and session. A program that it starts, even one that it
    has let go since, has a session of its own.
    """
    found: list[int] = []
    try:
        place = os.getpgid(engine), os.getsid(engine)
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/status", "rb") as status:
                fields = {key: int(value) for key, value in _FIELD.findall(status.read())}
            own = fields.get(b"PPid") == engine and fields.get(b"TracerPid") == 0
            if own and (os.getpgid(int(name)), os.getsid(int(name))) == place:
                found.append(int(name))
        except OSError:
            continue
    return found


def _descends(process: int, engine: int, parents: dict[int, int]) -> bool:
    seen = set()
    while process not in seen and process > 1:
        seen.add(process)
        process = parents.get(process, 0)
        if process == engine:
            return True
    return False

"""The processes that a run of the sanitizer consists of, and ending them by their ids alone."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_HELPERS = ("compute-sanitiz", "TreeLauncherSub", "TreeLauncherTar")
"""Names of the tool's own processes, as long as the kernel keeps them."""


@dataclass(frozen=True, slots=True)
class Member:
    """A process of the run.

    Attributes:
        started: When, in the kernel's ticks: another process may get the id later, never with the same time.
        name: As the kernel keeps it, at most 15 bytes.
    """

    pid: int
    started: int
    name: str = ""

    @property
    def is_helper(self) -> bool:
        """It is the tool or one of its launchers, not the program."""
        return self.name.startswith(_HELPERS)


def members(leader: int) -> list[Member]:
    """Every process of the session that `leader` leads, and their descendants that left it; not the leader."""
    seen: dict[int, tuple[int, int, Member]] = {}
    for entry in os.listdir(_PROC):
        if entry.isdecimal():
            found = _read(int(entry))
            if found is not None:
                seen[int(entry)] = found
    inside = {pid for pid, (_, session, _) in seen.items() if session == leader} | {leader}
    grew = True
    while grew:
        further = {pid for pid, (parent, _, _) in seen.items() if parent in inside} - inside
        inside |= further
        grew = bool(further)
    return [seen[pid][2] for pid in sorted(inside) if pid != leader and pid in seen]


def leader_of(leader: int) -> list[Member]:
    """The session's leader itself, while it lives; nothing where another process has its id by now."""
    found = _read(leader)
    return [found[2]] if found is not None and found[1] == leader else []


def tell(member: Member, number: signal.Signals) -> bool:
    """Send a signal to a process if it is still the same one; returns whether it was there."""
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(member.pid)
        try:
            found = _read(member.pid)
            if found is None or found[2].started != member.started:
                return False
            signal.pidfd_send_signal(handle, number)
            return True
        finally:
            os.close(handle)
    return False


def lives(member: Member) -> bool:
    """Whether the same process still runs; one that waits to be reaped does not."""
    found = _read(member.pid)
    return found is not None and found[2].started == member.started


def _read(pid: int) -> tuple[int, int, Member] | None:
    """Parent, session and the process itself, from `/proc/PID/stat`; None where it is gone or a zombie."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The name stands in parentheses and may hold some itself.
    name, _, rest = text.partition(" (")[2].rpartition(") ")
    words = rest.split()
    if len(words) < 20 or words[0] in "ZX":
        return None
    return int(words[1]), int(words[3]), Member(pid, int(words[19]), name)

"""Threads of a process, and groups of them that stand at the same place."""

from __future__ import annotations

import enum

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.frame import Frame


class ThreadState(enum.StrEnum):
    """What a thread is doing."""

    STOPPED = "stopped"
    RUNNING = "running"
    FROZEN = "frozen"
    EXITED = "exited"


class Locking(enum.StrEnum):
    """Which threads run when the focused one does, in gdb's words for `scheduler-locking`."""

    OFF = "off"
    ON = "on"
    STEP = "step"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread.

    Attributes:
        id: The engine's number; global over all inferiors.
        system_id: The operating system's thread id (LWP), or None where unknown.
        name: As the program or the user named it, clean.
        frame: Its innermost frame, or None where it runs or cannot be asked.
        process: The engine's name of the thread group (`i1`).
    """

    id: int
    system_id: int | None = None
    name: str = ""
    state: ThreadState = ThreadState.STOPPED
    frame: Frame | None = None
    process: str = ""


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """Threads whose stacks are identical as far as they were read.

    Attributes:
        threads: In the order of their ids.
        frames: The shared stack, innermost first, at most as deep as was asked for; empty for threads that run.
        deeper: The stack goes on below the last frame here.
    """

    threads: tuple[Thread, ...]
    frames: tuple[Frame, ...] = ()
    deeper: bool = False

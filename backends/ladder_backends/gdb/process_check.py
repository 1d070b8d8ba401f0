"""Why a process cannot be attached to: one cause, one remedy."""

from __future__ import annotations

from ladder_backends.errors import TargetInvalid
from ladder_backends.processes import Obstacle, ObstacleKind, ProcFiles, obstacle_after, obstacle_before
from ladder_backends.processes.obstacles import holds_our_terminal


def check_process(pid: int, proc: ProcFiles | None = None, *, on_screen: bool = False) -> None:
    """Check what can be known before attaching; takes a quarter of a second at most, so not on an event loop.

    Args:
        pid: Process id.
        proc: Where the kernel tells of it.
        on_screen: It will be held while a person types, so that it must not be what shows the console.

    Raises:
        TargetInvalid: There is no such process, it is ours, it has ended, another tracer holds it, it waits inside
            the kernel, or the kernel will not let us.
    """
    found = obstacle_before(pid, proc) or (holds_our_terminal(pid, proc) if on_screen else None)
    if found is not None and found.certain:
        raise _invalid(pid, found)


def explain_refusal(pid: int, message: str, proc: ProcFiles | None = None) -> TargetInvalid:
    """The engine's refusal to attach as cause and remedy."""
    found = obstacle_after(pid, message, proc)
    if found.kind is ObstacleKind.GONE:
        found = Obstacle(found.kind, "it has ended meanwhile")
    return _invalid(pid, found)


def _invalid(pid: int, found: Obstacle) -> TargetInvalid:
    return TargetInvalid(f"cannot attach to {pid}", found.cause, found.remedy)

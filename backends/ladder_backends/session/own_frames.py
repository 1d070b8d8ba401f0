"""Whose frame it is: the program's own, or a library's."""

from __future__ import annotations

from collections.abc import Iterable

from ladder_backends.model.frame import Frame, FrameKind

SIGNAL_HANDLER = "<signal handler called>"
"""What gdb calls the frame between a handler and what it interrupted."""

_SYSTEM = ("/usr/", "/lib", "/rustc/", "/build/", "/opt/conda/")
_START = frozenset({"_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3"})


def is_library(frame: Frame) -> bool:
    """Whether a frame belongs to a library or to what starts a program, as far as names and paths tell."""
    if frame.kind is not FrameKind.NATIVE:
        return False
    if frame.function in _START or frame.function == SIGNAL_HANDLER:
        return True
    if frame.place is None:
        # A frame of the program itself has no module, whether it has line information or not.
        return bool(frame.module)
    # Distributions build their libraries with paths that lead nowhere: `./nptl/pthread_mutex_lock.c`.
    path = frame.place.fullname or frame.place.file
    return path.startswith(_SYSTEM) or (bool(frame.place.fullname) and not path.startswith("/"))


def own_frame(frames: Iterable[Frame]) -> Frame | None:
    """The innermost frame that is the program's own; None where all are a library's."""
    return next((frame for frame in frames if not is_library(frame)), None)

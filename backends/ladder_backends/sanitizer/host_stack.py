"""A host stack as a person reads it: the own frame first, interpreters and libraries folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ladder_backends.model.finding import CodeLocation
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer.group_key import bare_name
from ladder_backends.sanitizer.user_frame import is_cuda, is_interpreter, is_runtime, is_start, user_frame


class StackRow(NamedTuple):
    """One frame, or frames that are folded into one row.

    Attributes:
        frame: The frame, or None for folded ones.
        folded: Frames that the row stands for; empty for a single frame.
        why: What folded frames are: `CUDA`, `interpreter`, `C library`.
        own: The frame a person most likely wrote.
    """

    frame: CodeLocation | None
    folded: tuple[CodeLocation, ...] = ()
    why: str = ""
    own: bool = False


def _class_of(frame: CodeLocation) -> str:
    if is_cuda(frame):
        return "CUDA"
    if is_start(frame):
        return "C library"
    if is_interpreter(frame):
        return "interpreter"
    if is_runtime(frame):
        return "C library"
    return "" if frame.function or frame.file else "nameless"


def stack_rows(frames: Sequence[CodeLocation], kernel: str = "") -> list[StackRow]:
    """The user's frame first, then the stack from the inside out, runs of frames nobody reads as one row.

    In stacks of Python programs the Python frames follow the native ones: they are listed before them.

    Args:
        frames: A host stack, innermost first.
        kernel: What it launched: a frame of that name is the stub that the compiler made for it.
    """
    stub = bare_name(kernel) if kernel else ""
    own = user_frame([frame for frame in frames if not stub or bare_name(frame.function) != stub])
    python = [frame for frame in frames if frame.file.endswith(".py")]
    native = [frame for frame in frames if not frame.file.endswith(".py")]
    rows = [StackRow(own, own=True)] if own is not None else []
    for part in (python, native):
        run: list[CodeLocation] = []
        why = ""
        for frame in part:
            if frame is own:
                continue
            kind = _class_of(frame)
            # A nameless frame belongs to what is around it.
            if kind and run and (kind in (why, "nameless") or why == "nameless"):
                run.append(frame)
                why = kind if why == "nameless" else why
                continue
            rows.extend(_folded(run, why))
            run, why = ([frame], kind) if kind else ([], "")
            if not kind:
                rows.append(StackRow(frame))
        rows.extend(_folded(run, why))
    return rows


def _folded(run: list[CodeLocation], why: str) -> list[StackRow]:
    if not run:
        return []
    if len(run) == 1 and why != "nameless":
        return [StackRow(run[0])]
    return [StackRow(None, tuple(run), "without a name" if why == "nameless" else why)]


def frame_line(frame: CodeLocation) -> str:
    """`train.py:7 <module>`, `main.cu:19 main`, `launch in libfoo.so`: as much as the report has."""
    function = frame.function or ("" if frame.file else frame.offset or "?")
    if frame.file:
        place = f"{file_name(frame.file)}:{frame.line}" if frame.line is not None else file_name(frame.file)
        return f"{place} {function}".rstrip()
    return f"{function} in {file_name(frame.module)}" if frame.module else function

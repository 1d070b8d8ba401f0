"""Weaves a thread's Python frames into its native stack.

A Python frame stands where the interpreter loop stands that runs it. Since 3.11 one loop runs several Python
frames: those from one entry frame to the next. The loops themselves, and what lies between them, are folded.
"""

from __future__ import annotations

from collections.abc import Sequence

from ladder_backends.model.frame import Frame
from ladder_backends.model.python_stack import FoldedFrames, PythonFrame, PythonRow, PythonThread, WovenStack
from ladder_backends.python_frames.plumbing import is_loop, loops_of, plumbing_of

_Row = Frame | PythonRow | FoldedFrames


def weave(frames: Sequence[Frame], thread: PythonThread, *, complete: bool) -> WovenStack:
    """The native frames of a thread with its Python frames in their places.

    Args:
        frames: From level 0 on, or the outermost ones of a long stack.
        thread: The same thread's Python frames.
        complete: `frames` goes to the outermost one. With more loops than Python frames the innermost loop is then
            about to begin or has just ended, and the outermost ones meet.
    """
    loops = loops_of(frames)
    told = _told(frames, thread)
    if told is not None:
        runs, exact = told, True
    elif frames and frames[0].level:
        groups, positions = _groups(thread.frames), loops_of(frames)
        runs, exact = dict(zip(reversed(positions), reversed(groups), strict=False)), complete
    else:
        runs, exact = _meet(frames, loops, _groups(thread.frames), complete=complete)
    plumbing = plumbing_of(frames, loops)
    rows: list[_Row] = []
    fold: list[Frame] = []
    placed = 0

    def end_fold() -> None:
        if fold:
            # One row that says "1 frame" is no shorter than the frame, unless that says nothing.
            silent = len(fold) > 1 or fold[0].function == "??" or is_loop(fold[0])
            outside = frames[-1].level - fold[-1].level
            rows.append(FoldedFrames(tuple(fold), outside) if silent else fold[0])
            fold.clear()

    for position, frame in enumerate(frames):
        group = runs.get(position)
        if group is not None:
            end_fold()
            rows += _python_rows(thread, group, frame.level)
            placed = max(placed, group[-1] + 1)
            # What runs them is told by them.
            fold.append(frame)
        elif plumbing[position] and frame.level:
            fold.append(frame)
        else:
            end_fold()
            rows.append(frame)
    end_fold()
    if complete and placed < len(thread.frames) and not frames[0].level:
        rows += _python_rows(thread, range(placed, len(thread.frames)), -1)
    return WovenStack(tuple(rows), exact, placed)


def _python_rows(thread: PythonThread, indices: Sequence[int], level: int) -> list[PythonRow]:
    return [
        PythonRow(thread.frames[index], index, level, owns_gil=thread.owns_gil and index == 0) for index in indices
    ]


def _groups(frames: Sequence[PythonFrame]) -> list[range]:
    """Runs of Python frames that one loop runs each, innermost first."""
    groups: list[range] = []
    start = 0
    for index, frame in enumerate(frames):
        if frame.entry:
            groups.append(range(start, index + 1))
            start = index + 1
    if start < len(frames):
        groups.append(range(start, len(frames)))
    return groups


def _meet(
    frames: Sequence[Frame], loops: Sequence[int], groups: Sequence[range], *, complete: bool
) -> tuple[dict[int, range], bool]:
    """Which Python frames each loop runs, by the loop's position, and whether that is beyond doubt."""
    if complete and len(loops) > len(groups):
        return dict(zip(reversed(loops), reversed(groups), strict=False)), False
    # More Python frames than loops in a whole stack: the unwinder gave up, and what is missing is further out.
    exact = len(loops) == len(groups) if complete else len(loops) <= len(groups)
    return dict(zip(loops, groups, strict=False)), exact


def _told(frames: Sequence[Frame], thread: PythonThread) -> dict[int, range] | None:
    """The same where the reader itself knows the native frame of each Python frame."""
    if not thread.frames or any(frame.level < 0 for frame in thread.frames):
        return None
    positions = {frame.level: position for position, frame in enumerate(frames)}
    runs: dict[int, range] = {}
    for index, frame in enumerate(thread.frames):
        position = positions.get(frame.level)
        if position is not None:
            before = runs.get(position)
            runs[position] = range(before.start if before is not None else index, index + 1)
    return runs

"""Joins the native and the Python stack of one thread into one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ladder_backends.model.frame import Frame, Place
from ladder_backends.model.python_stack import PythonFrame, PythonRow, PythonThread
from ladder_backends.model.ranks import RankFrame, RankStack
from ladder_backends.python_frames.weaving import weave


def join_stacks(native: Iterable[RankStack], python: Iterable[RankStack]) -> tuple[RankStack, ...]:
    """One stack for each thread that either tells of: Python frames in the places of the loops that run them.

    Where a thread has frames of one kind only, those are its stack. Frames of the interpreter's own are left out.
    """
    of_python = {(stack.rank, stack.thread): stack for stack in python}
    joined: list[RankStack] = []
    woven: dict[tuple[int, int], tuple[RankFrame, ...]] = {}
    held: list[tuple[object, object]] = []
    for stack in native:
        beside = of_python.pop((stack.rank, stack.thread), None)
        if beside is None or not beside.frames:
            joined.append(stack)
            continue
        # The same two stacks make the same one: thousands of ranks are a few hundred different pairs.
        key = (id(stack.frames), id(beside.frames))
        frames = woven.get(key)
        if frames is None:
            frames = woven[key] = _woven(stack.frames, beside.frames)
            held.append((stack.frames, beside.frames))
        joined.append(replace(stack, frames=frames, name=stack.name or beside.name))
    joined += of_python.values()
    return tuple(joined)


def _woven(native: tuple[RankFrame, ...], python: tuple[RankFrame, ...]) -> tuple[RankFrame, ...]:
    inner = [
        Frame(
            level,
            frame.function,
            Place(frame.file, frame.line, frame.file) if frame.file else None,
            module=frame.module,
        )
        for level, frame in enumerate(reversed(native))
    ]
    told = tuple(PythonFrame(one.function, one.file, one.line, entry=one.entry) for one in reversed(python))
    thread = PythonThread(None, 0, "", False, told)
    rows = weave(inner, thread, complete=True).rows
    count = len(native)
    by_index = tuple(reversed(python))
    frames: list[RankFrame] = []
    for row in rows:
        if isinstance(row, PythonRow):
            frames.append(by_index[row.index])
        elif isinstance(row, Frame):
            frames.append(native[count - 1 - row.level])
    return tuple(reversed(frames))

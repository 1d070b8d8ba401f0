"""Threads by where they stand."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.model.thread import Thread, ThreadGroup, ThreadState

_Key: TypeAlias = tuple[object, ...]


def group_threads(
    threads: Iterable[Thread], stacks: Mapping[int, FrameWindow], frozen: Container[int] = ()
) -> tuple[ThreadGroup, ...]:
    """Put threads with identical stacks together, the smallest group first.

    Two frames are the same where function and source line are; without a line, where function and module are;
    without a function, where the address is.

    Args:
        threads: All of them.
        stacks: Stacks as far as they were read; a thread without one is told by its innermost frame.
        frozen: Ids of threads that are held.
    """
    members: dict[_Key, list[Thread]] = {}
    frames: dict[_Key, FrameWindow] = {}
    for thread in threads:
        if thread.id in frozen and thread.state is ThreadState.STOPPED:
            thread = replace(thread, state=ThreadState.FROZEN)
        stack = stacks.get(thread.id)
        if stack is None:
            stack = FrameWindow((thread.frame,) if thread.frame is not None else (), more=thread.frame is not None)
        key = (thread.state, thread.process, *(_same(frame) for frame in stack.frames))
        members.setdefault(key, []).append(thread)
        frames.setdefault(key, stack)
    groups = [
        ThreadGroup(tuple(together), frames[key].frames, frames[key].more) for key, together in members.items()
    ]
    return tuple(sorted(groups, key=lambda group: (len(group.threads), group.threads[0].id)))


def _same(frame: Frame) -> _Key:
    if frame.function == "??":
        return (frame.address,)
    if frame.place is not None:
        return frame.function, frame.place.fullname or frame.place.file, frame.place.line
    return frame.function, frame.module

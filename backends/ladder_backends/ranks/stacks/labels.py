"""How frames are told apart, and what they are called."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from ladder_backends.model.frame import file_name
from ladder_backends.model.ranks import RankFrame
from ladder_backends.ranks.stacks.boundaries import bare_function

UNKNOWN = "??"
_LONG = 64
"""Characters from which on a function's template arguments are left out."""


class Granularity(StrEnum):
    """What makes two frames the same."""

    FUNCTION = "function"
    LINE = "line"
    """Function and line; a frame whose line is not known is told by its function."""
    OFFSET = "offset"
    """Module and offset in it; a frame whose offset is not known, as one of Python, is told by its line."""


FrameKey = tuple[str, str, int]


def frame_key(frame: RankFrame, granularity: Granularity) -> FrameKey:
    """What a frame is told apart by."""
    if granularity is Granularity.OFFSET and frame.offset >= 0 and frame.module:
        return frame.module, "", frame.offset
    if granularity is not Granularity.FUNCTION and frame.line:
        return frame.function, frame.file, frame.line
    if frame.function == UNKNOWN:
        return frame.function, frame.module, 0
    # A method of the same name in two files is two functions; a native one without lines has no file.
    return frame.function, frame.file if frame.language == "python" else "", 0


def frame_label(frame: RankFrame, granularity: Granularity = Granularity.LINE) -> str:
    """A frame in few words: `loader.py:41 next_batch`, `MPI_Barrier`, `?? in libcuda.so.1`."""
    if granularity is Granularity.OFFSET and frame.offset >= 0 and frame.module:
        return f"{file_name(frame.module)}+{frame.offset:#x}"
    name = short_function(frame.function)
    if frame.function == UNKNOWN and frame.module:
        name = f"{UNKNOWN} in {file_name(frame.module)}"
    if frame.file and (granularity is not Granularity.FUNCTION or frame.language == "python"):
        line = f":{frame.line}" if frame.line and granularity is not Granularity.FUNCTION else ""
        return f"{file_name(frame.file)}{line} {name}"
    return name


@lru_cache(maxsize=1 << 12)
def short_function(function: str) -> str:
    """A function's name without arguments; where it is long without what its templates were made with."""
    name = bare_function(function)
    if len(name) <= _LONG:
        return name
    kept: list[str] = []
    depth = 0
    for letter in name:
        if letter == "<":
            depth += 1
            if depth == 1:
                kept.append("<…>")
        elif letter == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(letter)
    return "".join(kept)

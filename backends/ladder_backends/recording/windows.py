"""A window of a stack, cut out of a recorded answer that holds it.

How many frames are asked for depends on the size of a screen. An engine's answer to a smaller window is a part
of its answer to a larger one, so a recording can give it without guessing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ladder_backends.errors import MalformedRecord
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.mi.strings import escape

_FRAMES = re.compile(
    r"(-stack-list-(?:frames|arguments)(?: +--?[\w-]+(?: +\d+(?= +-| +\d+ +\d+\Z))?)*)(?: +(\d+) +(\d+))?\Z"
)
_STACKS = ("stack", "stack-args")


class Window(NamedTuple):
    """Frames `low` to `high`, both included; `high` None is the stack's end."""

    command: str
    low: int
    high: int | None


def window_of(command: str) -> Window | None:
    """The window that a command asks for, or None where it asks for none."""
    match = _FRAMES.match(command)
    if match is None:
        return None
    head, low, high = match.groups()
    return Window(head, int(low or 0), int(high) if high else None)


def cut(asked: Window, recorded: Iterable[tuple[Window, bytes]]) -> bytes | None:
    """The answer to `asked`, out of recorded answers to the same command with other windows.

    None where no recorded one holds it.
    """
    for window, answer in recorded:
        if window.low > asked.low:
            continue
        try:
            record = parse(answer.removesuffix(b"\n"))
        except MalformedRecord:
            continue
        if not isinstance(record, ResultRecord) or record.cls != "done":
            continue
        name, stack = next(iter(record.results.items()), ("", ""))
        if name not in _STACKS or not isinstance(stack, list):
            continue
        whole = window.high is None or len(stack) <= window.high - window.low
        if not whole and (asked.high is None or window.high is None or asked.high > window.high):
            continue
        end = None if asked.high is None else asked.high + 1 - window.low
        frames = stack[asked.low - window.low : end]
        if not frames:
            # An engine refuses a window behind the end, in words that were not recorded.
            continue
        written = b",".join(b"frame=" + _written(frame) for frame in frames)
        return b"^done," + name.encode() + b"=[" + written + b"]\n"
    return None


def _written(value: Value) -> bytes:
    if isinstance(value, str):
        return b'"' + escape(value.encode("utf-8", "surrogateescape")) + b'"'
    if isinstance(value, dict):
        return b"{" + b",".join(name.encode() + b"=" + _written(item) for name, item in value.items()) + b"}"
    return b"[" + b",".join(_written(item) for item in value) + b"]"

"""Where an engine stands when it is asked, so that an answer is never given in the wrong place.

`-stack-list-variables` has another answer in each lane. A recording therefore answers a command only where it
was asked in the same context. A context has four parts, each changed by its own kind of commands:

- the time: the exchange that last let the target run, opened something or changed something;
- the place: the thread or lane, as the engine itself names it (a `CudaFocus`, the text of a focus query, a
  thread's number), so that a lane is the same place whichever way and however often it is reached;
- the frame that is selected there;
- the breakpoints: the commands that made them.

Commands that name a place completely are answered wherever the engine stands, which is what makes the lanes of
a recorded dump open in any order. Commands that move relatively, or let the target run, are answered only where
they were recorded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TypeAlias

from ladder_backends.errors import MalformedRecord
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import AsyncRecord, ResultRecord, Value
from ladder_backends.mi.transport import Channel
from ladder_backends.recording.commands import Reach, reach_of, reach_of_line
from ladder_backends.recording.exchanges import Exchange

Key: TypeAlias = tuple[object, ...]

_STOPPED = re.compile(rb"\*stopped\b")
_MOVED = re.compile(rb"\*(?:running|stopped)\b")
_SELECTED = re.compile(rb"=thread-selected\b")
_LISTINGS = ("-break-list", "-break-info")
_COORDINATES = re.compile(r"\b(kernel|grid|block|thread)\s+(\([\d,\s]*\)|\d+)")
_CUDA_NAMES = (("kernel", "kernel"), ("grid", "grid"), ("blockIdx", "block"), ("threadIdx", "thread"))


@dataclass(frozen=True, slots=True)
class Context:
    """What the answer to a question may depend on."""

    time: int = 0
    place: str = ""
    frame: str = "0"
    breakpoints: tuple[str, ...] = ()

    @property
    def kernel(self) -> str:
        """The part of the place that says which kernel."""
        return self.place.partition(" block ")[0]


def key_of(channel: Channel, text: str, context: Context) -> Key:
    """What an exchange must have in common with a question to answer it."""
    reach = _reach(channel, text)
    asked = (channel, text)
    if reach in (Reach.SETTING, Reach.OPENING):
        return asked
    if reach in (Reach.PLACE, Reach.EVERYWHERE):
        return (*asked, context.time)
    if reach is Reach.TABLE:
        # The table of kernels marks the focused kernel, the others something below it.
        kernels = text.startswith("-cuda-info-kernels")
        return (*asked, context.time, context.kernel if kernels else context.place)
    if reach is Reach.KERNEL_PLACE:
        return (*asked, context.time, context.kernel)
    if reach is Reach.BREAKPOINT:
        return (*asked, context.time, context.breakpoints)
    if reach in (Reach.STACK, Reach.RELATIVE_PLACE):
        return (*asked, context.time, context.place)
    if reach is Reach.FRAME and channel is Channel.MI:
        return (*asked, context.time, context.place)
    if reach is Reach.RUNNING:
        return (*asked, context)
    return (*asked, context.time, context.place, context.frame)


def table_key(text: str, context: Context) -> Key | None:
    """What a table has in common with itself in every place, or None for what is no such table."""
    return (Channel.MI, text, context.time) if reach_of(text) is Reach.TABLE else None


def follow(context: Context, exchange: Exchange) -> Context:
    """Where the engine stands after an exchange."""
    if exchange.answer is not None and exchange.answer.startswith(b"^error"):
        return context
    text = exchange.text.decode("utf-8", "surrogateescape")
    reach = _reach(exchange.channel, text)
    ran = exchange.channel is not Channel.MI and exchange.last_of(_MOVED) is not None
    if ran or reach in (Reach.OPENING, Reach.RUNNING):
        place = _place(_results(exchange.last_of(_STOPPED) or exchange.answer))
        return Context(exchange.number, place, "0", context.breakpoints)
    if reach is Reach.BREAKPOINT and not text.startswith(_LISTINGS):
        return replace(context, breakpoints=(*context.breakpoints, text))
    if reach is Reach.FRAME:
        return replace(context, frame=_frame_after(exchange, context, text))
    if reach in (Reach.PLACE, Reach.KERNEL_PLACE, Reach.RELATIVE_PLACE):
        results = _results(exchange.answer)
        place = _place(results)
        if not place:
            # cuda-gdb 12.4 does not always say where it stands now. A focus query will tell; until then the
            # command does.
            begun = {Reach.PLACE: "", Reach.KERNEL_PLACE: context.kernel}.get(reach, context.place)
            place = f"{begun}>{text}"
        return replace(context, place=place, frame=_level(results))
    if text.startswith("-cuda-focus-query"):
        place = _place(_results(exchange.answer))
        if place and place != context.place:
            return replace(context, place=place, frame="0")
    return context


def _reach(channel: Channel, text: str) -> Reach:
    if channel is Channel.MI:
        return reach_of(text)
    return reach_of_line(text) if channel is Channel.CLI else Reach.RUNNING


def _results(raw: bytes | None) -> dict[str, Value]:
    """Results of a record that may name a place; empty where it is none."""
    try:
        record = parse(raw.removesuffix(b"\n")) if raw is not None else None
    except MalformedRecord:
        return {}
    return record.results if isinstance(record, ResultRecord | AsyncRecord) else {}


def _frame_after(exchange: Exchange, context: Context, text: str) -> str:
    if exchange.channel is Channel.MI and text.startswith("-stack-select-frame"):
        return text.split()[-1]
    selected = exchange.last_of(_SELECTED)
    if selected is not None:
        results = _results(selected)
        if "frame" in results:
            return _level(results)
    # Without a place to go to, these lines only show the frame.
    return context.frame if text.strip() in ("frame", "f") else f"{context.frame}>{text}"


def _place(results: dict[str, Value]) -> str:
    """The place that results name, or an empty string."""
    focus = results.get("CudaFocus")
    if isinstance(focus, dict):
        named = {word: focus.get(name) for name, word in _CUDA_NAMES}
    elif isinstance(text := results.get(""), str):
        named = dict(_COORDINATES.findall(text))
    else:
        thread = results.get("new-thread-id", results.get("thread-id"))
        return f"host thread {thread}" if isinstance(thread, str) else ""
    parts = [f"{word} {value.replace(' ', '')}" for word, value in named.items() if isinstance(value, str)]
    return " ".join(parts)


def _level(results: dict[str, Value]) -> str:
    frame = results.get("frame")
    level = frame.get("level") if isinstance(frame, dict) else None
    return level if isinstance(level, str) else "0"

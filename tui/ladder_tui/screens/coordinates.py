"""Places as a person types them: a line, a lane by its place in the grid or in the hardware, a linear number."""

from __future__ import annotations

import re

from ladder_backends.model.focus import Coordinate, Dim3, Focus, parse_dim3
from ladder_backends.model.grid import Kernel, delinear, volume

_NAMES = {
    **dict.fromkeys(("k", "kernel"), "kernel"),
    **dict.fromkeys(("b", "block", "blockidx"), "block"),
    **dict.fromkeys(("t", "thread", "threadidx"), "thread"),
    **dict.fromkeys(("d", "dev", "device"), "device"),
    "sm": "sm",
    **dict.fromkeys(("w", "wp", "warp"), "warp"),
    **dict.fromkeys(("l", "ln", "lane"), "lane"),
}
_GRID = ("block", "thread")
_HARDWARE = ("device", "sm", "warp", "lane")
_TOKEN = re.compile(r"(?P<name>[A-Za-z]+)|#(?P<linear>\d+)|\(?(?P<dim>\d+(?:,\d+)*)\)?")
_ANY = Kernel(0, 0, 0, "", (2**31 - 1, 1, 1), (1024, 1, 1), "")
"""Counts any linear number."""

_HOW = "write a line, or block and thread: 3,0,0 240,0,0 · #1008 · sm 5 warp 3 lane 2"


def is_lane(text: str) -> bool:
    """Whether a text names a lane where an address or an expression may stand too: `3,0,0 240`, `sm 5 warp 3`."""
    words = text.split()
    if len(words) < 2 and not any(mark in text for mark in ",#"):
        return False
    try:
        return not isinstance(read_place(text, _ANY), int)
    except ValueError:
        return False


def read_place(text: str, kernel: Kernel | None = None) -> int | Focus:
    """What was typed at `g`: a line number, or a lane.

    `12` is a line; `3,0,0 240,0,0`, `b 3 t 240` and `block (3,0,0) thread (240,0,0)` are a place in the grid; one
    coordinate alone is a thread of the same block; `sm 5 warp 3 lane 2` is a place in the hardware; `#1008` is the
    thread of that number, counted over the whole grid, and `block #3`, `thread #40` count in grid and block.

    Args:
        text: What was typed.
        kernel: Tells the extents that linear numbers are counted in.

    Raises:
        ValueError: It is none of these, with what it may be.
    """
    words = re.sub(r"\s*,\s*", ",", text.strip())
    if words.isdecimal():
        return int(words)
    named: dict[str, Coordinate] = {}
    plain: list[Dim3] = []
    name, at = "", 0
    words = words.replace(")(", ") (")
    while at < len(words):
        if words[at] in " \t=:":
            at += 1
            continue
        token = _TOKEN.match(words, at)
        if token is None:
            raise ValueError(_HOW)
        at = token.end()
        if token["name"]:
            if name or token["name"].lower() not in _NAMES:
                raise ValueError(_HOW)
            name = _NAMES[token["name"].lower()]
            continue
        if token["linear"]:
            added = _from_linear(int(token["linear"]), name, kernel)
        elif name:
            added = {name: _coordinate(name, token["dim"])}
        else:
            plain.append(parse_dim3(token["dim"]))
            added = {}
        if added.keys() & named.keys():
            raise ValueError(f"{next(iter(added.keys() & named.keys()))} is named twice")
        named.update(added)
        name = ""
    return _focus(named, plain, name)


def _coordinate(name: str, text: str) -> Coordinate:
    if name in _GRID:
        return parse_dim3(text)
    if "," in text:
        raise ValueError(f"{name} is one number")
    return int(text)


def _from_linear(number: int, name: str, kernel: Kernel | None) -> dict[str, Coordinate]:
    """A number counted x fastest: over all threads of the grid, or over blocks, or over the threads of a block."""
    if kernel is None or not all(kernel.grid_dim) or not all(kernel.block_dim):
        raise ValueError("a linear number needs a kernel to count in; none is on the device")
    blocks, threads = volume(kernel.grid_dim), volume(kernel.block_dim)
    if name not in ("", *_GRID):
        raise ValueError(f"{name} takes a plain number")
    limit = {"": blocks * threads, "block": blocks, "thread": threads}[name]
    if number >= limit:
        what = f"{name}s" if name else "threads"
        raise ValueError(f"#{number:,} does not exist: {kernel.name or 'the kernel'} has {limit:,} {what}")
    if name == "block":
        return {"block": delinear(number, kernel.grid_dim)}
    if name == "thread":
        return {"thread": delinear(number, kernel.block_dim)}
    block, thread = divmod(number, threads)
    return {"block": delinear(block, kernel.grid_dim), "thread": delinear(thread, kernel.block_dim)}


def _focus(named: dict[str, Coordinate], plain: list[Dim3], open_name: str) -> Focus:
    if open_name or len(plain) > 2 or not (named or plain):
        raise ValueError(_HOW)
    if len(plain) == 2:
        both: dict[str, Coordinate] = {"block": plain[0], "thread": plain[1]}
        if both.keys() & named.keys():
            raise ValueError(_HOW)
        named = {**both, **named}
    elif plain:
        if "block" in named and "thread" in named:
            raise ValueError(_HOW)
        named = {**named, "block" if "thread" in named else "thread": plain[0]}
    if named.keys() & set(_GRID) and named.keys() & set(_HARDWARE):
        raise ValueError(
            "name a place in the grid (block, thread) or in the hardware (sm, warp, lane), not in both"
        )
    return Focus.of(**{level: named[level] for level in ("kernel", *_GRID, *_HARDWARE) if level in named})

"""cuda-gdb's focus: its levels, the two ways it is answered, and the command that moves it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ladder_backends.mi.records import Value
from ladder_backends.model.focus import Coordinate, Dim3, Focus, FocusLevel, format_coordinate, parse_dim3

FOCUS_SCHEMA = (
    FocusLevel("kernel"),
    FocusLevel("grid"),
    FocusLevel("cluster", is_dim3=True),
    FocusLevel("block", is_dim3=True),
    FocusLevel("thread", is_dim3=True),
    FocusLevel("device", physical=True),
    FocusLevel("sm", physical=True),
    FocusLevel("warp", physical=True),
    FocusLevel("lane", physical=True),
)
"""Logical levels, then physical ones; the engine lets physical ones win where both are given.

Only kernels that were launched in clusters have a cluster.
"""

# What is left out of the query comes back as "invalid" or (0,0,0), so every word is named; but for the cluster,
# which older engines do not know and newer ones tell unasked where there is one.
FOCUS_QUERY = "-cuda-focus-query " + " ".join(level.name for level in FOCUS_SCHEMA if level.name != "cluster")

_ANSWER_NAMES = {"cluster": "clusterIdx", "block": "blockIdx", "thread": "threadIdx"}
_DIM3_LEVELS = frozenset(level.name for level in FOCUS_SCHEMA if level.is_dim3)
_WORDS = re.compile(r"\b(kernel|grid|cluster|block|thread|device|sm|warp|lane)\s+(\(\d+,\s*\d+,\s*\d+\)|\d+)")


def focus_of(results: Mapping[str, Value]) -> Focus | None:
    """The focus in an answer or a stop; None where it stands on no kernel.

    cuda-gdb 13 answers with a `CudaFocus` tuple, 12.4 with an unnamed string: `kernel 0, grid 1, ..., lane 8`.
    """
    told = results.get("CudaFocus")
    if isinstance(told, dict):
        cells = {name: told.get(_ANSWER_NAMES.get(name, name)) for name in _names()}
        return _ordered({name: _coordinate(name, cell) for name, cell in cells.items()})
    text = results.get("")
    if isinstance(text, str):
        return focus_in_text(text)
    return None


def focus_in_text(text: str) -> Focus | None:
    """The focus in a sentence of the engine, or None where it names none."""
    return _ordered({name: _coordinate(name, value) for name, value in _WORDS.findall(text)})


def switch_command(asked: Focus, cluster: Dim3 | None = None) -> str:
    """The command that moves the focus to the levels that are asked for.

    Where a lane is named by its place in the grid, the hardware's coordinates are left out: they would win. A block
    is named without its cluster, unless that is given.
    """
    names = [name for name in _names() if name in asked]
    if "block" in names or "thread" in names:
        names = [name for name in names if name in ("kernel", "grid", "block", "thread")]
    elif "cluster" in names:
        names = [name for name in names if name in ("kernel", "grid", "cluster")]
    # A kernel number names the grid already, and the engine wants one of the two.
    if "kernel" in names and "grid" in names:
        names.remove("grid")
    words = [f"{name} {format_coordinate(asked[name])}" for name in names]
    if cluster is not None and "block" in names:
        words.insert(names.index("block"), f"cluster {format_coordinate(cluster)}")
    return "-cuda-focus-switch " + " ".join(words)


def host_focus(thread: int | None) -> Focus | None:
    """The focus of an engine that stands in a thread of the host."""
    return Focus.of(thread=thread) if thread is not None else None


def is_lane(focus: Focus | None) -> bool:
    """Whether a focus is on a device rather than in a thread of the host."""
    return focus is not None and "block" in focus


def cluster_dim_of(results: Mapping[str, Value]) -> Dim3 | None:
    """Blocks of a cluster in each direction, where an answer or a stop tells them; else None."""
    told = results.get("CudaFocus")
    text = told.get("clusterDim") if isinstance(told, dict) else None
    try:
        dim = parse_dim3(text) if isinstance(text, str) else (0, 0, 0)
    except ValueError:
        return None
    return dim if all(dim) and dim != (1, 1, 1) else None


def _names() -> tuple[str, ...]:
    return tuple(level.name for level in FOCUS_SCHEMA)


def _coordinate(name: str, value: Value | None) -> Coordinate | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_dim3(value) if name in _DIM3_LEVELS else int(value)
    except ValueError:
        return None


def _ordered(found: Mapping[str, Coordinate | None]) -> Focus | None:
    present = [(name, value) for name in _names() if (value := found.get(name)) is not None]
    return Focus(tuple(present)) if present else None

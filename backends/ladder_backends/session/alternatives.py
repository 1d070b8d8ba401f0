"""The nearest honest things to offer where a lane cannot be reached."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from ladder_backends.model.finding import CodeLocation, Finding
from ladder_backends.model.focus import Dim3, Focus, format_coordinate
from ladder_backends.model.frame import file_name
from ladder_backends.model.grid import LANES, BlockRange, Kernel, ThreadRun, delinear, linear

_MOST_RUNS = 3


class Way(enum.StrEnum):
    """How a lane is reached."""

    DUMP = "dump"
    LIVE = "live"
    NONE = "none"


class Act(enum.StrEnum):
    """What an alternative does.

    Attributes:
        GO: Stand in its lane, or show its line of source.
        LIVE: Run the program to the lane.
        WAIT: Wait on for the lane.
        STAY: Stay where the program stands; nothing is waited for any longer.
        GPU_DUMP: Write a GPU core dump of this moment.
        HAZARDS: Run racecheck again with lanes for each hazard.
        BREAK_LANES: Stop the program under the debugger of kernels where the finding's line is reached.
        BREAK_HOST: Stop the program there where its line of the host is reached.
        SIDE: Stand in the lane of the finding's other place.
        PROGRAM: Name the program that made the dump, where another one was named.
        NO_PROGRAM: Open the dump without a program.
    """

    GO = "go"
    LIVE = "live"
    WAIT = "wait"
    STAY = "stay"
    GPU_DUMP = "dump"
    HAZARDS = "hazards"
    BREAK_LANES = "break"
    BREAK_HOST = "break host"
    SIDE = "side"
    PROGRAM = "program"
    NO_PROGRAM = "no program"


@dataclass(frozen=True, slots=True)
class Alternative:
    """The nearest honest thing where a lane cannot be reached.

    Attributes:
        label: What it is, for a person: `thread (239,0,0) of the same warp`, `source line vector_add.cu:10`.
        focus: A lane the dump does hold, or None.
        file: A source file to show, or an empty string.
        act: What it does.
        note: What it costs or brings, or an empty string.
    """

    label: str
    focus: Focus | None = None
    file: str = ""
    line: int | None = None
    act: Act = Act.GO
    note: str = ""


def alternatives_of_finding(finding: Finding) -> tuple[Alternative, ...]:
    """Source lines of a finding: its own, then the innermost frame of the host that is the user's."""
    found = []
    if finding.src_file and finding.line is not None:
        found.append(
            _source(f"source line {file_name(finding.src_file)}:{finding.line}", finding.src_file, finding.line)
        )
    host = host_frame(finding)
    if host is not None:
        found.append(_source(f"host call {_where(host)}", host.file, host.line))
    return tuple(found)


def programs_of_dump(asked: Focus) -> tuple[Alternative, ...]:
    """What is left where the program that was named with a dump did not make it."""
    return (
        Alternative("name the program that made the dump", asked, act=Act.PROGRAM),
        Alternative(
            "into the dump without a program", asked, act=Act.NO_PROGRAM, note="what the dump itself holds"
        ),
    )


def host_frame(finding: Finding) -> CodeLocation | None:
    """The user's own call on the host that a finding came of; where none is known, the first with a line."""
    from ladder_backends.images.names import same_kernel
    from ladder_backends.sanitizer.user_frame import user_frame

    # The kernel's own name stands there too: of the function that launches it.
    stubs = {frame.function for frame in finding.host_frames if same_kernel(frame.function, finding.kernel)}
    users = user_frame(
        [frame for frame in finding.host_frames if not frame.function or frame.function not in stubs]
    )
    if users is not None and users.file and users.line is not None:
        return users
    return next((frame for frame in finding.host_frames if frame.file and frame.line is not None), None)


def outside_grid(kernel: Kernel, block: Dim3, thread: Dim3 | None) -> str:
    """Why coordinates cannot exist in a kernel, or an empty string."""
    from ladder_backends.images.names import base_name

    if _beyond(block, kernel.grid_dim):
        size = format_coordinate(kernel.grid_dim)
        return f"block {format_coordinate(block)} is outside the grid of {base_name(kernel.name)}, of {size} blocks"
    if thread is not None and _beyond(thread, kernel.block_dim):
        size = format_coordinate(kernel.block_dim)
        return (
            f"thread {format_coordinate(thread)} is outside a block of {base_name(kernel.name)}, of {size} threads"
        )
    return ""


def is_block_held(kernel: Kernel, block: Dim3, ranges: Sequence[BlockRange]) -> bool:
    """Whether a block is among those that are held of its kernel."""
    if not all(kernel.grid_dim):
        return any(block in (each.first, each.last) for each in ranges)
    place = linear(block, kernel.grid_dim)
    return any(
        linear(each.first, kernel.grid_dim) <= place <= linear(each.last, kernel.grid_dim) for each in ranges
    )


def is_thread_held(kernel: Kernel, thread: Dim3, runs: Sequence[ThreadRun]) -> bool:
    """Whether a thread of a block is among those that are held of it."""
    if not all(kernel.block_dim):
        return False
    place = linear(thread, kernel.block_dim)
    return any(linear(run.first, kernel.block_dim) <= place <= linear(run.last, kernel.block_dim) for run in runs)


def held_thread_alternatives(
    kernel: Kernel, block: Dim3, thread: Dim3, runs: Sequence[ThreadRun]
) -> tuple[str, tuple[Alternative, ...]]:
    """Why a thread cannot be reached in a block that is held, and the nearest threads that can.

    Args:
        kernel: The block's kernel.
        block: The block, which the dump holds.
        thread: The thread that was asked for.
        runs: Threads of the block that the dump holds.
    """
    spans = ", ".join(_span(run) for run in runs[:_MOST_RUNS]) + (", ..." if len(runs) > _MOST_RUNS else "")
    asked = f"thread {format_coordinate(thread)} of block {format_coordinate(block)}"
    reason = f"the dump does not hold {asked}, only its {spans}"
    if not all(kernel.block_dim):
        nearest = [runs[0].first]
    else:
        place = linear(thread, kernel.block_dim)
        places = set()
        for run in runs:
            first, last = linear(run.first, kernel.block_dim), linear(run.last, kernel.block_dim)
            places.add(max(first, min(last, place)))
        ordered = sorted(places, key=lambda each: (each // LANES != place // LANES, abs(each - place)))
        nearest = [delinear(each, kernel.block_dim) for each in ordered[:2]]
    return reason, tuple(
        Alternative(
            f"thread {format_coordinate(each)} of {_relation(kernel, each, thread)}",
            Focus.of(kernel=kernel.number, block=block, thread=each),
        )
        for each in nearest
    )


def held_block_alternatives(
    kernel: Kernel, block: Dim3, ranges: Sequence[BlockRange]
) -> tuple[str, tuple[Alternative, ...]]:
    """Why a block cannot be reached, and the nearest block that can."""
    from ladder_backends.images.names import base_name

    if not ranges:
        return f"the dump holds no block of {base_name(kernel.name)}", ()
    spans = ", ".join(_blocks(each) for each in ranges[:_MOST_RUNS]) + (", ..." if len(ranges) > _MOST_RUNS else "")
    reason = f"the dump does not hold block {format_coordinate(block)} of {base_name(kernel.name)}, only {spans}"
    if not all(kernel.grid_dim):
        nearest = ranges[0].first
    else:
        place = linear(block, kernel.grid_dim)
        places = [
            max(linear(each.first, kernel.grid_dim), min(linear(each.last, kernel.grid_dim), place))
            for each in ranges
        ]
        nearest = delinear(min(places, key=lambda each: abs(each - place)), kernel.grid_dim)
    focus = Focus.of(kernel=kernel.number, block=nearest)
    return reason, (Alternative(f"block {format_coordinate(nearest)}, the nearest that is held", focus),)


def _beyond(index: Dim3, extent: Dim3) -> bool:
    # An extent of zero is one the engine did not tell.
    return all(extent) and any(at >= size for at, size in zip(index, extent, strict=True))


def _relation(kernel: Kernel, one: Dim3, other: Dim3) -> str:
    if not all(kernel.block_dim):
        return "the same block"
    together = linear(one, kernel.block_dim) // LANES == linear(other, kernel.block_dim) // LANES
    return "the same warp" if together else "the same block"


def _span(run: ThreadRun) -> str:
    if run.count == 1:
        return f"thread {format_coordinate(run.first)}"
    return f"threads {format_coordinate(run.first)} to {format_coordinate(run.last)}"


def _blocks(run: BlockRange) -> str:
    if run.count == 1:
        return f"block {format_coordinate(run.first)}"
    return f"blocks {format_coordinate(run.first)} to {format_coordinate(run.last)}"


def _source(label: str, file: str, line: int | None) -> Alternative:
    return Alternative(label, file=file, line=line)


def _where(frame: CodeLocation) -> str:
    place = f"{file_name(frame.file)}:{frame.line}"
    return f"{place} in {frame.function}" if frame.function else place

"""Where the engine stands on a device, in words of any length: what the engine told, and what follows from it.

Coordinates are the engine's own. The number of a thread in its grid is computed here, and says so. Every pane can
say that there is no lane: what it takes to draw one is imported with the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability
from ladder_backends.session.state import Run

if TYPE_CHECKING:
    from ladder_backends.model.focus import Focus
    from ladder_backends.model.grid import Kernel
    from ladder_backends.session.debug_state import DebugState


def lane_words(focus: Focus | None, kernel: Kernel | None, room: int, device: int | None = None) -> str:
    """As much as fits of `thread (240,0,0) of (256,1,1) block (3,0,0) of (4,1,1) · SM 126 warp 7 lane 16`.

    Args:
        focus: Where the engine stands.
        kernel: The one it stands in, or None where that is not known.
        room: Columns.
        device: The device to name, where there are several.
    """
    if focus is None:
        return ""
    from ladder_backends.model.focus import format_coordinate

    block, thread = focus.dim3("block"), focus.dim3("thread")
    if block is None or thread is None:
        return ""
    where = f"thread {format_coordinate(thread)} block {format_coordinate(block)}"
    short = f"t {format_coordinate(thread)} b {format_coordinate(block)}"
    whole, number = where, ""
    if kernel is not None:
        whole = (
            f"thread {format_coordinate(thread)} of {format_coordinate(kernel.block_dim)}"
            f" block {format_coordinate(block)} of {format_coordinate(kernel.grid_dim)}"
        )
        number = f" · number {global_number(focus, kernel):,} of the grid, computed"
    cluster = focus.dim3("cluster")
    clusters = f" cluster {format_coordinate(cluster)}" if cluster is not None else ""
    sm, warp, slot = focus.index("sm"), focus.index("warp"), focus.index("lane")
    told = [f"{name} {at}" for name, at in (("warp", warp), ("lane", slot)) if at is not None]
    on = [f"device {device}"] if device is not None else []
    lane = " · " + " ".join([*on, *([f"SM {sm}"] if sm is not None else []), *told]) if told else ""
    lane_only = " · " + " ".join([*on, *told]) if told else ""
    brief = "".join(f" {letter}{at}" for letter, at in (("SM ", sm), ("w", warp), ("l", slot)) if at is not None)
    if device is not None:
        # Of all numbers of the hardware this one tells most.
        brief = f" dev {device}{brief}"
    choices = (
        whole + clusters + lane + number,
        whole + clusters + lane,
        where + clusters + lane,
        where + clusters + lane_only,
        short + clusters + brief,
        *([f"{short}{clusters} dev {device}", f"{short} dev {device}"] if device is not None else []),
        where + clusters,
        short + clusters,
        short,
    )
    return next((words for words in choices if len(words) <= room), "")


def in_no_lane(debug: DebugState) -> str:
    """Why a GPU core dump shows no lane, a clause; empty where it does, and of anything else."""
    if debug.run is not Run.DUMP or debug.focus is not None or debug.frames.frames:
        return ""
    from ladder_backends.model.grid import NO_KERNEL

    return NO_KERNEL if debug.capabilities & Capability.DEVICE_FOCUS else ""


def lane_of(focus: Focus | None) -> tuple[object, ...]:
    """What tells a lane from others, over stops; nothing where the focus is in none."""
    if focus is None or "block" not in focus:
        return ()
    return focus.get("kernel"), focus.get("block"), focus.get("thread")


def device_to_name(debug: DebugState) -> int | None:
    """The device of the focused lane, where it is not the only one that has kernels; else None."""
    device = debug.focus.index("device") if debug.focus is not None and "block" in debug.focus else None
    if device is None:
        return None
    several = len({kernel.device for kernel in debug.grid.kernels} | {device}) > 1
    return device if several or device > 0 else None


def kernel_of(debug: DebugState) -> Kernel | None:
    """The kernel that the focus is in, as far as the grid was asked for."""
    number = debug.focus.index("kernel") if debug.focus is not None else None
    return next((kernel for kernel in debug.grid.kernels if kernel.number == number), None)


def global_number(focus: Focus, kernel: Kernel) -> int:
    """The number of the focused thread in its grid, blocks one after the other, x fastest."""
    from ladder_backends.model.grid import linear, volume

    block, thread = focus.dim3("block") or (0, 0, 0), focus.dim3("thread") or (0, 0, 0)
    return linear(block, kernel.grid_dim) * volume(kernel.block_dim) + linear(thread, kernel.block_dim)

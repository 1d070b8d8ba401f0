"""Let a program run until a block of a kernel is on the device, and stand in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability, StepKind
from ladder_backends.images.names import base_name
from ladder_backends.model.breakpoint import BindingState
from ladder_backends.session.alternatives import is_block_held, outside_grid
from ladder_backends.session.state import Run

if TYPE_CHECKING:
    from ladder_backends.model.focus import Dim3, Focus
    from ladder_backends.model.grid import Kernel
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.debug_state import DebugState


def kernel_of(debug: DebugState, asked: Focus) -> Kernel | None:
    """The kernel that is meant: the one named, else the focused one, else the only one there is."""
    number = asked.index("kernel")
    if number is None and debug.focus is not None:
        number = debug.focus.index("kernel")
    kernels = debug.grid.kernels
    named = next((kernel for kernel in kernels if kernel.number == number), None)
    return named or (kernels[0] if len(kernels) == 1 and number is None else None)


def can_wait_for(debug: DebugState, asked: Focus | None) -> bool:
    """Whether running on can bring a block that was asked for: it exists in its kernel, and is not there now."""
    if asked is None or debug.run is not Run.STOPPED or not debug.capabilities & Capability.BREAKPOINTS:
        return False
    block, kernel = asked.dim3("block"), kernel_of(debug, asked)
    if block is None or kernel is None or not kernel.name:
        return False
    return not outside_grid(kernel, block, asked.dim3("thread")) and not is_block_held(
        kernel, block, debug.grid.blocks
    )


def block_condition(block: Dim3, extent: Dim3) -> str:
    """The condition that holds in one block of a grid; directions in which there is one block are left out."""
    parts = [f"blockIdx.{axis}=={at}" for axis, at, size in zip("xyz", block, extent, strict=True) if size != 1]
    return " && ".join(parts) or "1"


async def run_until_resident(session: DebugSession, asked: Focus) -> bool:
    """Stop at the first instruction that the block runs, then go to the thread that was asked for.

    The engine cannot tell a block that has ended from one that has not begun: of an ended one, the kernel ends, and
    the breakpoint waits for its next launch.

    Returns:
        Whether it stands in the block.
    """
    debug = session.state
    block, kernel = asked.dim3("block"), kernel_of(debug, asked)
    if block is None or kernel is None or not can_wait_for(debug, asked):
        session.notice("no block to wait for: go to one that is not on the device first", "warning")
        return False
    binding = await session.set_breakpoint(
        base_name(kernel.name), condition=block_condition(block, kernel.grid_dim), temporary=True
    )
    if binding is None or binding.state is BindingState.FAILED:
        return False
    words = asked.describe("block")
    session.notice(f"running until {words} is on the device; each block that begins is looked at — Ctrl-C stops")
    await session.resume(StepKind.CONTINUE)
    await session.at_rest()
    reached = debug.focus
    if debug.run is not Run.STOPPED or reached is None or reached.dim3("block") != block:
        if debug.run is Run.STOPPED:
            session.notice(f"stopped elsewhere; the breakpoint for {words} waits on", "warning")
        return False
    if "thread" in asked:
        await session.switch(asked)
    return True

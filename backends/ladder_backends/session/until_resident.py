"""Let a program run until a block of a kernel is on the device, and stand in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.images.names import base_name
from ladder_backends.model.frame import FrameKind
from ladder_backends.session.alternatives import (
    Alternative,
    held_block_alternatives,
    held_thread_alternatives,
    is_block_held,
    is_thread_held,
    outside_grid,
)
from ladder_backends.session.state import Run

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import LaneRuns
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


def why_refused(debug: DebugState, asked: Focus, refusal: str) -> tuple[str, tuple[Alternative, ...]]:
    """Why a lane was not reached, and where to go instead, as far as its kernel is known; else as was refused."""
    block, thread, kernel = asked.dim3("block"), asked.dim3("thread"), kernel_of(debug, asked)
    if block is None and thread is not None and debug.focus is not None:
        block = debug.focus.dim3("block")
    if debug.run is not Run.STOPPED or kernel is None or block is None:
        return refusal, ()
    outside = outside_grid(kernel, block, thread)
    if outside:
        return outside, ()
    if debug.grid.blocks and not is_block_held(kernel, block, debug.grid.blocks):
        _, nearest = held_block_alternatives(kernel, block, debug.grid.blocks)
        return f"{asked.describe('block')} is not on the device now: it has ended or not begun", nearest
    told = debug.lane_lines
    if thread is not None and told.block == block and told.runs and not is_thread_held(kernel, thread, told.runs):
        _, near = held_thread_alternatives(kernel, block, thread, told.runs)
        return f"{asked.describe('thread')} of this block is not on the device now", near
    return refusal, ()


async def run_until_resident(session: DebugSession, asked: Focus) -> bool:
    """Stop at the first instruction that the block runs, then go to the thread that was asked for.

    The engine cannot tell a block that has ended from one that has not begun: of an ended one, the program runs on
    to its next stop or its end.

    Returns:
        Whether it stands in the block.
    """
    debug = session.state
    block, kernel = asked.dim3("block"), kernel_of(debug, asked)
    if block is None or kernel is None or not can_wait_for(debug, asked):
        session.notice("no block to wait for: go to one that is not on the device first", "warning")
        return False
    runs = session.debugger.lane_runs
    if runs is None:
        session.notice("this engine cannot wait for a block", "warning")
        return False
    words = asked.describe("block")
    with session.told():
        await _wait_at_entry(session, runs, kernel, block)
        session.notice(
            f"running until {words} is on the device: each block that begins is looked at — Ctrl-C stops"
        )
        await session.resume(StepKind.CONTINUE)
        await session.at_rest()
        reached = debug.focus
        if debug.run is not Run.STOPPED or reached is None or reached.dim3("block") != block:
            if debug.run is Run.STOPPED:
                session.notice(f"stopped elsewhere: {words} was not reached", "warning")
            elif debug.run is Run.EXITED:
                session.notice(f"{words} did not begin any more: it had ended", "warning")
            if debug.run is not Run.DEAD:
                await runs.drop()
            return False
        if "thread" in asked:
            await session.switch(asked)
        return True
    return False


async def _wait_at_entry(session: DebugSession, runs: LaneRuns, kernel: Kernel, block: Dim3) -> None:
    """Wait at the kernel's beginning: by its name or, where that is refused, by the address of its code.

    The name is one of the host too, where a condition on a block makes no sense; not every engine passes over that.
    """
    try:
        await runs.wait_at(base_name(kernel.name), block, None)
    except CommandFailed as refused:
        inner = [frame for frame in session.state.frames.frames if frame.kind is FrameKind.DEVICE]
        code = await session.debugger.disassemble(inner[-1].level, 1) if inner else ()
        if not code or not code[0].address.startswith("0x"):
            raise refused
        await runs.wait_at(f"*{int(code[0].address, 16) - code[0].offset:#x}", block, None)

"""The jump: from a finding, or from coordinates, into a lane of a GPU core dump."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ladder_backends.debugger.contract import Debugger, FocusRefused
from ladder_backends.errors import CommandFailed, NotRecorded
from ladder_backends.images.names import base_name, same_kernel
from ladder_backends.model.finding import Finding
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.model.grid import NO_KERNEL, Kernel, Warp
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.alternatives import (
    Alternative,
    Way,
    alternatives_of_finding,
    held_block_alternatives,
    held_thread_alternatives,
    is_block_held,
    is_thread_held,
    outside_grid,
)

FRAMES = 32
"""Frames that a jump reads."""

VARIABLES = 200
"""Variables that a jump reads."""

__all__ = ["Alternative", "JumpOutcome", "asked_by", "jump", "look"]


@dataclass(frozen=True, slots=True)
class JumpOutcome:
    """What a jump asked for and what it got.

    Attributes:
        reached: Where the engine stands now, or None where it could not move.
        frame: The innermost frame.
        note: Why there are no or not all variables.
        warp: The warp of the lane that was reached, its 32 lanes exactly.
        reason: Why `reached` is not what was asked; empty when it is.
        alternatives: The nearest honest things, best first.
        seconds: Time of the jump, from the request to the last answer.
        frames: The stack, at most `FRAMES` frames.
        warps: All warps of the block that the dump holds.
        kernel: The kernel that was reached or, where none was, the one that was meant.
        way: How: into a dump, or by running the program.
        phases: What happened on the way, with the seconds from the request on.
        superseded: Another jump was asked for before this one began.
        doubt: What the report leaves open although the lane was reached, or an empty string.
    """

    asked: Focus
    reached: Focus | None
    frame: Frame | None = None
    variables: tuple[Variable, ...] = ()
    note: str = ""
    warp: Warp | None = None
    provenance: Provenance = Provenance.ENGINE
    reason: str = ""
    alternatives: tuple[Alternative, ...] = ()
    seconds: float = 0.0
    frames: FrameWindow = field(default_factory=FrameWindow)
    warps: tuple[Warp, ...] = ()
    kernel: Kernel | None = None
    way: Way = Way.DUMP
    phases: tuple[tuple[str, float], ...] = ()
    superseded: bool = False
    doubt: str = ""

    @property
    def exact(self) -> bool:
        """The lane that was asked for was reached."""
        return self.reached is not None and self.reached.satisfies(self.asked)


def asked_by(finding: Finding, side: int = 0) -> Focus:
    """The block and thread that a finding names; empty where it names none.

    Args:
        finding: The finding.
        side: Which of its places; a hazard has two.
    """
    place = finding.sides[side] if side < len(finding.sides) else None
    block = place.block if place else (finding.block if side == 0 else None)
    thread = place.thread if place else (finding.thread if side == 0 else None)
    return Focus.of(block=block, thread=thread) if block is not None and thread is not None else Focus()


async def jump(debugger: Debugger, asked: Focus, *, finding: Finding | None = None) -> JumpOutcome:
    """Stand in a lane and read what it sees: stack, variables, the lanes of its warp.

    Args:
        debugger: Opened on a GPU core dump.
        asked: Block and thread, and any other level; empty stays where the engine stands.
        finding: Where the wish comes from: tells the kernel, and what else to offer.

    Raises:
        EngineDied, DeadlinePassed, NotRecorded: As the debugger says; a lane that was not recorded is an outcome.
    """
    began = time.perf_counter()
    extra = alternatives_of_finding(finding) if finding is not None else ()
    outcome = JumpOutcome(asked, None, provenance=debugger.provenance)
    if finding is not None and not asked:
        why = finding.why or "the report names no lane for this finding"
        return replace(outcome, reason=why, alternatives=extra, seconds=time.perf_counter() - began)
    kernels = await debugger.kernels()
    candidates, missing = _candidates(kernels, asked, finding)
    if missing:
        return replace(outcome, reason=missing, alternatives=extra, seconds=time.perf_counter() - began)
    reached, kernel, refused = await _move(debugger, asked, candidates)
    if reached is None:
        reason, nearest = await _explain(debugger, asked, kernel, refused)
        return replace(
            outcome,
            reason=reason,
            alternatives=(*nearest, *extra),
            kernel=kernel,
            seconds=time.perf_counter() - began,
        )
    outcome = await look(debugger, replace(outcome, reached=reached))
    kernel = next((each for each in kernels if each.number == reached.index("kernel")), kernel)
    reason = "" if reached.satisfies(asked) else f"asked for {asked.describe()}, reached {reached.describe(*asked)}"
    return replace(
        outcome,
        kernel=kernel,
        reason=reason,
        alternatives=extra if reason else (),
        seconds=time.perf_counter() - began,
        doubt=_other_devices(candidates, kernel, asked),
    )


def _candidates(kernels: Sequence[Kernel], asked: Focus, finding: Finding | None) -> tuple[Sequence[Kernel], str]:
    """Kernels to look in, best first, or why there is none."""
    if not kernels:
        return (), NO_KERNEL
    if "kernel" in asked:
        named = [kernel for kernel in kernels if kernel.number == asked.index("kernel")]
        return named, "" if named else f"the dump holds no kernel {asked['kernel']}"
    # `__assertfail` is of CUDA's library: the report's stack did not reach the kernel that called it.
    if finding is None or not finding.kernel or base_name(finding.kernel).startswith("__"):
        return kernels, ""
    named = [kernel for kernel in kernels if same_kernel(kernel.name, finding.kernel)]
    if named:
        return named, ""
    wanted = base_name(finding.kernel)
    held = ", ".join(dict.fromkeys(base_name(kernel.name) for kernel in kernels))
    return (), f"the finding is in kernel {wanted}, and the dump holds {held}: it is of another launch"


def _other_devices(candidates: Sequence[Kernel], reached: Kernel | None, asked: Focus) -> str:
    """That the lane's kernel runs on other devices too, where nothing says on which it was meant."""
    if reached is None or "kernel" in asked or "block" not in asked:
        return ""
    same = [each for each in candidates if each.device != reached.device and same_kernel(each.name, reached.name)]
    if not same:
        return ""
    others = ", ".join(f"kernel {each.number} on device {each.device}" for each in same[:4])
    more = f" and {len(same) - 4} more" if len(same) > 4 else ""
    return f"on device {reached.device}; it may be meant in {others}{more}: a report names no device"


async def _move(
    debugger: Debugger, asked: Focus, candidates: Sequence[Kernel]
) -> tuple[Focus | None, Kernel | None, FocusRefused | None]:
    if not asked:
        return await debugger.focus(), None, None
    refused: FocusRefused | None = None
    for kernel in candidates:
        levels = dict(asked)
        # Without a kernel the engine takes its current one, which need not be the one that is meant.
        if "block" in levels or "thread" in levels:
            levels["kernel"] = kernel.number
        try:
            return await debugger.switch(Focus(tuple(levels.items()))), kernel, None
        except FocusRefused as error:
            refused = refused or error
        except NotRecorded:
            refused = refused or FocusRefused("", f"{asked.describe()} is not in this recording", asked)
    return None, candidates[0] if candidates else None, refused


async def _explain(
    debugger: Debugger, asked: Focus, kernel: Kernel | None, refused: FocusRefused | None
) -> tuple[str, tuple[Alternative, ...]]:
    block, thread = asked.dim3("block"), asked.dim3("thread")
    if block is None and thread is not None:
        # A thread alone is one of the block that the engine stands in.
        here = await debugger.focus()
        block = here.dim3("block") if here is not None else None
    if kernel is None or block is None:
        return refused.what if refused else "the engine stands on no kernel", ()
    outside = outside_grid(kernel, block, thread)
    if outside:
        return outside, ()
    try:
        ranges = await debugger.blocks(kernel.number)
        if not is_block_held(kernel, block, ranges):
            reason, nearest = held_block_alternatives(kernel, block, ranges)
            return reason, tuple([await _with_thread(debugger, each) for each in nearest])
        runs = await debugger.threads_held(block)
        if runs and thread is not None and not is_thread_held(kernel, thread, runs):
            return held_thread_alternatives(kernel, block, thread, runs)
    except (CommandFailed, NotRecorded):
        # The explanation could not be asked for.
        pass
    return refused.what if refused else "the engine would not move", ()


async def _with_thread(debugger: Debugger, alternative: Alternative) -> Alternative:
    """The alternative with a thread of its block: a place named in full is reached in recordings too."""
    block = alternative.focus.dim3("block") if alternative.focus is not None else None
    runs = await debugger.threads_held(block) if block is not None else ()
    if not runs or alternative.focus is None:
        return alternative
    return replace(alternative, focus=Focus((*alternative.focus.coordinates, ("thread", runs[0].first))))


async def look(debugger: Debugger, outcome: JumpOutcome) -> JumpOutcome:
    """Read the lane; all questions are asked in one burst."""
    assert outcome.reached is not None
    frames, variables, warps = await asyncio.gather(
        debugger.frames(0, FRAMES),
        _variables(debugger),
        _warps(debugger, outcome.reached),
    )
    number = outcome.reached.index("warp")
    return replace(
        outcome,
        frame=frames.frames[0] if frames.frames else None,
        frames=frames,
        variables=variables.variables,
        note=variables.note,
        warps=tuple(warps),
        warp=next((warp for warp in warps if warp.number == number), None),
    )


async def _warps(debugger: Debugger, reached: Focus) -> Sequence[Warp]:
    """The block's warps; a lane is worth standing in without them."""
    try:
        return await debugger.warps(reached)
    except CommandFailed:
        return ()


async def _variables(debugger: Debugger) -> VariableWindow:
    try:
        return await debugger.variables(0, VARIABLES)
    except CommandFailed as refused:
        return VariableWindow(note=refused.what)

"""What is asked about one place of a target, all at once, and what of it has come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from ladder_backends.beginning import begin
from ladder_backends.debugger.contract import Capability, Debugger
from ladder_backends.errors import EngineError
from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.model.grid import Instruction
from ladder_backends.model.variable import VariableWindow
from ladder_backends.session.state import Grid

PATIENCE = 0.12
"""Seconds that a stop waits for its answers before it is shown without them."""

_Answer = TypeVar("_Answer")

Follow: TypeAlias = Callable[
    [int, Awaitable[FrameWindow], Awaitable[VariableWindow]], Coroutine[Any, Any, None] | None
]


@dataclass(slots=True)
class Rows:
    """How much the screen shows of each list."""

    frames: int = 30
    variables: int = 60
    instructions: int = 0
    grid: bool = True
    """Kernels, blocks and warps are seen; of a dump they are asked for in any case."""
    code: Callable[[int, int], Awaitable[tuple[Instruction, ...]]] | None = None
    """Gives the code where a frame stands, by level and count; the debugger itself where it is None."""
    values: Follow | None = None
    """Reads what else of values is seen, by level, frames and variables; gives None where there is nothing."""


@dataclass(slots=True)
class Answers:
    """Questions on their way."""

    frames: asyncio.Future[FrameWindow]
    variables: asyncio.Future[VariableWindow]
    grid: asyncio.Future[Grid] | None
    instructions: asyncio.Future[tuple[Instruction, ...]] | None
    values: asyncio.Future[None] | None = None

    def tasks(self) -> list[asyncio.Future[Any]]:
        """Those that were asked."""
        asked = (self.frames, self.variables, self.grid, self.instructions, self.values)
        return [task for task in asked if task is not None]


def send(debugger: Debugger, rows: Rows, level: int, frames: int, focus: Focus | None) -> Answers:
    """Ask for frames and variables and, on a device, for the grid; everything goes out together."""
    device = debugger.capabilities & Capability.DEVICE_FOCUS and focus is not None and "block" in focus
    device = device and (rows.grid or not debugger.capabilities & Capability.RUN_CONTROL)
    if not debugger.capabilities & Capability.RUN_CONTROL:
        from ladder_backends.session.jump import FRAMES

        # As many as a jump asks for, whatever the screen's size, so that a recording answers.
        frames = max(FRAMES, level + 1)
    answers = Answers(
        frames=begin(debugger.frames(0, frames)),
        variables=begin(debugger.variables(level, rows.variables)),
        grid=begin(ask_grid(debugger, focus)) if device and focus is not None else None,
        instructions=begin(_code(debugger, rows, level)) if rows.instructions else None,
    )
    values = rows.values(level, answers.frames, answers.variables) if rows.values is not None else None
    if values is not None:
        answers.values = begin(values)
    return answers


async def ask_grid(debugger: Debugger, focus: Focus) -> Grid:
    """Kernels, blocks of the focused kernel, warps of the focused block; what cannot be had is empty."""
    kernels, blocks, warps = await asyncio.gather(
        debugger.kernels(),
        debugger.blocks(focus.index("kernel") or 0),
        debugger.warps(focus),
        return_exceptions=True,
    )
    for answer in (kernels, blocks, warps):
        if isinstance(answer, BaseException) and not isinstance(answer, EngineError):
            raise answer
    return Grid(
        kernels=() if isinstance(kernels, BaseException) else tuple(kernels),
        blocks=() if isinstance(blocks, BaseException) else tuple(blocks),
        warps=() if isinstance(warps, BaseException) else tuple(warps),
    )


async def _code(debugger: Debugger, rows: Rows, level: int) -> tuple[Instruction, ...]:
    if rows.code is not None:
        return await rows.code(level, rows.instructions)
    return await ask_instructions(debugger, level, rows.instructions)


async def ask_instructions(debugger: Debugger, level: int, count: int) -> tuple[Instruction, ...]:
    """Instructions round a frame's program counter."""
    return tuple(await debugger.disassemble(level, count))


def frame_at(frames: FrameWindow, level: int) -> Frame | None:
    """The frame of a level, where the window holds it."""
    position = level - frames.start
    return frames.frames[position] if 0 <= position < len(frames.frames) else None


async def settle(answers: Answers) -> None:
    """Wait for all answers, but no longer than `PATIENCE`; what is late is shown when it comes."""
    await asyncio.wait(answers.tasks(), timeout=PATIENCE)


def answer(task: asyncio.Future[_Answer], otherwise: _Answer) -> _Answer:
    """The task's result, or `otherwise` where it is late or the engine had none."""
    if not task.done() or task.cancelled():
        return otherwise
    error = task.exception()
    if error is None:
        return task.result()
    if not isinstance(error, EngineError):
        raise error
    if isinstance(otherwise, VariableWindow):
        return replace(otherwise, note=str(error))
    return otherwise

"""One debugger and its state: events in, intents out.

A stop is one notification: the source place comes from the record itself, the visible frames and variables are asked
for together, and listeners are told once when both answers are in. While the user steps faster than the engine
answers, the newest stop wins and the questions of older ones are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ladder_backends.debugger.contract import Debugger, StepKind
from ladder_backends.debugger.target import Target
from ladder_backends.model.breakpoint import BreakpointBinding
from ladder_backends.model.focus import Focus
from ladder_backends.model.variable import Variable
from ladder_backends.session.state import Change, DebugState

Subscriber: TypeAlias = Callable[[Change], None]


class DebugSession:
    """Drives one debugger and keeps its `DebugState`."""

    state: DebugState

    def __init__(self, debugger: Debugger) -> None:
        raise NotImplementedError

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` after each coherent change; returns the way to stop that."""
        raise NotImplementedError

    def show_rows(self, *, frames: int, variables: int) -> None:
        """How many frames and variables the screen shows; each stop asks for that many and no more."""
        raise NotImplementedError

    async def open(self, target: Target) -> None:
        """Open the debugger on a target and apply stored breakpoints.

        Raises:
            TargetInvalid, EngineMissing, EngineDied: As the debugger says.
        """
        raise NotImplementedError

    async def resume(self, kind: StepKind, location: str = "") -> None:
        """Run, continue, step...; refused with a notice where the target cannot run. Fast repeats are coalesced."""
        raise NotImplementedError

    async def interrupt(self) -> None:
        """Stop the target, or a busy engine."""
        raise NotImplementedError

    async def toggle_breakpoint(self, location: str) -> BreakpointBinding | None:
        """Set a breakpoint at `file:line`, or take away the one that is there (then None)."""
        raise NotImplementedError

    async def enable_breakpoint(self, binding: BreakpointBinding, enabled: bool) -> None:
        """Switch a breakpoint on or off."""
        raise NotImplementedError

    async def select_frame(self, level: int) -> None:
        """Show another frame: its source place and variables."""
        raise NotImplementedError

    async def load_frames(self, start: int, count: int) -> None:
        """Extend or move the stack window."""
        raise NotImplementedError

    async def switch(self, asked: Focus) -> Focus | None:
        """Move the focus; state then holds both asked and reached. None, with a notice, where it is refused."""
        raise NotImplementedError

    async def evaluate(self, expression: str) -> Variable:
        """The expression's value in the selected frame."""
        raise NotImplementedError

    async def load_disassembly(self, count: int) -> None:
        """Fill `state.disassembly` for the selected frame."""
        raise NotImplementedError

    async def console(self, line: str) -> None:
        """Type a line into the engine's command line, then follow whatever it changed (focus, frame, breakpoints)."""
        raise NotImplementedError

    async def complete(self, text: str) -> Sequence[str]:
        """The engine's completions."""
        raise NotImplementedError

    def type_to_program(self, raw: bytes) -> None:
        """Keys for the program's terminal."""
        raise NotImplementedError

    def resize_program(self, columns: int, rows: int) -> None:
        """Size of the program's terminal."""
        raise NotImplementedError

    def pending(self) -> Sequence[tuple[str, float]]:
        """Commands without an answer: text and age in seconds."""
        raise NotImplementedError

    async def close(self) -> None:
        """End the debugger."""
        raise NotImplementedError

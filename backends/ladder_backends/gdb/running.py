"""Running a target: the command for each kind of step, and the end of what takes long."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Protocol

from ladder_backends.debugger.contract import StepKind
from ladder_backends.debugger.facets.threads import Threads
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.console import Console
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import location_word

RESUME_DEADLINE = 60.0
"""Seconds until an engine must have accepted to run; loading symbols of a large program is part of it."""

_MORE_INTERRUPTS, _INTERRUPT_AGAIN = 10, 0.3
"""How often, and after how many seconds each, a busy engine is interrupted again."""

ACCEPTED = 1.0
"""Seconds that a target may take to stop before the engine itself is interrupted."""

_COMMANDS: Mapping[StepKind, str] = {
    StepKind.RUN: "-exec-run",
    StepKind.START: "-exec-run --start",
    StepKind.CONTINUE: "-exec-continue",
    StepKind.NEXT: "-exec-next",
    StepKind.STEP: "-exec-step",
    StepKind.FINISH: "-exec-finish",
    StepKind.UNTIL: "-exec-until",
    StepKind.NEXT_INSTRUCTION: "-exec-next-instruction",
    StepKind.STEP_INSTRUCTION: "-exec-step-instruction",
    StepKind.REVERSE_CONTINUE: "-exec-continue",
    StepKind.REVERSE_NEXT: "-exec-next",
    StepKind.REVERSE_STEP: "-exec-step",
    StepKind.REVERSE_FINISH: "-exec-finish",
    StepKind.REVERSE_NEXT_INSTRUCTION: "-exec-next-instruction",
    StepKind.REVERSE_STEP_INSTRUCTION: "-exec-step-instruction",
}
_OF_A_FRAME = frozenset({StepKind.FINISH, StepKind.REVERSE_FINISH, StepKind.UNTIL})


class RunningEngine(Engine, Protocol):
    """An engine whose target runs."""

    threads: Threads | None
    selected_frame: int

    @property
    def started(self) -> bool:
        """The engine was started and has not ended."""


class Running:
    """Lets the target of an engine run, and stops it, or the engine where that is what is busy.

    Attributes:
        patience: Seconds that the engine may take to hear an interruption before it is interrupted itself.
    """

    def __init__(self, engine: RunningEngine, events: EventReader, console: Console) -> None:
        self.patience = ACCEPTED
        self._engine, self._events, self._console = engine, events, console

    async def resume(self, kind: StepKind, location: str) -> None:
        """Let the target run."""
        command = _COMMANDS[kind]
        if kind in _OF_A_FRAME:
            command += await self._engine.at_frame(self._engine.selected_frame)
        elif not kind.anew:
            command += self._engine.at_thread()
        if kind.backwards:
            command += " --reverse"
        if kind is StepKind.UNTIL and location:
            command += f" {location_word(location)}"
        await self.run(command)

    async def run(self, command: str) -> None:
        """Send a command that lets the target run; from its acceptance on the target can be interrupted."""
        stops = self._events.stops
        await self._engine.command(command, deadline=RESUME_DEADLINE)
        self._events.accepted(stops)

    async def interrupt(self) -> None:
        """Stop a running target; where only the engine is busy, interrupt its work."""
        threads = self._engine.threads
        if self._events.running:
            await self._interrupt_target()
        elif self._engine.pending() or self._console.expects_prompt:
            await self._interrupt_work()
        elif threads is not None and threads.any_runs():
            await threads.hold()

    async def _interrupt_target(self) -> None:
        asking = asyncio.ensure_future(self._engine.command(f"-exec-interrupt{self._whom()}", deadline=None))
        try:
            _, unheard = await asyncio.wait([asking], timeout=self.patience)
            for _ in range(_MORE_INTERRUPTS):
                if not unheard:
                    break
                # It is busy telling of a stop: each value that its Python prints is a work of its own.
                self._engine.interrupt_engine()
                _, unheard = await asyncio.wait([asking], timeout=_INTERRUPT_AGAIN)
            if not unheard:
                # A refusal means that it stopped by itself in the same instant.
                with contextlib.suppress(CommandFailed):
                    await asking
        finally:
            asking.cancel()

    async def _interrupt_work(self) -> None:
        console, typed_at = self._console, self._console.typed_at
        self._engine.interrupt_engine()
        # The engine loses an interrupt that comes at the wrong moment of a loop or of its Python.
        for _ in range(_MORE_INTERRUPTS):
            await asyncio.sleep(_INTERRUPT_AGAIN)
            done = not console.expects_prompt or console.line.waits or self._events.running
            if done or typed_at != console.typed_at or not self._engine.started:
                return
            self._engine.interrupt_engine()

    def _whom(self) -> str:
        """Which threads an interruption stops, in non-stop; otherwise there is nothing to choose."""
        threads = self._engine.threads
        if threads is None or not threads.non_stop:
            return ""
        return self._engine.at_thread() or " --all"

"""The process as a whole: how it is started, forks, is called into, recorded, and ends."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.frame import Frame
    from ladder_backends.model.launch import ForkMode, LaunchSettings
    from ladder_backends.model.variable import Variable


class Process(abc.ABC):
    """The target process and how the next one is started."""

    @property
    @abc.abstractmethod
    def pids(self) -> Mapping[str, int]:
        """Processes that are held, by the engine's names."""

    @property
    @abc.abstractmethod
    def settings(self) -> LaunchSettings:
        """How the program is started the next time."""

    @abc.abstractmethod
    async def kill(self) -> None:
        """End the target, every process of it; the engine stays, with its breakpoints."""

    @abc.abstractmethod
    async def mourn(self) -> bool:
        """Have the engine notice that its target was ended by someone else while it stood; False where it lives."""

    @abc.abstractmethod
    async def detach(self) -> tuple[int, ...]:
        """Let the target run on without the engine; returns the process ids. It outlives the console."""

    @abc.abstractmethod
    async def configure(self, settings: LaunchSettings) -> None:
        """How the program is started the next time.

        Raises:
            TargetInvalid: A folder or file of the settings does not exist, or a value cannot be handed on exactly.
        """

    @abc.abstractmethod
    async def at_fork(self, mode: ForkMode) -> None:
        """What happens to parent and child at a fork."""

    @abc.abstractmethod
    async def call(self, expression: str, frame_level: int) -> Variable:
        """Call a function of the target and give its value, without limit of time; the target may stop in it."""

    @abc.abstractmethod
    async def return_now(self, frame_level: int, value: str) -> Frame | None:
        """Leave a frame without running the rest of it, with a value or none; returns where it stands then."""

    @abc.abstractmethod
    async def function_at(self, location: str) -> str:
        """The function that a `file:line` location lies in; empty where it has no code."""

    @abc.abstractmethod
    async def drop_run_to(self) -> None:
        """Take back the place that `StepKind.ADVANCE` was to stop at, where something else stopped the target."""

    @abc.abstractmethod
    async def stop_hard(self) -> bool:
        """Stop a target that is deaf to an interrupt by a SIGSTOP that it never sees; False where it runs on."""

    @abc.abstractmethod
    async def record(self, on: bool) -> str:
        """Begin or end to record execution, so that it can run backwards; returns the method.

        Raises:
            CommandFailed: The engine or the processor cannot.
        """

    @abc.abstractmethod
    async def reverses(self) -> bool:
        """Whether the target can run backwards as it stands: recorded, or a replay of its own."""

"""The process as a whole: how it is started, forks, and ends."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.launch import ForkMode, LaunchSettings


class Process(abc.ABC):
    """The target process and how the next one is started."""

    @abc.abstractmethod
    async def kill(self) -> None:
        """End the target; the engine stays, with its breakpoints."""

    @abc.abstractmethod
    async def detach(self) -> None:
        """Let the target run on without the engine."""

    @abc.abstractmethod
    async def configure(self, settings: LaunchSettings) -> None:
        """How the program is started the next time.

        Raises:
            TargetInvalid: A folder or file of the settings does not exist.
        """

    @abc.abstractmethod
    async def at_fork(self, mode: ForkMode) -> None:
        """What happens to parent and child at a fork."""

    @abc.abstractmethod
    async def call(self, expression: str, frame_level: int) -> str:
        """Call a function of the target and give its value, an empty string for none; the target may stop in it."""

    @abc.abstractmethod
    async def return_now(self, frame_level: int, value: str) -> None:
        """Leave a frame without running the rest of it, with a value or none."""

    @abc.abstractmethod
    async def record(self, on: bool) -> None:
        """Begin or end to record execution, so that it can run backwards.

        Raises:
            CommandFailed: The engine or the processor cannot.
        """

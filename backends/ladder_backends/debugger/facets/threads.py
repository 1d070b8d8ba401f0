"""Threads: who is there, where they stand, and which of them run."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.thread import Thread, ThreadGroup


class Threads(abc.ABC):
    """Threads of the target. Focus on one is `Debugger.switch(Focus.of(thread=id))`."""

    @abc.abstractmethod
    async def list(self) -> Sequence[Thread]:
        """Every thread, with its innermost frame where it stands; one question however many there are."""

    @abc.abstractmethod
    async def groups(self, depth: int, most: int) -> Sequence[ThreadGroup]:
        """Threads grouped by their `depth` innermost frames, the smallest group first.

        Args:
            depth: Frames that are compared.
            most: Threads whose stacks are walked; those beyond are grouped by their innermost frame alone.
        """

    @abc.abstractmethod
    async def freeze(self, thread: int, frozen: bool) -> None:
        """Hold a thread when the others run on, or let it go again."""

    @abc.abstractmethod
    async def run_alone(self, alone: bool) -> None:
        """Let only the focused thread run (scheduler locking), or all of them again."""

    @abc.abstractmethod
    async def non_stop(self, on: bool) -> None:
        """Stop threads one by one (non-stop), or all together (all-stop).

        Raises:
            CommandFailed: The target runs already; the mode is chosen before it starts.
        """

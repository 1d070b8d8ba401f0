"""Runs that end in one lane of a kernel, by a breakpoint that is none of the user's."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.focus import Dim3


class LaneRuns(abc.ABC):
    """Waits for a lane at a place; the target has to stand in the lane's kernel, whose code is loaded then.

    Attributes:
        waiting: A place is waited for that was not reached yet.
    """

    @property
    @abc.abstractmethod
    def waiting(self) -> bool:
        """A place is waited for that was not reached yet."""

    @abc.abstractmethod
    async def wait_at(self, location: str, block: Dim3 | None, thread: Dim3 | None) -> None:
        """Stop once where this lane, or any of its block, comes to a place; what was waited for before is not.

        Args:
            location: `file:line`, or `*0xaddress`.
            block: Of the lane, or None for any.
            thread: Of the lane in its block, or None for any of it.

        Raises:
            CommandFailed: There is no such place, with the engine's reason.
        """

    @abc.abstractmethod
    async def drop(self) -> None:
        """Wait for nothing any longer."""

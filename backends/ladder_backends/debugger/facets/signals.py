"""Signals and what the engine does about them."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.signal_handling import SignalCause, SignalHandling


class Signals(abc.ABC):
    """The engine's table of signals."""

    @abc.abstractmethod
    async def table(self) -> Sequence[SignalHandling]:
        """Every signal, in the engine's order."""

    @abc.abstractmethod
    async def handle(
        self, name: str, *, stops: bool | None = None, prints: bool | None = None, passes: bool | None = None
    ) -> None:
        """Change what happens at a signal; None leaves a column as it is (the engine may tie columns together)."""

    @abc.abstractmethod
    async def cause(self) -> SignalCause | None:
        """What the system tells of the signal that the focused thread stands at; None where it tells nothing."""

    @abc.abstractmethod
    async def deliver(self, name: str) -> None:
        """The signal that the program gets when it runs on; an empty name drops the one it stopped at."""

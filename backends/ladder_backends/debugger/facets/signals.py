"""Signals and what the engine does about them."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.signal_handling import SignalHandling


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

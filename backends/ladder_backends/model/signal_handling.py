"""What the engine does about a signal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SignalHandling:
    """One row of the engine's table.

    Attributes:
        stops: The target stops when it arrives.
        prints: It is told of.
        passes: The program sees it.
        description: `Segmentation fault`.
    """

    name: str
    stops: bool
    prints: bool
    passes: bool
    description: str = ""

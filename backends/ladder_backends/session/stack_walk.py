"""What goes on in a stack too deep to be read at once."""

from __future__ import annotations

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StackWalk:
    """A way down a stack that is not at its end yet.

    Attributes:
        needle: What is searched, or an empty string where the way leads to the outermost frame.
        level: Frames passed so far.
    """

    needle: str
    level: int

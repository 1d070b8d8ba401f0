"""Registers of a frame."""

from __future__ import annotations

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Register:
    """One register.

    Attributes:
        value: As the engine prints it in the asked format, clean.
        group: `general`, `float`, `vector`, `system`, or the dialect's own word.
        note: What the value means: `<main+12>`, `[ ZF IF ]`, `"text it points to"`; may be empty.
        changed: The value differs from the one at the previous stop.
        error: Why it cannot be read, or an empty string.
        target: An expression of what it points to, where that is not the register alone.
    """

    name: str
    value: str
    group: str = "general"
    note: str = ""
    changed: bool = False
    error: str = ""
    target: str = ""

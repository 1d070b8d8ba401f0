"""How far a look at a parallel job goes for stacks."""

from __future__ import annotations

from enum import StrEnum


class StackStep(StrEnum):
    """How far a look goes for stacks, from the cheapest to the dearest."""

    AUTO = "auto"
    """Python frames; native ones of ranks that run no Python."""
    NONE = "none"
    PYTHON = "python"
    """What stops nothing."""
    NATIVE = "native"
    """Python frames, and native ones, for which each thread stands for a moment."""
    GDB = "gdb"
    """Python frames, and native ones by a warm gdb, which all ranks stand for together."""

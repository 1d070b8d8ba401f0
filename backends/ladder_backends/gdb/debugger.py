"""gdb on programs, processes and host cores."""

from __future__ import annotations

from typing import ClassVar

from ladder_backends.gdb.dialect import GdbDialect


class GdbDebugger(GdbDialect):
    """gdb itself."""

    name: ClassVar[str] = "gdb"
    rung: ClassVar[str] = "gdb"
    engine: ClassVar[str] = "gdb"

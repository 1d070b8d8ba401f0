"""How a program is started."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """What a program is started with.

    Attributes:
        arguments: One string an argument, as the program sees them.
        environment: Variables set (or, with None, taken away) for the program alone.
        directory: Working folder, or None for the console's.
        stdin: File the program reads instead of its terminal, or None.
    """

    arguments: tuple[str, ...] = ()
    environment: dict[str, str | None] = field(default_factory=dict)
    directory: Path | None = None
    stdin: Path | None = None

    @property
    def plain(self) -> bool:
        """Nothing is set."""
        return self == LaunchSettings()


AVOID_UNRECORDABLE: Mapping[str, str] = {
    "LD_BIND_NOW": "1",
    "GLIBC_TUNABLES": (
        "glibc.cpu.hwcaps=-AVX2_Usable,-AVX512F_Usable,-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-XSAVEC,-ERMS"
    ),
}
"""Variables with which the C library of x86-64 avoids what gdb cannot record: AVX, XSAVEC in lazy binding."""


class ForkMode(enum.StrEnum):
    """What happens at a fork."""

    PARENT = "follow the parent, let the child run"
    CHILD = "follow the child, let the parent run"
    BOTH = "hold both"

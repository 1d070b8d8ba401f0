"""What is known of an engine before it is started."""

from __future__ import annotations

from pathlib import Path

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether an engine can be used here.

    Attributes:
        name: Entry point name: `gdb`, `cuda-gdb`.
        path: The executable, or None where none was found.
        version: First line of its version text, clean.
        available: It can be started.
        missing: What is missing, a clause; empty when available.
        remedy: How to get it, in the imperative.
        notes: Parts that are missing without making it unusable (`no SASS: cuobjdump not found`).
    """

    name: str
    path: Path | None
    version: str = ""
    available: bool = False
    missing: str = ""
    remedy: str = ""
    notes: tuple[str, ...] = ()

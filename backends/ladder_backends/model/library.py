"""Shared libraries of the target."""

from __future__ import annotations

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Library:
    """One shared library.

    Attributes:
        path: As the engine names it, clean.
        start: First address of its code as a hex string, or empty where it is not mapped.
        end: The address behind it.
        symbols: Its symbols are read.
        bare: They are only those of the linker: it has no debug information, and none was found beside it.
    """

    path: str
    start: str = ""
    end: str = ""
    symbols: bool = False
    bare: bool = False

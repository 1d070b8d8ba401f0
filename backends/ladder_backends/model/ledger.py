"""Entries of the ledger: what an engine is given otherwise than it would be without the console."""

from __future__ import annotations

import enum

from ladder_backends.late_dataclass import dataclass


class Scope(enum.StrEnum):
    """Who is concerned."""

    ENGINE = "engine"
    PROGRAM = "program"


class Kind(enum.StrEnum):
    """What an entry is about."""

    SETTING = "setting"
    FILE = "file"
    VARIABLE = "variable"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One thing that the console decides.

    Attributes:
        name: Stable, for the configuration: `debuginfod`, `~/.gdbinit`, `PYTHONHOME`.
        ours: Its value as the console wants it.
        yours: Its value without the console.
        now: Its value in effect.
        why: Why the console decides it, a clause.
        fixed: Why it cannot be let in, a clause; empty where it can.
        later: A choice counts for the next engine only, not for the one that runs.
    """

    name: str
    kind: Kind
    scope: Scope
    ours: str
    yours: str
    now: str
    why: str
    fixed: str = ""
    later: bool = False

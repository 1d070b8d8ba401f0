"""The ledger as panes see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass

if TYPE_CHECKING:
    from ladder_backends.model.ledger import LedgerEntry


@dataclass(slots=True)
class LedgerState:
    """What an engine is given otherwise than it would be without the console.

    Attributes:
        entries: In the order in which they are shown.
        read: They are as they were when the engine was asked last, and nothing has changed since.
        note: Why there are none, or why they may be out of date; empty where neither is so.
    """

    entries: tuple[LedgerEntry, ...] = ()
    read: bool = False
    note: str = ""

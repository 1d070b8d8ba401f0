"""What the console keeps from an engine or forces on it."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.ledger import LedgerEntry


class Firewall(abc.ABC):
    """The ledger of one engine."""

    @abc.abstractmethod
    async def entries(self) -> Sequence[LedgerEntry]:
        """Every entry with its value now. What this engine does not know is left out."""

    @abc.abstractmethod
    async def let_in(self, name: str, on: bool) -> str:
        """Let an entry in as it is without the console, or keep it out; returns what there is to say about that.

        Raises:
            CommandFailed: The engine refuses; nothing is changed.
        """

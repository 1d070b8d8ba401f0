"""Who measures when: workers of a round do it one after the other."""

from __future__ import annotations

import asyncio


class Turn:
    """Lets the workers of a round measure one after the other, once all of them have come so far."""

    def __init__(self, count: int) -> None:
        self._missing = count
        self._arrived: set[tuple[int, ...]] = set()
        self._all = asyncio.Event()
        self._one = asyncio.Lock()
        self._holder: tuple[int, ...] | None = None

    async def take(self, who: tuple[int, ...]) -> None:
        """Wait for the turn; it lasts until `leave`."""
        self._come(who)
        await self._all.wait()
        if self._holder != who:
            await self._one.acquire()
            self._holder = who

    def leave(self, who: tuple[int, ...]) -> None:
        """Its worker is done, or lost."""
        self._come(who)
        if self._holder == who:
            self._holder = None
            self._one.release()

    def _come(self, who: tuple[int, ...]) -> None:
        self._arrived.add(who)
        if len(self._arrived) >= self._missing:
            self._all.set()

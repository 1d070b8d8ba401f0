"""Telling subscribers of changes: together, in one turn of the loop, and not more often than a screen can show."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeAlias

from ladder_backends.session.state import Change

Subscriber: TypeAlias = Callable[[Change], None]

FLOOD_INTERVAL = 0.016
"""Seconds between notifications that tell of output, or of threads that come and go, alone."""

_OUTPUT = Change.CONSOLE | Change.PROGRAM | Change.THREADS | Change.SANITIZER_RUN


class Notifier:
    """Collects changes and delivers them once per turn of the event loop.

    While it is held, changes only add up: a step is one notification, at its end.
    """

    def __init__(self) -> None:
        self._subscribers: list[Subscriber] = []
        self._change = Change.NONE
        self._scheduled: asyncio.Handle | None = None
        self._held = False
        self._delivered_at = 0.0

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Add a subscriber; returns the way to remove it."""
        self._subscribers.append(subscriber)

        def leave() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return leave

    def hold(self) -> None:
        """Deliver nothing until `release`."""
        self._held = True

    def release(self, *, at_once: bool = False) -> None:
        """Deliver what has added up, in this turn of the loop or before the next one."""
        self._held = False
        if self._change is not Change.NONE:
            self._schedule()
            if at_once:
                self._deliver_at_once()

    def tell(self, change: Change, *, at_once: bool = False) -> None:
        """Note a change for the next delivery, or for one that takes place now."""
        self._change |= change
        if not self._held:
            self._schedule()
            if at_once:
                self._deliver_at_once()

    def _deliver_at_once(self) -> None:
        if self._scheduled is not None:
            self._scheduled.cancel()
        try:
            self._deliver()
        except Exception as error:
            # Who tells of a change goes on, whatever a subscriber does.
            what = {"message": "a subscriber failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(what)

    def _schedule(self) -> None:
        urgent = bool(self._change & ~_OUTPUT)
        if self._scheduled is not None:
            if not urgent or not isinstance(self._scheduled, asyncio.TimerHandle):
                return
            # Output waits for its turn; anything else does not.
            self._scheduled.cancel()
        loop = asyncio.get_running_loop()
        wait = self._delivered_at + FLOOD_INTERVAL - time.monotonic()
        if urgent or wait <= 0:
            self._scheduled = loop.call_soon(self._deliver)
        else:
            self._scheduled = loop.call_later(wait, self._deliver)

    def _deliver(self) -> None:
        self._scheduled = None
        if self._held:
            return
        change, self._change = self._change, Change.NONE
        self._delivered_at = time.monotonic()
        for subscriber in tuple(self._subscribers):
            subscriber(change)

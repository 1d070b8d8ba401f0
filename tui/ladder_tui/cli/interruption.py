"""Ctrl-C and an end by time limit without a screen: first the program is stopped, so that it shows where it was."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Coroutine, Iterator
from typing import Any, Protocol

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruptible(Protocol):
    """Something that runs and can be stopped."""

    def interrupt(self) -> Coroutine[Any, Any, None]:
        """Stop it."""


@contextlib.contextmanager
def interrupting(session: Interruptible) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM interrupt the session's target; a second one ends this command."""
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    def release() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    def stop() -> None:
        release()
        stopping.append(loop.create_task(session.interrupt()))

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        release()

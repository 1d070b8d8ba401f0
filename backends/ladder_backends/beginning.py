"""Coroutines that begin where they are called, not in the next turn of the event loop.

What asks an engine then has sent its question when `begin` returns. Each turn that is saved counts: a stop is shown
after a chain of some ten of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")


def begin(coroutine: Coroutine[Any, Any, _Answer]) -> asyncio.Future[_Answer]:
    """Run a coroutine up to its first wait; the rest is a task, and its end a future that is done.

    Up to that wait the current task is that of the caller, or none: what is begun must not enter
    `asyncio.timeout` there, or ask for its task.
    """
    loop = asyncio.get_running_loop()
    try:
        waited = coroutine.send(None)
    except StopIteration as end:
        done: asyncio.Future[_Answer] = loop.create_future()
        done.set_result(end.value)
        return done
    except asyncio.CancelledError:
        ended: asyncio.Future[_Answer] = loop.create_future()
        ended.cancel()
        return ended
    except Exception as error:
        failed: asyncio.Future[_Answer] = loop.create_future()
        failed.set_exception(error)
        return failed
    return loop.create_task(_Begun(coroutine, waited))


class _Begun(Coroutine[Any, Any, _Answer]):
    """A coroutine that waits for something already, as a task takes it."""

    def __init__(self, coroutine: Coroutine[Any, Any, _Answer], waited: Any) -> None:
        self._coroutine = coroutine
        if waited is not None:
            # By this a future says that it is awaited, not only yielded; others may await it until a task has it.
            waited._asyncio_future_blocking = False
        self._waited = waited
        self._taken = False

    def __await__(self) -> Generator[Any, Any, _Answer]:
        return (yield from self._coroutine.__await__())

    def send(self, value: Any) -> Any:
        """Go on; the first time that is to tell what is waited for."""
        if self._taken:
            return self._coroutine.send(value)
        self._taken, waited, self._waited = True, self._waited, None
        if waited is not None:
            waited._asyncio_future_blocking = True
        return waited

    def throw(self, *error: Any) -> Any:
        """Throw an error in; where that is a cancellation, what is waited for is cancelled with it."""
        if not self._taken:
            self._taken, waited, self._waited = True, self._waited, None
            if waited is not None:
                waited.cancel()
        return self._coroutine.throw(*error)

    def close(self) -> None:
        """End it where it stands."""
        self._coroutine.close()

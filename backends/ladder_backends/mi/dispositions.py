"""Signals as an engine needs to find them.

A console that was started by `nohup`, by a job of a shell without job control or by a batch system ignores SIGHUP
or SIGINT, and what is ignored stays ignored over an `exec`. gdb that finds SIGHUP ignored passes over the end of
its terminals: what it was attached to stays traced, or dies of the breakpoints left in it.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_NEEDED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)


@contextlib.contextmanager
def ordinary_signals() -> Iterator[None]:
    """What is started within finds the signals that end a program at their defaults.

    Signals that this process ignores have a handler that does nothing meanwhile: handlers do not outlive an `exec`,
    and the process itself goes on ignoring. Outside the main thread, where handlers cannot be set, nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ignored = [number for number in _NEEDED if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, _nothing)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)


def _nothing(number: int, frame: object) -> None:
    """Ignore, as before."""

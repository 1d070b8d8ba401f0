"""Pass this command's standard input on to the program that is debugged without a screen."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator

_CHUNK = 1 << 16
_END_OF_FILE = b"\x04"


@contextlib.contextmanager
def passing_input(send: Callable[[bytes], None], descriptor: int = 0) -> Iterator[None]:
    """Send what can be read to the program's terminal, and its end as Ctrl-D.

    Args:
        send: Types into the program's terminal.
        descriptor: Where to read: a pipe, a terminal, a file or `/dev/null`.
    """
    loop = asyncio.get_running_loop()
    ends_line = True

    def ready() -> bool:
        nonlocal ends_line
        try:
            chunk = os.read(descriptor, _CHUNK)
        except OSError:
            chunk = b""
        if chunk:
            ends_line = chunk.endswith(b"\n")
            send(chunk)
            return True
        loop.remove_reader(descriptor)
        # Within a line the first Ctrl-D only hands over what was typed so far.
        send(_END_OF_FILE if ends_line else _END_OF_FILE * 2)
        return False

    try:
        loop.add_reader(descriptor, ready)
    except OSError:
        # A regular file is always ready, and an event loop refuses to wait for it.
        while ready():
            pass
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            loop.remove_reader(descriptor)

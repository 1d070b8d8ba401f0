"""Keeps a terminal open after the console has gone, for a program that was let go and lives on.

A terminal ends with its master side: a program whose controlling terminal it is is hung up then, and its writes
fail. The keeper is a small process that holds the master side and waits for the console to go. From then on it
reads and forgets what the program writes, until the program closes its terminal.
"""

from __future__ import annotations

import os
import sys

_KEEP = """
import os, select
os.read(0, 1)
while True:
    select.select([1], [], [])
    try:
        if not os.read(1, 65536):
            break
    except BlockingIOError:
        continue
    except OSError:
        break
"""


class TerminalKeeper:
    """Holds one terminal.

    Args:
        master: Descriptor of the terminal's master side; the caller still closes it.
    """

    def __init__(self, master: int) -> None:
        waits, self._console = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, waits, 0),
            (os.POSIX_SPAWN_DUP2, master, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        try:
            self.pid = os.posix_spawn(
                sys.executable, [sys.executable, "-I", "-S", "-c", _KEEP], {}, file_actions=actions, setsid=True
            )
        finally:
            os.close(waits)

    def release(self) -> None:
        """The console goes: from now on the keeper reads. It does so too where the console dies without a word."""
        os.close(self._console)

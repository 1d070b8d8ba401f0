"""Ends a run of the sanitizer whose console has died without a word, as by SIGKILL.

The end of its terminal ends most of a run, but not what ignores hang-ups, or has left the terminal's session: on a
GPU that would hold its memory. The keeper is a small process that holds the terminal's master side, so that all of
the run is still there to be found, and waits for the console to go.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ladder_backends.sanitizer.process_tree import leader_of, lives, members, tell

PATIENCE = 2.0
"""Seconds between SIGTERM and SIGKILL."""

_WAIT = 0.5
_POLL = 0.05
_KEEP = """
import os, sys
if not os.read(0, 1):
    sys.path.append(sys.argv[1])
    from ladder_backends.sanitizer.run_keeper import end_run
    end_run(int(sys.argv[2]))
"""


class RunKeeper:
    """Watches over one run until it is released.

    Args:
        leader: Process id of the tool, which leads the run's session.
        master: Descriptor of the master side of its terminal; the caller still closes it.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, leader: int, master: int) -> None:
        waits, self._console = os.pipe()
        root = str(Path(__file__).parents[2])
        try:
            self._process = subprocess.Popen(
                (sys.executable, "-I", "-S", "-c", _KEEP, root, str(leader)),
                stdin=waits,
                stdout=master,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except BaseException:
            os.close(self._console)
            raise
        finally:
            os.close(waits)

    def release(self) -> None:
        """The run has ended, or was ended: the keeper goes."""
        with contextlib.suppress(OSError):
            os.write(self._console, b"x")
        os.close(self._console)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT)


def end_run(leader: int) -> None:
    """SIGTERM to every process of a run, and after `PATIENCE` SIGKILL to those that still live."""
    everyone = [*leader_of(leader), *members(leader)]
    for one in everyone:
        tell(one, signal.SIGTERM)
    until = time.monotonic() + PATIENCE
    while any(lives(one) for one in everyone) and time.monotonic() < until:
        time.sleep(_POLL)
    # What was started meanwhile descends from those that were known, mostly.
    for one in dict.fromkeys((*everyone, *members(leader))):
        tell(one, signal.SIGKILL)

"""Sees to it that no rank is left stopped by an engine that is gone.

An engine that lets go of a process while it attaches to it or stops some of its threads may leave it stopped (state
T): seen with gdb 13 in non-stop. So whoever let go looks, and wakes those that ran before. Where the console is
killed, its engines let go by themselves, and nobody is left to look: a small process of its own does, which only
waits for that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine.fitness import start_of

_WATCH = r"""
import os, signal, time
held, engines = {}, set()
text = b""
while True:
    chunk = os.read(0, 65536)
    if not chunk:
        break
    text += chunk
    *lines, text = text.split(b"\n")
    for line in lines:
        word, *numbers = line.split()
        if word == b"+":
            held[int(numbers[0])] = numbers[1]
        elif word == b"-":
            held.pop(int(numbers[0]), None)
        elif word == b"e":
            engines.add(numbers[0].decode())
        elif word == b"q":
            os._exit(0)
def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
for _ in range(1200):
    if not any(os.path.exists("/proc/" + each) for each in engines):
        break
    time.sleep(0.05)
for _ in range(10):
    for pid, started in held.items():
        fields = read("/proc/%d/stat" % pid).rpartition(b")")[2].split()
        if len(fields) > 19 and fields[19] == started and fields[0] == b"T":
            try:
                os.kill(pid, signal.SIGCONT)
            except OSError:
                pass
    time.sleep(0.1)
"""


def wake(pid: int, started: int, proc: ProcFiles | None = None) -> bool:
    """Let a process go on that stands (state T) and is traced by nobody; returns whether that was needed."""
    proc = proc or ProcFiles()
    status = proc.status(pid)
    if status.get("State", "")[:1] != "T" or status.get("TracerPid", "0") != "0":
        return False
    if started and start_of(pid, proc) != started:
        return False
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGCONT)
        return True
    return False


class LastWatch:
    """The process that looks after ranks once the console is gone."""

    def __init__(self) -> None:
        waits, self._console = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, waits, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        try:
            self.pid = os.posix_spawn(
                sys.executable, [sys.executable, "-I", "-S", "-c", _WATCH], {}, file_actions=actions, setsid=True
            )
        finally:
            os.close(waits)

    def engine(self, pid: int) -> None:
        """An engine is to be waited for."""
        self._tell(f"e {pid}")

    def hold(self, pid: int, started: int) -> None:
        """A process is held that ran before."""
        self._tell(f"+ {pid} {started}")

    def let_go(self, pid: int) -> None:
        """A process was let go and looked at."""
        self._tell(f"- {pid}")

    def end(self) -> None:
        """Nothing is held any more."""
        self._tell("q")
        with contextlib.suppress(OSError):
            os.close(self._console)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def _tell(self, line: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._console, line.encode() + b"\n")

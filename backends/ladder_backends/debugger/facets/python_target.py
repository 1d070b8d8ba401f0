"""A target that may run Python: what the system calls its threads, and what its engine can tell itself."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from pathlib import Path

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ThreadNumbers:
    """What the system calls the focused thread.

    Attributes:
        os_thread: The kernel's number of it (LWP), or None where the engine does not tell.
        pthread: Its `pthread_t`, or 0.
    """

    os_thread: int | None
    pthread: int = 0


class PythonTarget(abc.ABC):
    """What joins the engine's view of a target with that of its Python interpreter."""

    @abc.abstractmethod
    async def thread_numbers(self) -> ThreadNumbers:
        """The numbers of the focused thread."""

    @abc.abstractmethod
    async def images(self) -> Sequence[str]:
        """Paths of the executable and the libraries that the engine has read; none where it cannot tell."""

    @abc.abstractmethod
    async def backtrace(self, script: Path, deadline: float) -> str:
        """What `py-bt-full` prints for the focused thread.

        Args:
            script: CPython's own gdb script (`pythonX.Y-gdb.py`), which is run in the engine where it was not yet.
            deadline: Seconds, after which the engine's work on it is interrupted; a deep stack takes one or two.

        Raises:
            CommandFailed: The engine has no Python, or the script fails in it.
            DeadlinePassed: It takes longer.
        """

"""Which threads there are, whose they are, and in non-stop which of them run, as an engine's notices tell."""

from __future__ import annotations

from collections.abc import Iterable

from ladder_backends.model.events import TargetStopped


class ThreadTable:
    """Threads by the engine's number.

    Attributes:
        non_stop: Threads stop one by one; otherwise who stands is not kept here.
    """

    def __init__(self) -> None:
        self.non_stop = False
        self._process: dict[int, str] = {}
        # In the order in which they stopped.
        self._standing: dict[int, TargetStopped] = {}

    def __len__(self) -> int:
        return len(self._process)

    def __contains__(self, thread: object) -> bool:
        return thread in self._process

    def create(self, threads: Iterable[int], process: str) -> None:
        """Threads have come."""
        for thread in threads:
            self._process[thread] = process

    def end(self, threads: Iterable[int]) -> None:
        """Threads have ended."""
        for thread in threads:
            self._process.pop(thread, None)
            self._standing.pop(thread, None)

    def end_process(self, process: str) -> None:
        """A process has ended, and its threads with it."""
        self.end([thread for thread, owner in self._process.items() if owner == process])

    def process_of(self, thread: int) -> str:
        """The engine's name of a thread's process, or an empty string."""
        return self._process.get(thread, "")

    def run(self, threads: Iterable[int] | None) -> None:
        """Threads run now, or all of them."""
        if threads is None:
            self._standing.clear()
            return
        for thread in threads:
            self._standing.pop(thread, None)

    def stop(self, thread: int, stop: TargetStopped) -> None:
        """A thread stands now."""
        self._standing.pop(thread, None)
        self._standing[thread] = stop

    def standing(self, thread: int) -> TargetStopped | None:
        """Where a thread stands, in non-stop; None where it runs."""
        return self._standing.get(thread)

    def any_runs(self) -> bool:
        """Some thread runs, in non-stop."""
        return len(self._standing) < len(self._process)

    def successor(self) -> int | None:
        """The thread to turn to when the focused one has ended: the first that stands, else the first there is."""
        return next(iter(self._standing), None) or min(self._process, default=None)

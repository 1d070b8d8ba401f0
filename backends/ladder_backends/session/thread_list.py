"""What is known of the threads of a session's target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.thread import Locking, Thread, ThreadGroup


@dataclass(slots=True)
class ThreadList:
    """Threads as panes see them.

    Attributes:
        processes_of: Every thread's id, with the engine's name of its process; complete at any time.
        ended: How many threads of this run have ended.
        groups: Threads by where they stand, the smallest group first; as of the last reading.
        current: `groups` is of the stop that is shown.
        whole: Stacks of all threads were compared, not innermost frames alone.
        read: Threads whose stacks were read so far, while a reading goes on, else None.
        non_stop: Threads stop one by one.
        locking: Which threads run when the focused one does, or None where it was not asked for.
        frozen: Threads that are held when the others go on; in non-stop only.
        news: Threads that stopped unseen elsewhere, with the reason; in non-stop only.
        names: Names by id, as far as they were read.
        processes: Processes in words, where there is more than one.
        note: Why there is no list, or an empty string.
    """

    processes_of: dict[int, str] = field(default_factory=dict)
    ended: int = 0
    groups: tuple[ThreadGroup, ...] = ()
    current: bool = False
    whole: bool = False
    read: int | None = None
    non_stop: bool = False
    locking: Locking | None = None
    frozen: frozenset[int] = frozenset()
    news: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    processes: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def count(self) -> int:
        """How many threads there are."""
        return len(self.processes_of) or sum(len(group.threads) for group in self.groups)

    @property
    def alone(self) -> bool:
        """Only the focused thread runs when the target does."""
        return self.locking is Locking.ON and not self.non_stop

    def thread(self, number: int) -> Thread | None:
        """A thread as it was read last."""
        return next((thread for group in self.groups for thread in group.threads if thread.id == number), None)

    def called(self, number: int) -> str:
        """`thread 7 (worker)`."""
        name = self.names.get(number, "")
        return f"thread {number} ({name})" if name else f"thread {number}"

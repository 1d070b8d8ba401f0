"""Threads: who is there, where they stand, and which of them run."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.events import TargetStopped
    from ladder_backends.model.frame import FrameWindow
    from ladder_backends.model.thread import Locking, Thread


class Threads(abc.ABC):
    """Threads of the target. Focus on one is `Debugger.switch(Focus.of(thread=id))`.

    In all-stop, threads stop and run together, or all but one of them wait (`lock`). In non-stop, each has a state
    of its own, and run control speaks of the focused one.
    """

    @property
    @abc.abstractmethod
    def non_stop(self) -> bool:
        """Threads stop one by one."""

    @abc.abstractmethod
    async def list(self) -> Sequence[Thread]:
        """Every thread, with its innermost frame where it stands; one question however many there are."""

    @abc.abstractmethod
    async def one(self, thread: int) -> Thread | None:
        """One thread; None where it has ended."""

    @abc.abstractmethod
    async def stacks(self, threads: Sequence[int], depth: int) -> Mapping[int, FrameWindow]:
        """The `depth` innermost frames of each thread, without arguments; those that run or are gone are absent."""

    @abc.abstractmethod
    async def processes(self) -> Mapping[str, str]:
        """Processes by the engine's names (`i1`), each as `program · pid`."""

    @abc.abstractmethod
    def standing(self, thread: int) -> TargetStopped | None:
        """In non-stop, the stop at which a thread stands; None where it runs."""

    @abc.abstractmethod
    def any_runs(self) -> bool:
        """Some thread runs."""

    @abc.abstractmethod
    async def locking(self) -> Locking:
        """Which threads run when the focused one does."""

    @abc.abstractmethod
    async def lock(self, locking: Locking) -> None:
        """Choose which threads run when the focused one does."""

    @abc.abstractmethod
    async def set_non_stop(self, on: bool) -> None:
        """Stop threads one by one (non-stop), or all together (all-stop).

        Raises:
            CommandFailed: The target runs already; the mode is chosen before it starts.
        """

    @abc.abstractmethod
    async def go_on(self, threads: Sequence[int] | None = None) -> None:
        """In non-stop, let threads run; all of them for None."""

    @abc.abstractmethod
    async def hold(self, threads: Sequence[int] | None = None) -> None:
        """In non-stop, stop threads; all of them for None."""

    @abc.abstractmethod
    async def find_stop(self) -> None:
        """Look whether the target stands and the engine has not told so, as where the only thread that ran ended.

        Where it does, the focus moves to a thread that is there, and a `TargetStopped` tells of it.
        """

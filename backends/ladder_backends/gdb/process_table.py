"""Which processes an engine holds, as its notices tell."""

from __future__ import annotations

from collections.abc import Mapping

FIRST = "i1"
"""The engine's name for the process that it started or attached to itself."""


class ProcessTable:
    """Processes by the engine's names: `i1`, `i2`.

    Attributes:
        strayed: The engine holds, or held, more than the program it was told to start: a fork's child.
        ending: What the next end is, where it was asked for: `killed`, `detached`.
        own_end: Exit code and signal of the program itself, where others outlive it. An engine tells of ends that
            come at one time in any order.
    """

    def __init__(self) -> None:
        self._pids: dict[str, int | None] = {}
        self._last: int | None = None
        self._last_name = ""
        self._some_ended = False
        self.strayed = False
        self.ending = ""
        self.own_end: tuple[int | None, str] | None = None

    def __bool__(self) -> bool:
        return bool(self._pids)

    @property
    def pids(self) -> Mapping[str, int]:
        """Process ids by name, as far as they are known."""
        return {name: pid for name, pid in self._pids.items() if pid is not None}

    def start(self, name: str, pid: int | None) -> bool:
        """A process has come; returns whether others are held already."""
        others = bool(self._pids.keys() - {name})
        if name == FIRST:
            self.own_end = None
        self._pids[name] = pid
        self.strayed = self.strayed or name != FIRST
        return others

    def end(self, name: str) -> int | None:
        """A process has gone; returns its id."""
        self._last, self._last_name = self._pids.pop(name, None), name
        self._some_ended = True
        return self._last

    def outlived(self, code: int | None, signal: str) -> None:
        """One of several has ended."""
        if self._last_name == FIRST:
            self.own_end = code, signal

    def one_ended(self) -> bool:
        """Whether the end that is told now is that of one process, while others are held."""
        ended, self._some_ended = self._some_ended, False
        return ended and bool(self._pids)

    def gone_words(self, how: str) -> str:
        """`process 4711 exited normally`, of the one that went last."""
        return f"process {self._last} {how}" if self._last is not None else f"a process {how}"

    def take_ending(self) -> str:
        """How the target was ended on purpose, once."""
        ending, self.ending = self.ending, ""
        return ending

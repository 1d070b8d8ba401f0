"""The names of all source files, and those of them that fit what was typed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ladder_backends.errors import CommandFailed, LadderError
from ladder_backends.session.state import Run
from ladder_backends.session.why_none import why_none
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import SourceFiles
    from ladder_backends.session.debug_session import DebugSession

_SLICE = 4_000
"""Names that are compared between two looks at the keys."""
_INTERRUPTS, _INTERRUPT_AGAIN = 20, 0.3
"""How often an engine that is to give up is interrupted, and after how many seconds each."""
_FOREIGN = ("/usr/", "/opt/", "/build/", "/lib", "/rustc/", "<", "./", "../")
"""Where sources lie that few people mean to open first."""


class _Name(NamedTuple):
    """A name and the parts of it that are compared."""

    whole: str
    path: str
    base: str
    foreign: bool


class SourceNames:
    """Names from the debug information, read once when they are first needed, and of files on disk.

    Attributes:
        note: Why the engine's are missing or not all there, or an empty string.
        complete: The engine's have been asked for, whatever came of it.
    """

    def __init__(self, session: DebugSession | None) -> None:
        self._session = session
        self._names: dict[str, _Name] = {}
        self._reading: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self.note = ""
        self.complete = session is None

    def __len__(self) -> int:
        return len(self._names)

    async def add(self, paths: Iterable[str]) -> None:
        """Add names; keys are served meanwhile."""
        for number, name in enumerate(paths):
            plain = _plain(name)
            if plain not in self._names:
                path = plain.lower()
                self._names[plain] = _Name(name, path, path.rsplit("/", 1)[-1], name.startswith(_FOREIGN))
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)

    async def read(self) -> None:
        """Ask the engine for its list; a cancelled question interrupts the engine's work on it."""
        if self._reading is not None and not self._reading.done():
            await asyncio.shield(self._reading)
            return
        session = self._session
        facet = session.debugger.source_files if session is not None else None
        if facet is None or session is None:
            self.note, self.complete = "this engine lists no source files", True
            return
        self._reading = reading = asyncio.get_running_loop().create_task(self._read(facet))
        try:
            await asyncio.shield(reading)
        except asyncio.CancelledError:
            if not reading.done() and session.state.run is not Run.RUNNING:
                # The engine would go on working on what nobody waits for; an interrupt of a target that runs would
                # stop that one instead.
                self._stopping = asyncio.get_running_loop().create_task(self._stop(session, reading))
            raise

    async def _stop(self, session: DebugSession, reading: asyncio.Task[None]) -> None:
        """Interrupt the engine until the question is over: it loses an interrupt that comes at a wrong moment."""
        for _ in range(_INTERRUPTS):
            if reading.done() or session.state.run is Run.RUNNING:
                return
            with contextlib.suppress(LadderError):
                await session.debugger.interrupt()
            await asyncio.wait([reading], timeout=_INTERRUPT_AGAIN)

    async def _read(self, facet: SourceFiles) -> None:
        try:
            await self.add(await facet.names())
            self.note = "the list was cut: there are more" if facet.cut else ""
        except CommandFailed as refused:
            if self._stopping is not None:
                # It is asked for again the next time.
                self._stopping = None
                return
            self.note = refused.what
        except LadderError as error:
            self.note = why_none(error)
        self.complete = True

    async def matching(self, words: str, most: int) -> tuple[Sequence[str], int]:
        """The names that match best, best first, at most `most` of them; and how many match at all.

        Every word must match: the name of the file, better its beginning, or else its path; as text, or with other
        characters between its letters.
        """
        patterns = [(word, re.compile(".*?".join(map(re.escape, word)))) for word in words.lower().split()]
        found: list[tuple[int, bool, int, str]] = []
        for number, name in enumerate(tuple(self._names.values())):
            score = _score(name, patterns)
            if score is not None:
                found.append((score, name.foreign, len(name.base), name.whole))
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
        found.sort()
        return [whole for _, _, _, whole in found[:most]], len(found)


def _plain(name: str) -> str:
    """A name by the shortest way: debug information has one file by many, as `./elf/../include/link.h`."""
    return os.path.normpath(name)


def _score(name: _Name, patterns: Sequence[tuple[str, re.Pattern[str]]]) -> int | None:
    """How badly a name fits, 0 best; None where it does not."""
    score = 0
    for word, letters in patterns:
        if word in name.base:
            score += 0 if name.base == word else 1 if name.base.startswith(word) else 2
        elif word in name.path:
            score += 3
        elif letters.search(name.base):
            score += 4
        elif letters.search(name.path):
            score += 5
        else:
            return None
    return score


def readable(paths: Iterable[os.PathLike[str]]) -> list[str]:
    """Paths on disk as names, without those that a screen cannot show as they are."""
    names = (os.fspath(path) for path in paths)
    return [name for name in names if clean_line(name) == name]

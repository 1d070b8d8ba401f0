"""Source files that the debug information names: one long answer, bounded and kept short."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from ladder_backends.debugger.facets import SourceFiles
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.translation import rows_of, text_of
from ladder_backends.mi.records import Value

MOST_FILES = 200_000
"""Names that are kept of one list."""

LIST_DEADLINE = 120.0
"""Seconds for the list: the engine reads all debug information for it, and the answer may have megabytes."""

_SLICE = 2_000


class GdbSourceFiles(SourceFiles):
    """Asks for the list of source files."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cut = False

    @property
    def cut(self) -> bool:
        """The last list was longer than what was kept of it."""
        return self._cut

    async def names(self) -> Sequence[str]:
        """Every full name once, in the engine's order; keys are served meanwhile."""
        answer = await self._engine.command("-file-list-exec-source-files", deadline=LIST_DEADLINE)
        names: dict[str, None] = {}
        self._cut = False
        for number, name in enumerate(_names_in(answer.results.get("files"))):
            if len(names) >= MOST_FILES:
                self._cut = True
                break
            if name:
                names[name] = None
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
        return list(names)


def _names_in(value: Value | None) -> Iterator[str]:
    for row in rows_of(value):
        yield text_of(row.get("fullname")) or text_of(row.get("file"))

"""Shared libraries, as the engine lists them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ladder_backends.debugger.facets import Libraries
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.translation import text_of
from ladder_backends.model.library import Library
from ladder_backends.text import clean_line

_ROW = re.compile(
    r"^(?:(?P<start>0x[0-9a-f]+)\s+(?P<end>0x[0-9a-f]+)|\s{8,})\s+"
    r"(?:\d+\s+)?(?P<read>Yes|No)(?P<bare> \(\*\))?\s+(?P<path>\S.*)$"
)
_OPERATORS = frozenset(".*+?$")
_READ_DEADLINE = 300.0
"""Seconds for reading symbols: a library of a gigabyte takes tens of them."""


class GdbLibraries(Libraries):
    """Lists libraries, and has their symbols read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def list(self) -> Sequence[Library]:
        """The rows of `info sharedlibrary`."""
        text = await self._engine.cli_text("info sharedlibrary")
        rows = [match for line in text.splitlines() if (match := _ROW.match(line))]
        return [
            Library(
                clean_line(row["path"]),
                row["start"] or "",
                row["end"] or "",
                row["read"] == "Yes",
                bool(row["bare"]),
            )
            for row in rows
        ]

    async def read_symbols(self, path: str) -> None:
        """Read one library's symbols."""
        await self.read_matching(f"{_exactly(path)}$")

    async def read_matching(self, pattern: str) -> None:
        """Read symbols of all that match."""
        await self._engine.cli_text(f"sharedlibrary {' '.join(pattern.split())}", deadline=_READ_DEADLINE)

    async def reads_new(self) -> bool:
        """The engine's `auto-solib-add`."""
        answer = await self._engine.command("-gdb-show auto-solib-add")
        return text_of(answer.results.get("value")) != "off"

    async def read_new(self, on: bool) -> None:
        """Set `auto-solib-add`."""
        await self._engine.command(f"-gdb-set auto-solib-add {'on' if on else 'off'}")


def _exactly(path: str) -> str:
    """A path as the engine's regular expression, which has no quoting for all that a path may hold."""
    if not path.strip():
        raise CommandFailed("sharedlibrary", "no library is named")
    return "".join(f"[{one}]" if one in _OPERATORS else "." if one in "[]^\\(){}|" else one for one in path)

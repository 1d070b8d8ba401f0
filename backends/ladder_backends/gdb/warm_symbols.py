"""Symbols that are read before an engine attaches, while the process still runs.

Plain attaching stops the process first and reads the symbols of all its libraries then, for seconds. gdb shares
what it has read of a file among its inferiors: so a second inferior, which holds no process, is given the same
files under the same names, and is dropped once the first one has attached.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Protocol

from ladder_backends.errors import CommandFailed, EngineError
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.mi.records import ResultRecord
from ladder_backends.processes.loaded_objects import LoadedObjects
from ladder_backends.text import clean_line

READ_DEADLINE = 300.0
"""Seconds for the symbols of one file."""

_NO_FUNCTION = "ladder_tui_no_such_function"
_NO_CODE = "*0xffffffffffffe000"
_UNQUOTABLE = frozenset("\n\r\"'\\ \t")


class Commands(Protocol):
    """Who is told to read."""

    async def command(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord:
        """Send an MI command."""


class WarmSymbols:
    """Holds the symbols of files in an engine until something is attached that shares them.

    Attributes:
        names: Files that were read.
        given_up: Nothing more is to be read.
        doing: What is being read, in few words; empty where nothing is.
    """

    def __init__(self, engine: Commands) -> None:
        self._engine = engine
        self._group = ""
        self.names: set[str] = set()
        self.given_up = False
        self.doing = ""

    async def read(self, objects: LoadedObjects) -> None:
        """Read the symbols of what a process has loaded, unless it is given up; what was read is passed over."""
        program = f"{objects.root}{objects.executable}"
        files = _readable(objects)
        try:
            for number, name in enumerate(files, 1):
                if self.given_up:
                    return
                if name not in self.names:
                    self.doing = f"symbols {number}/{len(files)} {clean_line(os.path.basename(name))}"
                    await self._read(name, program=name == program)
                    self.names.add(name)
            await self._settle()
        finally:
            self.doing = ""

    async def _settle(self) -> None:
        """Wait until threads of the engine that read on behind its answers are done with it."""
        if self._group:
            self.doing = "symbols are being sorted"
            # No file has these: each is looked through, which waits for what is read of it. After a name alone
            # newer gdbs still hold what sorting took, and would let go of it while the process stands.
            for nowhere in (_NO_FUNCTION, _NO_CODE):
                text = f"-interpreter-exec --thread-group {self._group} console {mi_string(f'info line {nowhere}')}"
                with contextlib.suppress(CommandFailed):
                    await self._engine.command(text, deadline=READ_DEADLINE)

    async def drop(self) -> None:
        """Take the second inferior away: from now on names mean the process alone."""
        if self._group:
            with contextlib.suppress(EngineError):
                await self._engine.command(f"-remove-inferior {self._group}")
            self._group = ""

    async def _read(self, name: str, *, program: bool) -> None:
        if not self._group:
            answer = await self._engine.command("-add-inferior")
            group = answer.results.get("inferior")
            if not isinstance(group, str):
                return
            self._group = group
        # Variables of a program and of a library are told apart in what is shared (copy relocations): gdb aborts
        # on a program that was read as a library. The prefix keeps links in a library's name: it is shared by name.
        ask = f"symbol-file {name}" if program else f"add-symbol-file target:{name} -o 0"
        text = f"-interpreter-exec --thread-group {self._group} console {mi_string(ask)}"
        # A file that gdb does not read now is one that it does not read later either.
        with contextlib.suppress(CommandFailed):
            await self._engine.command(text, deadline=READ_DEADLINE)


def _readable(objects: LoadedObjects) -> Sequence[str]:
    """Full names of the files that are there; a name that no command line can carry is read after attaching."""
    names = [f"{objects.root}{name}" for name in objects.files if not _UNQUOTABLE & set(name)]
    return [name for name in names if os.path.isfile(name)]

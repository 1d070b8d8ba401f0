"""The program's file, for gdb."""

from __future__ import annotations

import contextlib
from typing import Protocol

from ladder_backends.debugger.facets.build import Build
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.mi.records import ResultRecord

LOAD_DEADLINE = 300.0
"""Seconds for reading the symbols of a program."""


class _Engine(Protocol):
    async def command(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord: ...

    async def cli(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord: ...


class GdbBuild(Build):
    """Has gdb read a program's file again.

    Args:
        engine: Who is driven.
        events: What it told.
        program: Absolute path of the file.
    """

    def __init__(self, engine: _Engine, events: EventReader, program: str) -> None:
        self._engine = engine
        self._events = events
        self._program = program

    async def read_again(self) -> None:
        """Kill the process and read the file."""
        if self._events.alive:
            with contextlib.suppress(CommandFailed):
                # It may have ended by itself in this instant.
                await self._engine.cli("kill")
        with contextlib.suppress(CommandFailed):
            # Lines that it has read stay in its memory otherwise, whatever became of the file.
            await self._engine.cli("maint flush source-cache")
        await self._engine.command(f"-file-exec-and-symbols {mi_string(self._program)}", deadline=LOAD_DEADLINE)

"""GPU core dumps of a living program, by the engine where it can; else what would help is said."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from ladder_backends.debugger.facets import GpuDumps
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.text import clean_line

WRITE_DEADLINE = 600.0
"""Seconds for a dump; one with all of a GPU's memory has a hundred gigabytes."""

_HELP = "help generate-core-file"
_OPTION, _LIGHT = "--cuda-core-file", "--cuda-lightweight"
_TOO_OLD = (
    "run the program without a debugger, with CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1, and write to its pipe; or use"
    " a newer cuda-gdb"
)


class CudaGpuDumps(GpuDumps):
    """`generate-core-file --no-cpu --cuda-core-file FILE`; without the first, the whole host comes too."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._help: str | None = None

    async def write(self, path: Path, *, lightweight: bool = False) -> None:
        """Have the engine write a dump."""
        shown, full = clean_line(path.name), await asyncio.to_thread(os.path.abspath, path)
        if await asyncio.to_thread(os.path.exists, full):
            raise _refused(f"{shown} is there already", "name another file")
        if not await asyncio.to_thread(os.path.isdir, os.path.dirname(full)):
            raise _refused(f"there is no folder {clean_line(os.path.dirname(full))}", "name another folder")
        if any(character.isspace() for character in full):
            raise _refused("cuda-gdb takes no blanks in the name of a dump", "name another file or folder")
        if self._help is None:
            self._help = await self._engine.cli_text(_HELP)
        if _OPTION not in self._help:
            raise _refused("this cuda-gdb cannot dump a living GPU", _TOO_OLD)
        light = f" {_LIGHT}" if lightweight and _LIGHT in self._help else ""
        ask = f"generate-core-file --no-cpu{light} {_OPTION} {full}"
        await self._engine.command(f"-interpreter-exec console {mi_string(ask)}", deadline=WRITE_DEADLINE)
        if not await asyncio.to_thread(os.path.exists, full):
            raise _refused(f"cuda-gdb has written no {shown}", "the console shows what it said")


def _refused(what: str, remedy: str) -> CommandFailed:
    refused = CommandFailed("generate-core-file", what)
    refused.remedy = remedy
    return refused

"""Attaching to a process that uses a GPU, maybe one whose kernel hangs.

The engine cannot hold a second inferior beside one with a GPU, so that symbols are not read beforehand. In a big
process reading all of them costs ten seconds and more while everything stands; there only those are read, after the
stop, that the stack of the launching thread needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from typing import TYPE_CHECKING, Protocol

from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.attaching import Attacher, Attaching
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import rows_of, text_of
from ladder_backends.processes.loaded_objects import LoadedObjects, loaded_objects
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.mi.records import ResultRecord

BIG = 256 << 20
"""Bytes of libraries from which on their symbols are not all read at the stop."""

LARGEST_LIBRARY = 512 << 20
"""Bytes of a library whose symbols are not read unless they are asked for."""

_FRAMES = 24
_LOAD_DEADLINE = 60.0


class HostSide(Protocol):
    """What the engine tells of the host."""

    thread: int | None


class CudaAttaching(Attaching):
    """One attach; symbols are read at the stop, in a big process only those that the stack needs."""

    def __init__(self, engine: Attacher, pid: int, host: HostSide) -> None:
        super().__init__(engine, pid)
        self._host = host
        self._big = 0

    async def read_symbols(self) -> None:
        """See how much there is to read, and tell what the attach costs."""
        objects = await asyncio.to_thread(loaded_objects, self._pid)
        await self._tell_root(objects)
        size = await asyncio.to_thread(_bytes_of, objects)
        if size < BIG:
            return
        self._big = size
        self._say(
            f"process {self._pid} has {len(objects.files)} libraries ({size >> 20} MB): all of it stands while they"
            " are read, so only those of the launching thread's stack are"
        )
        await self._engine.command("-gdb-set auto-solib-add off")

    async def read_needed(self) -> bool:
        """The process stands: read the symbols of the libraries on the launching thread's stack, where it is big.

        Returns:
            Whether any were read.
        """
        if not self._big:
            return False
        self._big = 0
        with contextlib.suppress(CommandFailed):
            await self._engine.command("-gdb-set auto-solib-add on")
        thread = self._host.thread
        named = f" --thread {thread}" if thread is not None else ""
        read: list[str] = []
        left: list[str] = []
        for _ in range(2):
            # Without symbols an unwinder may not get far: what was read first may show more.
            try:
                answer = await self._engine.command(f"-stack-list-frames{named} 0 {_FRAMES}")
            except CommandFailed:
                break
            fresh = [name for name in _modules(answer) if name not in read and name not in left]
            for module in fresh:
                if await asyncio.to_thread(_size_of, module) > LARGEST_LIBRARY:
                    left.append(module)
                    continue
                read.append(module)
                pattern = re.escape(os.path.basename(module))
                with contextlib.suppress(CommandFailed):
                    await self._engine.command(
                        f"-interpreter-exec console {mi_string(f'sharedlibrary {pattern}')}",
                        deadline=_LOAD_DEADLINE,
                    )
            if not fresh:
                break
        names = ", ".join(clean_line(os.path.basename(name)) for name in read) or "no library"
        rest = f"; not of {', '.join(clean_line(os.path.basename(name)) for name in left)}" if left else ""
        self._say(f"symbols were read of {names}{rest}; the Libraries view reads others")
        return bool(read)


def _modules(answer: ResultRecord) -> list[str]:
    modules = [text_of(row.get("from")) for row in rows_of(answer.results.get("stack"))]
    return list(dict.fromkeys(module for module in modules if module))


def _bytes_of(objects: LoadedObjects) -> int:
    return sum(_size_of(f"{objects.root}{file}") for file in objects.files)


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0

"""A short attach to a small process of ours, before the real one.

At its first attach gdb finds out what the kernel can trace, by a child of its own: with the symbols of large
libraries in memory that fork alone takes long, and the process that is attached to stands meanwhile. So gdb
attaches to something else first, while it is still small.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from typing import Protocol

from ladder_backends.errors import EngineError
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.warm_symbols import Commands

_DEADLINE = 5.0
_READY = b"\n"


class Rehearsing(Commands, Protocol):
    """The engine, and what reads its notices."""

    @property
    def events(self) -> EventReader:
        """Is deaf to the process that is attached to meanwhile."""


async def rehearse(engine: Rehearsing) -> bool:
    """Attach to a process of ours in an inferior of its own and let it go; nobody hears of it.

    Returns:
        Whether it was attached to. Where it cannot be, the real attach takes longer or tells why it is refused.
    """
    try:
        small = await asyncio.to_thread(_start)
    except OSError:
        return False
    try:
        return await _attach(engine, small.pid)
    except (EngineError, TimeoutError):
        return False
    finally:
        with contextlib.suppress(OSError):
            small.kill()
        await asyncio.to_thread(_end, small)


async def _attach(engine: Rehearsing, pid: int) -> bool:
    # Its command line would tell of the stop.
    await engine.command("-gdb-set suppress-cli-notifications on")
    try:
        group = (await engine.command("-add-inferior")).results.get("inferior")
        if not isinstance(group, str):
            return False
        with engine.events.rehearsing() as stands:
            try:
                await engine.command(f"-target-attach --thread-group {group} {pid}", deadline=_DEADLINE)
                async with asyncio.timeout(_DEADLINE):
                    await stands.wait()
            finally:
                with contextlib.suppress(EngineError):
                    await engine.command(f"-target-detach {group}", deadline=_DEADLINE)
                # What it has told of the process has come before this answer.
                await engine.command(f"-remove-inferior {group}", deadline=_DEADLINE)
    finally:
        await engine.command("-gdb-set suppress-cli-notifications off")
    return True


def _start() -> subprocess.Popen[bytes]:
    """A process that waits, and has its libraries; it ends with us, for its input does."""
    small = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert small.stdin is not None
    assert small.stdout is not None
    with contextlib.suppress(OSError):
        small.stdin.write(_READY)
        small.stdout.read(1)
    return small


def _end(small: subprocess.Popen[bytes]) -> None:
    with small:
        pass

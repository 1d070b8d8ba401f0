"""A session over a real engine, with everything it was told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.records import AsyncRecord
from ladder_backends.mi.session import MiSession, Notice
from ladder_backends.mi.transport import Channel, EngineCommand

WAITER = r"""
#include <unistd.h>
int turns;
int main(void) { for (;;) { turns++; usleep(20000); } }
"""


class Engine:
    """A session over a real engine, with everything it was told."""

    def __init__(self, path: Path, *arguments: str, **options: Any) -> None:
        command = EngineCommand(path.name, [str(path), "-nx", "-q", *arguments], **options)
        self.transport = PtyTransport(command)
        self.session = MiSession(self.transport)
        self.notices: list[Notice] = []
        self.streams = {Channel.CLI: b"", Channel.PROGRAM: b""}
        self.ends: list[tuple[int | None, bool]] = []
        self.session.listen(notice=self.notices.append, stream=self._stream, ended=self._end)

    def _stream(self, channel: Channel, chunk: bytes) -> None:
        self.streams[channel] += chunk

    def _end(self, status: int | None, expected: bool) -> None:
        self.ends.append((status, expected))

    async def start(self) -> None:
        await self.session.start()
        for setting in ("mi-async on", "confirm off", "pagination off"):
            await self.session.command(f"-gdb-set {setting}")

    async def until(self, true: Callable[[], Any], seconds: float = 20) -> None:
        async with asyncio.timeout(seconds):
            while not true():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    def has_written(self, text: bytes) -> bool:
        return text in self.streams[Channel.PROGRAM]

    def has_stopped(self, times: int) -> bool:
        return len(self.stops()) == times

    def stops(self) -> list[str]:
        return [
            str(n.results.get("reason")) for n in self.notices if isinstance(n, AsyncRecord) and n.cls == "stopped"
        ]

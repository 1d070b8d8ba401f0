"""Recordings written by hand, and a client that asks them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

import pytest

from ladder_backends.errors import CommandFailed, NotRecorded
from ladder_backends.mi.records import AsyncRecord, ResultRecord, StreamRecord
from ladder_backends.mi.session import MiSession, Notice
from ladder_backends.mi.transport import Channel
from ladder_backends.recording import Entry, Recording, ReplayTransport

Lines: TypeAlias = "list[tuple[str, str]]"


class Client:
    """A session over a recording, with everything it was told."""

    def __init__(self, recording: Recording, paced: bool) -> None:
        self.session = MiSession(ReplayTransport(recording, paced=paced))
        self.notices: list[Notice] = []
        self.streams: dict[Channel, bytes] = {}
        self.ends: list[tuple[int | None, bool]] = []
        self.session.listen(notice=self.notices.append, stream=self._stream, ended=self._end)

    def _stream(self, channel: Channel, chunk: bytes) -> None:
        self.streams[channel] = self.streams.get(channel, b"") + chunk

    def _end(self, status: int | None, expected: bool) -> None:
        self.ends.append((status, expected))

    async def ask(self, command: str) -> ResultRecord:
        return await self.session.command(command)

    async def says(self, command: str) -> str:
        """The answer in few words: its class, its `v`, or why there is none."""
        try:
            record = await self.session.command(command)
        except NotRecorded:
            return "not recorded"
        except CommandFailed as refused:
            return f"refused: {refused.what}"
        return str(record.results.get("v", record.cls))

    def stops(self) -> list[str]:
        return [
            str(n.results.get("reason")) for n in self.notices if isinstance(n, AsyncRecord) and n.cls == "stopped"
        ]

    def console(self) -> list[str]:
        return [n.text for n in self.notices if isinstance(n, StreamRecord)]


@pytest.fixture
def recording() -> Callable[..., Recording]:
    """A recording of lines: `>` or `<` of the machine interface, `c>` and `c<` of the command line, `p>`, `p<`."""
    channels = {"": Channel.MI, "c": Channel.CLI, "p": Channel.PROGRAM}

    def make(*lines: tuple[str, str], start: bool = True) -> Recording:
        started = [(">", "1-list-features\n"), ("<", "1^done\n(gdb) \n")] if start else []
        entries = tuple(
            Entry(number / 100, channels[way[:-1]], way.endswith(">"), text.encode("latin-1"))
            for number, (way, text) in enumerate([*started, *lines])
        )
        return Recording("cuda-gdb", "12.4", (), entries)

    return make


@pytest.fixture
def opened() -> Callable[..., object]:
    """Opens a client on a recording."""

    @asynccontextmanager
    async def open_client(held: Recording, *, paced: bool = False) -> AsyncIterator[Client]:
        client = Client(held, paced)
        await client.session.start()
        yield client
        await client.session.close()

    return open_client

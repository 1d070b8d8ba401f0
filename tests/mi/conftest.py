"""A transport that a test plays the engine of, and small programs for real engines."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ladder_backends.mi.transport import Channel, Ended, Receive


class PlayedTransport:
    """The test is the engine: it reads `sent` and calls `says`, `writes` and `dies`."""

    engine = "gdb"

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.typed: list[tuple[Channel, bytes]] = []
        self.interrupts = 0
        self._receive: Receive | None = None
        self._ended: Ended | None = None

    async def open(self, receive: Receive, ended: Ended) -> None:
        self._receive, self._ended = receive, ended
        # Token 1 is the question of `MiSession.start`.
        asyncio.get_running_loop().call_soon(self.says, b"1^done\n(gdb) \n")

    def says(self, raw: bytes) -> None:
        assert self._receive is not None
        self._receive(Channel.MI, raw)

    def writes(self, channel: Channel, raw: bytes) -> None:
        assert self._receive is not None
        self._receive(channel, raw)

    def dies(self, status: int | None) -> None:
        if self._ended is not None:
            self._ended(status)

    def send(self, channel: Channel, chunk: bytes) -> None:
        if channel is Channel.MI:
            self.sent.append(chunk)
        else:
            self.typed.append((channel, chunk))

    def interrupt(self) -> None:
        self.interrupts += 1

    def resize(self, channel: Channel, columns: int, rows: int) -> None:
        pass

    def forget_input(self, channel: Channel) -> None:
        pass

    async def close(self) -> None:
        self.dies(0)


@pytest.fixture
def played() -> PlayedTransport:
    return PlayedTransport()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Compiles a C program once a session: name and source to its path."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str, source: str) -> Path:
        program = folder / name
        if not program.exists():
            code = folder / f"{name}.c"
            code.write_text(source)
            subprocess.run(["gcc", "-g", "-O0", "-pthread", "-o", str(program), str(code)], check=True)
        return program

    return build


@pytest.fixture(params=["gdb", "cuda-gdb"])
def engine_path(request: pytest.FixtureRequest) -> Path:
    """Each real engine in turn."""
    path: Path = request.getfixturevalue("gdb" if request.param == "gdb" else "cuda_gdb")
    return path

"""A transport that writes down what another one carries."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from ladder_backends.errors import RecordingInvalid
from ladder_backends.mi.transport import Channel, Ended, Receive, Transport
from ladder_backends.recording.file import Entry, entry_line, header_line
from ladder_backends.text import clean_line, decode

_VERSION_DEADLINE = 5.0
_INTERRUPT = b"\x03"


class Recorder:
    """Records another transport into a file.

    Each chunk is handed to the operating system at once, so that a crash loses none, and nothing is kept in
    memory. A file that can no longer be written ends the recording, never the session.

    Args:
        inner: The transport that does the work.
        path: The file; one that exists is replaced.
        argv: Command line for the header; that of `inner` where left out.
        version: Version text for the header; where left out, the engine is asked.
        limit: Bytes after which no more is written.
    """

    def __init__(
        self,
        inner: Transport,
        path: Path,
        *,
        argv: Sequence[str] | None = None,
        version: str | None = None,
        limit: int = 1 << 30,
    ) -> None:
        self.engine = inner.engine
        self.path = path
        self.failure = ""
        """Why the recording has ended early, or an empty string."""
        self._inner = inner
        command = getattr(inner, "command", None)
        self._argv = tuple(argv if argv is not None else command.argv if command is not None else ())
        self._version = version
        self._limit = limit
        self._file: BinaryIO | None = None
        self._begun = 0.0
        self._size = 0
        self._closing = False
        self._receive: Receive | None = None
        self._ended: Ended | None = None

    async def open(self, receive: Receive, ended: Ended) -> None:
        """Start the engine and the recording.

        Raises:
            RecordingInvalid: The file cannot be written.
            EngineMissing: The engine cannot be started.
        """
        version = self._version if self._version is not None else await _ask_version(self._argv)
        try:
            # Unbuffered: every line is one write.
            self._file = self.path.open("wb", buffering=0)
        except OSError as error:
            raise RecordingInvalid(
                f"{clean_line(str(self.path))} cannot be written", error.strerror or str(error)
            ) from None
        self._write(header_line(self.engine, version, self._argv))
        self._begun = time.monotonic()
        self._receive, self._ended = receive, ended
        try:
            await self._inner.open(self._received, self._end)
        except BaseException:
            self._close_file()
            raise

    def send(self, channel: Channel, chunk: bytes) -> None:
        """Pass bytes on and record them."""
        self._record(channel, True, chunk)
        self._inner.send(channel, chunk)

    def interrupt(self) -> None:
        """Pass an interrupt on; it is recorded as a typed Ctrl-C."""
        self._record(Channel.CLI, True, _INTERRUPT)
        self._inner.interrupt()

    def resize(self, channel: Channel, columns: int, rows: int) -> None:
        """Pass a size on; it is not recorded."""
        self._inner.resize(channel, columns, rows)

    def forget_input(self, channel: Channel) -> None:
        """Pass it on; it is not recorded."""
        self._inner.forget_input(channel)

    def abandon(self) -> None:
        """Pass it on."""
        self._inner.abandon()

    def keep_program(self) -> None:
        """Pass it on."""
        self._inner.keep_program()

    async def close(self) -> None:
        """Close the engine and the file."""
        self._closing = True
        try:
            await self._inner.close()
        finally:
            self._close_file()

    def _received(self, channel: Channel, chunk: bytes) -> None:
        self._record(channel, False, chunk)
        if self._receive is not None:
            self._receive(channel, chunk)

    def _end(self, status: int | None) -> None:
        if not self._closing:
            self._put(Entry(time.monotonic() - self._begun, Channel.TOOL, False, b"", True, status))
        self._close_file()
        if self._ended is not None:
            self._ended(status)

    def _record(self, channel: Channel, sent: bool, chunk: bytes) -> None:
        if self._file is not None and chunk:
            self._put(Entry(time.monotonic() - self._begun, channel, sent, chunk))

    def _put(self, entry: Entry) -> None:
        line = entry_line(entry)
        if self._size + len(line) > self._limit:
            self._fail(f"the recording has reached {self._limit >> 20} MiB")
            return
        self._write(line)

    def _write(self, line: bytes) -> None:
        if self._file is None:
            return
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._fail(error.strerror or str(error))
            return
        self._size += len(line)

    def _fail(self, why: str) -> None:
        self.failure = self.failure or why
        self._close_file()

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()


async def _ask_version(argv: Sequence[str]) -> str:
    """First line of the engine's version text, or an empty string."""
    if not argv:
        return ""
    try:
        process = await asyncio.create_subprocess_exec(
            argv[0],
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return ""
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _VERSION_DEADLINE)
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    lines = [line.strip() for line in decode(out).splitlines()]
    # NVIDIA's wrapper script tells what it executes first.
    return next((clean_line(line) for line in lines if line and not line.startswith("exec:")), "")

"""One running compute-sanitizer: in a session and on a terminal of its own, its report in a file beside it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

from ladder_backends.errors import EngineMissing
from ladder_backends.mi.dispositions import ordinary_signals
from ladder_backends.paths import folder_instead
from ladder_backends.sanitizer.command_line import ToolCommand
from ladder_backends.sanitizer.process_tree import Member, lives, members, tell
from ladder_backends.sanitizer.run_keeper import RunKeeper
from ladder_backends.text import clean_line

# The first terminal that a new session opens is its controlling one; `exec` keeps the process id.
_SHELL = ("/bin/sh", "-c", 'tty=$0 in=$1; shift; exec "$@" <"$in" >"$tty" 2>&1')
_READ = 1 << 16
_READS_PER_TURN = 8
_POLL = 0.05
_LAST_READS = 64
_LAST_WORDS = 0.03

PATIENCE = (3.0, 3.0, 2.0)
"""Seconds between SIGINT to the program, SIGINT to the tool, SIGTERM to all, and SIGKILL."""


class ToolProcess:
    """A started tool.

    Args:
        command: What to start.
        receive: Called with what the program, or the tool outside its report, writes.
        directory: Working folder; the console's own where None.
        stdin: File that is read instead of the terminal.

    Attributes:
        status: Exit status, negative for a signal; None while it runs.
    """

    def __init__(
        self,
        command: ToolCommand,
        receive: Callable[[bytes], None],
        *,
        directory: Path | None = None,
        stdin: Path | None = None,
    ) -> None:
        self._command = command
        self._receive = receive
        self._directory = directory
        self._stdin = stdin
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1
        self._terminal = (-1, -1)
        self._keeper: RunKeeper | None = None
        self._over = asyncio.Event()
        self._stopping: asyncio.Task[None] | None = None
        self.status: int | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the tool; None before it was started."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start it.

        Raises:
            EngineMissing: It cannot be executed, or there is no terminal left.
        """
        environment = dict(os.environ)
        for name, value in self._command.environment.items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        try:
            self._terminal = os.openpty()
            master, slave = self._terminal
            os.set_blocking(master, False)
            self.resize(80, 24)
            tty = os.ttyname(slave)
            with ordinary_signals():
                self._process = subprocess.Popen(
                    (*_SHELL, tty, str(self._stdin or tty), *self._command.argv),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=self._directory or folder_instead(),
                    env=environment,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            self._close_terminal()
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise EngineMissing("compute-sanitizer cannot be started", clean_line(why)) from None
        # Without one, as where no process can be started any more, the run is none the worse.
        with contextlib.suppress(OSError):
            self._keeper = RunKeeper(self._process.pid, master)
        loop = asyncio.get_running_loop()
        loop.add_reader(master, self._read)
        try:
            self._pidfd = os.pidfd_open(self._process.pid)
        except OSError:
            self._poll()
        else:
            loop.add_reader(self._pidfd, self._reap)

    async def wait(self) -> int:
        """Its exit status, once it has ended."""
        await self._over.wait()
        assert self.status is not None
        return self.status

    def type(self, raw: bytes) -> None:
        """Type to the program; what its terminal cannot hold is dropped."""
        if self._terminal[0] >= 0:
            with contextlib.suppress(OSError):
                os.write(self._terminal[0], raw)

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the program's terminal."""
        if self._terminal[0] >= 0:
            size = struct.pack("HHHH", max(1, min(rows, 0xFFFF)), max(1, min(columns, 0xFFFF)), 0, 0)
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._terminal[0], termios.TIOCSWINSZ, size)

    def sees_program(self) -> bool:
        """Whether a process runs that is the program's and not the tool's."""
        return self._process is not None and any(not one.is_helper for one in members(self._process.pid))

    async def stop(self, patience: tuple[float, float, float] | None = None) -> None:
        """End it with the program: SIGINT to the program, then to the tool, SIGTERM, at last SIGKILL.

        Each goes to processes of this run alone, by their ids; what they wrote until then stays.
        """
        if self._process is None or self._over.is_set():
            return
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._end(patience or PATIENCE))
        await asyncio.shield(self._stopping)

    async def _end(self, patience: tuple[float, float, float]) -> None:
        assert self._process is not None
        everyone = members(self._process.pid)
        program = [one for one in everyone if not one.is_helper]
        for one in program:
            tell(one, signal.SIGINT)
        if not (program and await self._ends_within(patience[0])):
            self._tell_tool(signal.SIGINT)
            if not await self._ends_within(patience[1]):
                everyone = self._now(everyone)
                for one in everyone:
                    tell(one, signal.SIGTERM)
                self._tell_tool(signal.SIGTERM)
                await self._ends_within(patience[2])
        for one in self._now(everyone):
            tell(one, signal.SIGKILL)
        self._tell_tool(signal.SIGKILL)
        await self._over.wait()

    def _now(self, known: list[Member]) -> list[Member]:
        """Members that live: those known, and while the tool lives, those that came since."""
        assert self._process is not None
        # Once the tool is reaped, its id says nothing any more.
        fresh = [] if self.status is not None else members(self._process.pid)
        return [one for one in dict.fromkeys((*known, *fresh)) if lives(one)]

    def _tell_tool(self, number: signal.Signals) -> None:
        assert self._process is not None
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def _ends_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)
        return self._over.is_set()

    def _read(self) -> None:
        self._read_some(_READS_PER_TURN)

    def _read_some(self, times: int) -> None:
        for _ in range(times):
            try:
                chunk = os.read(self._terminal[0], _READ)
            except OSError:
                return
            if not chunk:
                return
            self._receive(chunk)

    def _poll(self) -> None:
        """Where the kernel cannot tell of the end: look."""
        self._reap()
        if not self._over.is_set():
            asyncio.get_running_loop().call_later(_POLL, self._poll)

    def _reap(self) -> None:
        assert self._process is not None
        status = self._process.poll()
        if status is None or self.status is not None:
            return
        self.status = status
        loop = asyncio.get_running_loop()
        if self._pidfd >= 0:
            loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        # What was written last is still on its way through the terminal.
        loop.call_later(_LAST_WORDS, self._finish)

    def _finish(self) -> None:
        try:
            # A child that lives on could write for ever, so not until end of file.
            self._read_some(_LAST_READS)
        finally:
            self._close_terminal()
            self._over.set()

    def _close_terminal(self) -> None:
        master, slave = self._terminal
        self._terminal = (-1, -1)
        if master >= 0:
            with contextlib.suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(master)
            os.close(master)
            os.close(slave)
        if self._keeper is not None:
            self._keeper.release()
            self._keeper = None

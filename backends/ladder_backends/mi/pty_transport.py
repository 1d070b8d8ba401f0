"""A real engine on three pseudo-terminals.

The command line is the engine's controlling terminal, so that closing it (or the death of this process) is
noticed by an engine that does not read it: one that waits for `continue` typed there sees only the hang-up. The
machine interface is a raw terminal that the engine opens itself, by the early option `-iex "new-ui mi3 ..."`;
what it writes there before it runs its other arguments is kept. The program gets a terminal of its own.

All three slaves stay open here for as long as the engine lives: a program that ends between two runs would
otherwise turn its terminal into an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import resource
import shutil
import signal
import struct
import subprocess
import termios
import tty
from collections import deque
from dataclasses import field

from ladder_backends.errors import DeadlinePassed, EngineMissing
from ladder_backends.late_dataclass import dataclass
from ladder_backends.mi.dispositions import ordinary_signals
from ladder_backends.mi.environment import engine_environment
from ladder_backends.mi.terminal_keeper import TerminalKeeper
from ladder_backends.mi.tracees import attached_tracees, own_commands
from ladder_backends.mi.transport import Channel, Ended, EngineCommand, Receive
from ladder_backends.paths import folder_instead
from ladder_backends.text import clean_line

# Opening the terminal by path, in a new session, makes it the controlling one; `exec` keeps the process id.
_SHELL = ("/bin/sh", "-c", 'exec "$@" <>"$0" >&0 2>&1')
_READ_SIZE = 1 << 16
# A terminal hands out at most 4 kB at a time. This many reads in one turn, then other work of the loop.
_FULL_READ = 4000
_READS_PER_TURN = 16
_IUTF8 = 0o40000
_POLL_SECONDS = 0.05
# What `new-ui` writes to the command line: the first thing there, and of no use to anybody.
_GREETING = b"New UI allocated\r\n"


@dataclass(slots=True)
class _Terminal:
    """One pseudo-terminal: both ends, and what could not be written yet."""

    channel: Channel
    master: int
    slave: int
    unwritten: deque[memoryview] = field(default_factory=deque)

    @classmethod
    def create(cls, channel: Channel) -> _Terminal:
        master, slave = os.openpty()
        os.set_blocking(master, False)
        return cls(channel, master, slave)

    @property
    def path(self) -> str:
        return os.ttyname(self.slave)

    def close(self) -> None:
        for end in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(end)


class PtyTransport:
    """Starts an engine and carries its bytes.

    Args:
        command: What to start.
        patience: Seconds to wait in `close` for the engine to end.
    """

    def __init__(self, command: EngineCommand, *, patience: float = 10.0) -> None:
        self.command = command
        self.engine = command.engine
        self._patience = patience
        self._terminals: dict[Channel, _Terminal] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1
        self._receive: Receive | None = None
        self._ended: Ended | None = None
        self._greeting: bytes | None = b""
        self._over = asyncio.Event()
        self._keeper: TerminalKeeper | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the engine, or None where it was not started or has ended."""
        return self._process.pid if self._process is not None and not self._over.is_set() else None

    async def open(self, receive: Receive, ended: Ended) -> None:
        """Start the engine; see `Transport.open`.

        Raises:
            EngineMissing: The engine does not exist or cannot be executed.
        """
        environment = engine_environment(os.environ, self.command.environment)
        program = self._find_program(environment)
        self._receive, self._ended = receive, ended
        try:
            wiring = self._make_terminals()
            with ordinary_signals():
                self._process = subprocess.Popen(  # noqa: ASYNC220 - returns at once
                    (*_SHELL, self._terminals[Channel.CLI].path, program, *wiring, *self.command.argv[1:]),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=self.command.directory or folder_instead(),
                    env=environment,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            # A folder that is gone, no terminal left, an argument with a NUL byte.
            self._close_terminals()
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise EngineMissing(f"{self.command.engine} cannot be started", clean_line(why)) from None
        if self.command.core_size_zero:
            with contextlib.suppress(OSError):
                resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (0, 0))
        self._watch()

    def send(self, channel: Channel, chunk: bytes) -> None:
        """Queue bytes for a channel; see `Transport.send`."""
        terminal = self._terminals.get(channel)
        if terminal is None or not chunk:
            return
        if terminal.unwritten:
            terminal.unwritten.append(memoryview(chunk))
            return
        rest = self._write(terminal, memoryview(chunk))
        if rest:
            terminal.unwritten.append(rest)
            asyncio.get_running_loop().add_writer(terminal.master, self._flush, terminal)

    def interrupt(self) -> None:
        """SIGINT to the engine alone."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                if self._pidfd >= 0:
                    signal.pidfd_send_signal(self._pidfd, signal.SIGINT)
                else:
                    os.kill(self._process.pid, signal.SIGINT)

    def resize(self, channel: Channel, columns: int, rows: int) -> None:
        """Set the size of a channel's terminal."""
        terminal = self._terminals.get(channel)
        if terminal is not None:
            size = struct.pack("HHHH", max(1, min(rows, 0xFFFF)), max(1, min(columns, 0xFFFF)), 0, 0)
            with contextlib.suppress(OSError):
                fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, size)

    def forget_input(self, channel: Channel) -> None:
        """Drop what was sent and not read yet; see `Transport.forget_input`."""
        terminal = self._terminals.get(channel)
        if terminal is not None:
            terminal.unwritten.clear()
            with contextlib.suppress(OSError, termios.error):
                termios.tcflush(terminal.slave, termios.TCIFLUSH)

    def abandon(self) -> None:
        """SIGKILL to the engine; see `Transport.abandon`."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    def keep_program(self) -> None:
        """The program lives on without the engine: a keeper holds its terminal from now on."""
        terminal = self._terminals.get(Channel.PROGRAM)
        if terminal is not None and self._keeper is None:
            with contextlib.suppress(OSError):
                self._keeper = TerminalKeeper(terminal.master)

    async def close(self) -> None:
        """Close all terminals together and wait for the engine.

        Raises:
            DeadlinePassed: The engine has not ended; it was not signalled, because it holds an attached target.
        """
        self._close_terminals()
        if self._process is None or self._over.is_set():
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), self._patience)
            return
        pid = self._process.pid
        if self.command.expendable or attached_tracees(pid) == []:
            # What it launched itself ends with it, and was to end now.
            self._process.kill()
            await self._over.wait()
            return
        # It waits for a command that was typed into its command line, as by `shell`.
        for command in own_commands(pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(command, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), self._patience)
            return
        raise DeadlinePassed(
            f"{self.command.engine} (process {pid}) has not ended",
            f"it was asked to {self._patience:g} s ago and still holds the process it was attached to",
            "wait for it; killing it kills that process",
        )

    def _make_terminals(self) -> tuple[str, ...]:
        """Make the three terminals; returns the arguments that tell the engine of two of them."""
        for channel in (Channel.CLI, Channel.MI, Channel.PROGRAM):
            self._terminals[channel] = _Terminal.create(channel)
        mi, program = self._terminals[Channel.MI], self._terminals[Channel.PROGRAM]
        tty.setraw(mi.slave)
        attributes = termios.tcgetattr(program.slave)
        attributes[0] |= _IUTF8
        termios.tcsetattr(program.slave, termios.TCSANOW, attributes)
        self.resize(Channel.PROGRAM, 80, 24)
        return "-iex", f"new-ui mi3 {mi.path}", "-iex", f"set inferior-tty {program.path}"

    def _find_program(self, environment: dict[str, str]) -> str:
        name = os.fspath(self.command.argv[0])
        found = shutil.which(name, path=environment.get("PATH"))
        if found is not None:
            # The engine may be started in another folder.
            return os.path.abspath(found)
        shown = clean_line(name)
        why = f"{shown} is not executable" if os.path.exists(name) else f"no program {shown}"
        raise EngineMissing(f"{self.command.engine} cannot be started", why, "install it or name its path")

    def _watch(self) -> None:
        assert self._process is not None
        loop = asyncio.get_running_loop()
        for terminal in self._terminals.values():
            loop.add_reader(terminal.master, self._read, terminal)
        try:
            self._pidfd = os.pidfd_open(self._process.pid)
        except OSError:
            self._poll()
        else:
            loop.add_reader(self._pidfd, self._finish)

    def _poll(self) -> None:
        """Where the kernel cannot tell of the end: look."""
        self._finish()
        if not self._over.is_set():
            asyncio.get_running_loop().call_later(_POLL_SECONDS, self._poll)

    def _read(self, terminal: _Terminal) -> None:
        chunks = []
        for _ in range(_READS_PER_TURN):
            try:
                chunk = os.read(terminal.master, _READ_SIZE)
            except OSError:
                break
            if not chunk:
                break
            chunks.append(chunk)
            if len(chunk) < _FULL_READ and chunk.endswith(b"\n"):
                # Most likely all there is; where it is not, the loop calls again.
                break
        if chunks:
            self._hand_on(terminal.channel, chunks[0] if len(chunks) == 1 else b"".join(chunks))

    def _hand_on(self, channel: Channel, chunk: bytes) -> None:
        if channel is Channel.CLI and self._greeting is not None:
            self._greeting += chunk
            if _GREETING.startswith(self._greeting) and self._greeting != _GREETING:
                # It may come in pieces.
                return
            chunk, self._greeting = self._greeting.removeprefix(_GREETING), None
        if chunk and self._receive is not None:
            self._receive(channel, chunk)

    def _write(self, terminal: _Terminal, chunk: memoryview) -> memoryview:
        """Write what fits; returns the rest."""
        try:
            return chunk[os.write(terminal.master, chunk) :]
        except BlockingIOError:
            return chunk
        except OSError:
            # The engine is gone; `_finish` will tell.
            return chunk[len(chunk) :]

    def _flush(self, terminal: _Terminal) -> None:
        while terminal.unwritten:
            rest = self._write(terminal, terminal.unwritten[0])
            if rest:
                terminal.unwritten[0] = rest
                return
            terminal.unwritten.popleft()
        asyncio.get_running_loop().remove_writer(terminal.master)

    def _finish(self) -> None:
        """The engine has ended: read what it left, then say so."""
        assert self._process is not None
        status = self._process.poll()
        if self._over.is_set() or status is None:
            return
        try:
            for terminal in list(self._terminals.values()):
                self._read_all(terminal)
            if self._greeting and self._receive is not None:
                self._receive(Channel.CLI, self._greeting)
        finally:
            self._close_terminals()
            if self._pidfd >= 0:
                asyncio.get_running_loop().remove_reader(self._pidfd)
                os.close(self._pidfd)
                self._pidfd = -1
            self._over.set()
            if self._ended is not None:
                self._ended(status)

    def _read_all(self, terminal: _Terminal) -> None:
        # A program that outlives its engine could write for ever, so not until end of file.
        for _ in range(64):
            try:
                chunk = os.read(terminal.master, _READ_SIZE)
            except OSError:
                return
            if not chunk:
                return
            self._hand_on(terminal.channel, chunk)

    def _close_terminals(self) -> None:
        terminals = list(self._terminals.values())
        self._terminals.clear()
        loop = asyncio.get_running_loop()
        for terminal in terminals:
            loop.remove_reader(terminal.master)
            loop.remove_writer(terminal.master)
        for terminal in terminals:
            terminal.close()
        if self._keeper is not None:
            self._keeper.release()
            self._keeper = None

"""A gdb whose only interface is the machine's: its commands come by a terminal, its answers go into a pipe.

The usual transport gives an engine a command line, and by `new-ui` its machine interface on a terminal beside it.
gdb writes notices byte by byte, and tells everything twice then. With the libraries of many processes that is most
of an attach. A byte costs a third in a pipe, and less where nobody is woken for it: what has begun to come is
looked for every millisecond, not waited for.

Commands come by a terminal, the controlling one: when it goes, gdb hears of it and lets go. The pipe that goes with
it must not end gdb, so it ignores SIGPIPE.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import subprocess
import termios
import tty

from ladder_backends.errors import EngineMissing
from ladder_backends.mi.dispositions import ordinary_signals
from ladder_backends.mi.environment import engine_environment
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.transport import Channel, Ended, EngineCommand, Receive
from ladder_backends.paths import folder_instead
from ladder_backends.text import clean_line

ARGUMENTS = ("-i=mi3",)
"""What an engine has to be given for it."""

_SHELL = ("/bin/sh", "-c", 'trap "" PIPE; exec "$@" <>"$0" 2>&0')
_READ_SIZE = 1 << 18
_READS_AT_END = 64
_LOOK_EVERY = 0.001
_PIPE_SIZE = 1 << 20
_SET_PIPE_SIZE = 1031
"""`F_SETPIPE_SZ` of fcntl(2)."""


class MachineTerminal(PtyTransport):
    """Carries the bytes of a machine interface that stands where the command line is otherwise."""

    def __init__(self, command: EngineCommand, *, patience: float = 10.0) -> None:
        super().__init__(command, patience=patience)
        self._answers = -1
        self._looking: asyncio.TimerHandle | None = None

    async def open(self, receive: Receive, ended: Ended) -> None:
        """Start the engine; see `Transport.open`.

        Raises:
            EngineMissing: The engine does not exist or cannot be executed.
        """
        environment = engine_environment(os.environ, self.command.environment)
        program = self._find_program(environment)
        self._receive, self._ended = receive, ended
        into = -1
        try:
            wiring = self._make_terminals()
            self._answers, into = os.pipe()
            os.set_blocking(self._answers, False)
            _widen(into)
            with ordinary_signals():
                self._process = subprocess.Popen(  # noqa: ASYNC220 - returns at once
                    (*_SHELL, self._terminals[Channel.CLI].path, program, *wiring, *self.command.argv[1:]),
                    stdin=subprocess.DEVNULL,
                    stdout=into,
                    stderr=subprocess.DEVNULL,
                    cwd=self.command.directory or folder_instead(),
                    env=environment,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            self._close_terminals()
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise EngineMissing(f"{self.command.engine} cannot be started", clean_line(why)) from None
        finally:
            if into >= 0:
                os.close(into)
        if self.command.core_size_zero:
            with contextlib.suppress(OSError):
                resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (0, 0))
        self._watch()
        asyncio.get_running_loop().add_reader(self._answers, self._read_answers)

    def send(self, channel: Channel, chunk: bytes) -> None:
        """Queue bytes; those for the machine interface go to the engine's standard input."""
        super().send(Channel.CLI if channel is Channel.MI else channel, chunk)

    def _make_terminals(self) -> tuple[str, ...]:
        super()._make_terminals()
        self._terminals.pop(Channel.MI).close()
        self._greeting = None
        tty.setraw(self._terminals[Channel.CLI].slave, termios.TCSANOW)
        return "-iex", f"set inferior-tty {self._terminals[Channel.PROGRAM].path}"

    def _read_answers(self) -> None:
        """Something comes: look for the rest by the clock."""
        asyncio.get_running_loop().remove_reader(self._answers)
        self._look()

    def _look(self) -> None:
        self._looking = None
        if self._answers < 0:
            return
        loop = asyncio.get_running_loop()
        found: bool | None = True
        try:
            found = self._read_some()
        finally:
            # Whatever a listener did, what comes next is read.
            if found and self._answers >= 0:
                self._looking = loop.call_later(_LOOK_EVERY, self._look)
            elif found is None and self._answers >= 0:
                loop.add_reader(self._answers, self._read_answers)

    def _read_some(self) -> bool | None:
        """Read and hand on what is there; None where nothing is, False at the end."""
        try:
            chunk = os.read(self._answers, _READ_SIZE)
        except BlockingIOError:
            return None
        except OSError:
            chunk = b""
        if chunk and self._receive is not None:
            self._receive(Channel.MI, chunk)
        return bool(chunk)

    def _finish(self) -> None:
        if self._process is not None and self._process.poll() is not None and self._answers >= 0:
            for _ in range(_READS_AT_END):
                if not self._read_some():
                    break
        super()._finish()

    def _close_terminals(self) -> None:
        super()._close_terminals()
        if self._answers >= 0:
            if self._looking is not None:
                self._looking.cancel()
            asyncio.get_running_loop().remove_reader(self._answers)
            os.close(self._answers)
            self._answers = -1


def _widen(pipe: int) -> None:
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_SIZE)

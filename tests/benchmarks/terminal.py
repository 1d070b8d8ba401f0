"""A program in a pseudo-terminal of its own, with a stamp on every read."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Burst:
    """What came back after something was sent.

    Attributes:
        first: Seconds from the send to the first byte.
        last: Seconds from the send to the last byte.
        size: Bytes.
        reads: Reads that brought bytes; about the writes of the program.
    """

    first: float
    last: float
    size: int
    reads: int
    text: bytes


class Terminal:
    """Starts a program on a pty; bytes are stamped where they are read, before anything looks at them."""

    def __init__(
        self, argv: Sequence[str], *, columns: int = 120, rows: int = 40, extra: Mapping[str, str] | None = None
    ) -> None:
        self.began = time.perf_counter()
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", **(extra or {})}
        for name in ("NO_COLOR", "COLORTERM", "COLUMNS", "LINES"):
            environment.pop(name, None)
        self.process = subprocess.Popen(
            list(argv),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0) and None,
        )
        os.close(slave)

    def read_until(self, wanted: bytes, limit: float = 15.0) -> float:
        """Seconds from the start of the program until its output holds `wanted`.

        Raises:
            TimeoutError: It does not.
        """
        seen = b""
        while (left := self.began + limit - time.perf_counter()) > 0:
            if select.select([self.master], [], [], left)[0]:
                seen += os.read(self.master, 65536)
                if wanted in seen:
                    return time.perf_counter() - self.began
        raise TimeoutError(f"{wanted!r} did not come in {limit} s; last: {seen[-400:]!r}")

    def burst(self, keys: bytes = b"", quiet: float = 0.04, limit: float = 5.0) -> Burst:
        """Send keys and read until nothing has come for `quiet` seconds."""
        start = time.perf_counter()
        if keys:
            os.write(self.master, keys)
        first = last = 0.0
        parts: list[bytes] = []
        while time.perf_counter() - start < limit:
            ready = select.select([self.master], [], [], quiet if parts or not keys else limit)[0]
            if not ready:
                break
            try:
                part = os.read(self.master, 65536)
            except OSError:
                break
            last = time.perf_counter() - start
            first = first or last
            parts.append(part)
        text = b"".join(parts)
        return Burst(first, last, len(text), len(parts), text)

    def cpu(self) -> float:
        """Seconds of processor time of the program itself so far."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self, *keys: bytes) -> None:
        """Ask the program to end, close its terminal and wait."""
        for one in keys:
            self.burst(one, quiet=0.2, limit=1.0)
        os.close(self.master)
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()

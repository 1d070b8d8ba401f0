"""A terminal that goes away, as with a broken SSH connection."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize("turn", range(4))
def test_the_console_ends_with_its_terminal(tmp_path: Path, turn: int) -> None:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen(
        [Path(sys.executable).parent / "ladder-tui"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path)},
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(slave)
    try:
        seen = b""
        while b"hardware" not in seen:
            assert select.select([master], [], [], 30)[0], seen
            seen += os.read(master, 65536)
        # The kernel sends SIGHUP, and SIGCONT right behind it.
        os.close(master)
        process.wait(15)
    finally:
        process.kill()
        process.wait(timeout=20)

"""A console that was stopped and goes on: what others wrote to the terminal meanwhile is painted over."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pyte
import pytest

COLUMNS, ROWS = 100, 30


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize("stop", [signal.SIGTSTP, signal.SIGSTOP])
def test_what_was_written_over_a_stopped_console_is_painted_over(tmp_path: Path, stop: signal.Signals) -> None:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
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
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)

    def read() -> None:
        assert select.select([master], [], [], 30)[0], screen.display
        stream.feed(os.read(master, 65536))

    try:
        while "hardware" not in "".join(screen.display):
            read()
        process.send_signal(stop)
        # Its state, from behind the name in parentheses.
        status = Path(f"/proc/{process.pid}/stat")
        while status.read_text().rpartition(")")[2].split()[0] != "T":
            if select.select([master], [], [], 0.05)[0]:
                read()
        while select.select([master], [], [], 0)[0]:
            read()
        stream.feed(b"\x1b[0m\x1b[H" + b"\r\n".join([b"%" * COLUMNS] * ROWS))
        process.send_signal(signal.SIGCONT)
        while "%%" in "".join(screen.display):
            read()
        assert "hardware" in "".join(screen.display)
    finally:
        process.kill()
        process.wait(timeout=20)
        os.close(master)

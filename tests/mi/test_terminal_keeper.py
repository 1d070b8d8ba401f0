"""A terminal that outlives who made it."""

from __future__ import annotations

import os
import threading

from ladder_backends.mi.terminal_keeper import TerminalKeeper


def test_what_is_written_later_is_read_and_forgotten_until_the_end() -> None:
    master, slave = os.openpty()
    os.set_blocking(master, False)
    keeper = TerminalKeeper(master)
    os.close(master)
    keeper.release()
    # Far more than a terminal holds: without a reader this would never return.
    writing = threading.Thread(target=lambda: [os.write(slave, b"x" * 1000) for _ in range(300)], daemon=True)
    writing.start()
    writing.join(30)
    assert not writing.is_alive()
    os.close(slave)
    _, status = os.waitpid(keeper.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_while_the_console_lives_the_keeper_reads_nothing() -> None:
    master, slave = os.openpty()
    keeper = TerminalKeeper(master)
    try:
        os.write(slave, b"for the console\n")
        assert os.read(master, 100) == b"for the console\r\n"
    finally:
        os.close(master)
        os.close(slave)
        keeper.release()
        os.waitpid(keeper.pid, 0)

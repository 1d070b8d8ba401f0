"""The end of an engine whose command line is busy with what was typed: deaf to its terminals, it would work on."""

from __future__ import annotations

import os
from typing import Any

import pytest

from .test_gdb_running import stop_at


@pytest.mark.parametrize(
    "typed",
    [
        ("while 1", "print 1", "end"),
        ("while 1", "set $n = 1", "end"),
        ("python import time; time.sleep(600)",),
        ("python", "while True: pass", "end"),
        ("commands 1",),
    ],
    ids=["flood", "loop", "sleep", "python", "unfinished"],
)
async def test_a_busy_engine_ends(watched: Any, compiled: Any, typed: tuple[str, ...]) -> None:
    await stop_at(watched, compiled("steps"), "main")
    pid = watched.debugger._mi._transport.pid
    for line in typed:
        await watched.debugger.console(line)
    await watched.debugger.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

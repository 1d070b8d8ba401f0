"""The stacks of all threads of a process, printed; the process is held only while they are read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.rungs import host_rung
from ladder_backends.session.all_stacks import HeldProcess, hold_and_read
from ladder_backends.session.engines import Engines
from ladder_backends.session.python_json import rows_json
from ladder_tui.cli.headless import apply_settings
from ladder_tui.cli.output import print_json, print_lines
from ladder_tui.cli.session_text import frame_json, stack_lines

if TYPE_CHECKING:
    from ladder_backends.debugger import Debugger


def print_stacks(pid: int, *, json_wanted: bool, record: Path | None = None) -> int:
    """Attach, read, let go, print; returns the exit code, which is 0 where the stacks are there.

    Raises:
        LadderError: The process cannot be attached to, or the debugger died on it.
    """
    apply_settings()

    async def work() -> tuple[Debugger, HeldProcess]:
        debugger = Engines(record).make(host_rung().debugger)
        try:
            return debugger, await hold_and_read(debugger, pid)
        finally:
            await debugger.close()

    debugger, held = asyncio.run(work())
    if json_wanted:
        print_json(stacks_json(debugger, held, pid))
    else:
        print_lines(stacks_lines(held, pid))
    return 0


def stacks_json(debugger: Debugger, held: HeldProcess, pid: int) -> dict[str, object]:
    """The stacks for a machine."""
    stacks, python = held.stacks, held.python
    return {
        "format": 1,
        "rung": debugger.rung,
        "target": f"process {pid}",
        "pid": pid,
        "held": round(held.held, 3),
        "threads": stacks.threads,
        "complete": not stacks.late and len(stacks.stacks) == stacks.threads,
        "python": {"source": python.source or None, "why": python.why} if python is not None else None,
        "stacks": [
            {
                "thread": each.thread.id,
                "os_thread": each.thread.system_id,
                "name": each.thread.name,
                "frames": [frame_json(frame) for frame in each.frames.frames],
                "more_frames": each.frames.more,
                "python": rows_json(woven, python.source)
                if python is not None and (woven := python.woven(each.thread, each.frames)) is not None
                else None,
            }
            for each in stacks.stacks
        ],
        "source": str(debugger.provenance),
        "notices": [notice.text for notice in held.notices],
    }


def stacks_lines(held: HeldProcess, pid: int) -> Iterator[str]:
    """The stacks for a person."""
    stacks = held.stacks
    threads = "1 thread" if stacks.threads == 1 else f"{stacks.threads} threads"
    yield f"process {pid}: {threads}; held for {held.held:.2f} s, and let go"
    for notice in held.notices:
        if notice.severity != "information":
            yield f"note   {notice.text}"
    python = held.python
    if python is not None and python.why:
        yield f"note   no Python frames: {python.why}"
    for each in stacks.stacks:
        thread = each.thread
        system_id = f" (LWP {thread.system_id})" if thread.system_id is not None else ""
        yield ""
        yield f"thread {thread.id}{system_id} {thread.name}".rstrip()
        woven = python.woven(thread, each.frames) if python is not None else None
        yield from stack_lines(each.frames.frames, woven)
        if each.frames.more:
            yield "       and more frames"
    if stacks.late:
        yield "the stacks of the other threads did not come in time"
    elif stacks.threads > len(stacks.stacks):
        yield f"and {stacks.threads - len(stacks.stacks)} more threads"

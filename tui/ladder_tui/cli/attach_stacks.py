"""The stacks of all threads of a process, printed; the process is held only while they are read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from ladder_backends.debugger.target import AttachTarget
from ladder_backends.session.all_stacks import AllStacks, let_go, read_all_stacks
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import DebugState, Run
from ladder_tui.cli.headless import with_ladder
from ladder_tui.cli.output import print_json, print_lines
from ladder_tui.cli.session_text import frame_json, frame_line


def print_stacks(pid: int, *, json_wanted: bool, record: Path | None = None) -> int:
    """Attach, read, let go, print.

    Returns:
        0 where the stacks are there, 2 where the debugger died on it.
    """

    async def work(ladder: Ladder) -> int:
        session = await ladder.open_target(AttachTarget(pid))
        await session.at_rest()
        state = session.state
        if state.run is not Run.STOPPED:
            print_lines([f"{state.title}: {state.run_detail or state.run}"])
            return 2
        stacks = await read_all_stacks(session.debugger)
        held_since = state.since
        await let_go(session.debugger)
        held = time.monotonic() - held_since + (session.debugger.stopping_took or 0.0)
        if json_wanted:
            print_json(stacks_json(state, stacks, pid, held))
        else:
            print_lines(stacks_lines(state, stacks, held))
        return 0

    return with_ladder(work, record=record)


def stacks_json(state: DebugState, stacks: AllStacks, pid: int, held: float) -> dict[str, object]:
    """The stacks for a machine.

    Args:
        state: The session as it was when they were read.
        stacks: What was read.
        pid: Process id.
        held: Seconds from the request to stop the process to the moment when it was let go.
    """
    return {
        "format": 1,
        "rung": state.rung,
        "target": state.title,
        "pid": pid,
        "held": round(held, 3),
        "threads": stacks.threads,
        "complete": not stacks.late and len(stacks.stacks) == stacks.threads,
        "stacks": [
            {
                "thread": each.thread.id,
                "os_thread": each.thread.system_id,
                "name": each.thread.name,
                "frames": [frame_json(frame) for frame in each.frames.frames],
                "more_frames": each.frames.more,
            }
            for each in stacks.stacks
        ],
        "source": str(state.provenance),
        "notices": [notice.text for notice in state.notices],
    }


def stacks_lines(state: DebugState, stacks: AllStacks, held: float) -> Iterator[str]:
    """The stacks for a person."""
    yield f"{state.title}: {stacks.threads} threads; held for {held:.2f} s, and let go"
    for notice in state.notices:
        yield f"note   {notice.text}"
    for each in stacks.stacks:
        thread = each.thread
        system_id = f" (LWP {thread.system_id})" if thread.system_id is not None else ""
        yield ""
        yield f"thread {thread.id}{system_id} {thread.name}".rstrip()
        for frame in each.frames.frames:
            yield frame_line(frame)
        if each.frames.more:
            yield "       and more frames"
    if stacks.late:
        yield "the stacks of the other threads did not come in time"
    elif stacks.threads > len(stacks.stacks):
        yield f"and {stacks.threads - len(stacks.stacks)} more threads"

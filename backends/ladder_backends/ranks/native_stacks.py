"""Native stacks of all ranks, by eu-stack of elfutils: each thread stands still for some hundredths of a second."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import time
from collections.abc import Collection, Sequence

from ladder_backends.model.ranks import Rank, RankFrame, RankSource, RankStack, Reading, Unreachable
from ladder_backends.processes.obstacles import obstacle_before
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine.left_stopped import wake
from ladder_backends.ranks.python_stacks import thread_state
from ladder_backends.ranks.triage import is_same_process
from ladder_backends.text import clean_line

PREDICTED = 0.1
"""Seconds that a thread stands still at most on a busy machine; on a quiet one it is a fifth of that, or less."""

_DEADLINE = 20.0
_BETWEEN_GLANCES = 0.002
_LARGEST = 64 << 20
_LONGEST_NAME = 1_000
_MOST_FRAMES = "256"
_THREAD = re.compile(r"TID (\d{1,9}):")
_FRAME = re.compile(r"#\d+\s+(?P<address>0x[0-9a-f]+)(?: (?P<exact>\-|\+) (?=\w))?\s*(?P<rest>.*)")
_OFFSET = re.compile(r"\s+\[[0-9a-f]*\]@0x[0-9a-f]+\+0x([0-9a-f]+)")
_PLACE = re.compile(r"\s+(?P<file>.+?):(?P<line>\d{1,9})(?::\d+)?")
_VERSION = re.compile(r"@@?[A-Z][\w.]*$")


def find_eu_stack() -> str | None:
    """eu-stack, as `LADDER_EU_STACK` names it or from PATH; None where there is none."""
    return shutil.which(os.environ.get("LADDER_EU_STACK") or "eu-stack")


async def read_native_stacks(
    ranks: Sequence[Rank], *, leave_out: Collection[int] = (), proc: ProcFiles | None = None
) -> tuple[tuple[RankStack, ...], Reading]:
    """The native threads of every rank that can be looked into.

    A rank that waits in the kernel (state D), or that a debugger holds, is left alone: eu-stack would wait for it.

    Args:
        ranks: Of this host.
        leave_out: Numbers of ranks that are known not to be there any more.
        proc: Where states are read.
    """
    proc = proc or ProcFiles()
    begun = time.monotonic()
    asked = [rank for rank in ranks if rank.rank not in leave_out]
    program = find_eu_stack()
    if program is None:
        why = "eu-stack is not on PATH"
        silent = [Unreachable(rank.rank, why, _REMEDY) for rank in asked]
        return (), Reading(RankSource.EU_STACK, (), tuple(silent), note=f"{why} — {_REMEDY}")
    found: dict[int, tuple[RankStack, ...]] = {}
    silent = []
    longest = 0.0
    slots = asyncio.Semaphore(max(2, os.cpu_count() or 1))

    async def one(rank: Rank) -> None:
        nonlocal longest
        async with slots:
            obstacle = await asyncio.to_thread(obstacle_before, rank.pid, proc)
            if obstacle is not None and obstacle.certain:
                silent.append(Unreachable(rank.rank, obstacle.cause, obstacle.remedy))
                return
            if not is_same_process(rank, proc):
                silent.append(Unreachable(rank.rank, f"process {rank.pid} has ended"))
                return
            text, why, held = await _run(program, rank, proc)
        longest = max(longest, held)
        stacks = stacks_in(text, rank, proc)
        if stacks:
            found[rank.rank] = stacks
        else:
            silent.append(Unreachable(rank.rank, why or "eu-stack tells of no thread"))

    await asyncio.gather(*(one(rank) for rank in asked))
    reading = Reading(
        RankSource.EU_STACK,
        tuple(sorted(found)),
        tuple(sorted(silent, key=lambda each: each.rank)),
        PREDICTED,
        longest,
        time.monotonic() - begun,
    )
    return tuple(stack for number in sorted(found) for stack in found[number]), reading


_REMEDY = "install elfutils, or take the stacks with --stacks gdb"


async def _run(program: str, rank: Rank, proc: ProcFiles) -> tuple[str, str, float]:
    """What eu-stack writes, why it failed, and for how long the main thread stood.

    It holds one thread after the other, each while its frames are found; their names are looked up afterwards. The
    first one, which is the main thread, bears the reading of all tables.
    """
    stood = proc.status(rank.pid).get("State", "")[:1] == "T"
    try:
        process = await asyncio.create_subprocess_exec(
            program, "-p", str(rank.pid), "-m", "-s", "-b", "-n", _MOST_FRAMES,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # Ctrl-C at the terminal is for the console; and debug information is not fetched from anywhere.
            start_new_session=True,
            env={**os.environ, "DEBUGINFOD_URLS": "", "LC_ALL": "C"},
        )  # fmt: skip
    except OSError as error:
        return "", f"{program} does not run: {error.strerror}", 0.0
    clock = _Standing(rank.pid, proc)
    watching = asyncio.ensure_future(clock.watch())
    talking = asyncio.ensure_future(process.communicate())
    talking.add_done_callback(lambda _done: watching.cancel())
    try:
        out, said = await asyncio.wait_for(asyncio.shield(talking), _DEADLINE)
    except (TimeoutError, asyncio.CancelledError) as late:
        if proc.status(rank.pid).get("State", "")[:1] == "D":
            # Ended now, it would leave the rank a signal to stop by. It ends by itself when that wait is over.
            why = f"it waits in the kernel (state D); process {process.pid} (eu-stack) waits for it"
        else:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(asyncio.wait([talking]))
            if not stood:
                wake(rank.pid, rank.started, proc)
            why = f"eu-stack did not come to an end within {_DEADLINE:g} s"
        if isinstance(late, asyncio.CancelledError):
            raise
        return "", why, clock.seconds
    held = clock.seconds
    if not stood:
        wake(rank.pid, rank.started, proc)
    lines = [line for line in said.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
    why = clean_line(lines[0].removeprefix("eu-stack: "))[:200] if lines else ""
    return out[:_LARGEST].decode("utf-8", "backslashreplace"), why, held


class _Standing:
    """Looks every few milliseconds whether a thread stands under a tracer (state t).

    Attributes:
        seconds: From the glance before the first one at which it stood, to the one after the last; what came and
            went between two glances is no longer than the time between them.
    """

    def __init__(self, pid: int, proc: ProcFiles) -> None:
        self.seconds = _BETWEEN_GLANCES
        self._pid = pid
        self._proc = proc

    async def watch(self) -> None:
        """Look until cancelled."""
        before = time.monotonic()
        since: float | None = None
        while True:
            now = time.monotonic()
            stands = thread_state(self._pid, self._pid, self._proc) == "t"
            if stands and since is None:
                since = before
            self.seconds = max(self.seconds, now - (before if since is None else since))
            if not stands:
                since = None
            before = now
            await asyncio.sleep(_BETWEEN_GLANCES)


def stacks_in(text: str, rank: Rank, proc: ProcFiles) -> tuple[RankStack, ...]:
    """The threads out of eu-stack's output (elfutils 0.170 to 0.192)."""
    stacks: list[RankStack] = []
    thread = 0
    frames: list[RankFrame] = []
    known: dict[str, RankFrame] = {}

    def close() -> None:
        if thread and frames:
            name = clean_line(proc.text(f"{rank.pid}/task/{thread}", "comm").rstrip("\n"))
            state = thread_state(rank.pid, thread, proc)
            stacks.append(RankStack(rank.rank, thread, name, tuple(reversed(frames)), state))

    for line in text.splitlines():
        if (match := _THREAD.match(line)) is not None:
            close()
            thread, frames = int(match[1]), []
        elif (match := _FRAME.match(line)) is not None:
            frame = known.get(match["rest"])
            if frame is None:
                frame = known[match["rest"]] = _frame(match["rest"])
            frames.append(frame)
        elif frames and (match := _OFFSET.fullmatch(line)) is not None:
            last = frames[-1]
            frames[-1] = RankFrame(last.function, last.file, last.line, last.module, offset=int(match[1], 16))
        elif frames and (match := _PLACE.fullmatch(line)) is not None:
            last = frames[-1]
            place = clean_line(match["file"])
            frames[-1] = RankFrame(last.function, place, int(match["line"]), last.module, offset=last.offset)
    close()
    return tuple(stacks)


def _frame(rest: str) -> RankFrame:
    """`name - /module`, either of which may be missing."""
    name, dash, module = rest.rpartition(" - /")
    if not dash and rest.startswith("- /"):
        name, module = "", rest[3:]
    elif not dash:
        name, module = rest, ""
    function = clean_line(_VERSION.sub("", name.strip()))[:_LONGEST_NAME]
    return RankFrame(function or "??", module=clean_line("/" + module) if module else "")

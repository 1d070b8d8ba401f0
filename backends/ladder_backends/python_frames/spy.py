"""Runs py-spy, which reads an interpreter's memory from outside.

Only ever without blocking: the process is neither stopped nor traced, so that this works on one that a debugger
holds, and costs one that runs nothing. What runs moves meanwhile: a frame may then be from the next moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from pathlib import Path

from ladder_backends.model.python_stack import PythonSnapshot
from ladder_backends.paths import EngineExecutable, find_engine
from ladder_backends.python_frames.reading import threads_of
from ladder_backends.python_frames.reasons import WHAT, PythonUnreadable, missing, unreadable
from ladder_backends.text import decode

DEADLINE = 5.0
"""Seconds that one dump may take; it takes some hundredths, on a machine under load some tenths."""

COST = "py-spy reads memory for 10 to 60 ms; the process does not stop"
"""What a snapshot costs, for those who are told before it is taken."""

_MOST_BYTES = 32 << 20
_DATA_LEVEL = "--locals"


def find_py_spy() -> EngineExecutable:
    """py-spy as `LADDER_PY_SPY` or the configuration names it, from PATH, or beside our own interpreter."""
    found = find_engine("py-spy")
    if found.path is not None or found.origin:
        return found
    beside = Path(sys.executable).parent / "py-spy"
    if beside.is_file() and os.access(beside, os.X_OK):
        return EngineExecutable(beside, "beside this Python")
    return found


async def snapshot(pid: int, *, variables: bool = False, deadline: float = DEADLINE) -> PythonSnapshot:
    """The Python threads of a process, running or held by a debugger; it is not stopped.

    Args:
        pid: As this console sees it.
        variables: With arguments and locals. Values are read, never computed: no `__repr__` runs.
        deadline: Seconds.

    Raises:
        PythonUnreadable: There is no py-spy, no Python in the process, no permission, or no answer in time.
    """
    return await _dump(["--nonblocking", "--pid", str(pid)], pid, variables, deadline)


async def snapshot_of_core(core: Path, *, variables: bool = False, deadline: float = DEADLINE) -> PythonSnapshot:
    """The same of a core file that the kernel wrote; cores that a debugger wrote lack what py-spy looks for."""
    return await _dump(["--core", str(core)], 0, variables, deadline)


async def _dump(what: list[str], pid: int, variables: bool, deadline: float) -> PythonSnapshot:
    found = find_py_spy()
    if found.path is None:
        raise missing(found.missing)
    command = [str(found.path), "dump", "--json", "--full-filenames", *what, *([_DATA_LEVEL] if variables else [])]
    begun = time.monotonic()
    try:
        status, out, said = await _output(command, deadline)
    except TimeoutError as late:
        raise PythonUnreadable(WHAT, f"py-spy did not answer within {deadline:g} s", "look again") from late
    except OSError as error:
        raise missing(f"{found.path} does not run: {error.strerror}") from error
    if status:
        if not pid:
            raise PythonUnreadable(
                WHAT,
                "py-spy finds no interpreter in this core",
                "it reads cores that the kernel wrote, with the same Python installed here",
            )
        raise unreadable(pid, said, status)
    try:
        # Hundreds of threads are megabytes of text.
        threads = await asyncio.to_thread(threads_of, out)
    except (ValueError, RecursionError) as error:
        raise PythonUnreadable(
            WHAT, "py-spy wrote something that is no dump", "try another release of it"
        ) from error
    return PythonSnapshot(threads, "py-spy", time.monotonic() - begun)


async def _output(command: list[str], deadline: float) -> tuple[int, str, str]:
    """Exit status, output and complaints of a command; it is ended where nobody waits any more."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "RUST_BACKTRACE": "0"},
        # Ctrl-C at the terminal is for the console.
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(deadline):
            out, said = await asyncio.gather(_bounded(process.stdout), _bounded(process.stderr))
            status = await process.wait()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())
    # Names are cleaned piece by piece; JSON is not text to show.
    return status, out.decode("utf-8", "replace"), decode(said)


async def _bounded(stream: asyncio.StreamReader) -> bytes:
    """All of a stream, or its first megabytes; the rest is read and dropped so that the writer ends."""
    kept = bytearray()
    while chunk := await stream.read(1 << 16):
        if len(kept) < _MOST_BYTES:
            kept += chunk
    return bytes(kept)

"""`ranks --every`: a look again and again, each kept in a folder, so that the last one before a death is there."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_tui.cli.output import say

if TYPE_CHECKING:
    from ladder_backends.model.ranks import Evidence, Job

MOST_KEPT = 100
"""Looks that are kept in a folder; the oldest make room."""

_NAME = "ranks-"


def keep_looking(arguments: Namespace, every: float) -> int:
    """Look until the job is over or Ctrl-C; returns the exit code of what was seen last."""
    from ladder_tui.cli.ranks import find

    job = find(arguments)
    return asyncio.run(look_on(job, arguments, every))


async def look_on(job: Job, arguments: Namespace, every: float) -> int:
    """Look at a job until none of its ranks is alive any more."""
    from ladder_backends.ranks.triage import is_same_process
    from ladder_backends.ranks.verdict import verdicts
    from ladder_tui.cli.ranks import exit_code, look

    code = 0
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    before: Evidence | None = None
    try:
        while any(is_same_process(rank) for rank in job.ranks) and not ended.is_set():
            begun = time.monotonic()
            (now,) = await look(job, arguments, 1, 0.0)
            looks = [before, now] if before is not None else [now]
            told = verdicts(looks)
            code = exit_code(looks, told)
            await asyncio.to_thread(keep, looks, arguments)
            say(f"{time.strftime('%H:%M:%S')} {told[0].sentence}")
            before = now
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), max(0.05, every - (time.monotonic() - begun)))
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    if not ended.is_set():
        say("no rank of the job is alive any more")
    return code


def keep(looks: list[Evidence], arguments: Namespace) -> Path:
    """Write one look into the folder, whole or not at all; returns its file."""
    import json

    from ladder_backends.ranks.report_html import look_html
    from ladder_backends.ranks.report_json import look_json
    from ladder_backends.ranks.verdict import verdicts

    told = verdicts(looks)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(looks[-1].at)) + f"-{int(looks[-1].at * 1000) % 1000:03d}"
    ending = "html" if arguments.html else "json"
    file = Path(arguments.folder) / f"{_NAME}{stamp}.{ending}"
    text = look_html(looks, told) if arguments.html else json.dumps(look_json(looks, told), allow_nan=False) + "\n"
    write_whole(file, text)
    for old in sorted(file.parent.glob(f"{_NAME}*.{ending}"))[:-MOST_KEPT]:
        with contextlib.suppress(OSError):
            old.unlink()
    return file


def write_whole(file: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        LadderError: It cannot be written.
    """
    from ladder_backends.errors import LadderError

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=file.parent, prefix=".ranks-")
        try:
            with open(handle, "w", encoding="utf-8", errors="backslashreplace") as out:
                out.write(text)
                out.flush()
                # The node may die with the job: what was seen last is to be on the disk.
                os.fsync(out.fileno())
            os.chmod(unfinished, 0o644)
            os.replace(unfinished, file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            raise
    except OSError as error:
        raise LadderError(f"{file} cannot be written", error.strerror or "", "name another place with -o") from None

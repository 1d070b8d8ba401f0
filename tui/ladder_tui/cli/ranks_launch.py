"""`ranks -- mpirun -n 8 ./prog`: a job that is started here, its output passed on, and who died first."""

from __future__ import annotations

import asyncio
import signal
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, say

if TYPE_CHECKING:
    from ladder_backends.model.ranks import Job
    from ladder_backends.ranks.launching import LaunchedJob


def launch(arguments: Namespace, samples: int, between: float, every: float | None) -> int:
    """Run the job to its end; returns 0 where it ended well, 1 where it did not."""
    from ladder_backends.ranks.launching import LaunchedJob

    machine = bool(arguments.json)
    sys.stdout.flush()
    # The document has standard output for itself.
    launched = LaunchedJob(arguments.program, 2 if machine else 1, 2)
    say("the job ends with this command; Ctrl-C ends it")
    asyncio.run(_run(launched, arguments, every))
    if machine:
        print_json(ends_json(launched))
    else:
        for line in ends_lines(launched):
            say(line)
    return 1 if launched.code or any(end.badly for end in launched.ends) else 0


async def _run(launched: LaunchedJob, arguments: Namespace, every: float | None) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, launched.stop)

    async def looking(job: Job) -> None:
        from ladder_tui.cli.ranks import look
        from ladder_tui.cli.ranks_every import keep

        assert every is not None
        while True:
            (now,) = await look(job, arguments, 1, 0.0)
            await asyncio.to_thread(keep, [now], arguments)
            await asyncio.sleep(max(0.05, every))

    try:
        await launched.run(looking if every is not None else None)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def ends_json(launched: LaunchedJob) -> dict[str, object]:
    """How the job ended, for a machine."""
    from ladder_backends.ranks.deaths import first_words
    from ladder_backends.ranks.report_json import job_json

    begun = launched.ends[0].at if launched.ends else 0.0
    return {
        "format": 1,
        "command": list(launched.command),
        "code": launched.code,
        "first": first_words(launched.ends) or None,
        "dropped_output": launched.dropped,
        "job": job_json(launched.job) if launched.job is not None else None,
        "ends": [
            {
                "rank": end.rank,
                "pid": end.pid,
                "after_first": round(end.at - begun, 4),
                "status": end.status,
                "how": end.words,
                "start": end.start,
                "source": end.source or None,
            }
            for end in launched.ends
        ],
    }


def ends_lines(launched: LaunchedJob) -> list[str]:
    """How the job ended, for a person."""
    from ladder_backends.ranks.deaths import first_words, signal_name

    code = launched.code or 0
    how = f"by signal {-code} ({signal_name(-code)})" if code < 0 else f"with exit code {code}"
    lines = []
    first = first_words(launched.ends)
    if first:
        lines.append(first)
    if code or first:
        lines.append(f"the launcher ended {how}")
    if code and not first:
        seen = "no rank was seen before" if launched.job is None else "no rank that was seen ended badly"
        lines.append(f"{seen}: its own words are above")
    if launched.dropped:
        lines.append(f"{launched.dropped} bytes of output were dropped, because nobody read them")
    return lines

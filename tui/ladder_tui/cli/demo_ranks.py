"""A broken job of the demos: started, looked at until it stands, told, and ended again."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, print_lines, say

if TYPE_CHECKING:
    from ladder_backends.model.ranks import Evidence, Job
    from ladder_backends.ranks.launching import LaunchedJob
    from ladder_demos.rank_jobs import RankDemo

_PATIENCE = 60.0
"""Seconds within which a job is expected to hang; torch takes ten of them to start."""
_GRACE = 5.0


def run_job(demo: RankDemo, *, json_wanted: bool) -> int:
    """Run it; returns 1 where it does what it is there for, as `ranks` does."""
    from ladder_backends.ranks.launching import LaunchedJob
    from ladder_demos.rank_jobs import rank_job
    from ladder_tui.cli.headless import apply_settings
    from ladder_tui.cli.ranks_launch import ends_json, ends_lines

    apply_settings()
    command, environment = rank_job(demo)
    say(f"{' '.join(command)}")
    launched = LaunchedJob(command, 2, 2, environment)
    looks = asyncio.run(_run(launched, demo))
    if demo.ends:
        if json_wanted:
            print_json(ends_json(launched))
        else:
            print_lines(ends_lines(launched))
        return 1 if launched.code else 0
    if not looks:
        print_lines(ends_lines(launched))
        return 2
    from ladder_backends.ranks.report_json import look_json
    from ladder_backends.ranks.report_text import look_lines
    from ladder_backends.ranks.verdict import verdicts
    from ladder_tui.cli.ranks import exit_code

    told = verdicts(looks)
    if json_wanted:
        print_json(look_json(looks, told))
    else:
        print_lines(look_lines(looks, told))
    return exit_code(looks, told)


async def _run(launched: LaunchedJob, demo: RankDemo) -> list[Evidence]:
    """Run the job beside the looks at it; returns the last two of them."""
    loop = asyncio.get_running_loop()
    looks: list[Evidence] = []

    async def looking(job: Job) -> None:
        from ladder_backends.ranks.looking import look_at
        from ladder_backends.ranks.verdict import verdicts

        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            looks.append(await look_at(job))
            del looks[:-2]
            if len(looks) > 1 and verdicts(looks)[0].diverges:
                break
            await asyncio.sleep(1.0)
        launched.stop()
        await asyncio.sleep(_GRACE)
        launched.stop(signal.SIGTERM)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, launched.stop)
    try:
        await launched.run(None if demo.ends else looking)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    return looks

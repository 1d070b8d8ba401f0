"""`ranks --do`: acts on sets of ranks, one after the other; all ranks are let go at the end."""

from __future__ import annotations

import asyncio
import contextlib
from argparse import Namespace
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, print_lines, say

if TYPE_CHECKING:
    from ladder_backends.model.ranks import Job


def act(job: Job, arguments: Namespace) -> int:
    """Do what `--do` says; returns 0 where all was done, 2 where something could not be."""
    return asyncio.run(_act(job, arguments.do, json_wanted=arguments.json))


async def _act(job: Job, lines: list[str], *, json_wanted: bool) -> int:
    from ladder_backends.errors import LadderError
    from ladder_backends.ranks.engine import RankEngine, RankEvent, RankEventKind
    from ladder_backends.ranks.engine.spoken import SpokenActs, reply_json
    from ladder_backends.ranks.sets import SetInvalid

    told: list[dict[str, object]] = []

    def listen(event: RankEvent) -> None:
        if event.kind in (RankEventKind.BUDGET, RankEventKind.NOTICE, RankEventKind.LOST, RankEventKind.CRASHED):
            say(f"rank {event.rank}: {event.text}" if event.rank is not None else event.text)

    engine = RankEngine(job, listener=listen)
    acts = SpokenActs(engine)
    code = 0
    try:
        for line in lines:
            try:
                answer = await acts.say(line)
            except LadderError as failure:
                if isinstance(failure, SetInvalid):
                    for pointed in failure.pointed:
                        say(pointed)
                say(failure.line())
                told.append({"act": line, "failed": failure.line()})
                code = 2
                break
            reply = reply_json(acts.reply) if acts.reply is not None else None
            told.append({"act": line, "answer": answer, "reply": reply})
            if not json_wanted:
                print_lines([f"> {line}", *answer])
    finally:
        # An interrupt that comes now must not keep anything held.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(engine.close())
    if json_wanted:
        print_json({"format": 1, "job": job.key, "acts": told})
    return code

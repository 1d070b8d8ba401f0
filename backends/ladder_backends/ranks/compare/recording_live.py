"""Records hits of a job that runs already: its ranks are attached to, run on, and are let go at the end.

One gdb holds the ranks of a node. Breakpoints whose condition records and is never true never stop anything; a rank
stands for each hit for as long as reading the values takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.errors import CommandFailed, LadderError
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.model.ranks import Job, Unreachable
from ladder_backends.ranks.compare.recording_run import INSIDE
from ladder_backends.ranks.engine.node_gdb import NodeGdb
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.rank_events import RankListener
from ladder_backends.ranks.engine.set_breakpoints import RankBreakpoints

_LOOK_EVERY = 0.05
_LAST_LINE = 64


class NothingToRecord(LadderError):
    """No rank of a running job can be recorded."""


@dataclass(frozen=True, slots=True)
class LiveRecord:
    """What recording a running job came to.

    Attributes:
        unreachable: Ranks that were not recorded, or not to the end, and why.
    """

    unreachable: tuple[Unreachable, ...]


async def record_job(
    job: Job,
    ranks: Iterable[int] | None,
    folder: Path,
    probes: Sequence[tuple[int, str, str]],
    *,
    most: int = 100,
    within: float = 30.0,
    listener: RankListener = lambda _event: None,
) -> LiveRecord:
    """Record up to `most` hits of each place and rank into a folder, for `within` seconds at most.

    Of `ranks` None means all; probes are number, place and expression of each.

    Raises:
        NothingToRecord: None of the ranks could be attached to, or none knows the places.
    """
    folder = await asyncio.to_thread(_made, folder)
    engine = RankEngine(job, listener=listener)
    breakpoints = RankBreakpoints(engine)
    try:
        away = list(await engine.attach(ranks))
        held = {each.rank.rank for each in engine.all_held} - {each.rank for each in away}
        await engine.go_on(held)
        if not held:
            why = away[0].reason if away else ""
            raise NothingToRecord("no rank can be recorded", why, away[0].remedy if away else "")
        for each in engine.engines:
            await _prepare(each, folder, probes, most)
        for number, place in enumerate(dict.fromkeys(place for _, place, _ in probes)):
            made = await breakpoints.set(held, place, f"$_ladder_record({number})")
            if made.places is not None and not made.places.classes:
                raise NothingToRecord(
                    f"no rank knows {place}", "", "name a line with code, of a program built with -g"
                )
        late = await _until_recorded(engine, folder, held, within)
        with contextlib.suppress(CommandFailed):
            await breakpoints.remove_all()
        for rank in sorted(held):
            ending = next((event for event in engine.endings if event.rank == rank), None)
            if ending is not None:
                away.append(Unreachable(rank, f"it ended while it was recorded: {ending.signal or ending.text}"))
                _end(
                    folder,
                    rank,
                    {"signal": ending.signal, "at": ""} if ending.signal else {"end": ending.code or 0},
                )
            elif rank in late:
                # It lives, though it has not come there as often.
                _end(folder, rank, {"live": 0})
        return LiveRecord(tuple(away))
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(engine.close())


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder.absolute()


async def _prepare(engine: NodeGdb, folder: Path, probes: Sequence[tuple[int, str, str]], most: int) -> None:
    ranks = {held.group.removeprefix("i"): held.rank.rank for held in engine.held}
    told = json.dumps(
        {"folder": str(folder), "probes": [list(each) for each in probes], "ranks": ranks, "most": most}
    )
    setting = f"python import json; ladder = json.loads(bytes.fromhex('{told.encode().hex()}').decode())"
    for text in (setting, f"source {INSIDE}"):
        try:
            await engine.command(f"-interpreter-exec console {mi_string(text)}")
        except CommandFailed as refused:
            raise NothingToRecord(
                "this gdb cannot record", refused.what, "use one that was built with Python"
            ) from None


async def _until_recorded(engine: RankEngine, folder: Path, ranks: Iterable[int], within: float) -> set[int]:
    """Wait until all have come there often enough; returns those that live and have not."""
    waiting = set(ranks)
    end = time.monotonic() + within
    while waiting and time.monotonic() < end:
        await asyncio.sleep(_LOOK_EVERY)
        waiting = {rank for rank in waiting if engine.held(rank) is not None and not _recorded(folder, rank)}
    return waiting


def _recorded(folder: Path, rank: int) -> bool:
    try:
        with open(folder / f"{rank}.hits", "rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _LAST_LINE))
            return b'\n{"live": ' in file.read()
    except OSError:
        return False


def _end(folder: Path, rank: int, document: dict[str, object]) -> None:
    with contextlib.suppress(OSError), open(folder / f"{rank}.hits", "a", encoding="utf-8") as file:
        file.write(json.dumps(document) + "\n")

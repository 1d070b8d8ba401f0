"""An expression on many ranks at once, in the innermost frame of their own code that knows it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence

from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import rows_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.ranks import RankFrame, Unreachable
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine.group_reader import rank_frame
from ladder_backends.ranks.engine.held_rank import HeldRank
from ladder_backends.ranks.engine.node_gdb import NodeGdb
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.replies import Reply, group
from ladder_backends.text import clean_line

_FRAMES = 64
_TRIED = 8
"""Frames of a rank's own code that are tried, from the innermost on, for one that knows the names."""

_MAPS = 16 << 20
_SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/lib32/", "/usr/lib32/")
_NOT_KNOWN = ("No symbol ", "No frame ", "no symbol ")


async def evaluate(
    engine: RankEngine, ranks: Iterable[int], expression: str, level: int | None = None
) -> Reply[str]:
    """The value of an expression on held ranks, equal ones together; those that run stand for as long as it takes.

    It is evaluated in the frame of that level; for None, in the innermost one of a rank's own code that knows its
    names, where code of libraries is passed over.
    """
    wanted = tuple(sorted(set(ranks)))
    async with engine.standing(wanted) as standing:
        silent = list(standing.unreachable)
        values: dict[int, str] = {}
        work = []
        for each in engine.engines:
            mine = [held for held in standing.ranks if each.reader.ranks.get(held.group) is held]
            if mine and each.hears:
                work.append(_on_one(each, mine, expression, level))
        for found, failed in await asyncio.gather(*work):
            values.update(found)
            silent.extend(failed)
    return group(wanted, values, silent, engine.predicted(len(wanted), fresh=False), standing.pause)


async def _on_one(
    engine: NodeGdb, ranks: Sequence[HeldRank], expression: str, level: int | None
) -> tuple[dict[int, str], list[Unreachable]]:
    if level is not None:
        levels = {held.rank.rank: [level] for held in ranks}
    else:
        frames = await own_frames(engine, ranks)
        levels = {rank: [at for at, _ in some] for rank, some in frames.items()}
    values: dict[int, str] = {}
    failed: dict[int, str] = {}
    left = [held for held in ranks if held.thread is not None]
    for turn in range(_TRIED):
        asked = [
            (
                held,
                engine.submit(
                    f"-data-evaluate-expression --thread {held.thread} --frame {at} {mi_string(expression)}"
                ),
            )
            for held in left
            if (at := _at(levels.get(held.rank.rank, []), turn)) is not None
        ]
        left = []
        for held, answer in asked:
            try:
                told = (await answer).results.get("value")
            except CommandFailed as refused:
                words = clean_line(refused.what).rstrip(".")
                failed.setdefault(held.rank.rank, words)
                if refused.what.startswith(_NOT_KNOWN):
                    left.append(held)
                continue
            values[held.rank.rank] = clean_line(told) if isinstance(told, str) else ""
        if not left:
            break
    return values, [Unreachable(rank, why) for rank, why in failed.items() if rank not in values]


async def own_frames(engine: NodeGdb, ranks: Sequence[HeldRank]) -> dict[int, list[tuple[int, RankFrame]]]:
    """Frames of each rank's own code, innermost first, then the innermost of all; for ranks that stand."""
    asked = [
        (held, engine.submit(f"-stack-list-frames --thread {held.thread} --no-frame-filters 0 {_FRAMES - 1}"))
        for held in ranks
        if held.thread is not None
    ]
    found: dict[int, list[tuple[int, RankFrame]]] = {}
    for held, answer in asked:
        try:
            rows = list(rows_of((await answer).results.get("stack")))
        except CommandFailed:
            continue
        mapped = _own_mappings(held.rank.pid)
        frames = [(level, frame) for level, row in enumerate(rows) if (frame := rank_frame(dict(row))) is not None]
        own = [(level, frame) for level, frame in frames if frame.line and _within(rows[level], mapped)]
        first = [each for each in frames[:1] if each not in own]
        found[held.rank.rank] = own + first
    return found


def _own_mappings(pid: int) -> list[tuple[int, int]]:
    """Where code lies that a person may have written: not that of the system's libraries.

    An engine names the library of a frame only where it has no line; that of the C library may well have one.
    """
    found = []
    for line in ProcFiles().raw(pid, "maps", _MAPS).decode("utf-8", "replace").splitlines():
        fields = line.split(None, 5)
        if (
            len(fields) == 6
            and "x" in fields[1]
            and fields[5].startswith("/")
            and not fields[5].startswith(_SYSTEM)
        ):
            start, _, end = fields[0].partition("-")
            found.append((int(start, 16), int(end, 16)))
    return found


def _within(row: Mapping[str, Value], mapped: Sequence[tuple[int, int]]) -> bool:
    try:
        address = int(text_of(row.get("addr")), 16)
    except ValueError:
        return False
    return any(start <= address < end for start, end in mapped)


def place_words(frame: RankFrame | None) -> str:
    """`work at steady.c:57`; the function alone where no line is known."""
    if frame is None:
        return "somewhere"
    return f"{frame.function} at {os.path.basename(frame.file)}:{frame.line}" if frame.line else frame.function


def _at(levels: Sequence[int], turn: int) -> int | None:
    return levels[turn] if turn < len(levels) else None

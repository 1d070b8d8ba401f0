"""One rank's flight recorder as it was dumped: entries of torch/csrc/distributed/c10d/FlightRecorder.hpp.

Versions 2.0 to 2.10 of its format (torch 2.4 to 2.14), as a pickle (the files) or JSON (the debug server).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ladder_backends.model.ranks import Collective, RankFrame
from ladder_backends.ranks.rank_list import RankListInvalid, unfold
from ladder_backends.ranks.recorder.plain_pickle import PickleRefused, read_plain
from ladder_backends.text import clean_line

MOST_ENTRIES = 200_000
"""Entries of one dump that are read, the last ones; the recorder keeps 2,000 unless told otherwise."""

_MOST_FRAMES = 200
_MOST_SHAPES = 64
_LONGEST = 300
_LARGEST_NUMBER = 1 << 63
_STATES = ("scheduled", "started", "completed")


class DumpInvalid(ValueError):
    """Bytes that are no dump of a flight recorder; the text is a clause."""


@dataclass(frozen=True, slots=True)
class RecorderDump:
    """What one rank recorded.

    Attributes:
        version: Of the format.
        collectives: In the order of recording.
        dropped: Earlier entries that the recorder has overwritten, as the first number tells.
        at: Seconds since the epoch when the dump was made, as far as it is known.
    """

    version: str
    collectives: tuple[Collective, ...]
    dropped: int = 0
    at: float = 0.0


def read_dump(raw: bytes, *, at: float | None = None) -> RecorderDump:
    """A dump in either form.

    Args:
        raw: The file, or the answer of the debug server.
        at: Seconds since the epoch when it was made; now, where None.

    Raises:
        DumpInvalid: It is none.
    """
    made = time.time() if at is None else at
    try:
        told = json.loads(raw) if raw.lstrip()[:1] == b"{" else read_plain(raw)
    except PickleRefused as refused:
        raise DumpInvalid(str(refused)) from refused
    except (ValueError, RecursionError) as error:
        raise DumpInvalid("it is cut, or no JSON") from error
    if not isinstance(told, dict) or not isinstance(told.get("entries", []), list | tuple):
        raise DumpInvalid("it is no dump of a flight recorder")
    if "version" not in told and "entries" not in told:
        raise DumpInvalid("it is no dump of a flight recorder")
    rows = [row for row in told.get("entries", ())[-MOST_ENTRIES:] if isinstance(row, dict)]
    rows.sort(key=lambda row: _whole(row.get("record_id")) or 0)
    told_status = told.get("pg_status")
    status = {_text(name): row for name, row in told_status.items()} if isinstance(told_status, dict) else {}
    groups = _groups(told.get("pg_config"))
    first = _whole(rows[0].get("record_id")) if rows else None
    return RecorderDump(
        _text(told.get("version")),
        tuple(_collective(row, status, groups, made) for row in rows),
        first or 0,
        made,
    )


def _collective(
    row: Mapping[str, Any], status: Mapping[Any, Any], groups: Mapping[str, tuple[int, ...]], made: float
) -> Collective:
    backend, colon, op = _text(row.get("profiling_name")).rpartition(":")
    pair = row.get("process_group")
    name, description = (
        (_text(pair[0]), _text(pair[1])) if isinstance(pair, list | tuple) and len(pair) > 1 else (_text(pair), "")
    )
    peer_to_peer = row.get("is_p2p") is True
    seq = _whole(row.get("p2p_seq_id" if peer_to_peer else "collective_seq_id")) or 0
    created, time_out = _whole(row.get("time_created_ns")), _whole(row.get("timeout_ms"))
    dtypes = row.get("input_dtypes") or row.get("output_dtypes")
    return Collective(
        seq,
        op if colon else _text(row.get("profiling_name")),
        _shapes(row.get("input_sizes")),
        _text(dtypes[0]).lower() if isinstance(dtypes, list | tuple) and dtypes else "",
        _state(row, status, backend, seq, peer_to_peer),
        _group_name(name, description),
        _frames(row.get("frames")),
        group_ranks=groups.get(name, ()),
        output_sizes=_shapes(row.get("output_sizes")),
        point_to_point=peer_to_peer,
        age=max(0.0, made - created / 1e9) if created else None,
        time_out=time_out / 1e3 if time_out else None,
    )


def _state(row: Mapping[str, Any], status: Mapping[Any, Any], backend: str, seq: int, peer_to_peer: bool) -> str:
    state = row.get("state")
    told = state if state in _STATES else "scheduled"
    if told == "completed":
        return told
    # gloo never moves an entry on: it retires it when the work is done. NCCL retires what it gave up, too.
    if backend == "gloo" and row.get("retired") is True:
        return "completed"
    group = status.get(_text(row.get("pg_id")))
    if isinstance(group, dict) and not peer_to_peer:
        done = _whole(group.get("last_completed_collective"))
        if done is not None and 0 < seq <= done:
            return "completed"
    return told


def _group_name(name: str, description: str) -> str:
    if not description or description in ("undefined", name):
        return name
    return f"{name} ({description})"


def _groups(config: object) -> dict[str, tuple[int, ...]]:
    """Global ranks by the name of the group. gloo writes all groups under an empty name, which tells nothing."""
    found: dict[str, tuple[int, ...]] = {}
    if not isinstance(config, dict):
        return found
    for name, row in config.items():
        if not isinstance(row, dict) or not name:
            continue
        ranks = row.get("ranks")
        text = ranks.strip("[] ") if isinstance(ranks, str) else ""
        if isinstance(ranks, list | tuple):
            found[_text(name)] = tuple(rank for rank in map(_whole, ranks) if rank is not None)
        elif text:
            try:
                found[_text(name)] = unfold(text)
            except RankListInvalid:
                continue
    return found


def _frames(rows: object) -> tuple[RankFrame, ...]:
    """Outermost first; the recorder writes the innermost first."""
    if not isinstance(rows, list | tuple):
        return ()
    frames = [row for row in rows[:_MOST_FRAMES] if isinstance(row, dict)]
    return tuple(
        RankFrame(
            _text(row.get("name")), _text(row.get("filename")), _whole(row.get("line")) or 0, language="python"
        )
        for row in reversed(frames)
    )


def _shapes(rows: object) -> tuple[tuple[int, ...], ...]:
    if not isinstance(rows, list | tuple):
        return ()
    return tuple(
        tuple(size for size in map(_whole, row[:_MOST_SHAPES]) if size is not None)
        for row in rows[:_MOST_SHAPES]
        if isinstance(row, list | tuple)
    )


def _text(value: object) -> str:
    return (
        clean_line(value[:_LONGEST])
        if isinstance(value, str)
        else ""
        if value is None
        else clean_line(str(value)[:80])
    )


def _whole(value: object) -> int | None:
    """A number, which newer versions of the JSON form write as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and len(value) < 20 and value.lstrip("-").isdecimal() and value.isascii():
        value = int(value)
    return value if isinstance(value, int) and abs(value) < _LARGEST_NUMBER else None


def last_of(collectives: Sequence[Collective]) -> Collective | None:
    """The last one that is not done, else the last one at all."""
    waiting = [each for each in collectives if each.state != "completed"]
    return waiting[0] if waiting else collectives[-1] if collectives else None

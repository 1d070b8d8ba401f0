"""Where two runs of PyTorch part by their collectives: dumps of their flight recorders, rank by rank."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import Collective
from ladder_backends.ranks.recorder.dump import DumpInvalid, RecorderDump, read_dump
from ladder_backends.ranks.recorder.plain_pickle import MOST_BYTES
from ladder_backends.text import clean_line

_RANK = re.compile(r"(\d{1,7})(?:\.[A-Za-z]+)?$")
_MOST_FILES = 100_000


class DumpsUnreadable(LadderError):
    """A folder or prefix without dumps of flight recorders."""


@dataclass(frozen=True, slots=True)
class CollectiveDivergence:
    """The first collective of a group in which a rank of one run differs from that of the other.

    Attributes:
        group: Name of the process group.
        seq: Number among its collectives.
        left, right: As each recorded it; None where it never came to that one.
        why: A clause.
    """

    group: str
    seq: int
    rank: int
    left: Collective | None
    right: Collective | None
    why: str


@dataclass(frozen=True, slots=True)
class CollectiveComparison:
    """What comparing the dumps of two runs told.

    Attributes:
        compared: Pairs of collectives.
        divergences: The first of each rank and group; the lowest number first, then the lowest rank.
        unseen: What could not be compared, each a clause.
    """

    compared: int
    divergences: tuple[CollectiveDivergence, ...]
    unseen: tuple[str, ...] = ()

    @property
    def first(self) -> CollectiveDivergence | None:
        """The earliest."""
        return self.divergences[0] if self.divergences else None


def read_dumps(path: Path) -> tuple[dict[int, RecorderDump], tuple[str, ...]]:
    """Dumps by rank, of a folder, or of files that begin with a prefix; and what could not be read, each with why.

    The rank is the number with which a file's name ends: `trace_rank_3`, `fr-3.json`.

    Raises:
        DumpsUnreadable: There are none.
    """
    folder, prefix = (path, "") if path.is_dir() else (path.parent, path.name)
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(prefix))[:_MOST_FILES]
    except OSError as error:
        raise DumpsUnreadable(f"{clean_line(str(path))} cannot be read", error.strerror or "") from None
    found: dict[int, RecorderDump] = {}
    faults: list[str] = []
    for name in names:
        match = _RANK.search(name)
        file = folder / name
        if match is None or not file.is_file():
            continue
        try:
            with open(file, "rb") as raw:
                found[int(match[1])] = read_dump(raw.read(MOST_BYTES + 1), at=file.stat().st_mtime)
        except (OSError, DumpInvalid) as error:
            faults.append(f"{clean_line(name)}: {error}")
    if not found:
        why = "; ".join(faults[:3]) or "no file is a dump whose name ends in its rank"
        raise DumpsUnreadable(f"no flight recorder has left a dump in {clean_line(str(path))}", why)
    return found, tuple(faults)


def compare_dumps(left: Mapping[int, RecorderDump], right: Mapping[int, RecorderDump]) -> CollectiveComparison:
    """Compare two runs, rank by rank and group by group."""
    unseen = [f"rank {rank} has a dump of the second run only" for rank in sorted(right.keys() - left.keys())]
    unseen += [f"rank {rank} has a dump of the first run only" for rank in sorted(left.keys() - right.keys())]
    compared = 0
    found: list[CollectiveDivergence] = []
    for rank in sorted(left.keys() & right.keys()):
        mine, theirs = _by_group(left[rank].collectives), _by_group(right[rank].collectives)
        for group in dict.fromkeys((*mine, *theirs)):
            count, divergence = _group(rank, group, mine.get(group, {}), theirs.get(group, {}))
            compared += count
            if divergence is not None:
                found.append(divergence)
            elif not count:
                unseen.append(f"rank {rank}, group {group or 'default'}: no collective that both have kept")
    found.sort(key=lambda each: (each.seq, each.rank))
    return CollectiveComparison(compared, tuple(found), tuple(unseen))


def _by_group(collectives: Sequence[Collective]) -> dict[str, dict[int, Collective]]:
    groups: dict[str, dict[int, Collective]] = {}
    for each in collectives:
        if not each.point_to_point:
            groups.setdefault(each.group, {})[each.seq] = each
    return groups


def _group(
    rank: int, group: str, mine: Mapping[int, Collective], theirs: Mapping[int, Collective]
) -> tuple[int, CollectiveDivergence | None]:
    if not mine or not theirs:
        seq = min(mine or theirs, default=0)
        why = f"{'the second' if mine else 'the first'} run has no collective of this group"
        return 0, CollectiveDivergence(group, seq, rank, mine.get(seq), theirs.get(seq), why)
    # What one has overwritten already cannot be compared.
    start = max(min(mine), min(theirs))
    count = 0
    for seq in range(start, max(max(mine), max(theirs)) + 1):
        one, two = mine.get(seq), theirs.get(seq)
        if one is None and two is None:
            continue
        why = difference(one, two)
        count += one is not None and two is not None
        if why:
            return count, CollectiveDivergence(group, seq, rank, one, two, why)
    return count, None


def difference(one: Collective | None, two: Collective | None) -> str:
    """How a collective differs between two runs, a clause; empty where it does not."""
    if one is None or two is None:
        return f"{'the first' if one is None else 'the second'} run never came to it"
    if one.op != two.op:
        return f"{one.op} beside {two.op}"
    if one.dtype != two.dtype:
        return f"{one.op} of {one.dtype} beside {two.dtype}"
    if (one.sizes, one.output_sizes) != (two.sizes, two.output_sizes):
        return f"{one.op} of {_shapes(one.sizes)} beside {_shapes(two.sizes)}"
    if (one.state == "completed") != (two.state == "completed"):
        return f"{one.op} is {one.state} beside {two.state}"
    return ""


def _shapes(shapes: Sequence[Sequence[int]]) -> str:
    return " ".join("x".join(str(each) for each in shape) or "scalar" for shape in shapes) or "nothing"

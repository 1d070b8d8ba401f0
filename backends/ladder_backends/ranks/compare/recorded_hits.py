"""Hits that were recorded of a run: which, of what type, and their bytes when they are asked for."""

from __future__ import annotations

import array
import json
import math
import os
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.text import clean_line

_FILE = re.compile(r"(\d{1,9})\.hits")
_LARGEST_LINE = 1 << 16
_FLOATS = {4: "f", 8: "d"}
_WHOLES = {1: "b", 2: "h", 4: "i", 8: "q"}
_LONG_DOUBLE = 16


class RunUnreadable(LadderError):
    """A folder in which no run was recorded."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """What the bytes of a hit are.

    Attributes:
        code: `f`, `i`, `u`; `s` for what is no number.
        size: Bytes of an element.
    """

    code: str
    size: int
    count: int
    name: str = ""

    def numbers(self, raw: bytes) -> Sequence[float] | None:
        """The elements; None where they are no numbers that are known."""
        if self.code == "f" and self.size in _FLOATS:
            return array.array(_FLOATS[self.size], raw)
        if self.code == "f" and self.size == _LONG_DOUBLE:
            return [_long_double(raw[at : at + 10]) for at in range(0, len(raw), _LONG_DOUBLE)]
        if self.code in ("i", "u") and self.size in _WHOLES:
            letter = _WHOLES[self.size]
            return array.array(letter.upper() if self.code == "u" else letter, raw)
        return None


@dataclass(frozen=True, slots=True)
class Hit:
    """One time that a rank came to a place.

    Attributes:
        digest: Hash of its bytes; empty where they could not be read.
        at: Where its bytes lie, or -1 where they were not kept.
        error: Why they could not be read.
    """

    digest: str
    at: int = -1
    size: int = 0
    type: ValueType | None = None
    error: str = ""


@dataclass(slots=True)
class RankHits:
    """What one rank recorded.

    Attributes:
        hits: By number of the probe, in the order of coming.
        ending: How it ended, few words; empty where that is not known.
        well: It ended by itself, with status 0.
        cut: Its last line is cut.
        live: It ran before and after it was recorded: its hits are counted from there.
    """

    rank: int
    folder: Path
    hits: dict[int, list[Hit]] = field(default_factory=dict)
    probes: dict[tuple[str, str], int] = field(default_factory=dict)
    ending: str = ""
    well: bool = False
    cut: bool = False
    live: bool = False

    def of(self, place: str, expression: str) -> list[Hit]:
        """Hits of a probe, by what it was set to."""
        number = self.probes.get((place, expression))
        return self.hits.get(number, []) if number is not None else []

    def bytes_of(self, hit: Hit) -> bytes | None:
        """The bytes of a hit; None where they were not kept."""
        if hit.at < 0:
            return None
        try:
            with open(self.folder / f"{self.rank}.values", "rb") as file:
                raw = os.pread(file.fileno(), hit.size, hit.at)
        except OSError:
            return None
        return raw if len(raw) == hit.size else None


def read_run(folder: Path) -> dict[int, RankHits]:
    """All ranks of a recorded run.

    Raises:
        RunUnreadable: Nothing was recorded there.
    """
    try:
        names = os.listdir(folder)
    except OSError as error:
        shown = clean_line(str(folder))
        raise RunUnreadable(f"{shown} cannot be read", error.strerror or "") from None
    ranks = sorted(int(match[1]) for name in names if (match := _FILE.fullmatch(name)))
    if not ranks:
        shown = clean_line(str(folder))
        raise RunUnreadable(
            f"no rank has recorded anything in {shown}", "", "is the program started by its launcher?"
        )
    return {rank: _read_rank(folder, rank) for rank in ranks}


def _read_rank(folder: Path, rank: int) -> RankHits:
    found = RankHits(rank, folder)
    types: dict[int, ValueType] = {}
    for document in _documents(folder / f"{rank}.hits", found):
        number = document.get("probe", document.get("p"))
        if "probe" in document and isinstance(number, int):
            found.probes[str(document.get("place")), str(document.get("expression"))] = number
        elif isinstance(number, int) and isinstance(told := document.get("t"), dict):
            types[number] = ValueType(
                str(told.get("code"))[:1],
                _whole(told.get("size")),
                _whole(told.get("count")),
                clean_line(str(told.get("name", "")))[:80],
            )
        elif isinstance(number, int) and "x" in document:
            found.hits.setdefault(number, []).append(Hit("", error=clean_line(str(document["x"]))))
        elif isinstance(number, int) and isinstance(digest := document.get("h"), str):
            at = document.get("o")
            hit = Hit(digest, at if isinstance(at, int) else -1, _whole(document.get("n")), types.get(number))
            found.hits.setdefault(number, []).append(hit)
        elif "end" in document:
            found.ending = f"exit status {_whole(document['end'])}"
            found.well = document["end"] == 0
        elif "signal" in document:
            where = clean_line(str(document.get("at", "")))
            found.ending = f"{clean_line(str(document['signal']))}{f' in {where}' if where else ''}"
        elif "live" in document:
            found.live = found.well = True
        elif "failed" in document:
            found.ending = f"not started: {clean_line(str(document['failed']))}"
    return found


def _documents(path: Path, found: RankHits) -> Iterator[dict[str, object]]:
    with open(path, encoding="utf-8", errors="replace") as file:
        while line := file.readline(_LARGEST_LINE):
            try:
                document = json.loads(line)
            except ValueError:
                found.cut = True
                continue
            if isinstance(document, dict):
                yield document


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _long_double(raw: bytes) -> float:
    """An x87 number of 80 bits."""
    if len(raw) < 10:
        return math.nan
    mantissa, top = struct.unpack("<QH", raw)
    exponent = top & 0x7FFF
    sign = -1.0 if top & 0x8000 else 1.0
    if exponent == 0x7FFF:
        return sign * math.inf if mantissa << 1 & (1 << 64) - 1 == 0 else math.nan
    try:
        return sign * math.ldexp(mantissa, exponent - 16383 - 63)
    except OverflowError:
        return sign * math.inf

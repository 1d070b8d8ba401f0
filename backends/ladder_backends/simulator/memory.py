"""Memory that is known by what it is filled with, not byte by byte: 256 MiB cost as much as eight bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ladder_backends.gpu_calls.tally import Expected, Tally
from ladder_backends.gpu_calls.words import WORD, Purpose, Stuff
from ladder_backends.simulator.machine import Fault

ONES = Stuff(mode=2)
NOISE = Stuff(purpose=0x11, source=77)
"""Words that nobody wrote."""


class Run(NamedTuple):
    """A stretch of bytes; the byte at `start` is that of `stuff` at place `origin`."""

    start: int
    stop: int
    stuff: Stuff
    origin: int

    def cut(self, start: int, stop: int) -> Run | None:
        """The part of it between two places."""
        begin, end = max(self.start, start), min(self.stop, stop)
        return Run(begin, end, self.stuff, self.origin + begin - self.start) if begin < end else None

    def moved(self, by: int) -> Run:
        """The same bytes at another place."""
        return Run(self.start + by, self.stop + by, self.stuff, self.origin)


Runs = list[Run]


def part(runs: Iterable[Run], start: int, stop: int) -> Runs:
    """The runs between two places."""
    return [cut for run in runs if (cut := run.cut(start, stop))]


def written(runs: Runs, new: Runs) -> Runs:
    """Memory after other runs were written over it."""
    for piece in new:
        runs = sorted(
            [*part(runs, 0, piece.start), piece, *part(runs, piece.stop, 1 << 62)], key=lambda run: run.start
        )
    return runs


def compared(runs: Runs, expected: Expected, size: int) -> Tally:
    """What a check finds; stretches of one kind are counted, not visited."""
    counts = dict.fromkeys(("old", "zeros", "ones", "earlier", "foreign", "other"), 0)
    first, last, sample, bad, outside = -1, -1, 0, 0, 0
    data = Run(expected.start, expected.stop, expected.data, expected.start + expected.shift)
    wanted = [
        one
        for one in (
            Run(0, expected.start, expected.around, 0),
            data,
            Run(expected.stop, size, expected.around, expected.stop),
        )
        if one.start < one.stop
    ]
    for want in wanted:
        for run in part(runs, want.start, want.stop):
            same = want.cut(run.start, run.stop)
            if same is None or _alike(run, same):
                continue
            words = (run.stop + WORD - 1) // WORD - run.start // WORD
            if want is not data:
                outside += words
            else:
                bad += words
                counts[_kind(run, expected)] += words
            if first < 0 or run.start < first:
                first = run.start - run.start % WORD
            last = max(last, (run.stop - 1) // WORD * WORD)
            if not sample and (want is not data or _kind(run, expected) in ("foreign", "other")):
                sample = run.stuff.word(run.origin // WORD)
    words = (expected.stop + WORD - 1) // WORD - expected.start // WORD
    return Tally(words, min(bad, words), **counts, outside=outside, first=first, last=last, sample=sample)


def _alike(one: Run, other: Run) -> bool:
    return one.stuff == other.stuff and (one.origin == other.origin or one.stuff.mode in (1, 2))


def _kind(run: Run, expected: Expected) -> str:
    stuff, data = run.stuff, expected.data
    if stuff == expected.around:
        return "old"
    if stuff.mode == 1:
        return "zeros"
    if stuff.mode == 2:
        return "ones"
    if stuff.mode == 0 and stuff.purpose in tuple(Purpose):
        same = (stuff.purpose, stuff.source, stuff.target) == (data.purpose, data.source, data.target)
        return "earlier" if same and stuff.epoch != data.epoch else "foreign"
    return "other"


def spoiled(fault: Fault, runs: Runs, old: Runs) -> Runs:
    """The runs that arrive in place of others; empty where the fault leaves them alone."""
    start = runs[0].start if runs else 0
    stop = max((run.stop for run in runs), default=0)
    if fault.kind == "drop":
        return old
    if fault.kind == "corrupt":
        middle = (start + stop) // 2 // 8 * 8
        return written(runs, [Run(middle, min(stop, middle + 64), NOISE, 0)])
    if fault.kind == "partial":
        lost = part(old, start + fault.start, stop if fault.stop is None else min(stop, start + fault.stop))
        return written(runs, lost)
    return []

"""Several looks at the same ranks: who stands where they stood, and who moves.

A rank that waits in a spinning progress engine is found in another function at each look, and has not moved:
looks are compared after they were cut. Standing in the same place twice is no proof of a hang; moving once is one
that there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ladder_backends.model.ranks import RankStack, Unreachable
from ladder_backends.ranks.stacks.classes import Frames, StackClass
from ladder_backends.ranks.stacks.cutting import cut_frames
from ladder_backends.ranks.stacks.labels import FrameKey, Granularity, frame_key
from ladder_backends.ranks.stacks.tree import StackTree

MOST_SAMPLES = 32
"""Looks that are kept; of more, the first and the newest."""


class Course(StrEnum):
    """What a rank did between the looks."""

    STUCK = "same place"
    MOVES = "moves"
    UNKNOWN = "one look"


@dataclass(slots=True)
class Sample:
    """One look.

    Attributes:
        at: Seconds since the epoch.
        stacks: Of every thread that was read, not cut.
        unreachable: Ranks that did not answer.
    """

    at: float
    stacks: tuple[RankStack, ...]
    unreachable: tuple[Unreachable, ...] = ()


Place = tuple[FrameKey, ...]


class Samples:
    """Looks in the order of time."""

    def __init__(self, granularity: Granularity = Granularity.LINE) -> None:
        self.granularity = granularity
        self.looks: list[Sample] = []
        self._places: list[dict[tuple[int, int], Place]] = []

    def add(self, at: float, stacks: Iterable[RankStack], unreachable: Iterable[Unreachable] = ()) -> None:
        """Take one look."""
        sample = Sample(at, tuple(stacks), tuple(unreachable))
        known: dict[int, Place] = {}
        places: dict[tuple[int, int], Place] = {}
        for stack in sample.stacks:
            place = known.get(id(stack.frames))
            if place is None:
                place = known[id(stack.frames)] = self._place(stack.frames)
            places[stack.rank, stack.thread] = place
        if len(self.looks) >= MOST_SAMPLES:
            del self.looks[1], self._places[1]
        self.looks.append(sample)
        self._places.append(places)

    def _place(self, frames: Frames) -> Place:
        return tuple(frame_key(frame, self.granularity) for frame in cut_frames(frames))

    def __len__(self) -> int:
        return len(self.looks)

    @property
    def last(self) -> Sample | None:
        """The newest look, or None."""
        return self.looks[-1] if self.looks else None

    @property
    def span(self) -> float:
        """Seconds from the first look to the newest."""
        return self.looks[-1].at - self.looks[0].at if self.looks else 0.0

    def course(self, rank: int, thread: int | None = None) -> Course:
        """What a rank did: one of whose threads has moved moves; one that was seen once only is unknown.

        Args:
            rank: Which.
            thread: Only this thread of it.
        """
        seen: dict[int, set[Place]] = {}
        often: dict[int, int] = {}
        for places in self._places:
            for (number, each), place in places.items():
                if number == rank and (thread is None or each == thread):
                    seen.setdefault(each, set()).add(place)
                    often[each] = often.get(each, 0) + 1
        return _course(seen.values(), often.values())

    def courses(self, threads: dict[int, int] | None = None) -> dict[int, Course]:
        """The same of every rank at once.

        Args:
            threads: The one thread of each rank that counts, where that is known.
        """
        seen: dict[int, dict[int, set[Place]]] = {}
        often: dict[int, dict[int, int]] = {}
        for places in self._places:
            for (rank, thread), place in places.items():
                if threads is not None and threads.get(rank, thread) != thread:
                    continue
                seen.setdefault(rank, {}).setdefault(thread, set()).add(place)
                times = often.setdefault(rank, {})
                times[thread] = times.get(thread, 0) + 1
        return {rank: _course(each.values(), often[rank].values()) for rank, each in seen.items()}

    def tree(self, *, cut: bool = True) -> StackTree:
        """All looks as one tree: with each look a rank has one more stack, and one that moves is in two places."""
        from ladder_backends.ranks.stacks.classes import intern_stacks, regroup

        every = [stack for sample in self.looks for stack in sample.stacks]
        silent = self.last.unreachable if self.last is not None else ()
        heard = {stack.rank for stack in every}
        classes = regroup(intern_stacks(every), self.granularity, cut_frames if cut else None)
        return StackTree(classes, (one for one in silent if one.rank not in heard), self.granularity)

    def classes(self) -> list[tuple[tuple[Frames, ...], StackClass]]:
        """Threads that went the same way over all looks: the frames at each look (cut), and who they are.

        A thread that was not seen at every look is left out.
        """
        if not self.looks:
            return []
        frames: dict[Place, Frames] = {}
        for sample in self.looks:
            for stack in sample.stacks:
                short = cut_frames(stack.frames)
                frames.setdefault(tuple(frame_key(frame, self.granularity) for frame in short), short)
        found: dict[tuple[Place, ...], StackClass] = {}
        for (rank, thread), first in self._places[0].items():
            ways = [places.get((rank, thread)) for places in self._places]
            way = tuple(place for place in ways if place is not None)
            if len(way) < len(ways):
                continue
            one = found.get(way)
            if one is None:
                one = found[way] = StackClass(frames[first], thread=thread)
            one.ranks.append(rank)
        ordered = sorted(found.items(), key=lambda each: (len(set(each[1].ranks)), min(each[1].ranks)))
        return [(tuple(frames[place] for place in way), one) for way, one in ordered]


def _course(seen: Iterable[set[Place]], often: Iterable[int]) -> Course:
    places: Sequence[set[Place]] = list(seen)
    if any(len(one) > 1 for one in places):
        return Course.MOVES
    return Course.STUCK if any(count > 1 for count in often) else Course.UNKNOWN

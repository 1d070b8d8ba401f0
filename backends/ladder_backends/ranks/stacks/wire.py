"""Stacks as a node's agent sends them: each frame once, each different stack once, and who stands in it.

The form, version 1: `{"frames": [[function, file, line, module, language, offset, entry], ...],
"stacks": [[index of a frame, ...], ...],
"threads": [[index of a stack, "0-2,4", threads of each, rank, thread], ...],
"unreachable": [["5", reason, remedy], ...]}`.

What a frame has at its end that is as in most frames (native, no offset, an entry) is left out. Frames go outermost
first; the last two numbers name the thread that stands for the others. Ten thousand ranks in
two hundred classes are some tens of kB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import RankFrame, RankStack, Unreachable
from ladder_backends.ranks.claims import MOST_RANKS
from ladder_backends.ranks.rank_list import fold, unfold
from ladder_backends.ranks.stacks.classes import Frames, StackClass, intern_stacks
from ladder_backends.text import clean_line

MOST_FRAMES = 1 << 20
MOST_STACKS = 1 << 18
MOST_THREADS = 1 << 20
_DEEPEST = 10_000
_LONGEST = 2_000
_USUAL = ("", 0, "", "native", -1, True)
"""What the end of a frame's row is taken for where it is left out, from its file on."""


class WireInvalid(LadderError):
    """What came from a node is not in the form of stacks."""

    def __init__(self, why: str) -> None:
        super().__init__("the stacks of a node cannot be read", why, "use the same release on all nodes")


def to_wire(
    stacks: Iterable[RankStack] | list[StackClass], unreachable: Iterable[Unreachable] = ()
) -> dict[str, Any]:
    """Stacks, or classes of them, in the form to send."""
    every = list(stacks)
    classes: list[StackClass] = (
        [one for one in every if isinstance(one, StackClass)]
        if every and isinstance(every[0], StackClass)
        else intern_stacks(one for one in every if isinstance(one, RankStack))
    )
    places: dict[RankFrame, int] = {}
    written: list[list[int]] = []
    threads: list[list[Any]] = []
    for index, one in enumerate(classes):
        written.append([places.setdefault(frame, len(places)) for frame in one.frames])
        often = Counter(one.ranks)
        for times in sorted(set(often.values())):
            some = [rank for rank, count in often.items() if count == times]
            named = (one.representative, one.thread) if one.representative in some else (some[0], 0)
            threads.append([index, fold(some), times, *named])
    frames = [_row(frame) for frame in places]
    grouped: dict[tuple[str, str], list[int]] = {}
    for each in unreachable:
        grouped.setdefault((each.reason, each.remedy), []).append(each.rank)
    silent = [[fold(ranks), *words] for words, ranks in grouped.items()]
    return {"frames": frames, "stacks": written, "threads": threads, "unreachable": silent}


class StackPool:
    """Frames and stacks of many nodes, each once: what one has told costs little when the next tells it too."""

    def __init__(self) -> None:
        self._places: dict[tuple[Any, ...], int] = {}
        self._frames: list[RankFrame] = []
        self._stacks: dict[tuple[int, ...], Frames] = {}

    def place(self, row: list[Any]) -> int:
        """Where the frame of a row stands in the pool."""
        try:
            key = tuple(row)
            place = self._places.get(key)
        except TypeError:
            raise WireInvalid("a frame is of texts and numbers") from None
        if place is None:
            frame = _frame(row)
            if len(self._frames) >= MOST_FRAMES:
                raise WireInvalid(f"more than {MOST_FRAMES:,} frames")
            place = self._places[key] = len(self._frames)
            self._frames.append(frame)
        return place

    def stack(self, row: list[Any], places: list[int]) -> Frames:
        """The stack of a row whose numbers are of the frames that a node told; equal ones are the same object."""
        if len(row) > _DEEPEST:
            raise WireInvalid(f"a stack of more than {_DEEPEST:,} frames")
        if row and (set(map(type, row)) != {int} or min(row) < 0 or max(row) >= len(places)):
            raise WireInvalid("a stack names a frame that is not told")
        key = tuple(map(places.__getitem__, row))
        found = self._stacks.get(key)
        if found is None:
            frames = self._frames
            found = self._stacks[key] = tuple([frames[place] for place in key])
        return found


def from_wire(told: object, pool: StackPool | None = None) -> tuple[list[StackClass], tuple[Unreachable, ...]]:
    """Classes and silent ranks out of what a node sent; nothing of it is believed unlooked at.

    Args:
        told: The document.
        pool: That of the job, where several nodes tell of it.

    Raises:
        WireInvalid: It is not in the form, or beyond its bounds.
    """
    if not isinstance(told, dict):
        raise WireInvalid("it is no object")
    pool = pool or StackPool()
    places = [pool.place(row) for row in _rows(told, "frames", MOST_FRAMES)]
    classes = [StackClass(pool.stack(row, places)) for row in _rows(told, "stacks", MOST_STACKS)]
    count = 0
    for row in _rows(told, "threads", MOST_THREADS):
        index, times = _number(row, 0), _number(row, 2)
        if times == 1 and len(row) > 4 and type(row[3]) is int and row[1] == str(row[3]) and row[3] < MOST_RANKS:
            # One thread of one rank, as most rows are where all stacks differ: nothing is to be unfolded.
            if not 0 <= index < len(classes) or row[3] < 0:
                raise WireInvalid("a thread stands in no stack")
            one = classes[index]
            if not one.ranks:
                one.thread = _number(row, 4)
            one.ranks.append(row[3])
            count += 1
            if count > MOST_THREADS:
                raise WireInvalid("no threads, or too many")
            continue
        if not 0 <= index < len(classes) or not 0 < times <= MOST_THREADS:
            raise WireInvalid("a thread stands in no stack")
        ranks = _ranks(row, 1)
        count += len(ranks) * times
        if not ranks or count > MOST_THREADS:
            raise WireInvalid("no threads, or too many")
        one = classes[index]
        first = _number(row, 3)
        if not one.ranks and first in ranks:
            # The thread that stands for the class is its first.
            one.thread = _number(row, 4)
            ranks = (first, *(rank for rank in ranks if rank != first))
        one.ranks.extend(ranks if times == 1 else [rank for rank in ranks for _ in range(times)])
    silent: list[Unreachable] = []
    for row in _rows(told, "unreachable", MOST_THREADS):
        silent += [Unreachable(rank, _text(row, 1), _text(row, 2)) for rank in _ranks(row, 0)]
    return [one for one in classes if one.ranks], tuple(silent)


def stacks_from_wire(
    told: object, pids: Mapping[int, int], pool: StackPool | None = None
) -> tuple[tuple[RankStack, ...], tuple[Unreachable, ...]]:
    """The same, thread by thread, of ranks whose processes are known; others' are left out.

    Args:
        told: The document. Rows of main threads go by themselves: where the thread that stands for a row is its
            rank's process, all are.
        pids: Process id of each rank.
        pool: That of the job.

    Raises:
        WireInvalid: It is not in the form, or beyond its bounds.
    """
    from_wire(told, pool)
    assert isinstance(told, dict)
    pool = pool or StackPool()
    places = [pool.place(row) for row in told.get("frames", [])]
    frames = [pool.stack(row, places) for row in told.get("stacks", [])]
    found: list[RankStack] = []
    unnamed = 0
    for row in told.get("threads", []):
        first, thread = _number(row, 3), _number(row, 4)
        main = pids.get(first) == thread
        for rank in _ranks(row, 1):
            if rank not in pids:
                continue
            for _ in range(_number(row, 2)):
                # A thread that was not named by the node still is one of its own.
                unnamed -= 1
                own = pids[rank] if main else thread if rank == first else unnamed
                found.append(RankStack(rank, own, "", frames[row[0]]))
    silent = [
        Unreachable(rank, _text(row, 1), _text(row, 2))
        for row in told.get("unreachable", [])
        for rank in _ranks(row, 0)
    ]
    return tuple(found), tuple(each for each in silent if each.rank in pids)


def join_classes(nodes: Iterable[list[StackClass]]) -> list[StackClass]:
    """The classes of many nodes as those of one job: equal stacks are one class, at once where a pool made them."""
    found: dict[Frames, StackClass] = {}
    same: dict[int, StackClass] = {}
    for classes in nodes:
        for one in classes:
            known = same.get(id(one.frames))
            if known is None:
                known = found.get(one.frames)
                if known is None:
                    known = found[one.frames] = StackClass(one.frames, [], one.thread)
                if known.frames is one.frames:
                    # Held by the class: its address stays its own.
                    same[id(one.frames)] = known
            known.ranks += one.ranks
    return list(found.values())


def _rows(told: dict[Any, Any], name: str, most: int) -> Iterator[list[Any]]:
    rows = told.get(name, [])
    if not isinstance(rows, list) or len(rows) > most:
        raise WireInvalid(f"{name} are no list, or more than {most:,}")
    for row in rows:
        if not isinstance(row, list):
            raise WireInvalid(f"one of {name} is no list")
        yield row


def _row(frame: RankFrame) -> list[Any]:
    row = [frame.function, frame.file, frame.line, frame.module, frame.language, frame.offset, frame.entry]
    for usual in reversed(_USUAL):
        if row[-1] != usual:
            break
        row.pop()
    return row


def _frame(row: list[Any]) -> RankFrame:
    language = "python" if len(row) > 4 and row[4] == "python" else "native"
    line = max(0, _number(row, 2))
    return RankFrame(
        _text(row, 0) or "??", _text(row, 1), line, _text(row, 3), language, _number(row, 5, -1), _entry(row)
    )


def _entry(row: list[Any]) -> bool:
    return not (len(row) > 6 and row[6] is False)


def _number(row: list[Any], at: int, absent: int = 0) -> int:
    value = row[at] if at < len(row) else absent
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 1 << 62:
        raise WireInvalid("a number is expected")
    return value


def _text(row: list[Any], at: int) -> str:
    value = row[at] if at < len(row) else ""
    if not isinstance(value, str):
        raise WireInvalid("a text is expected")
    return clean_line(value[:_LONGEST])


def _ranks(row: list[Any], at: int) -> tuple[int, ...]:
    value = row[at] if at < len(row) else ""
    if not isinstance(value, str):
        raise WireInvalid("a list of ranks is expected")
    try:
        return unfold(value)
    except LadderError as error:
        raise WireInvalid(error.line()) from error

"""Stacks that are the same, once each: the first step of every merge.

A hundred thousand stacks are a few hundred different ones. What is equal is found by comparing, not by hashing:
frames that a reader made once are the same objects, and tuples of them compare in a tenth of a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ladder_backends.model.ranks import RankFrame, RankStack
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.stacks.labels import FrameKey, Granularity, frame_key

Frames = tuple[RankFrame, ...]

_NOTHING = (0, "", 0)
_CROWDED = 12
"""Different stacks of one look from which on they are hashed, so that none of many is compared with all."""


@dataclass(slots=True)
class StackClass:
    """Threads whose stacks are the same.

    Attributes:
        frames: Outermost first.
        ranks: One for each thread, in the order met: a rank stands here once for each of its threads.
        thread: Kernel's id of the first thread, which stands for the others; 0 where it is not known.
        representative: Its rank.
    """

    frames: Frames
    ranks: list[int] = field(default_factory=list)
    thread: int = 0

    @property
    def representative(self) -> int:
        """The rank of the first thread."""
        return self.ranks[0]

    @property
    def stacks(self) -> int:
        """How many threads."""
        return len(self.ranks)

    @property
    def listed(self) -> str:
        """The ranks as a compressed list."""
        return fold(self.ranks)


def intern_stacks(stacks: Iterable[RankStack]) -> list[StackClass]:
    """Classes of identical stacks, in the order of their first ones."""
    found: list[StackClass] = []
    same: dict[int, StackClass] = {}
    looks: dict[tuple[int, str, int], list[StackClass] | dict[Frames, StackClass]] = {}
    # What is looked up by its address must not be freed meanwhile, and its address used again.
    held: list[Frames] = []
    for stack in stacks:
        frames = stack.frames
        known = same.get(id(frames))
        if known is None:
            # Looked up here, not in a function of its own: a hundred thousand calls are a fifth of the whole.
            look = (len(frames), frames[-1].function, frames[len(frames) >> 1].line) if frames else _NOTHING
            alike = looks.get(look)
            if alike is None:
                alike = looks[look] = []
            if isinstance(alike, dict):
                known = alike.get(frames)
            else:
                for one in alike:
                    if one.frames == frames:
                        known = one
                        break
            if known is None:
                known = StackClass(frames, thread=stack.thread)
                found.append(known)
                if isinstance(alike, dict):
                    alike[frames] = known
                else:
                    alike.append(known)
                    if len(alike) > _CROWDED:
                        looks[look] = {each.frames: each for each in alike}
            same[id(frames)] = known
            held.append(frames)
        known.ranks.append(stack.rank)
    return found


def regroup(
    classes: Sequence[StackClass], granularity: Granularity, change: Callable[[Frames], Frames] | None = None
) -> list[StackClass]:
    """Classes again, after frames were left out and where two frames count as one by what they are told apart by.

    Args:
        classes: Of identical stacks.
        granularity: What makes two frames the same.
        change: What becomes of the frames of each, as `cut_frames`.
    """
    made: dict[tuple[FrameKey, ...], StackClass] = {}
    keys: dict[int, FrameKey] = {}
    for one in classes:
        frames = change(one.frames) if change is not None else one.frames
        key = tuple([_key(frame, granularity, keys) for frame in frames])
        known = made.get(key)
        if known is None:
            made[key] = StackClass(frames, list(one.ranks), one.thread)
        else:
            known.ranks += one.ranks
    return list(made.values())


def _key(frame: RankFrame, granularity: Granularity, keys: dict[int, FrameKey]) -> FrameKey:
    # The frames are held by their classes: an address stands for one of them as long as this lasts.
    key = keys.get(id(frame))
    if key is None:
        key = keys[id(frame)] = frame_key(frame, granularity)
    return key


def classes_of(
    stacks: Iterable[RankStack],
    granularity: Granularity = Granularity.LINE,
    change: Callable[[Frames], Frames] | None = None,
) -> list[StackClass]:
    """Classes of stacks, the one with the fewest ranks first."""
    classes = regroup(intern_stacks(stacks), granularity, change)
    return sorted(classes, key=lambda one: (len(set(one.ranks)), min(one.ranks)))

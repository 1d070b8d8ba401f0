"""Cuts stacks at the communication boundary."""

from __future__ import annotations

from dataclasses import replace

from ladder_backends.model.ranks import RankFrame, RankStack
from ladder_backends.ranks.stacks.boundaries import boundary_of, is_plumbing


def cut_frames(frames: tuple[RankFrame, ...]) -> tuple[RankFrame, ...]:
    """The frames down to the outermost one at a boundary, without those that say nothing.

    Args:
        frames: Outermost first.

    Returns:
        At least one frame where there was one; the same object where nothing was cut.
    """
    kept: list[RankFrame] = []
    for frame in frames:
        if is_plumbing(frame):
            continue
        kept.append(frame)
        if boundary_of(frame) is not None:
            break
    if not kept:
        return frames[-1:]
    return frames if len(kept) == len(frames) else tuple(kept)


def cut_stack(stack: RankStack) -> RankStack:
    """The same of a whole stack."""
    frames = cut_frames(stack.frames)
    return stack if frames is stack.frames else replace(stack, frames=frames)

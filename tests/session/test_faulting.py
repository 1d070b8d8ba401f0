"""Which frame of a lane is shown, and whose values may be of another one's registers."""

from __future__ import annotations

import pytest

from ladder_backends.model.frame import Frame, FrameKind, Place
from ladder_backends.session.faulting import first_with_source, reuses_registers


def frame(level: int, function: str, line: int | None, kind: FrameKind = FrameKind.DEVICE) -> Frame:
    return Frame(level, function, Place("k.cu", line) if line is not None else None, kind=kind)


ASSERT = (frame(0, "__assert_fail", None), frame(1, "gather", 9), frame(2, "main", 26, FrameKind.NATIVE))
CALLS = (frame(0, "inner", 3), frame(1, "gather", 9))


@pytest.mark.parametrize(
    ("frames", "level"),
    [(ASSERT, 1), (CALLS, 0), ((frame(0, "k", None),), 0), ((frame(0, "k", None), ASSERT[2]), 0), ((), 0)],
)
def test_the_innermost_frame_with_source(frames: tuple[Frame, ...], level: int) -> None:
    assert first_with_source(frames) == level


@pytest.mark.parametrize(
    ("frames", "level", "callee"),
    [(ASSERT, 1, "__assert_fail"), (ASSERT, 0, ""), (ASSERT, 2, ""), (CALLS, 1, ""), ((), 1, "")],
)
def test_whose_registers_its_values_may_be(frames: tuple[Frame, ...], level: int, callee: str) -> None:
    assert reuses_registers(frames, level) == callee

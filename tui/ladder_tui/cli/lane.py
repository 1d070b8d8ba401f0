"""Reach a lane of a dump: by cuda-gdb, or by a recording where there is no cuda-gdb."""

from __future__ import annotations

import asyncio

from ladder_backends.case import Opened
from ladder_backends.errors import TargetInvalid
from ladder_backends.model.focus import Focus
from ladder_backends.session.jump import JumpOutcome, jump_dump


def reach(opened: Opened, asked: Focus) -> JumpOutcome:
    """Stand in the lane; an empty focus stays where the dump itself points.

    Raises:
        TargetInvalid: There is no dump.
        EngineMissing: There is neither a cuda-gdb nor a recording.
    """
    if opened.dump is None:
        raise TargetInvalid(f"there is no lane in {opened.title}", "none of the files is a GPU core dump")
    return asyncio.run(jump_dump(opened.dump, opened.executable, asked))

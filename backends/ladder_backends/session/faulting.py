"""Which frame of a lane is shown at a stop: that with source, where the innermost has none."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from ladder_backends.debugger.contract import Debugger
from ladder_backends.errors import EngineError
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.frame import Frame, FrameKind
from ladder_backends.model.stop_reasons import API_FAILURE

_LOOKED_AT = 32


async def level_with_source(debugger: Debugger, stop: TargetStopped) -> int:
    """The innermost frame that has source; 0 for a stop that is shown where it is.

    It is looked for in a lane, as below `__assert_fail`, and where a call of the GPU's driver failed: that stops
    deep in the driver, and its record may tell no frame.
    """
    frame = stop.frame
    in_driver = stop.reason == API_FAILURE
    if not stop.fault or (frame is not None and frame.place is not None):
        return 0
    if not in_driver and (frame is None or frame.kind is not FrameKind.DEVICE):
        return 0
    try:
        window = await debugger.frames(0, _LOOKED_AT)
    except EngineError:
        return 0
    if not in_driver:
        return first_with_source(window.frames)
    level = next((one.level for one in window.frames if one.place is not None), 0)
    if level:
        # So that the engine's own command line stands there too.
        with contextlib.suppress(EngineError):
            await debugger.select_frame(level)
    return level


def reuses_registers(frames: Sequence[Frame], level: int) -> str:
    """The function without line information that a lane's frame has called, which may have written its registers.

    The engine cannot tell what such a function has saved: it reads the values of its callers from registers that
    hold others by now.
    """
    lane = [one for one in frames if one.kind is FrameKind.DEVICE and one.level <= level]
    if len(lane) < 2 or lane[-1].level != level or lane[-1].place is None:
        return ""
    return next((one.function for one in lane[:-1] if one.place is None and one.function), "")


def first_with_source(frames: Sequence[Frame]) -> int:
    """The level of the innermost frame of a lane that has source; 0 where none has, or it is no lane's stack."""
    lane = (one for one in frames if one.kind is FrameKind.DEVICE)
    return next((one.level for one in lane if one.place is not None), 0)

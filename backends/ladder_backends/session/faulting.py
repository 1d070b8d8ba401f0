"""Which frame of a lane is shown at a stop: that with source, where the innermost has none."""

from __future__ import annotations

from ladder_backends.debugger.contract import Debugger
from ladder_backends.errors import EngineError
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.frame import FrameKind

_LOOKED_AT = 16


async def level_with_source(debugger: Debugger, stop: TargetStopped) -> int:
    """The innermost frame of a lane that has source, as below `__assert_fail`; 0 for any other stop."""
    frame = stop.frame
    if not stop.fault or frame is None or frame.kind is not FrameKind.DEVICE or frame.place is not None:
        return 0
    try:
        window = await debugger.frames(0, _LOOKED_AT)
    except EngineError:
        return 0
    lane = (one for one in window.frames if one.kind is FrameKind.DEVICE)
    return next((one.level for one in lane if one.place is not None), 0)

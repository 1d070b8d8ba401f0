"""What frames are: inlined ones, handlers, those of libraries, the program's own."""

from __future__ import annotations

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import TargetStopped
from ladder_backends.session.own_frames import SIGNAL_HANDLER, is_library, own_frame


async def test_inlined_frames_handlers_and_libraries_are_told_apart(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("handled")))
    await watched.debugger.cli("handle SIGUSR1 nostop noprint")
    await watched.debugger.set_breakpoint(BreakpointIntent(1, "handler"))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    window = await watched.debugger.frames(0, 30)
    functions = [frame.function for frame in window.frames]
    assert functions[:2] == ["handler", SIGNAL_HANDLER]
    assert functions[-6:] == ["ask", "nest", "nest", "nest", "nest", "main"]
    assert [frame.function for frame in window.frames if frame.inlined and not is_library(frame)] == ["ask"]
    assert [frame.function for frame in window.frames if not is_library(frame)] == [
        "handler",
        "ask",
        *["nest"] * 4,
        "main",
    ]
    own = own_frame(window.frames[1:])
    assert own is not None
    assert own.function == "ask"

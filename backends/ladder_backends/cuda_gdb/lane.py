"""What a lane sees, in the words of its source, and why it sees nothing where it does not."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ladder_backends.cuda_gdb.tool_chain import build_words, tool_chain_of
from ladder_backends.cuda_gdb.type_names import plain_type
from ladder_backends.errors import EngineError
from ladder_backends.images import DebugInformation, DumpKernel, GpuDump
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable, VariableWindow

_UNREADABLE_STRING = re.compile(r" <error: Cannot access memory at address 0x[0-9a-f]+>$")


class Lane:
    """Rewrites an engine's answers about a lane.

    Attributes:
        dump: What the dump's file tells of its kernels; None on a device.
        program: Path of the host's program, or an empty string.
        storage: Types tell where a value lies and where a pointer points to: `@register int`.
    """

    def __init__(self, provenance: Provenance) -> None:
        self._provenance = provenance
        self.dump: GpuDump | None = None
        self.program = ""
        self.storage = False

    async def variables(
        self, window: VariableWindow, focus: Focus | None, frames: Callable[[int, int], Awaitable[FrameWindow]]
    ) -> VariableWindow:
        """Arguments and locals; without any, why: whose the code is tells the frame, which is asked for then."""
        if window.variables:
            return replace(window, variables=tuple(self.variable(each) for each in window.variables))
        try:
            frame = next(iter((await frames(window.frame_level, 1)).frames), None)
        except EngineError:
            frame = None
        return replace(window, note=window.note or self.build(focus, frame)[1] or "no variables in this frame")

    def variable(self, variable: Variable) -> Variable:
        """One value."""
        return replace(
            variable,
            type=variable.type if self.storage else plain_type(variable.type),
            value=_UNREADABLE_STRING.sub("", variable.value),
            provenance=self._provenance,
        )

    def registers(self, focus: Focus | None) -> int:
        """Registers of each thread of the focused kernel, as the dump tells; 0 where it does not."""
        kernel = self._kernel(focus)
        return kernel.registers if kernel is not None else 0

    def _kernel(self, focus: Focus | None) -> DumpKernel | None:
        grid = focus.index("grid") if focus else None
        return next((kernel for kernel in (self.dump.kernels if self.dump else ()) if kernel.grid == grid), None)

    def build(self, focus: Focus | None, frame: Frame | None) -> tuple[DebugInformation | None, str]:
        """What the focused kernel was compiled with, as the dump tells, and how to have it tell more."""
        kernel = self._kernel(focus)
        debug = kernel.debug if kernel is not None else None
        place = frame.place if frame is not None else None
        symbol = (kernel.symbol if kernel is not None else "") or (frame.function if frame is not None else "")
        source = (place.fullname or place.file) if place is not None else ""
        chain = tool_chain_of(symbol, source, self.program)
        return debug, build_words(chain, debug, lines=place is not None)

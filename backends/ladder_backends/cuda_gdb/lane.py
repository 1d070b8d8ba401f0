"""What a lane sees, in the words of its source, and why it sees nothing where it does not."""

from __future__ import annotations

import re
from dataclasses import replace

from ladder_backends.cuda_gdb.type_names import plain_type
from ladder_backends.images import DebugInformation, DumpKernel, GpuDump
from ladder_backends.model.focus import Focus
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable, VariableWindow

_UNREADABLE_STRING = re.compile(r" <error: Cannot access memory at address 0x[0-9a-f]+>$")


class Lane:
    """Rewrites an engine's answers about a lane.

    Attributes:
        dump: What the dump's file tells of its kernels; None on a device.
    """

    def __init__(self, provenance: Provenance) -> None:
        self._provenance = provenance
        self.dump: GpuDump | None = None

    def variables(self, window: VariableWindow, focus: Focus | None) -> VariableWindow:
        """Arguments and locals, or a note where the kernel was built without them."""
        if not window.variables:
            return replace(window, note=window.note or self._why_none(focus))
        return replace(window, variables=tuple(self.variable(each) for each in window.variables))

    def variable(self, variable: Variable) -> Variable:
        """One value."""
        return replace(
            variable,
            type=plain_type(variable.type),
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

    def _why_none(self, focus: Focus | None) -> str:
        kernel = self._kernel(focus)
        debug = kernel.debug if kernel is not None else None
        if debug is DebugInformation.FULL:
            return "no variables in this frame"
        if debug is DebugInformation.NONE:
            return "compiled without line information: no source, no locals; rebuild with -lineinfo or -G"
        if debug is DebugInformation.LINES:
            return "compiled with -lineinfo only: no locals; rebuild with -G"
        return "no locals: compiled with -lineinfo only, or without; rebuild with -G"

"""Launches of kernels: dimensions from the table of kernels, the rest from the engine's variables of a lane."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence

from ladder_backends.cuda_gdb.exceptions import exception_in
from ladder_backends.cuda_gdb.lane import Lane
from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.debugger.facets.kernel_launches import KernelLaunches
from ladder_backends.errors import CommandFailed, EngineError, NotRecorded
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import number_of, place_of, rows_of, text_of, variable_of
from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.model.grid import Kernel
from ladder_backends.model.kernel_launch import KernelLaunch, LaneException
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable
from ladder_backends.text import clean_line

_COUNTER = re.compile(r"(0x[0-9a-f]+)(?: (<.+>))?\Z")
_MOST_FRAMES = 63


class CudaKernelLaunches(KernelLaunches):
    """Asks all at once; what an engine or a recording does not tell stays unknown."""

    def __init__(
        self,
        engine: Engine,
        standing: Standing,
        lane: Lane,
        kernels: Callable[[], Awaitable[Sequence[Kernel]]],
        frames: Callable[[int, int], Awaitable[FrameWindow]],
        provenance: Provenance,
    ) -> None:
        self._engine, self._standing, self._lane = engine, standing, lane
        self._kernels, self._frames, self._provenance = kernels, frames, provenance

    async def describe(self) -> KernelLaunch | None:
        """All that is told."""
        focus = self._standing.focus
        kernels = await self._kernels()
        number = focus.index("kernel") if focus is not None else None
        kernel = next((one for one in kernels if one.number == number), None)
        if kernel is None:
            return None
        arguments, shared, dynamic, registers, counter, frame = await asyncio.gather(
            self._arguments(),
            self._number("$cuda_shared_memory_size"),
            self._number("$dynamic_smem_size"),
            self._number("$cuda_num_registers_allocated"),
            self._error_counter(),
            self._frame(),
        )
        debug, build = self._lane.build(focus, frame)
        place, exception = await asyncio.gather(self._line(counter[0]), self._exception())
        return KernelLaunch(
            kernel,
            arguments or tuple(Variable(name, value, is_argument=True) for name, value in kernel.arguments),
            shared,
            dynamic,
            self._lane.registers(focus) or registers,
            *counter,
            place,
            exception,
            debug.value if debug is not None else "",
            build,
            self._provenance,
        )

    async def error_counter(self) -> str:
        """The register `errorpc`."""
        return (await self._error_counter())[0]

    async def _error_counter(self) -> tuple[str, str]:
        found = _COUNTER.match(clean_line(await self._value("$errorpc")))
        return (found[1], found[2] or "") if found is not None and int(found[1], 16) else ("", "")

    async def _value(self, expression: str) -> str:
        try:
            answer = await self._engine.command(f"-data-evaluate-expression {mi_string(expression)}")
        except (CommandFailed, NotRecorded):
            return ""
        return text_of(answer.results.get("value"))

    async def _number(self, expression: str) -> int | None:
        return number_of(await self._value(expression))

    async def _frame(self) -> Frame | None:
        try:
            window = await self._frames(0, 1)
        except EngineError:
            return None
        return window.frames[0] if window.frames else None

    async def _arguments(self) -> tuple[Variable, ...]:
        """Those of the outermost frame: the kernel's own."""
        try:
            answer = await self._engine.command(f"-stack-list-arguments --simple-values 0 {_MOST_FRAMES}")
        except (CommandFailed, NotRecorded):
            return ()
        rows = list(rows_of(answer.results.get("stack-args")))
        told = rows[-1].get("args") if rows else None
        return tuple(self._lane.variable(variable_of(row)) for row in rows_of(told))

    async def _line(self, address: str) -> Place | None:
        if not address:
            return None
        try:
            answer = await self._engine.command(f"-data-disassemble -s {address} -e {int(address, 16) + 1:#x} -- 4")
        except (CommandFailed, NotRecorded):
            return None
        for row in rows_of(answer.results.get("asm_insns")):
            line = row.get("src_and_asm_line")
            return place_of(line if isinstance(line, dict) else row)
        return None

    async def _exception(self) -> LaneException | None:
        """What the table of lanes tells of the focused one."""
        try:
            answer = await self._engine.command("-cuda-info-lanes")
        except (CommandFailed, NotRecorded):
            return None
        for table in answer.results.values():
            body = table.get("body") if isinstance(table, dict) else None
            for row in rows_of(body):
                if text_of(row.get("current")) == "*":
                    return exception_in(clean_line(text_of(row.get("exception"))))
        return None

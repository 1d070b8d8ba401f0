"""Breakpoints of ours for one lane: set at a stop in its kernel, gone with their hit.

The engine evaluates the condition for each warp that comes by: of a small grid in milliseconds, of two million
warps in minutes.
"""

from __future__ import annotations

import contextlib
from collections.abc import MutableMapping

from ladder_backends.cuda_gdb.kernel_breakpoints import whole_condition
from ladder_backends.debugger.facets import LaneRuns
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.breakpoint_rows import row_in
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import text_of
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.focus import Dim3
from ladder_backends.model.frame import file_name

SET_DEADLINE = 30.0
"""Seconds for a place to be found."""

_WORDS = "lane reached"


class CudaLaneRuns(LaneRuns):
    """`-break-insert -t -c "blockIdx.x == 3 && ..." file:line`, in no list.

    Args:
        engine: Who is asked.
        own_stops: Where the reader of events looks for breakpoints of ours.
    """

    def __init__(self, engine: Engine, own_stops: MutableMapping[str, str]) -> None:
        self._engine, self._own_stops = engine, own_stops
        self._number = ""

    @property
    def waiting(self) -> bool:
        """It is set, and was not hit."""
        return self._number in self._own_stops

    async def wait_at(self, location: str, block: Dim3 | None, thread: Dim3 | None) -> None:
        """Set it in the place of the last one."""
        await self.drop()
        try:
            number = await self._insert(location, block, thread)
        except CommandFailed:
            # A kernel's source is known by the name that its compiler was given, which need not be the full one.
            short = file_name(location)
            if short == location or location.startswith("*"):
                raise
            number = await self._insert(short, block, thread)
        self._number = number
        self._own_stops[number] = _WORDS

    async def _insert(self, location: str, block: Dim3 | None, thread: Dim3 | None) -> str:
        condition = whole_condition(BreakpointIntent(0, location, block=block, lane=thread))
        options = f" -c {mi_string(condition)}" if condition else ""
        command = f"-break-insert -t{options} {mi_string(location)}"
        answer = await self._engine.command(command, deadline=SET_DEADLINE)
        row = row_in(answer.results)
        number = text_of(row.get("number")) if row is not None else ""
        if not number:
            # A condition that it does not understand is refused with an answer that names no breakpoint.
            raise CommandFailed(command, f"the engine set no breakpoint at {location}")
        return number

    async def drop(self) -> None:
        """Delete it where it is left."""
        number, self._number = self._number, ""
        if self._own_stops.pop(number, None) is not None:
            with contextlib.suppress(CommandFailed):
                await self._engine.command(f"-break-delete {number}")

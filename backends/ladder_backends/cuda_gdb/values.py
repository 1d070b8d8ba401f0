"""Values as a lane sees them: through variable objects, since many a cuda-gdb is built without Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from ladder_backends.debugger.facets.values import Form, Look, Wanted
from ladder_backends.gdb.variable_objects import VariableObjects
from ladder_backends.model.variable import ChildWindow, Variable

if TYPE_CHECKING:
    from ladder_backends.cuda_gdb.lane import Lane
    from ladder_backends.cuda_gdb.threads import LaneEngine


class CudaValues(VariableObjects):
    """Variable objects with types in the words of the source."""

    def __init__(self, engine: LaneEngine, lane: Lane, in_lane: Callable[[int], bool]) -> None:
        super().__init__(engine)
        self._lane_engine, self._lane, self._in_lane = engine, lane, in_lane

    @property
    def storage(self) -> bool:
        """Types tell where a value lies and where a pointer points to."""
        return self._lane.storage

    @storage.setter
    def storage(self, shown: bool) -> None:
        self._lane.storage = shown

    async def read(self, wanted: Sequence[Wanted], frame_level: int, *, calls: bool = False) -> Sequence[Variable]:
        """The values, one after the other."""
        async with self._at(frame_level):
            return [self._lane.variable(each) for each in await super().read(wanted, frame_level, calls=calls)]

    async def children(
        self,
        expression: str,
        frame_level: int,
        start: int,
        count: int,
        form: str = Form.NATURAL,
        look: Look = Look.MEMBERS,
    ) -> ChildWindow:
        """A window of children."""
        async with self._at(frame_level):
            window = await super().children(expression, frame_level, start, count, form, look)
        return replace(window, children=tuple(self._lane.variable(each) for each in window.children))

    async def whole(self, expression: str, frame_level: int, form: str, most: int) -> tuple[str, bool]:
        """All of a value."""
        async with self._at(frame_level):
            return await super().whole(expression, frame_level, form, most)

    def _at(self, frame_level: int) -> AbstractAsyncContextManager[None]:
        """Questions about a frame of the host may take the focus off the lane: it is returned to."""
        return nullcontext() if self._in_lane(frame_level) else self._lane_engine.keeping_lane()

"""Breakpoints in kernels: what the engine takes only once a kernel's module is loaded waits for that.

Before, a condition that speaks of `blockIdx` or `threadIdx` is refused (`No symbol "threadIdx" in current
context.`, with `^done` and no breakpoint in it), and a plain breakpoint is bound to the host's stub of the kernel,
switched off. So the place is set without the condition, switched off, and both are said at the first stop in a
kernel.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ladder_backends.cuda_gdb.grid import GridQuestions
from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.errors import CommandFailed, EngineError
from ladder_backends.gdb.breakpoint_setting import BreakpointSetting, Told
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import rows_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent, BreakpointKind
from ladder_backends.model.events import BreakpointsChanged, EngineNotice, Event
from ladder_backends.model.focus import Dim3
from ladder_backends.model.grid import LANES, volume
from ladder_backends.text import clean_line

WAITS = "waits for the kernel's module"
"""Of a breakpoint whose place or condition is known only once a kernel was launched."""

MANY_WARPS = 200_000
"""Warps from which on a condition on lanes is told to be slow: some tens of thousands pass in a second."""

_DEVICE_WORDS = re.compile(r"\b(?:blockIdx|threadIdx|blockDim|gridDim|clusterIdx|clusterDim|warpSize)\b")
_NOT_YET = ("No symbol", "Focus not set", "not available", "No frame", "no frame")
_NO_WATCH = "cuda-gdb has no watchpoints on a device: break where the value is written, with a condition"
_AXES = "xyz"


def speaks_of_lanes(intent: BreakpointIntent) -> bool:
    """Whether only an engine that stands in a kernel understands the condition."""
    return intent.block is not None or intent.lane is not None or _DEVICE_WORDS.search(intent.condition) is not None


def whole_condition(intent: BreakpointIntent) -> str:
    """The condition with the block and thread that the breakpoint is for."""
    parts = [f"({intent.condition})"] if intent.condition else []
    if intent.block is None and intent.lane is None:
        return intent.condition
    for name, index in (("blockIdx", intent.block), ("threadIdx", intent.lane)):
        parts += _is(name, index) if index is not None else []
    return " && ".join(parts)


def _is(name: str, index: Dim3) -> list[str]:
    return [f"{name}.{axis} == {value}" for axis, value in zip(_AXES, index, strict=True)]


class KernelBreakpoints(BreakpointSetting):
    """Brings the engine's breakpoints in step with intents, those in kernels when it can.

    Attributes:
        waiting: Intents whose condition the engine could not take yet, by its number.
    """

    def __init__(
        self, engine: Engine, told: Told, emit: Callable[[Event], None], standing: Standing, grid: GridQuestions
    ) -> None:
        super().__init__(engine, told, emit)
        self._standing, self._grid = standing, grid
        self.waiting: dict[str, BreakpointIntent] = {}
        self._said: dict[str, tuple[str, BreakpointIntent]] = {}
        told.breakpoints.reword = self._reword
        told.breakpoints.gone = self._gone

    @property
    def waits_for_launch(self) -> bool:
        """A breakpoint that is switched on can be set only at a launch."""
        return any(intent.enabled for intent in self.waiting.values())

    async def _set_code(self, intent: BreakpointIntent) -> BreakpointBinding:
        if not speaks_of_lanes(intent):
            return await super()._set_code(intent)
        whole = whole_condition(intent)
        if self._standing.on_device:
            try:
                made = await super()._set_code(replace(intent, condition=whole, block=None, lane=None))
            except CommandFailed as refused:
                if not any(words in refused.what for words in _NOT_YET):
                    raise
            else:
                if made.number:
                    self._said[made.number] = whole, intent
                    await self._tell_cost(made.number)
                    return self._table.amend(made, intent)
        plain = replace(intent, condition="", block=None, lane=None, enabled=False)
        made = await super()._set_code(plain)
        if not made.number:
            return made
        self.waiting[made.number] = intent
        await self._reread(made.number)
        known = self._table.find(made.number) or made
        known = self._table.amend(known, intent)
        return replace(known, state=BindingState.PENDING, why=WAITS)

    async def _set_watch(self, intent: BreakpointIntent) -> BreakpointBinding:
        if self._standing.on_device:
            return BreakpointBinding(intent, BindingState.UNSUPPORTED, why=_NO_WATCH)
        return await super()._set_watch(intent)

    async def kernel_stands(self) -> bool:
        """The engine stands in a kernel: say what could not be said before; returns whether anything was."""
        said = False
        for number, intent in tuple(self.waiting.items()):
            whole = whole_condition(intent)
            try:
                await self._engine.command(f"-break-condition {number} {mi_string(whole)}")
                if intent.enabled:
                    await self._engine.command(f"-break-enable {number}")
            except CommandFailed as refused:
                if any(words in refused.what for words in _NOT_YET):
                    # Its module is another one.
                    continue
                del self.waiting[number]
                why = clean_line(refused.what.rstrip("."))
                self._emit(EngineNotice(f"breakpoint {number}: the condition was refused: {why}", "error"))
                continue
            del self.waiting[number]
            self._said[number] = whole, intent
            await self._reread(number)
            await self._tell_cost(number)
            said = True
        if said:
            self._emit(BreakpointsChanged(self._table.bindings))
        return said

    async def _tell_cost(self, number: str) -> None:
        """The engine looks at the condition for each warp that comes by: tell, where these are many."""
        with contextlib.suppress(EngineError):
            here = self._standing.focus.index("kernel") if self._standing.focus is not None else None
            kernel = next((one for one in await self._grid.kernels() if one.number == here), None)
            warps = volume(kernel.grid_dim) * -(-volume(kernel.block_dim) // LANES) if kernel is not None else 0
            if warps > MANY_WARPS:
                text = f"breakpoint {number}: the engine looks at each of {warps:,} warps that come by"
                self._emit(EngineNotice(f"{text}, which may take minutes; Ctrl-C ends it", "information"))

    async def change(self, binding: BreakpointBinding, intent: BreakpointIntent) -> BreakpointBinding:
        """Make a breakpoint what an intent says; one for lanes is made anew."""
        number = binding.number
        if not number or intent.kind is not BreakpointKind.CODE:
            return await super().change(binding, intent)
        if not (number in self.waiting or number in self._said or speaks_of_lanes(intent)):
            return await super().change(binding, intent)
        made = await self.set(intent)
        if made.state is not BindingState.FAILED:
            for old in self._table.numbers(binding):
                await self._delete(old)
            self._emit(BreakpointsChanged(self._table.bindings))
        return made

    async def enable(self, binding: BreakpointBinding, enabled: bool) -> None:
        """Switch a breakpoint on or off; of one that waits only the wish changes."""
        waiting = self.waiting.get(binding.number)
        if waiting is None:
            await super().enable(binding, enabled)
            return
        self.waiting[binding.number] = replace(waiting, enabled=enabled)
        self._table.switch(binding.number, enabled)
        self._emit(BreakpointsChanged(self._table.bindings))

    async def _delete(self, number: str) -> bool:
        self._gone(number)
        return await super()._delete(number)

    def _gone(self, number: str) -> None:
        """It was deleted, here or in the command line: no launch is stopped at for it any more."""
        self.waiting.pop(number, None)
        self._said.pop(number, None)

    async def _reread(self, number: str) -> None:
        with contextlib.suppress(CommandFailed):
            row = await self._row(number)
            if row is not None:
                self._table.update(row)

    # -- rows

    def _reword(self, row: Mapping[str, Value]) -> Mapping[str, Value]:
        """A row as the user means it: with the wish that waits, without places in the host's stub of a kernel."""
        number = text_of(row.get("number"))
        row = _without_stubs(row)
        if number in self.waiting:
            intent = self.waiting[number]
            wish: dict[str, Value] = {"cond": intent.condition, "enabled": "y" if intent.enabled else "n"}
            return {**row, **wish, "addr": "<PENDING>"}
        if number in self._said and "cond" in row:
            whole, intent = self._said[number]
            if _same(row["cond"], whole):
                return {**row, "cond": intent.condition}
        return row


def _same(told: Value, asked: str) -> bool:
    return isinstance(told, str) and "".join(told.split()) == "".join(asked.split())


def _without_stubs(row: Mapping[str, Value]) -> Mapping[str, Value]:
    """Leave out the places where a kernel's launch is prepared on the host, which the engine has switched off."""
    rows = list(rows_of(row.get("locations")))
    if row.get("addr") != "<MULTIPLE>" or not rows or row.get("enabled") == "n":
        return row
    real: list[Value] = [dict(one) for one in rows if one.get("enabled") != "n"]
    if len(real) == len(rows):
        return row
    if not real or all(isinstance(one, dict) and one.get("addr") == "<PENDING>" for one in real):
        return {**row, "addr": "<PENDING>", "locations": []}
    return {**row, "locations": real}

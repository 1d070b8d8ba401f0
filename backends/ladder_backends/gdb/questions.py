"""What is asked about a stopped target: frames, variables, expressions, instructions.

Each question has a bound: a window, a number of rows, a printable length, a time.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from ladder_backends.beginning import begin
from ladder_backends.errors import CommandFailed, DeadlinePassed, NotRecorded
from ladder_backends.gdb.bounded import BoundedQuestions
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import (
    arguments_of,
    frame_of,
    instructions_of,
    rows_of,
    seen_inside,
    variable_of,
    with_value,
)
from ladder_backends.late_dataclass import dataclass
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.model.grid import Instruction
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.text import clean_line

VALUE_BUDGET = 1.0
"""Seconds that the aggregates of one frame may take together, before the engine's work on them is interrupted."""

_LOST_INTERRUPTIONS = 20
"""Interruptions of one evaluation without effect after which the engine is left to itself."""

_NOTHING_THERE = (
    "Not enough frames",
    "No stack",
    "No registers",
    "No frame",
    "No symbol table",
    "has terminated",
    "No thread selected",
)

_WHOLE_FUNCTION = 4_096
"""Bytes from a function's start up to which it is disassembled whole rather than from the program counter on."""


_TOO_LARGE = "more than max-value-size"
_SLICE = 100
"""Elements that are read of an array too large to be read whole."""

_TIMED_OUT = "timed out"
_INTERRUPTED = "Quit"
"""An engine's error for what was interrupted."""


@dataclass(frozen=True, slots=True)
class _Value:
    """What came back for a name: its text, all or part of it, or why there is none."""

    text: Value | None = None
    cut: bool = False
    error: str = ""


class Engine(Protocol):
    """Who is asked."""

    async def command(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord:
        """Send an MI command."""

    async def cli_text(self, text: str, *, deadline: float | None = 10.0) -> str:
        """Run a command of the engine's command line; what it printed."""

    def at_thread(self) -> str:
        """Options for the focused thread."""

    async def at_frame(self, level: int) -> str:
        """Options for a frame of the focus."""

    def print_limits(self) -> tuple[Sequence[str], Sequence[str]]:
        """Commands that put limits on printed values for a question of ours, and those that take them off again."""

    def without_calls(self) -> tuple[Sequence[str], Sequence[str]]:
        """Commands that forbid calls of the target's functions for a question of ours, and the way back."""

    def pending(self) -> Sequence[tuple[str, float]]:
        """Commands without an answer, oldest first: text and age in seconds."""

    @property
    def console_works(self) -> bool:
        """A command that a user typed is being worked on."""

    def interrupt_engine(self) -> None:
        """Interrupt the engine's own work."""


class Questions:
    """Asks an engine and turns the answers into the model.

    Args:
        engine: Who is asked.
        standing: Tells the function the target stands in. Aggregates that were there at the last stop in it are
            asked for together with the next one's variables. None: only those that are known to be there.
    """

    def __init__(self, engine: Engine, standing: Callable[[], str] | None = None) -> None:
        self._engine = engine
        self._bounded = BoundedQuestions(engine)
        self._standing = standing
        self._aggregates: tuple[tuple[str, str], list[str]] | None = None

    async def frames(self, start: int, count: int) -> FrameWindow:
        """Frames `start` to `start + count - 1`; one more is asked for to learn whether the stack goes on."""
        if count < 1:
            return FrameWindow((), start)
        try:
            answer = await self._engine.command(
                f"-stack-list-frames{self._engine.at_thread()} {start} {start + count}"
            )
        except CommandFailed as refused:
            if any(words in refused.what for words in _NOTHING_THERE):
                return FrameWindow((), start)
            raise
        frames: list[Frame] = []
        for offset, row in enumerate(rows_of(answer.results.get("stack"))):
            frame = frame_of(row, start + offset)
            if frame is not None:
                frames.append(frame)
        for index, (inner, outer) in enumerate(itertools.pairwise(frames)):
            # A function that calls itself has the same counter in many frames, but one name.
            if inner.address == outer.address and inner.address and inner.function != outer.function:
                frames[index] = replace(inner, inlined=True)
        return FrameWindow(tuple(frames[:count]), start, more=len(frames) > count)

    async def frames_with_arguments(self, start: int, count: int) -> FrameWindow:
        """Like `frames`, each with its arguments; those of aggregate type have no value."""
        ask = f"-stack-list-arguments{self._engine.at_thread()} --simple-values {start} {start + count - 1}"
        window, answer = await asyncio.gather(
            begin(self.frames(start, count)), begin(self._limited(ask)), return_exceptions=True
        )
        if isinstance(window, BaseException):
            raise window
        if isinstance(answer, BaseException):
            if not isinstance(answer, CommandFailed | NotRecorded):
                raise answer
            return window
        told = {row.get("level"): arguments_of(row) for row in rows_of(answer.results.get("stack-args"))}
        return replace(
            window,
            frames=tuple(replace(frame, arguments=told.get(str(frame.level), ())) for frame in window.frames),
        )

    async def variables(self, frame_level: int, limit: int) -> VariableWindow:
        """Arguments and locals: scalars in one answer, then the aggregates on screen within `VALUE_BUDGET`."""
        try:
            place = await self._engine.at_frame(frame_level)
            here = (self._standing(), place) if self._standing is not None else None
            known, self._aggregates = self._aggregates, None
            expected = known[1] if known is not None and known[0] == here else []
            answer, foretold = await self._variables_and(place, expected)
        except CommandFailed as refused:
            if any(words in refused.what for words in _NOTHING_THERE):
                return VariableWindow(frame_level=frame_level)
            raise
        rows = list(rows_of(answer.results.get("variables")))
        variables = [variable_of(row) for row in rows[:limit]]
        seen: set[str] = set()
        asked: list[int] = []
        for position, variable in enumerate(variables):
            # Of names that hide one another only the innermost can be named in an expression.
            if not variable.value and not variable.error and variable.name not in seen:
                asked.append(position)
            seen.add(variable.name)
        if asked:
            names = [variables[position].name for position in asked]
            values = foretold if names == expected and foretold else await self._values(names, place)
            for position, value in zip(asked, values, strict=True):
                variables[position] = _valued(variables[position], value)
            if here is not None and not any(value.cut or value.error for value in values):
                # Those that take long are waited for one after the other.
                self._aggregates = here, names
            await self._slice_large(variables, place)
        aggregates = set(asked)
        return VariableWindow(
            tuple(seen_inside(one, position in aggregates) for position, one in enumerate(variables)),
            frame_level,
            more=len(rows) > limit,
        )

    async def _variables_and(self, place: str, expected: Sequence[str]) -> tuple[ResultRecord, Sequence[_Value]]:
        """Variables, and in the same breath values that are expected to be among them; none where one is not."""
        if not expected:
            return await self._variables(place), ()
        answer, values = await asyncio.gather(
            begin(self._variables(place)), begin(self._values(expected, place)), return_exceptions=True
        )
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(values, BaseException):
            raise values
        return answer, () if any(value.error or value.cut for value in values) else values

    async def _variables(self, place: str) -> ResultRecord:
        """Names and types, values of scalars; of references only where they do not take too long."""
        try:
            return await self._limited(f"-stack-list-variables{place} --simple-values")
        except CommandFailed as refused:
            if refused.what != _INTERRUPTED:
                raise
            return await self._engine.command(f"-stack-list-variables{place} --no-values")

    async def _limited(self, text: str) -> ResultRecord:
        """A question that prints values: references to whatever they refer to, by anybody's printers."""
        return await self._bounded.ask(text, VALUE_BUDGET, *self._engine.print_limits())

    async def evaluate(self, expression: str, frame_level: int) -> Variable:
        """The value of an expression in a frame; errors are the engine's."""
        place = await self._engine.at_frame(frame_level)
        answer = await self._engine.command(f"-data-evaluate-expression{place} {mi_string(expression)}")
        return with_value(Variable(clean_line(expression), ""), answer.results.get("value"))

    async def disassemble(self, frame_level: int, count: int) -> Sequence[Instruction]:
        """Up to `count` instructions round the program counter, from the function's start where that is near."""
        place = await self._engine.at_frame(frame_level)
        ask = f"-data-disassemble{place}"
        first = instructions_of(
            (await self._engine.command(f'{ask} -s $pc -e "$pc + 1" -- 0')).results.get("asm_insns")
        )
        if first and first[0].function and first[0].offset <= _WHOLE_FUNCTION:
            try:
                answer = await self._engine.command(f"{ask} -a $pc -- 0")
            except CommandFailed:
                answer = await self._engine.command(f'{ask} -s $pc -e "$pc + {count * 8}" -- 0')
        else:
            answer = await self._engine.command(f'{ask} -s $pc -e "$pc + {count * 8}" -- 0')
        instructions = instructions_of(answer.results.get("asm_insns"))
        here = next(
            (index for index, each in enumerate(instructions) if first and each.address == first[0].address), 0
        )
        start = max(0, min(here - count // 3, len(instructions) - count))
        return instructions[start : start + count]

    async def _slice_large(self, variables: list[Variable], place: str) -> None:
        """Arrays beyond the engine's limit have no value as a whole: read their beginnings."""
        large = [
            position
            for position, variable in enumerate(variables)
            if _TOO_LARGE in variable.error and variable.type.endswith("]")
        ]
        starts = [f"{variables[position].name}[0]@{_SLICE}" for position in large]
        for position, value in zip(large, await self._values(starts, place) if starts else (), strict=True):
            if not value.error:
                whole = replace(variables[position], error="")
                variables[position] = replace(_valued(whole, value), cut=True)

    async def _values(self, names: Sequence[str], place: str) -> list[_Value]:
        """Each name's answer, or why there is none. All are asked at once; the engine takes them in order."""
        before, after = self._engine.print_limits()
        ask = [f"-data-evaluate-expression{place} {mi_string(name)}" for name in names]
        tasks = [begin(self._engine.command(text, deadline=None)) for text in (*before, *ask, *after)]
        try:
            _, late = await asyncio.wait(tasks, timeout=VALUE_BUDGET)
            interrupted: set[asyncio.Future[ResultRecord]] = set()
            lost = 0
            while late and lost < _LOST_INTERRUPTIONS:
                # One interruption ends one evaluation; those behind it get a moment of their own. Some
                # interruptions are lost in the engine's Python.
                self._engine.interrupt_engine()
                done, late = await asyncio.wait(late, timeout=0.3, return_when=asyncio.FIRST_COMPLETED)
                interrupted |= done
                lost = 0 if done else lost + 1
                if done and late:
                    _, late = await asyncio.wait(late, timeout=VALUE_BUDGET / 10)
        finally:
            for task in tasks:
                task.cancel()
        return [_outcome(task, task in interrupted) for task in tasks[len(before) : len(before) + len(ask)]]


def _outcome(task: asyncio.Future[ResultRecord], interrupted: bool) -> _Value:
    if not task.done() or task.cancelled():
        return _Value(error=_TIMED_OUT)
    error = task.exception()
    if error is None:
        value = task.result().results.get("value")
        # What an interrupted evaluation has printed so far is its answer, without a word about the rest.
        return _Value(value, cut=interrupted) if value or not interrupted else _Value(error=_TIMED_OUT)
    if isinstance(error, CommandFailed | DeadlinePassed):
        return _Value(error=_TIMED_OUT if interrupted else error.what)
    raise error


def _valued(variable: Variable, outcome: _Value) -> Variable:
    if outcome.error:
        return replace(variable, error=clean_line(outcome.error))
    valued = with_value(variable, outcome.text)
    return replace(valued, cut=True) if outcome.cut else valued

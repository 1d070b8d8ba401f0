"""Values as trees, through commands that are added to gdb: `inside/values.py` says which."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from ladder_backends.debugger.facets.values import CALLS, TIMED_OUT, Form, Look, Values, Wanted
from ladder_backends.errors import CommandFailed, NotRecorded
from ladder_backends.gdb.bounded import BoundedQuestions
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import number_of, rows_of, text_of, with_value
from ladder_backends.gdb.type_names import short_type
from ladder_backends.gdb.variable_objects import VariableObjects
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.model.variable import ChildWindow, Variable
from ladder_backends.text import clean_line

BUDGET = 1.0
"""Seconds that one question about values may take before the engine's work on it is interrupted."""

_INSIDE = Path(__file__).parent / "inside"
_LOADING = """
import sys, types
for name in ("one_value", "values"):
    path = {folder!r} + "/" + name + ".py"
    module = sys.modules["ladder_" + name] = types.ModuleType("ladder_" + name)
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
"""
"""Nothing of it is written beside the files, as an import would do."""

_NO_CALLS = "may-call-functions"
_MOST_CHILDREN = 1_000
_PYTHON_ERROR = "Error occurred in Python: "


class GdbValues(Values):
    """Asks gdb's own Python, and variable objects where gdb was built without it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._bounded = BoundedQuestions(engine)
        self._loading = asyncio.Lock()
        self._loaded = False
        self._instead: VariableObjects | None = None

    async def read(self, wanted: Sequence[Wanted], frame_level: int, *, calls: bool = False) -> Sequence[Variable]:
        """The values, in order."""
        if not wanted:
            return ()
        await self._load()
        if self._instead is not None:
            return await self._instead.read(wanted, frame_level, calls=calls)
        place = await self._engine.at_frame(frame_level)
        asked = " ".join(f"{one.form} {mi_string(one.expression)}" for one in wanted)
        answer = await self._ask(f"-ladder-values{place} {'calls' if calls else 'quiet'} {asked}")
        rows = [variable_of(row) for row in rows_of(answer.results.get("values"))]
        missing = [Variable(clean_line(one.expression), "", error=TIMED_OUT) for one in wanted[len(rows) :]]
        return [*rows, *missing]

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
        await self._load()
        start, count = max(0, start), max(1, min(count, _MOST_CHILDREN))
        if self._instead is not None:
            return await self._instead.children(expression, frame_level, start, count, form, look)
        place = await self._engine.at_frame(frame_level)
        answer = await self._ask(
            f"-ladder-children{place} {mi_string(expression)} {start} {count} {form} {look.value}"
        )
        told = answer.results
        rows = tuple(variable_of(row) for row in rows_of(told.get("children")))
        return ChildWindow(
            rows, start, told.get("more") == "1", number_of(told.get("total")), _reason(text_of(told.get("note")))
        )

    async def whole(self, expression: str, frame_level: int, form: str, most: int) -> tuple[str, bool]:
        """All of a value, up to `most` characters or elements."""
        await self._load()
        if self._instead is not None:
            return await self._instead.whole(expression, frame_level, form, most)
        place = await self._engine.at_frame(frame_level)
        answer = await self._ask(f"-ladder-text{place} {mi_string(expression)} {form} {most}")
        return text_of(answer.results.get("text")), answer.results.get("cut") == "1"

    async def assign(self, expression: str, frame_level: int, value: str) -> Variable:
        """Set a value."""
        place = await self._engine.at_frame(frame_level)
        # An assignment may run an operator of the program: that is what was asked for.
        command = f"-data-evaluate-expression{place} {mi_string(f'{expression} = {value}')}"
        await self._bounded.ask(command, BUDGET)
        return (await self.read([Wanted(expression)], frame_level))[0]

    async def _ask(self, command: str) -> ResultRecord:
        try:
            return await self._bounded.ask(command, BUDGET)
        except CommandFailed as refused:
            raise CommandFailed(refused.command, _reason(refused.what)) from refused

    async def _load(self) -> None:
        """Add the commands, once."""
        async with self._loading:
            if self._loaded:
                return
            source = f"exec({_LOADING.format(folder=str(_INSIDE))!r})"
            command = f"-interpreter-exec console {mi_string('python ' + source)}"
            # An interruption of something else may hit it once, and says nothing of this engine's Python.
            for _ in range(2):
                try:
                    await self._engine.command(command)
                except NotRecorded:
                    # Recorded on a machine where the file lay elsewhere.
                    break
                except CommandFailed:
                    continue
                break
            else:
                self._instead = VariableObjects(self._engine, self._bounded)
            self._loaded = True


def variable_of(row: Mapping[str, Value]) -> Variable:
    """A row of the commands' answers."""
    error = text_of(row.get("e"))
    variable = Variable(
        text_of(row.get("n")),
        "",
        short_type(text_of(row.get("t"))),
        path=text_of(row.get("p")),
        children=row.get("c") == "1",
        kind=text_of(row.get("k")),
        error=_reason(error),
    )
    return variable if error else with_value(variable, row.get("v"))


def _reason(error: str) -> str:
    """An engine's error in the words of the contract."""
    if _NO_CALLS in error:
        return CALLS
    error = error.removeprefix(_PYTHON_ERROR).rstrip(".")
    return TIMED_OUT if error in ("Quit", TIMED_OUT) else error

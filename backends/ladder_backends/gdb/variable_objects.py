"""Values as trees from an engine without Python: through MI's variable objects, each made, read and deleted.

An array is never made a variable object as a whole, which costs seconds for 100,000 elements: only the slice that
is asked for. Pretty-printers and forms beyond those of `-var-set-format` need Python, so there are none here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ladder_backends.debugger.facets.values import CALLS, Form, Look, Values, Wanted
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.bounded import BoundedQuestions
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import number_of, rows_of, text_of, with_value
from ladder_backends.gdb.type_names import short_type
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.model.variable import ChildWindow, Variable
from ladder_backends.text import clean_line

_BUDGET = 1.0
_FORMATS = {Form.HEX: "hexadecimal", Form.DECIMAL: "decimal", Form.BINARY: "binary", Form.OCTAL: "octal"}
_ARRAY = re.compile(r"[^(]*?\[(?P<length>\d+)\]")
_SECTIONS = ("public", "private", "protected")
_SIMPLE = re.compile(r"[A-Za-z_$][\w$]*((\.|->)[A-Za-z_]\w*|\[\d+\])*\Z")


class VariableObjects(Values):
    """Makes one variable object a question."""

    def __init__(self, engine: Engine, bounded: BoundedQuestions | None = None) -> None:
        self._engine = engine
        self._bounded = bounded or BoundedQuestions(engine)

    async def read(self, wanted: Sequence[Wanted], frame_level: int, *, calls: bool = False) -> Sequence[Variable]:
        """The values, one after the other."""
        place = await self._engine.at_frame(frame_level)
        reading = (self._read(one, place, calls) for one in wanted)
        answers = await asyncio.gather(*reading, return_exceptions=True)
        read: list[Variable] = []
        for one, answer in zip(wanted, answers, strict=True):
            if isinstance(answer, Variable):
                read.append(answer)
            elif isinstance(answer, CommandFailed):
                error = CALLS if "may-call-functions" in answer.what else clean_line(answer.what.rstrip("."))
                read.append(Variable(clean_line(one.expression), "", error=error))
            elif isinstance(answer, BaseException):
                raise answer
        return read

    async def _ask(
        self, text: str, calls: bool = False, around: tuple[Sequence[str], Sequence[str]] = ((), ())
    ) -> ResultRecord:
        """Ask, with what is to be set for the question alone sent in one piece with it."""
        before, after = ((), ()) if calls else self._engine.without_calls()
        return await self._bounded.ask(text, _BUDGET, (*around[0], *before), (*after, *around[1]))

    async def _read(self, wanted: Wanted, place: str, calls: bool) -> Variable:
        try:
            answer = await self._ask(f"-var-create{place} - * {mi_string(wanted.expression)}", calls)
        except CommandFailed as refused:
            if "unable to create" in refused.what:
                # Why not is told to who asks for the value alone.
                await self._ask(f"-data-evaluate-expression{place} {mi_string(wanted.expression)}", calls)
            raise
        name = text_of(answer.results.get("name"))
        try:
            results: Mapping[str, Value] = answer.results
            if wanted.form in _FORMATS:
                formatted = await self._engine.command(f"-var-set-format {name} {_FORMATS[Form(wanted.form)]}")
                results = {**results, **formatted.results}
            read = _variable(results, wanted.expression)
            # Of an aggregate the object has no value.
            if read.value in ("{...}", "") or (read.type.endswith("]") and not read.error):
                whole = f"-data-evaluate-expression{place} {mi_string(wanted.expression)}"
                read = with_value(replace(read, value=""), (await self._text(whole, calls)))
            return read
        finally:
            await self._engine.command(f"-var-delete {name}")

    async def _text(self, command: str, calls: bool) -> str:
        answer = await self._ask(command, calls, self._engine.print_limits())
        value = answer.results.get("value")
        return value if isinstance(value, str) else ""

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
        place = await self._engine.at_frame(frame_level)
        left = expression if _SIMPLE.match(expression) else f"({expression})"
        if look is Look.ELEMENTS:
            sliced = f"*({left}+{start})@{count}"
            return replace(await self._slice(sliced, left, place, start, form), more=False)
        answer = await self._ask(f"-var-create{place} - * {mi_string(expression)}")
        name = text_of(answer.results.get("name"))
        try:
            array = _ARRAY.match(text_of(answer.results.get("type")))
            if array is not None and int(array["length"]):
                total = int(array["length"])
                count = min(count, max(0, total - start))
                if not count:
                    return ChildWindow((), start, total=total)
                window = await self._slice(f"{left}[{start}]@{count}", left, place, start, form)
                return replace(window, more=start + count < total, total=total)
            children, more = await self._members(name, start, count, form)
            return ChildWindow(tuple(children), start, more)
        finally:
            await self._engine.command(f"-var-delete {name}")

    async def _slice(self, sliced: str, left: str, place: str, start: int, form: str) -> ChildWindow:
        answer = await self._ask(f"-var-create{place} - * {mi_string(sliced)}")
        name = text_of(answer.results.get("name"))
        try:
            if form in _FORMATS:
                await self._engine.command(f"-var-set-format {name} {_FORMATS[Form(form)]}")
            listed = await self._ask(f"-var-list-children --all-values {name}")
            children = tuple(
                replace(_variable(row, f"{left}[{start + number}]"), name=f"[{start + number}]")
                for number, row in enumerate(rows_of(listed.results.get("children")))
            )
            return ChildWindow(children, start)
        finally:
            await self._engine.command(f"-var-delete {name}")

    async def _members(self, name: str, start: int, count: int, form: str) -> tuple[list[Variable], bool]:
        listed = await self._ask(f"-var-list-children --all-values {name} {start} {start + count}")
        children: list[Variable] = []
        for row in rows_of(listed.results.get("children")):
            inner = text_of(row.get("name"))
            if row.get("exp") in _SECTIONS and not row.get("type"):
                children += (await self._members(inner, 0, count, form))[0]
                continue
            if form in _FORMATS:
                formatted = await self._engine.command(f"-var-set-format {inner} {_FORMATS[Form(form)]}")
                row = {**row, **formatted.results}
            path = text_of(
                (await self._engine.command(f"-var-info-path-expression {inner}")).results.get("path_expr")
            )
            children.append(replace(_variable(row, path), name=text_of(row.get("exp"))))
        return children, listed.results.get("has_more") == "1"

    async def whole(self, expression: str, frame_level: int, form: str, most: int) -> tuple[str, bool]:
        """All of a value, up to what the engine's limits let through."""
        place = await self._engine.at_frame(frame_level)
        before = (f"-gdb-set print elements {most}", "-gdb-set print repeats unlimited")
        after = ("-gdb-set print elements 200", "-gdb-set print repeats 10", *self._engine.print_limits()[1])
        ask = f"-data-evaluate-expression{place} {mi_string(expression)}"
        answer = await self._ask(ask, around=(before, after))
        text = text_of(answer.results.get("value"))
        return text[: 2 * most], len(text) > 2 * most

    async def assign(self, expression: str, frame_level: int, value: str) -> Variable:
        """Set a value."""
        place = await self._engine.at_frame(frame_level)
        text = mi_string(f"{expression} = {value}")
        await self._bounded.ask(f"-data-evaluate-expression{place} {text}", _BUDGET)
        return (await self.read([Wanted(expression)], frame_level))[0]


def _variable(row: Mapping[str, Value], path: str) -> Variable:
    children = (number_of(row.get("numchild")) or 0) > 0 or row.get("dynamic") == "1"
    variable = Variable(clean_line(path), "", short_type(text_of(row.get("type"))), path=path, children=children)
    return with_value(variable, row.get("value"))

"""gdb's side of Python frames: thread numbers, and CPython's own gdb script as a second source."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ladder_backends.debugger.facets.python_target import PythonTarget, ThreadNumbers
from ladder_backends.errors import CommandFailed, DeadlinePassed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import rows_of, text_of

if TYPE_CHECKING:
    from ladder_backends.gdb.event_reader import EventReader

_NUMBERS = re.compile(r"(?:Thread (?P<pthread>0x[0-9a-f]+) )?\(?LWP (?P<lwp>\d+)\)?")
_PROCESS = re.compile(r"process (?P<lwp>\d+)")
_MARK = "ladder-answer-"
_MOST = 400_000
"""Characters of a backtrace that are taken."""


class SpeakingEngine(Engine, Protocol):
    """An engine whose console stream can be read back."""

    events: EventReader


class GdbPythonTarget(PythonTarget):
    """Thread numbers from `-thread-info`; `py-bt-full` through gdb's own Python."""

    def __init__(self, engine: SpeakingEngine) -> None:
        self._engine = engine
        self._asked = itertools.count(1)

    async def thread_numbers(self) -> ThreadNumbers:
        """From the target id of the focused thread: `Thread 0x7ffff7caa040 (LWP 28408)`, `LWP 28408`."""
        thread = self._engine.events.thread
        if thread is None:
            return ThreadNumbers(None)
        answer = await self._engine.command(f"-thread-info {thread}")
        row = next(rows_of(answer.results.get("threads")), {})
        told = text_of(row.get("target-id"))
        match = _NUMBERS.search(told)
        if match is not None:
            return ThreadNumbers(int(match["lwp"]), int(match["pthread"] or "0", 16))
        process = _PROCESS.match(told)
        return ThreadNumbers(int(process["lwp"]) if process is not None else None)

    async def images(self) -> Sequence[str]:
        """Files of gdb's own list; none where gdb has no Python."""
        try:
            told = await self._ask("[one.filename for one in gdb.objfiles() if one.filename]", 5.0)
        except CommandFailed:
            return ()
        return [each for each in told if isinstance(each, str)] if isinstance(told, list) else ()

    async def backtrace(self, script: Path, deadline: float) -> str:
        """`py-bt-full` of the focused thread, from its innermost frame on."""
        if "undefined" in str(await self._ask(_IS_DEFINED, 5.0)):
            await self._python(f"gdb.execute('source ' + {str(script)!r})", 10.0)
        try:
            await self._python(_CAPTURE, deadline)
        except DeadlinePassed:
            self._engine.interrupt_engine()
            raise
        told = await self._ask(f"_ladder_captured.getvalue()[:{_MOST}]", 5.0)
        return told if isinstance(told, str) else ""

    async def _ask(self, expression: str, deadline: float) -> object:
        """The value of an expression of gdb's Python; it comes as one line of the console stream."""
        # What others ask for at the same time is written into the same stream.
        mark = f"{_MARK}{next(self._asked)}:"
        with self._engine.events.hearing() as heard:
            await self._python(f"import json; print({mark!r} + json.dumps({expression}))", deadline)
        line = next((line for line in heard.lines if line.startswith(mark)), "")
        try:
            return json.loads(line.removeprefix(mark))
        except ValueError as error:
            raise CommandFailed("python", "gdb's Python did not answer") from error

    async def _python(self, statement: str, deadline: float) -> None:
        place = await self._engine.at_frame(0)
        await self._engine.command(
            f"-interpreter-exec{place} console {mi_string(f'python {statement}')}", deadline=deadline
        )


# What `gdb.execute` gives back as a string is in MI's own words in some releases (seen in gdb 18).
_CAPTURE = (
    "import contextlib, io; _ladder_captured = io.StringIO(); "
    "exec(\"with contextlib.redirect_stdout(_ladder_captured): gdb.execute('py-bt-full')\")"
)
_IS_DEFINED = "'defined' if 'py-bt-full' in gdb.execute('complete py-bt-f', False, True) else 'undefined'"

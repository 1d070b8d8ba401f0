"""What an engine changes of its breakpoints without a notice, read again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.gdb.breakpoint_rows import gathered
from ladder_backends.gdb.breakpoint_setting import Told
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import rows_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.events import BreakpointsChanged, Event

MOST_READINGS = 3
"""How often a list is asked for anew that was overtaken by notices."""

_SAVED = re.compile(r"(?:t?h?break|dprintf) (?P<rest>\S.*)")
_OPTIONS = re.compile(r"\s*(?:thread (?P<thread>\d+)\s*)?(?:-force-condition\s*)?(?:if\b\s*(?P<condition>.*))?$")


class BreakpointReview:
    """Reads an engine's breakpoints again where what is known of them may be stale.

    A new run counts hits from the beginning and has not loaded its libraries yet, and one that is unloaded takes
    its lines with it; of none of these is a notice sent.
    """

    def __init__(self, engine: Engine, told: Told, emit: Callable[[Event], None]) -> None:
        self._engine, self._told, self._emit = engine, told, emit
        self._reading: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Read them, where they may be stale, without waiting for it."""
        table = self._told.breakpoints
        if not table.stale or (self._reading is not None and not self._reading.done()):
            return
        table.stale = False
        if any(binding.number for binding in table.bindings):
            self._reading = asyncio.get_running_loop().create_task(self._read())

    def close(self) -> None:
        """Give up."""
        if self._reading is not None:
            self._reading.cancel()

    async def _read(self) -> None:
        table = self._told.breakpoints
        with contextlib.suppress(LadderError):
            for _ in range(MOST_READINGS):
                moment = table.notices
                rows = _listed((await self._engine.command("-break-list")).results)
                if moment == table.notices:
                    break
            else:
                return
            changed = [table.review(row) for row in rows]
            if any(changed):
                self._emit(BreakpointsChanged(table.bindings))

    async def read_conditions(self) -> None:
        """Ask for the conditions that some versions tell of a pending breakpoint only where it is saved."""
        table = self._told.breakpoints
        if not table.unsaid:
            return
        with contextlib.suppress(LadderError, OSError):
            lines = await self._saved()
            if table.say(options_of(lines, table.asked())):
                self._emit(BreakpointsChanged(table.bindings))

    async def _saved(self) -> list[str]:
        handle, name = tempfile.mkstemp(prefix="breakpoints-")
        os.close(handle)
        try:
            await self._engine.command(f"-interpreter-exec console {mi_string(f'save breakpoints {name}')}")
            return _lines_of(Path(name))
        finally:
            os.unlink(name)


def _lines_of(file: Path) -> list[str]:
    return file.read_text(errors="replace").splitlines()


def options_of(lines: Sequence[str], asked: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Conditions and threads of breakpoints, from the lines that would make them again.

    Args:
        lines: As `save breakpoints` writes them, in the order of the numbers.
        asked: The locations of all of them, by number, in the same order.

    Returns:
        Condition and thread, either of them empty, by number.
    """
    saved = [match["rest"] for line in lines if (match := _SAVED.match(line)) is not None]
    found: dict[str, tuple[str, str]] = {}
    for number, location in asked.items():
        for index, rest in enumerate(saved):
            options = _OPTIONS.match(rest.removeprefix(location)) if rest.startswith(location) else None
            if options is not None:
                found[number] = (options["condition"] or "").strip(), options["thread"] or ""
                del saved[index]
                break
    return found


def _listed(results: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    """Each breakpoint of a list with its locations, which old forms give beside it."""
    table = results.get("BreakpointTable")
    groups: list[list[Mapping[str, Value]]] = []
    for row in rows_of(table.get("body") if isinstance(table, dict) else None):
        if "." in text_of(row.get("number")) and groups:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [whole for group in groups if (whole := gathered(group)) is not None]

"""Where in their files frames without a symbol stand: `libclosed.so+0x1104`."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import NamedTuple

from ladder_backends.errors import CommandFailed, DeadlinePassed, NotRecorded
from ladder_backends.gdb.questions import Engine
from ladder_backends.model.frame import Frame, FrameWindow, file_name
from ladder_backends.text import clean_line

NAMELESS = "??"
"""What gdb calls a function that has no symbol."""

# "  0x7ffff7fbb000  0x7ffff7fbc000  0x1000  0x0  r--p  /opt/lib/libclosed.so"; a core's have no permissions, and
# memory that belongs to no file has no name behind them.
_NUMBER = r"0x[0-9a-f]+"
_ROW = re.compile(
    rf"\s*(?P<start>{_NUMBER})\s+(?P<end>{_NUMBER})\s+{_NUMBER}\s+{_NUMBER}\s+(?:[-rwxsp]{{4}}(?:\s+|$))?+(?P<file>\S.*)$"
)


class _Mapping(NamedTuple):
    start: int
    end: int
    file: str


class Mappings:
    """Looks program counters up in the mappings of the process, which are read when a frame needs them.

    Args:
        process: Tells processes apart: what was read of one is not so for another.
    """

    def __init__(self, engine: Engine, process: Callable[[], Hashable]) -> None:
        self._engine = engine
        self._process = process
        self._read_of: Hashable = None
        self._rows: list[_Mapping] = []
        self._base: dict[str, int] = {}
        self._missing: set[int] = set()

    async def locate(self, window: FrameWindow) -> FrameWindow:
        """The same frames, those without a symbol with their place in a file, as far as it is known."""
        nameless = [frame for frame in window.frames if frame.function == NAMELESS and frame.address]
        if not nameless:
            return window
        if (process := self._process()) != self._read_of:
            self._read_of, self._rows, self._base = process, [], {}
            self._missing.clear()
        counters = {number for frame in nameless if (number := _number(frame)) is not None}
        if any(self._at(counter) is None for counter in counters - self._missing):
            await self._read()
            # What no file is mapped at, as code made at run time, is not asked about again.
            self._missing |= {counter for counter in counters if self._at(counter) is None}
        return replace(window, frames=tuple(self._located(frame) for frame in window.frames))

    def _located(self, frame: Frame) -> Frame:
        counter = _number(frame) if frame.function == NAMELESS else None
        mapping = self._at(counter) if counter is not None else None
        if mapping is None or counter is None:
            return frame
        offset = counter - self._base[mapping.file]
        return replace(frame, image_offset=f"{file_name(mapping.file)}+{offset:#x}")

    def _at(self, counter: int) -> _Mapping | None:
        index = bisect.bisect_right(self._rows, counter, key=lambda row: row.start) - 1
        row = self._rows[index] if index >= 0 else None
        return row if row is not None and row.start <= counter < row.end else None

    async def _read(self) -> None:
        try:
            text = await self._engine.cli_text("info proc mappings", deadline=2.0)
        except (CommandFailed, DeadlinePassed, NotRecorded):
            return
        rows = [
            _Mapping(int(match["start"], 16), int(match["end"], 16), clean_line(match["file"].strip()))
            for line in text.splitlines()
            if (match := _ROW.match(line))
        ]
        self._rows = sorted(rows)
        self._base = {}
        for row in self._rows:
            self._base.setdefault(row.file, row.start)


def _number(frame: Frame) -> int | None:
    try:
        return int(frame.address, 16)
    except ValueError:
        return None

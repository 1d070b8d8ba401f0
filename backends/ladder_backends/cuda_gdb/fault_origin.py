"""Where an exception was raised: the engine's `$errorpc`, past which the lane may stand already."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ladder_backends.cuda_gdb.focus import is_lane
from ladder_backends.errors import EngineError
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.frame import Frame, Place, file_name

if TYPE_CHECKING:
    from ladder_backends.gdb.event_reader import EventReader
    from ladder_backends.gdb.questions import Engine

_LINE = re.compile(r'Line (?P<line>\d+) of "(?P<file>[^"\n]+)" (?:starts at|is at) address')
_PATIENCE = 2.0
"""Seconds after which a stop is told without it."""


class FaultOrigins:
    """Completes stops at exceptions whose record does not tell the place; only the command line was told.

    Args:
        engine: Who is asked.
        events: What it tells.
        tell: Takes the completed stop.
    """

    def __init__(self, engine: Engine, events: EventReader, tell: Callable[[TargetStopped], None]) -> None:
        self._engine, self._events, self._tell = engine, events, tell
        self._asking: asyncio.Task[None] | None = None

    def take(self, event: TargetStopped) -> bool:
        """Take a stop; True where it is told a moment later, completed."""
        exception = event.fault and event.reason == "signal-received" and is_lane(event.focus)
        if not exception or event.origin is not None:
            return False
        self._asking = asyncio.get_running_loop().create_task(self._complete(event))
        return True

    async def _complete(self, event: TargetStopped) -> None:
        stops = self._events.stops
        try:
            said = await self._engine.cli_text("info line *$errorpc", deadline=_PATIENCE)
        except EngineError:
            said = ""
        if self._events.stops == stops and not self._events.running:
            match = _LINE.search(said)
            place = place_in(match["file"], int(match["line"]), event.frame) if match is not None else None
            self._tell(raised_at(event, place))

    def close(self) -> None:
        """Ask nothing more."""
        if self._asking is not None:
            self._asking.cancel()


def place_in(file: str, line: int, frame: Frame | None) -> Place:
    """A line as the engine names it, with the full path where the frame is in the same file."""
    known = frame.place if frame is not None else None
    same = known is not None and file_name(known.file) == file_name(file)
    return Place(file, line, known.fullname if known is not None and same else "")


def raised_at(stop: TargetStopped, origin: Place | None) -> TargetStopped:
    """A stop at an exception with the place where it was raised, in words too where the lane stands past it."""
    if origin is None:
        return stop
    place = stop.frame.place if stop.frame is not None else None
    past = ""
    if place is not None and (origin.line, file_name(origin.file)) != (place.line, file_name(place.file)):
        past = f"; the lane stands past it, on line {place.line}"
    return replace(stop, description=f"{stop.description} at {origin}{past}", origin=origin)

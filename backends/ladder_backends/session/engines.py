"""Debuggers made ready for use: recorded, played back, or warm."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ladder_backends.debugger.registry import load_debugger
from ladder_backends.errors import EngineMissing, LadderError

if TYPE_CHECKING:
    from ladder_backends.debugger import Debugger, Target
    from ladder_backends.mi.transport import EngineCommand, Transport


class StandIn(NamedTuple):
    """A recording in the place of an engine that is missing, and what the user is to be told of it."""

    recording: Path
    notice: str


class Engines:
    """Makes debuggers by name.

    Args:
        record: File that engines are recorded to; the second and later engines get a number before the suffix.
    """

    def __init__(self, record: Path | None = None) -> None:
        self._record = record
        self._numbers = itertools.count(1)
        self._recorded_some = False
        self._warm: dict[str, tuple[Debugger, asyncio.Task[None]]] = {}

    def make(self, name: str) -> Debugger:
        """A debugger that starts its engine.

        Raises:
            EngineMissing: No debugger of that name is installed.
        """
        kind = load_debugger(name)
        if self._record is not None:
            from ladder_backends.gdb import GdbDialect

            if issubclass(kind, GdbDialect):
                return kind(self._recorded)
        return kind()

    def replay(self, name: str, recording: Path) -> Debugger:
        """A debugger behind which a recording stands in for the engine.

        Raises:
            EngineMissing: The debugger cannot be played back.
            RecordingInvalid: The file is no recording.
        """
        from ladder_backends.gdb import GdbDialect
        from ladder_backends.model.provenance import Provenance
        from ladder_backends.recording import ReplayTransport, read_recording

        kind = load_debugger(name)
        if not issubclass(kind, GdbDialect):
            raise EngineMissing(f"{name} cannot be played back", "it is no dialect of gdb")
        held = read_recording(recording)
        return kind(lambda command: ReplayTransport(held), provenance=Provenance.RECORDING)

    def warm_up(self, name: str) -> None:
        """Start an engine in the background, for `take`; nothing where one is warm already."""
        if name in self._warm or (self._record is not None and self._recorded_some):
            # A spare engine that nobody uses would be one more recording, of nothing.
            return
        try:
            debugger = self.make(name)
        except LadderError:
            # Whoever needs it will be told.
            return
        self._warm[name] = debugger, asyncio.get_running_loop().create_task(_start(debugger))

    async def take(self, name: str) -> Debugger:
        """The warm engine, or a fresh one."""
        held = self._warm.pop(name, None)
        if held is None:
            return self.make(name)
        from ladder_backends.gdb import GdbDialect

        debugger, starting = held
        await starting
        if isinstance(debugger, GdbDialect) and not debugger.started:
            # It has failed or died meanwhile; a fresh one tells why.
            return self.make(name)
        return debugger

    def missing(self, name: str) -> str:
        """Why an engine cannot be used here, or an empty string."""
        try:
            probe = load_debugger(name).probe()
        except EngineMissing as error:
            return error.line()
        return "" if probe.available else probe.missing

    def stand_in(self, name: str, recordings: Sequence[Path]) -> StandIn | None:
        """What answers where an engine is missing; None where it is not, or nothing can."""
        missing = self.missing(name)
        recording = self.recording_of(name, recordings) if missing else None
        if recording is None:
            return None
        return StandIn(recording, f"{missing}: a recording answers — what was not recorded cannot be asked")

    def recording_of(self, name: str, recordings: Sequence[Path]) -> Path | None:
        """The first recording of an engine, or None."""
        return next((path for path in recordings if self.engine_of(path) == name), None)

    def engine_of(self, recording: Path) -> str:
        """Which engine a recording is of, or an empty string.

        Raises:
            RecordingInvalid: The file is no recording.
        """
        from ladder_backends.recording import read_recording

        return read_recording(recording).engine

    def target_of(self, recording: Path) -> Target:
        """What a recorded engine was pointed at.

        Raises:
            RecordingInvalid: The file is no recording, or shows nothing.
        """
        from ladder_backends.recording import read_recording
        from ladder_backends.session.recorded_target import recorded_target

        return recorded_target(read_recording(recording))

    async def close(self) -> None:
        """End the engines that nobody took."""
        held = list(self._warm.values())
        self._warm.clear()
        for debugger, starting in held:
            await starting
            with contextlib.suppress(LadderError):
                await debugger.close()

    def _recorded(self, command: EngineCommand) -> Transport:
        from ladder_backends.mi.pty_transport import PtyTransport
        from ladder_backends.recording import Recorder

        assert self._record is not None
        self._recorded_some = True
        number = next(self._numbers)
        path = self._record if number == 1 else self._record.with_stem(f"{self._record.stem}-{number}")
        return Recorder(PtyTransport(command), path)


async def _start(debugger: Debugger) -> None:
    # A failure comes again, and is told, when the debugger is opened.
    with contextlib.suppress(LadderError):
        await debugger.start()

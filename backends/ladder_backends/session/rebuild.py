"""Notices that the program is built again, or that its sources are edited, while it is debugged.

Nothing is ever started again unasked. A file counts as a new build once it is whole, has stayed as it is for a
moment, and is not the build that the engine knows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from ladder_backends.debugger.contract import Debugger
from ladder_backends.debugger.target import LaunchTarget, Target
from ladder_backends.errors import LadderError
from ladder_backends.images.build_id import is_whole, read_build_id
from ladder_backends.model.events import EngineExited, Event, TargetExited, TargetRunning
from ladder_backends.session.build_state import FileStamp, stamp_of
from ladder_backends.session.file_watch import FileWatch
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.state import Change, DebugState

SETTLED_AFTER = 0.3
"""Seconds for which a new program must stay as it is before it counts as finished."""

_PATIENCE = 5.0
"""Seconds that a start waits for a build that is being written."""

_MOST_SOURCES = 64


class Rebuild:
    """Keeps `state.build`.

    Attributes:
        built: Called with the time, in seconds, at which the build was made that is debugged from now on.
        read_unasked: Called when the engine has read a new build by itself, as for a `run` that was typed there.
    """

    def __init__(self, state: DebugState, notifier: Notifier) -> None:
        self._state = state
        self._notifier = notifier
        self._watch: FileWatch | None = None
        self._sources: dict[Path, FileStamp | None] = {}
        self._names: set[str] = set()
        self._breakpoints: object = None
        self._looking: asyncio.Task[None] | None = None
        self._look_again = False
        self._id = ""
        self._closed = False
        self._ended = True
        self._leave: Callable[[], None] = lambda: None
        self.built: Callable[[float], None] = lambda made: None
        self.read_unasked: Callable[[], None] = lambda: None

    # -- what is debugged

    def opened(self, target: Target, debugger: Debugger) -> None:
        """The engine has read the target."""
        if isinstance(target, LaunchTarget) and debugger.build is not None:
            self._state.build.program = target.program.absolute()
            self._loaded()

    def take(self, event: Event) -> None:
        """Note that a process began, by whoever started it: the engine then reads the program's file again."""
        if isinstance(event, TargetExited | EngineExited):
            self._ended = True
        elif isinstance(event, TargetRunning) and self._ended:
            self._ended = False
            if self.stale():
                self._loaded()
                self.read_unasked()

    def stale(self) -> bool:
        """The program's file is another one than the engine has read."""
        build = self._state.build
        return build.program is not None and stamp_of(build.program) not in (None, build.loaded)

    async def before_run(self, debugger: Debugger) -> bool:
        """Have the engine read a program that was built again, before it is started.

        Returns:
            Whether it was.

        Raises:
            LadderError: The program is being written, or cannot be read. The process that is there lives on.
        """
        program = self._state.build.program
        if program is not None and self._state.build.loaded is not None and stamp_of(program) is None:
            # As after a build that failed.
            raise LadderError(f"{program.name} cannot be started", "its file is gone", "build it again")
        if program is None or not self.stale():
            return False
        waited = 0.0
        while not await asyncio.to_thread(_is_finished, program):
            if waited >= _PATIENCE:
                raise LadderError(
                    f"{program.name} cannot be started",
                    "its file is not whole",
                    "wait for its build, or build it again",
                )
            await asyncio.sleep(SETTLED_AFTER)
            waited += SETTLED_AFTER
        stamp = stamp_of(program)
        if debugger.build is not None:
            await debugger.build.read_again()
        self._loaded(stamp)
        return True

    def _loaded(self, stamp: FileStamp | None = None) -> None:
        build = self._state.build
        assert build.program is not None
        build.loaded, build.rebuilt = stamp or stamp_of(build.program), False
        self._id = read_build_id(build.program)
        if build.loaded is not None:
            self.built(build.loaded.changed / 1e9)
        self._notifier.tell(Change.SOURCE)

    # -- watching

    def begin(self) -> None:
        """Watch from now on; costs nothing until something changes."""
        if self._watch is None and self._state.build.program is not None and not self._closed:
            self._watch = FileWatch(self._look)
            self._sources.clear()
            self._names.clear()
            self._breakpoints = None
            self._leave = self._notifier.subscribe(self._told)
            self.in_use()

    def in_use(self) -> None:
        """Follow the source that is shown, and those that hold breakpoints."""
        state, watch = self._state, self._watch
        if watch is None or state.build.program is None:
            return
        names = {place.fullname for place in (state.place, state.entry) if place is not None}
        if self._breakpoints is state.breakpoints and names <= self._names:
            # Most steps stay in the files that are followed.
            return
        self._breakpoints = state.breakpoints
        names |= {place.fullname for binding in state.breakpoints for place in binding.places}
        self._names |= names
        fresh = {Path(name) for name in names if name.startswith("/")} - self._sources.keys()
        if not fresh and self._sources:
            return
        for file in fresh:
            if len(self._sources) >= _MOST_SOURCES:
                gone = next(iter(self._sources))
                self._sources.pop(gone)
                self._names.discard(str(gone))
            self._sources[file] = stamp_of(file)
        watch.follow([state.build.program, *self._sources])
        state.build.watching = watch.how

    async def close(self) -> None:
        """Watch nothing any more."""
        watch, self._watch, self._closed = self._watch, None, True
        if self._looking is not None:
            self._looking.cancel()
        if watch is not None:
            self._leave()
            await watch.stop()

    def _told(self, change: Change) -> None:
        if change & (Change.FRAMES | Change.BREAKPOINTS):
            self.in_use()

    def _look(self) -> None:
        if self._watch is not None:
            self._state.build.watching = self._watch.how
        if self._looking is not None and not self._looking.done():
            self._look_again = True
            return
        self._looking = asyncio.get_running_loop().create_task(self._compare())

    async def _compare(self) -> None:
        """See what differs; files may lie where looking at them takes long."""
        while True:
            self._look_again = False
            self._compare_sources(await asyncio.to_thread(_stamps_of, tuple(self._sources)))
            await self._compare_program()
            if not self._look_again:
                return

    def _compare_sources(self, now: dict[Path, FileStamp | None]) -> None:
        # While an editor puts a file in the place of another there may be none for a moment.
        changed = [file for file, stamp in now.items() if stamp is not None and stamp != self._sources.get(file)]
        for file in changed:
            self._sources[file] = now[file]
        if changed:
            self._state.build.versions += 1
            self._notifier.tell(Change.SOURCE)

    async def _compare_program(self) -> None:
        build = self._state.build
        if build.program is None:
            return
        stamp = await asyncio.to_thread(stamp_of, build.program)
        if stamp is None:
            return
        if stamp == build.loaded:
            self._show(False)
            return
        if build.rebuilt:
            return
        await asyncio.sleep(SETTLED_AFTER)
        again, whole, identity = await asyncio.to_thread(
            lambda program: (stamp_of(program), is_whole(program), read_build_id(program)), build.program
        )
        if again != stamp or not whole:
            # It is still being written: what is written last is told again, or it is half a file that stays one.
            self._look_again = again != stamp
            return
        if identity and identity == self._id:
            # Linked anew from the same parts, or touched: the same program.
            build.loaded = again
            self.built(again.changed / 1e9)
            self._notifier.tell(Change.SOURCE)
            return
        self._show(True)

    def _show(self, rebuilt: bool) -> None:
        if self._state.build.rebuilt != rebuilt:
            self._state.build.rebuilt = rebuilt
            self._notifier.tell(Change.SOURCE)


def _stamps_of(files: tuple[Path, ...]) -> dict[Path, FileStamp | None]:
    return {file: stamp_of(file) for file in files}


def _is_finished(program: Path) -> bool:
    """Whether a program is whole, and nobody has written to it for a moment."""
    stamp = stamp_of(program)
    if stamp is None:
        return False
    # A time that is yet to come is another machine's.
    return not 0 <= time.time() - stamp.changed / 1e9 < SETTLED_AFTER and is_whole(program)

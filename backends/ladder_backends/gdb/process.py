"""gdb's target as a process: kill, detach, forks, calls, jumps, recordings."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ladder_backends.debugger.facets.process import Process
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.launching import Launching
from ladder_backends.gdb.process_table import FIRST
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import location_word, mi_string
from ladder_backends.gdb.translation import frame_of, rows_of, text_of, with_value
from ladder_backends.mi.records import Value
from ladder_backends.model.events import EngineNotice, Event, FocusChanged
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame
from ladder_backends.model.launch import ForkMode, LaunchSettings
from ladder_backends.model.variable import Variable
from ladder_backends.processes import ProcFiles
from ladder_backends.text import clean_line

_FORKS: Mapping[ForkMode, tuple[str, str, str]] = {
    ForkMode.PARENT: ("parent", "on", "off"),
    ForkMode.CHILD: ("child", "on", "off"),
    ForkMode.BOTH: ("parent", "off", "on"),
}
"""`follow-fork-mode`, `detach-on-fork`, `schedule-multiple`."""

_STOPPED_INSIDE = "while in a function called from"
_RESTORED = "has restored the context"
_LOOKS, _LOOK_AGAIN = 100, 0.02
"""How often to look whether SIGSTOP has stopped the target, and seconds between two looks."""


class DrivenEngine(Engine, Protocol):
    """Who is driven, beside being asked."""

    async def cli(self, text: str, *, deadline: float | None = 10.0) -> object:
        """Run a command of the command line."""

    async def run(self, command: str) -> None:
        """Send a command that lets the target run."""

    def emit(self, event: Event) -> None:
        """Tell of something."""

    def keep_program(self) -> None:
        """The program outlives the engine: its terminal stays."""


def _lives(pid: int) -> bool:
    """Whether a process has memory: a zombie has none, nor has one that is on its way to that."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return not file.read().startswith("0 ")
    except OSError:
        return False


class GdbProcess(Process):
    """The target of a gdb.

    Attributes:
        calling: A function of the target is being called.
    """

    def __init__(self, engine: DrivenEngine, events: EventReader) -> None:
        self._engine = engine
        self._events = events
        self._launching = Launching(engine)
        self._forks = ForkMode.PARENT
        self._program: Path | None = None
        self._real_path = ""
        self._launched = False
        self.calling = False

    @property
    def pids(self) -> Mapping[str, int]:
        """Processes by gdb's names of inferiors."""
        return self._events.processes.pids

    @property
    def settings(self) -> LaunchSettings:
        """What was configured last."""
        return self._launching.settings

    # -- beginning and end

    async def configure(self, settings: LaunchSettings) -> None:
        """Tell gdb how to start the program the next time."""
        await self._launching.apply(settings)

    def loaded(self, program: Path) -> None:
        """This is the program that a run starts."""
        self._program, self._launched = program, True
        self._real_path = os.path.realpath(program)

    async def prepare_run(self) -> None:
        """Before a run: be back at the program itself, where forks and execs have led elsewhere."""
        if self._launched and (told := await self._launching.find_folder()):
            self._engine.emit(EngineNotice(told))
        if not self._events.processes.strayed or self._program is None:
            return
        answer = await self._engine.command("-list-thread-groups")
        rows = {text_of(row.get("id")): row for row in rows_of(answer.results.get("groups"))}
        for name, row in rows.items():
            if name != FIRST and "pid" in row:
                await self._engine.cli(f"kill inferiors {name[1:]}")
        await self._engine.cli(f"inferior {FIRST[1:]}")
        first = rows.get(FIRST, {})
        if text_of(first.get("executable")) != self._real_path:
            if "pid" in first:
                await self._engine.cli("kill")
            await self._engine.command(f"-file-exec-and-symbols {mi_string(str(self._program))}", deadline=None)
        for number in tuple(self._events.breakpoints.lost):
            self._events.breakpoints.lost.discard(number)
            with contextlib.suppress(CommandFailed):
                await self._engine.command(f"-break-enable {number}")
        self._events.processes.strayed = False

    async def kill(self) -> None:
        """`kill`, for each process that is held."""
        self._events.processes.ending = "killed"
        try:
            await self._engine.cli(f"kill inferiors {self._numbers()}")
        finally:
            self._events.processes.ending = ""

    async def mourn(self) -> bool:
        """`kill` for processes that are gone or zombies: gdb does not look by itself at one that stands."""
        dead = [name for name, pid in self.pids.items() if not _lives(pid)]
        # One that is let run, or was, ends by itself: the engine tells how, if nobody takes it away before.
        if not dead or self._runs() or not await self._is_native() or self._runs():
            return False
        self._events.processes.ending = "ended from outside"
        try:
            await self._engine.cli(f"kill inferiors {' '.join(name.removeprefix('i') for name in dead)}")
        finally:
            self._events.processes.ending = ""
        return True

    def _runs(self) -> bool:
        """The target runs, or was told to."""
        return self._events.running or any(text.startswith("-exec-") for text, _ in self._engine.pending())

    async def _is_native(self) -> bool:
        """Whether process ids are those of this machine, told by the connection of each inferior."""
        with self._events.hearing() as heard:
            try:
                told = await self._engine.cli_text("info inferiors")
            except CommandFailed:
                # Where the process has gone, gdb lists it and fails then, when it returns to its frame.
                told = heard.text
        return "(native)" in told

    async def detach(self) -> tuple[int, ...]:
        """`detach`, from each process that is held."""
        held = dict(self.pids)
        if self._launched:
            self._engine.keep_program()
        self._events.processes.ending = f"detached from process {', '.join(map(str, held.values()))}"
        try:
            await self._engine.cli(f"detach inferiors {self._numbers()}", deadline=60.0)
        finally:
            self._events.processes.ending = ""
        return tuple(held.values())

    def _numbers(self) -> str:
        """Numbers of all that are held, as gdb has them; the process that it speaks of by itself may have ended."""
        if not self.pids:
            raise CommandFailed("", "no process is held")
        return " ".join(name.removeprefix("i") for name in self.pids)

    # -- forks

    async def at_fork(self, mode: ForkMode) -> None:
        """Follow one side and let the other run, or hold both, which then run and stop together."""
        follow, detach, together = _FORKS[mode]
        await asyncio.gather(
            self._engine.command(f"-gdb-set follow-fork-mode {follow}"),
            self._engine.command(f"-gdb-set detach-on-fork {detach}"),
            self._engine.command(f"-gdb-set schedule-multiple {together}"),
        )
        self._forks = mode

    # -- elsewhere at once

    async def call(self, expression: str, frame_level: int) -> Variable:
        """Evaluate an expression that may run the target."""
        place = await self._engine.at_frame(frame_level)
        self.calling = True
        try:
            answer = await self._engine.command(
                f"-data-evaluate-expression{place} {mi_string(expression)}", deadline=None
            )
        except CommandFailed as refused:
            if _RESTORED in refused.what:
                raise CommandFailed(refused.command, "the call was interrupted; all is as before it") from refused
            if _STOPPED_INSIDE in refused.what:
                told = CommandFailed(refused.command, "the target stopped inside the call")
                told.remedy = "finish returns from it, return leaves it"
                raise told from refused
            raise
        finally:
            self.calling = False
        return with_value(Variable(clean_line(expression), ""), answer.results.get("value"))

    async def stop_call(self) -> None:
        """Interrupt the target in a call: an interrupt of gdb would lose track of a target that is deaf to it."""
        self._signal(signal.SIGINT)
        for _ in range(_LOOKS // 4):
            if not self.calling:
                return
            await asyncio.sleep(_LOOK_AGAIN)
        await self.stop_hard()

    async def return_now(self, frame_level: int, value: str) -> Frame | None:
        """`-exec-return`; gdb tells of no stop, so we do."""
        place = await self._engine.at_frame(frame_level)
        given = f" {mi_string(value)}" if value else ""
        answer = await self._engine.command(f"-exec-return{place}{given}")
        frame = frame_of(answer.results.get("frame"))
        thread = self._events.thread
        self._engine.emit(FocusChanged(Focus.of(thread=thread) if thread is not None else None, frame))
        return frame

    async def function_at(self, location: str) -> str:
        """Ask by a breakpoint that is taken away again: it alone finds the next line with code."""
        return text_of((await self._probe(location)).get("func"))

    async def plain_location(self, location: str) -> str:
        """A location that `until` can read: it does not find the end of a file's name that holds a quote."""
        if "'" not in location:
            return location
        address = text_of((await self._probe(location)).get("addr"))
        return f"*{address}" if address else location

    async def _probe(self, location: str) -> Mapping[str, Value]:
        """The first place of a location; empty where it has no code."""
        try:
            answer = await self._engine.command(f"-break-insert -d {mi_string(location)}")
        except CommandFailed:
            return {}
        row = answer.results.get("bkpt")
        if not isinstance(row, dict):
            return {}
        await self._drop(text_of(row.get("number")))
        return next(rows_of(row.get("locations")), row)

    async def jump(self, location: str) -> None:
        """Go on at a location and stop there at once."""
        number = await self._own_stop(location, "jumped here")
        await self._go(number, f"-exec-jump{self._engine.at_thread()} {location_word(location)}")

    async def run_to(self, location: str) -> None:
        """Run on until a location is reached, in whatever frame."""
        number = await self._own_stop(location, "line reached")
        await self._go(number, f"-exec-continue{self._engine.at_thread()}")

    async def drop_run_to(self) -> None:
        """Delete our breakpoints that were not reached."""
        for number in tuple(self._events.own_stops):
            del self._events.own_stops[number]
            await self._drop(number)

    async def _own_stop(self, location: str, words: str) -> str:
        await self.drop_run_to()
        answer = await self._engine.command(f"-break-insert -t {mi_string(location)}", deadline=30.0)
        row = answer.results.get("bkpt")
        number = text_of(row.get("number")) if isinstance(row, dict) else ""
        self._events.own_stops[number] = words
        return number

    async def _go(self, number: str, command: str) -> None:
        try:
            await self._engine.run(command)
        except CommandFailed:
            self._events.own_stops.pop(number, None)
            await self._drop(number)
            raise

    async def _drop(self, number: str) -> None:
        with contextlib.suppress(CommandFailed):
            await self._engine.command(f"-break-delete {number}")

    # -- a deaf target

    async def stop_hard(self) -> bool:
        """SIGSTOP to the process; gdb sees it before the process does, and keeps it from it."""
        stops = self._events.stops
        self._events.stops_hard = True
        try:
            self._signal(signal.SIGSTOP)
            for _ in range(_LOOKS):
                if self._events.stops != stops:
                    break
                await asyncio.sleep(_LOOK_AGAIN)
            else:
                return False
        finally:
            self._events.stops_hard = False
        with contextlib.suppress(CommandFailed):
            await self._engine.cli("queue-signal 0")
        return True

    def _signal(self, number: signal.Signals) -> None:
        proc = ProcFiles()
        for pid in self.pids.values():
            # Nobody would keep it from a process that is not traced, as of an engine that has died, or that has the
            # number of one that a remote engine holds.
            if proc.status(pid).get("TracerPid", "0") != "0":
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)

    # -- backwards

    async def record(self, on: bool) -> str:
        """`record full`, which knows values too; `record btrace`, which knows only the way, where that is all."""
        if not on:
            await self._engine.cli("record stop", deadline=60.0)
            return ""
        # A full log drops its oldest part instead of asking.
        await self._engine.command("-gdb-set record full stop-at-limit off")
        try:
            await self._engine.cli("record full")
        except CommandFailed as refused:
            try:
                await self._engine.cli("record btrace")
            except CommandFailed:
                raise CommandFailed(refused.command, refused.what) from refused
            return "btrace"
        return "full"

    async def reverses(self) -> bool:
        """By gdb's list of what the target can do."""
        answer = await self._engine.command("-list-target-features")
        features = answer.results.get("features")
        return isinstance(features, list) and "reverse" in features

"""Attaching to a running process: look first, read its symbols while it runs, and only then stop it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Protocol

from ladder_backends.errors import CommandFailed, EngineDied, NotRecorded, TargetInvalid
from ladder_backends.gdb.process_check import check_process, explain_refusal
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.rehearsal import Rehearsing, rehearse
from ladder_backends.gdb.warm_symbols import WarmSymbols
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.events import EngineNotice, Event
from ladder_backends.paths import cache_dir
from ladder_backends.processes import ProcFiles
from ladder_backends.processes.loaded_objects import LoadedObjects, loaded_objects
from ladder_backends.processes.obstacles import kernel_wait
from ladder_backends.text import clean_line

ATTACH_DEADLINE = 300.0
"""Seconds until an engine must have attached."""

STUCK_AFTER = 2.0
"""Seconds after which a process that does not stop is told of, and may be given up."""

_WORTH_A_WORD = 64 << 20
"""Bytes of libraries from which on reading their symbols takes so long that it is announced."""

_ROUNDS = 3
"""How often it is looked again for libraries that were loaded meanwhile."""

_LARGEST_COPY = 2 << 30
"""Bytes of a deleted program that are copied for the engine."""


class Attacher(Rehearsing, Protocol):
    """The engine that attaches."""

    async def start(self) -> None:
        """Start the engine."""

    def emit(self, event: Event) -> None:
        """Tell of an event."""

    def abandon_engine(self) -> None:
        """End an engine outright that is stuck before it holds a target."""


class Attaching:
    """One attach, from the first look to the stop.

    Attributes:
        warm: Symbols read beforehand.
    """

    def __init__(self, engine: Attacher, pid: int) -> None:
        self._engine = engine
        self._pid = pid
        self.warm = WarmSymbols(engine)
        self._asked_at: float | None = None
        self._live = False
        self._was_stopped = False
        self._given_up = False
        self._dropping: asyncio.Task[None] | None = None

    async def look(self) -> None:
        """See whether it can be attached to at all.

        Raises:
            TargetInvalid: It cannot.
        """
        await asyncio.to_thread(check_process, self._pid)
        self._was_stopped = _state(self._pid) == "T"
        self._live = True

    async def take_over(self) -> None:
        """Read its symbols and stop it; `stopped` is to be called once it stands.

        Raises:
            TargetInvalid: It cannot be attached to, one cause, one remedy; or the user gave up.
        """
        try:
            if self._live:
                await self.read_symbols()
            await self.attach()
        except EngineDied as died:
            if self._given_up:
                raise self._was_given_up() from died
            raise

    def give_up(self) -> None:
        """The user wants no more of it: what is under way ends, and the process goes on as before."""
        if self._asked_at is None:
            self._given_up = self.warm.given_up = True
        elif time.monotonic() - self._asked_at > STUCK_AFTER and _state(self._pid) not in ("t", "T"):
            # The engine hears nothing until the process stops. No breakpoint is in it yet: nothing is left behind.
            self._given_up = True
            self._engine.abandon_engine()

    async def read_symbols(self) -> None:
        """Read the symbols of everything that it has loaded, while it runs.

        Raises:
            TargetInvalid: The user gave up.
        """
        objects = await asyncio.to_thread(loaded_objects, self._pid)
        await self._tell_root(objects)
        if objects.executable_gone:
            await self._read_gone_program(objects)
        size = _size(objects)
        if size >= _WORTH_A_WORD:
            self._say(
                f"reading the symbols of {len(objects.files)} files ({size >> 20} MB) while process {self._pid}"
                " runs on; it is stopped afterwards"
            )
            await rehearse(self._engine)
        for _ in range(_ROUNDS):
            known = len(self.warm.names)
            await self.warm.read(objects)
            if self._given_up:
                raise self._was_given_up()
            objects = await asyncio.to_thread(loaded_objects, self._pid)
            if len(self.warm.names) == known:
                break
        if objects.gone:
            names = ", ".join(os.path.basename(name) for name in objects.gone[:3])
            more = f" and {len(objects.gone) - 3} more" if len(objects.gone) > 3 else ""
            self._say(
                f"{clean_line(names)}{more}: deleted or replaced since the process loaded it; what is shown of it"
                " may be wrong",
                "warning",
            )

    async def attach(self) -> None:
        """Stop the process and take it over.

        Raises:
            TargetInvalid: It cannot be attached to; one cause, one remedy.
        """
        self._asked_at = time.monotonic()
        ask = asyncio.ensure_future(self._ask())
        try:
            await asyncio.wait({ask}, timeout=STUCK_AFTER)
            if not ask.done():
                await self._tell_stuck()
            await ask
        except CommandFailed as refused:
            raise await asyncio.to_thread(explain_refusal, self._pid, refused.what) from refused
        finally:
            ask.cancel()

    async def _ask(self) -> ResultRecord:
        plain = f"-target-attach {self._pid}"
        # Which inferior is selected after a command for another one differs between engines.
        chosen = f"-target-attach --thread-group i1 {self._pid}"
        if self._live:
            return await self._engine.command(chosen if self.warm.names else plain, deadline=ATTACH_DEADLINE)
        try:
            return await self._engine.command(chosen)
        except NotRecorded:
            return await self._engine.command(plain)

    async def _tell_stuck(self) -> None:
        if _state(self._pid) in ("t", "T"):
            # It stands; the engine still reads what could not be read before.
            return
        found = kernel_wait(self._pid)
        why = found.cause if found is not None else "it has not stopped yet"
        self._say(f"process {self._pid} does not stop: {why}; an interrupt gives up", "warning")

    def _was_given_up(self) -> TargetInvalid:
        if self._asked_at is not None and not self._was_stopped:
            # What was to stop it may still be waiting for it, and would stop it for ever.
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.SIGCONT)
        what = f"attaching to {self._pid} was given up"
        if self._asked_at is None:
            return TargetInvalid(what, "its symbols were still being read; the process was not touched")
        return TargetInvalid(what, "it did not stop; it goes on as before")

    def stopped(self, at: float) -> float:
        """The process stands, and its symbols are its own.

        Args:
            at: When that was, in seconds of `time.monotonic()`.

        Returns:
            Seconds that stopping it took.
        """
        if self._asked_at is None:
            return 0.0
        took = at - self._asked_at
        self._asked_at = None
        count = len(self.warm.names)
        read = f"; the symbols of {count} files were read while it ran" if count else ""
        if self._was_stopped:
            self._say(
                f"process {self._pid} was stopped already when it was found, and stays so: `kill -CONT {self._pid}`"
                " lets it go on",
                "warning",
            )
        self._say(f"process {self._pid} stands; stopping it took {took:.2f} s{read}")
        self._dropping = asyncio.get_running_loop().create_task(self.warm.drop())
        return took

    async def _tell_root(self, objects: LoadedObjects) -> None:
        if objects.root:
            await self._engine.command(f"-gdb-set sysroot {objects.root}")
            self._say(f"process {self._pid} is in a container: its files are read through {objects.root}")

    async def _read_gone_program(self, objects: LoadedObjects) -> None:
        name = clean_line(os.path.basename(objects.executable))
        copy = await asyncio.to_thread(_copy_program, self._pid)
        if copy is None:
            self._say(f"{name} was deleted or replaced since it started: no symbols of it", "warning")
            return
        try:
            await self._engine.command(f"-file-exec-and-symbols {mi_string(str(copy))}", deadline=ATTACH_DEADLINE)
        except CommandFailed:
            return
        finally:
            await asyncio.to_thread(shutil.rmtree, copy.parent, ignore_errors=True)
        self._say(
            f"{name} was deleted or replaced since it started: symbols are those of the running one; lines may"
            " differ from the sources as they are now",
            "warning",
        )

    def _say(self, text: str, severity: str = "information") -> None:
        self._engine.emit(EngineNotice(text, severity))


def _state(pid: int) -> str:
    return ProcFiles().status(pid).get("State", "")[:1]


def _size(objects: LoadedObjects) -> int:
    total = 0
    for name in objects.files:
        try:
            total += os.stat(f"{objects.root}{name}").st_size
        except OSError:
            continue
    return total


def _copy_program(pid: int) -> Path | None:
    """The program of a process whose file is gone, in a folder of its own; None where it cannot be had."""
    folder = ""
    try:
        with open(f"/proc/{pid}/exe", "rb") as program:
            if os.fstat(program.fileno()).st_size > _LARGEST_COPY:
                return None
            cache_dir().mkdir(parents=True, exist_ok=True, mode=0o700)
            folder = tempfile.mkdtemp(prefix="running-", dir=cache_dir())
            copy = Path(folder, Path(os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")).name)
            with open(copy, "xb") as out:
                shutil.copyfileobj(program, out, 1 << 20)
    except OSError:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        return None
    return copy

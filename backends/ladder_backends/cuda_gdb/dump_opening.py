"""Opening a GPU core dump: files checked before the engine sees them, and its story told."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Protocol

from ladder_backends.cuda_gdb.exceptions import explained
from ladder_backends.cuda_gdb.opening import CheckedDump, DumpStory, check_dump, tell_story
from ladder_backends.debugger.target import GpuDumpTarget
from ladder_backends.errors import CommandFailed, EngineDied, TargetInvalid
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.images import GpuDump, read_gpu_dump
from ladder_backends.model.grid import NO_KERNEL, NO_KERNEL_REMEDY
from ladder_backends.model.provenance import Provenance
from ladder_backends.paths import current_folder
from ladder_backends.text import clean_line

OPEN_DEADLINE = 600.0
"""Seconds for opening a dump; one with all of a GPU's memory has a hundred gigabytes."""

_EMPTY_MESSAGE = re.compile(r",? *error message= *$")
_ASSERTION = re.compile(r"internal-error: (?P<what>.*?)\.? ·")
_DUMP_DIED = "open the dump again; where it dies again, the dump is damaged: make a new one"
_DUMP_REFUSED = "make a new dump; this one is damaged, or of a newer driver than cuda-gdb knows"


class Opener(Engine, Protocol):
    """The engine that opens it."""

    events: EventReader
    provenance: Provenance

    async def start(self) -> None:
        """Start the engine."""

    async def cli(self, text: str, *, deadline: float | None = 10.0) -> object:
        """Run a command of the command line."""


class DumpOpening:
    """Opens one dump; a second one would end the engine.

    Attributes:
        dump: What the dump's file says; None where only a recording is there.
        notes: What the user should know although it could be opened.
    """

    def __init__(self, engine: Opener) -> None:
        self._engine = engine
        self.dump: GpuDump | None = None
        self.notes: tuple[str, ...] = ()

    async def open(self, target: GpuDumpTarget) -> DumpStory:
        """Check and open it.

        Raises:
            TargetInvalid: It is no whole GPU core dump, or the executable holds another program's kernels.
            EngineDied: The engine ended on it.
        """
        checked = None
        if self._engine.provenance is Provenance.ENGINE:
            checked = await self._check_and_start(target)
        else:
            await self._engine.start()
        story = await self._open(target, checked)
        self.dump = checked.dump if checked else await asyncio.to_thread(_dump_beside_recording, target.dump)
        notes = [
            *(checked.notes if checked else ()),
            explained(story.description) if story.fault else "",
            f"{NO_KERNEL} — {NO_KERNEL_REMEDY}" if self.dump is not None and not self.dump.kernels else "",
        ]
        self.notes = tuple(note for note in notes if note)
        return story

    async def _check_and_start(self, target: GpuDumpTarget) -> CheckedDump:
        """Look at the files while the engine starts; what is wrong with them is the first thing to say."""
        starting = asyncio.ensure_future(self._engine.start())
        try:
            checked = await asyncio.to_thread(check_dump, target)
        except BaseException:
            # An engine is ended by `close`, and for that it must have started.
            await asyncio.wait([starting])
            if not starting.cancelled():
                starting.exception()
            raise
        await starting
        return checked

    async def _open(self, target: GpuDumpTarget, checked: CheckedDump | None) -> DumpStory:
        engine = self._engine
        dump = checked.dump.path if checked else target.dump
        executable = checked.executable if checked else target.executable
        shown = clean_line(target.dump.name)
        engine.events.log.clear()
        load = f"-file-exec-and-symbols {mi_string(executable.name)}" if executable is not None else ""
        try:
            with engine.events.hearing() as heard:
                if executable is not None:
                    await self._change_folder(executable.parent)
                    await engine.command(load, deadline=OPEN_DEADLINE)
                await self._change_folder(dump.parent)
                await engine.cli(f"target cudacore {_plain_name(dump.name)}", deadline=OPEN_DEADLINE)
                await self._change_folder(current_folder())
        except CommandFailed as refused:
            why = _EMPTY_MESSAGE.sub("", refused.what).rstrip(".")
            raise TargetInvalid(f"cuda-gdb cannot open {shown}", why, _DUMP_REFUSED) from refused
        except EngineDied as died:
            # Of its last words only the first says why; the rest is advice for its makers.
            assertion = _ASSERTION.search(died.why)
            why = assertion["what"] if assertion else died.why
            raise EngineDied(f"cuda-gdb died on {shown}", why, _DUMP_DIED) from died
        return tell_story(heard.lines)

    async def _change_folder(self, folder: Path) -> None:
        # Files are named without their folders, so that a recording of this is good elsewhere.
        if self._engine.provenance is Provenance.ENGINE:
            await self._engine.command(f"-environment-cd {mi_string(str(folder))}")


def _dump_beside_recording(path: Path) -> GpuDump | None:
    try:
        return read_gpu_dump(path)
    except TargetInvalid:
        # The recording answers without it; only notes on what a kernel was compiled with are less exact.
        return None


def _plain_name(name: str) -> str:
    """A file name as `target cudacore` takes it: the rest of the line, without quoting, but with `~` for a home."""
    return name if name[:1] not in ("~", "-", " ", '"', "'") else f"./{name}"

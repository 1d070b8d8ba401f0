"""cuda-gdb on a GPU core dump: the engine stands in any lane the dump holds, without a GPU."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ladder_backends.cuda_gdb.focus import FOCUS_QUERY, FOCUS_SCHEMA, focus_of, switch_command
from ladder_backends.cuda_gdb.opening import CheckedDump, check_dump, tell_story
from ladder_backends.cuda_gdb.sass import TOOLS, path_with_sass_tools, sass_tools
from ladder_backends.cuda_gdb.tables import block_warps, blocks_of, kernels_of, thread_runs
from ladder_backends.cuda_gdb.type_names import plain_type
from ladder_backends.cuda_gdb.values import CudaValues
from ladder_backends.debugger.contract import Capability, FocusRefused, StepKind
from ladder_backends.debugger.probe import Probe
from ladder_backends.debugger.target import GpuDumpTarget, Target
from ladder_backends.errors import CommandFailed, EngineDied, NotRecorded, TargetInvalid
from ladder_backends.gdb import GdbDialect
from ladder_backends.gdb.dialect import TransportFactory
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.images import DebugInformation, GpuDump, read_gpu_dump
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.records import Value
from ladder_backends.mi.transport import EngineCommand
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.events import EngineNotice, Event, FocusChanged, TargetStopped
from ladder_backends.model.focus import Dim3, Focus, FocusLevel, format_coordinate
from ladder_backends.model.frame import Frame, FrameKind, FrameWindow
from ladder_backends.model.grid import BlockRange, Instruction, Kernel, ThreadRun, Warp
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.paths import current_folder
from ladder_backends.text import clean_line

OPEN_DEADLINE = 600.0
"""Seconds for opening a dump; one with all of a GPU's memory has a hundred gigabytes."""

_NOISE = ("CUDA ELF Image contains unknown ABI version", "No exception was found on any device")
_NO_FOCUS = ("Focus is not set", "No CUDA", "not focused")
_BAD_COORDINATES = "Invalid coordinates"
_SECOND_DUMP = re.compile(r"\s*tar\w*\s+cudac\w*", re.IGNORECASE)
_UNREADABLE_STRING = re.compile(r" <error: Cannot access memory at address 0x[0-9a-f]+>$")
_EMPTY_MESSAGE = re.compile(r",? *error message= *$")
_ASSERTION = re.compile(r"internal-error: (?P<what>.*?)\.? ·")
_DUMP_DIED = "open the dump again; where it dies again, the dump is damaged: make a new one"
_DUMP_REFUSED = "make a new dump; this one is damaged, or of a newer driver than cuda-gdb knows"

_QUESTIONS = Capability.CONSOLE | Capability.EVALUATE | Capability.DEVICE_FOCUS


class CudaGdbDebugger(GdbDialect):
    """One cuda-gdb process and the one GPU core dump it opens; a second dump would crash it.

    Behind a recording no file is needed. Commands name files by their last component only, so that a recording
    answers on any machine.
    """

    name: ClassVar[str] = "cuda-gdb"
    rung: ClassVar[str] = "cuda-gdb"
    engine: ClassVar[str] = "cuda-gdb"
    dump_engine: ClassVar[bool] = True
    keeps_libraries: ClassVar[str] = "cuda-gdb finds libcuda and the toolkit's libraries by it"
    focus_schema: ClassVar[tuple[FocusLevel, ...]] = FOCUS_SCHEMA

    _dump: GpuDump | None = None
    _opened = False
    _focus: Focus | None = None
    _kernels: tuple[Kernel, ...] | None = None

    def __init__(
        self, transport: TransportFactory = PtyTransport, *, provenance: Provenance = Provenance.ENGINE
    ) -> None:
        super().__init__(transport, provenance=provenance)
        self.values = CudaValues(self, provenance)

    # -- what the dialect does its own way

    @classmethod
    def probe(cls) -> Probe:
        """Find cuda-gdb, ask for its version, and look for the programs it disassembles with."""
        found = super().probe()
        missing = [tool for tool in TOOLS if tool not in sass_tools()]
        if found.available and missing:
            packages = " ".join(f"nvidia-cuda-{tool}" for tool in missing)
            note = f"no SASS: {' and '.join(missing)} not found — pip install {packages}"
            return replace(found, notes=(*found.notes, note))
        return found

    def focus_from(self, results: Mapping[str, Value]) -> Focus | None:
        """The device focus that a record tells of."""
        return focus_of(results)

    def at_thread(self) -> str:
        """Nothing: naming a host thread would take the focus off the device."""
        return ""

    async def at_frame(self, level: int) -> str:
        """Select the frame; options that name one would need a host thread too."""
        if level != self.selected_frame:
            await self.select_frame(level)
        return ""

    def engine_command(self) -> EngineCommand:
        """How cuda-gdb is started: with the disassembly programs behind its PATH."""
        command = super().engine_command()
        environment = {**command.environment, "PATH": path_with_sass_tools()}
        return replace(command, environment=environment, expendable=True)

    def emit(self, event: Event) -> None:
        """Hand an event on, unless it is a warning that says nothing, or what the stop says anyway."""
        if isinstance(event, EngineNotice) and any(words in event.text for words in _NOISE):
            return
        if isinstance(event, FocusChanged) and event.focus is None:
            # A notice names the host thread only; the device focus is as it was, until it is asked for.
            event = replace(event, focus=self._focus)
        super().emit(event)

    async def after_console(self) -> None:
        """Ask for the focus: commands typed there move it without a notice."""
        before = self._focus
        try:
            focus = await self._ask_focus()
        except NotRecorded:
            # Nothing of what was typed is in the recording, so nothing has moved.
            return
        if focus != before:
            self.selected_frame = 0
            window = await self.frames(0, 1)
            super().emit(FocusChanged(focus, window.frames[0] if window.frames else None))

    # -- opening

    async def open(self, target: Target) -> None:
        """Open a GPU core dump, checked before the engine sees it.

        Raises:
            TargetInvalid: It is no whole GPU core dump, or the executable holds another program's kernels.
            EngineDied: The engine ended on it.
        """
        if not isinstance(target, GpuDumpTarget):
            raise TargetInvalid(
                "cuda-gdb opens GPU core dumps only", "", "use the gdb rung for programs and host cores"
            )
        if self._opened:
            raise TargetInvalid(
                f"{clean_line(target.dump.name)} cannot be opened here",
                "one cuda-gdb opens one dump, a second one ends it",
                "open it in a session of its own",
            )
        self._opened = True
        checked = None
        if self.provenance is Provenance.ENGINE:
            checked = await self._check_and_start(target)
        else:
            await self.start()
        await self._open(target, checked)

    async def _check_and_start(self, target: GpuDumpTarget) -> CheckedDump:
        """Look at the files while the engine starts; what is wrong with them is the first thing to say."""
        starting = asyncio.ensure_future(self.start())
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

    async def _open(self, target: GpuDumpTarget, checked: CheckedDump | None) -> None:
        dump = checked.dump.path if checked else target.dump
        executable = checked.executable if checked else target.executable
        shown = clean_line(target.dump.name)
        self.events.log.clear()
        load = f"-file-exec-and-symbols {mi_string(executable.name)}" if executable is not None else ""
        try:
            with self.events.hearing() as heard:
                if executable is not None:
                    await self._change_folder(executable.parent)
                    await self.command(load, deadline=OPEN_DEADLINE)
                await self._change_folder(dump.parent)
                await self.cli(f"target cudacore {_plain_name(dump.name)}", deadline=OPEN_DEADLINE)
                await self._change_folder(current_folder())
        except CommandFailed as refused:
            why = _EMPTY_MESSAGE.sub("", refused.what).rstrip(".")
            raise TargetInvalid(f"cuda-gdb cannot open {shown}", why, _DUMP_REFUSED) from refused
        except EngineDied as died:
            # Of its last words only the first says why; the rest is advice for its makers.
            assertion = _ASSERTION.search(died.why)
            why = assertion["what"] if assertion else died.why
            raise EngineDied(f"cuda-gdb died on {shown}", why, _DUMP_DIED) from died
        story = tell_story(heard.lines)
        self._dump = checked.dump if checked else await asyncio.to_thread(_dump_beside_recording, target.dump)
        _, _, window = await asyncio.gather(self.focus(), self.kernels(), self.frames(0, 1))
        self.capabilities = _QUESTIONS
        if self.provenance is Provenance.RECORDING or len(sass_tools()) == len(TOOLS):
            self.capabilities |= Capability.DISASSEMBLE
        for note in checked.notes if checked else ():
            self.emit(EngineNotice(note, "information"))
        frame = window.frames[0] if window.frames else None
        self.emit(TargetStopped("dump", story.description, frame, self._focus, time.monotonic(), story.fault))

    async def _change_folder(self, folder: Path) -> None:
        # Files are named without their folders, so that a recording of this is good elsewhere.
        if self.provenance is Provenance.ENGINE:
            await self.command(f"-environment-cd {mi_string(str(folder))}")

    # -- what a dump cannot do

    async def resume(self, kind: StepKind, location: str = "") -> None:
        """Refuse: a dump is one moment."""
        raise CommandFailed(f"-exec-{kind.value}", "a GPU core dump cannot run: it is the moment of the fault")

    async def set_breakpoint(self, intent: BreakpointIntent) -> BreakpointBinding:
        """Keep the intent for a rung where the program runs."""
        return BreakpointBinding(intent, BindingState.UNSUPPORTED, why="a GPU core dump does not run")

    async def console(self, text: str) -> None:
        """Type a line, unless it would open a second dump, which ends the engine."""
        if self._opened and _SECOND_DUMP.match(text):
            raise CommandFailed(
                text.strip(), "one cuda-gdb opens one dump, a second one ends it; open another session"
            )
        await super().console(text)

    # -- focus

    async def focus(self) -> Focus | None:
        """Where the engine stands, or None where it stands on no kernel."""
        try:
            return await self._ask_focus()
        except NotRecorded:
            # A recording need not hold the question in every lane: where it stands was told by the last move.
            if self._focus is None:
                raise
            return self._focus

    async def _ask_focus(self) -> Focus | None:
        try:
            answer = await self.command(FOCUS_QUERY)
        except CommandFailed as refused:
            if any(words in refused.what for words in _NO_FOCUS):
                self._focus = None
                return None
            raise
        self._focus = focus_of(answer.results)
        return self._focus

    async def switch(self, asked: Focus) -> Focus:
        """Move the focus; levels that are not asked for go to the nearest lane that is held."""
        command = switch_command(asked)
        try:
            answer = await self.command(command)
        except CommandFailed as refused:
            if _BAD_COORDINATES in refused.what:
                raise FocusRefused(command, f"the dump does not hold {asked.describe()}", asked) from refused
            raise FocusRefused(command, refused.what, asked) from refused
        self.selected_frame = 0
        reached = focus_of(answer.results)
        if reached is None:
            reached = await self.focus()
        if reached is None:
            raise FocusRefused(command, "the engine stands on no kernel", asked)
        self._focus = reached
        return reached

    # -- the grid

    async def kernels(self) -> Sequence[Kernel]:
        """Kernels of the dump; they cannot change, so they are asked for once."""
        if self._kernels is None:
            answer = await self.command("-cuda-info-kernels")
            self._kernels = kernels_of(answer.results, self.provenance)
        return self._kernels

    async def blocks(self, kernel: int) -> Sequence[BlockRange]:
        """Blocks the dump holds of a kernel, coalesced."""
        answer = await self.command(f"-cuda-info-blocks kernel {kernel}")
        return blocks_of(answer.results, kernel)

    async def threads_held(self, block: Dim3) -> Sequence[ThreadRun]:
        """Threads that the dump holds of a block of the focused kernel, coalesced."""
        kernel = self._focus.index("kernel") if self._focus else None
        named = f"kernel {kernel} " if kernel is not None else ""
        answer = await self.command(f"-cuda-info-threads {named}block {format_coordinate(block)}")
        return thread_runs(answer.results)

    async def warps(self, focus: Focus) -> Sequence[Warp]:
        """The block's warps that the dump holds: the lanes of the focused one exactly, of others from the masks."""
        block = focus.dim3("block")
        if block is None:
            return ()
        here = self._focus
        if (
            here is None
            or here.dim3("block") != block
            or here.index("kernel") != focus.get("kernel", here.index("kernel"))
        ):
            return await self._warps_elsewhere(focus)
        device, sm, warp = here.index("device"), here.index("sm"), here.index("warp")
        if device is None or sm is None:
            return ()
        kernels, table, lanes = await asyncio.gather(
            self.kernels(),
            self.command(f"-cuda-info-warps device {device} sm {sm}"),
            self.command(f"-cuda-info-lanes device {device} sm {sm} warp {warp}"),
        )
        return block_warps(here, kernels, table.results, lanes.results)

    async def _warps_elsewhere(self, focus: Focus) -> Sequence[Warp]:
        """Warps of a block that is not the focused one: only a focus there tells on which SM it is.

        The move there, the questions and the move back are sent together, so that no other command comes between.
        """
        kernels = await self.kernels()
        back = switch_command(self._focus) if self._focus is not None else None
        there = Focus.of(kernel=focus.get("kernel"), block=focus.get("block"))
        moved, table, lanes, *_ = await asyncio.gather(
            self.command(switch_command(there)),
            self.command("-cuda-info-warps"),
            self.command("-cuda-info-lanes"),
            *((self.command(back),) if back else ()),
            return_exceptions=True,
        )
        self.selected_frame = 0
        if isinstance(moved, CommandFailed):
            raise FocusRefused(moved.command, f"the dump does not hold {there.describe()}", there) from moved
        for answer in (moved, table, lanes):
            if isinstance(answer, BaseException):
                raise answer
        assert not isinstance(moved, BaseException)
        assert not isinstance(table, BaseException)
        assert not isinstance(lanes, BaseException)
        reached = focus_of(moved.results)
        return block_warps(reached, kernels, table.results, lanes.results) if reached is not None else ()

    # -- the lane

    async def frames(self, start: int, count: int) -> FrameWindow:
        """The focused lane's stack."""
        window = await super().frames(start, count)
        return replace(window, frames=tuple(self._device_frame(frame) for frame in window.frames))

    def _device_frame(self, frame: Frame) -> Frame:
        return replace(frame, kind=FrameKind.DEVICE, provenance=self.provenance)

    async def variables(self, frame_level: int, limit: int) -> VariableWindow:
        """The lane's arguments and locals, with a note where the kernel was built without them."""
        window = await super().variables(frame_level, limit)
        if not window.variables:
            return replace(window, note=window.note or self._why_no_variables())
        return replace(window, variables=tuple(self._plain(each) for each in window.variables))

    async def evaluate(self, expression: str, frame_level: int = 0) -> Variable:
        """The value of an expression as the focused lane sees it."""
        return self._plain(await super().evaluate(expression, frame_level))

    def _plain(self, variable: Variable) -> Variable:
        return replace(
            variable,
            type=plain_type(variable.type),
            value=_UNREADABLE_STRING.sub("", variable.value),
            provenance=self.provenance,
        )

    def _why_no_variables(self) -> str:
        grid = self._focus.index("grid") if self._focus else None
        kernels = self._dump.kernels if self._dump else ()
        debug = next((kernel.debug for kernel in kernels if kernel.grid == grid), None)
        if debug is DebugInformation.FULL:
            return "no variables in this frame"
        if debug is DebugInformation.NONE:
            return "compiled without line information: no source, no locals; rebuild with -lineinfo or -G"
        if debug is DebugInformation.LINES:
            return "compiled with -lineinfo only: no locals; rebuild with -G"
        return "no locals: compiled with -lineinfo only, or without; rebuild with -G"

    async def disassemble(self, frame_level: int, count: int) -> Sequence[Instruction]:
        """SASS around the lane's program counter."""
        try:
            instructions = await super().disassemble(frame_level, count)
        except CommandFailed as refused:
            missing = [tool for tool in TOOLS if tool not in sass_tools()]
            if isinstance(refused, NotRecorded) or not missing:
                raise
            why = f"no SASS: {' and '.join(missing)} not found; pip install nvidia-cuda-{missing[0]}"
            raise CommandFailed(refused.command, why) from refused
        return tuple(replace(each, text=each.text.rstrip()) for each in instructions)


def _dump_beside_recording(path: Path) -> GpuDump | None:
    try:
        return read_gpu_dump(path)
    except TargetInvalid:
        # The recording answers without it; only notes on what a kernel was compiled with are less exact.
        return None


def _plain_name(name: str) -> str:
    """A file name as `target cudacore` takes it: the rest of the line, without quoting, but with `~` for a home."""
    return name if name[:1] not in ("~", "-", " ", '"', "'") else f"./{name}"

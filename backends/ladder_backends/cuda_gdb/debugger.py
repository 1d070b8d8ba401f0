"""cuda-gdb on programs and processes with a GPU, and on GPU core dumps: the engine stands in any lane."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ladder_backends.cuda_gdb.attaching import CudaAttaching
from ladder_backends.cuda_gdb.code import CudaCode
from ladder_backends.cuda_gdb.device_settings import CudaDeviceStops
from ladder_backends.cuda_gdb.dump_console import why_deadly
from ladder_backends.cuda_gdb.dump_opening import DumpOpening
from ladder_backends.cuda_gdb.dumping import CudaGpuDumps
from ladder_backends.cuda_gdb.failures import ConsoleEar, Failure, failure_in, says_nothing
from ladder_backends.cuda_gdb.fault_origin import FaultOrigins
from ladder_backends.cuda_gdb.focus import FOCUS_SCHEMA, is_lane
from ladder_backends.cuda_gdb.grid import GridQuestions
from ladder_backends.cuda_gdb.hardware import CudaDeviceMap
from ladder_backends.cuda_gdb.kernel_breakpoints import KernelBreakpoints
from ladder_backends.cuda_gdb.kernel_launch import CudaKernelLaunches
from ladder_backends.cuda_gdb.kernel_stops import KernelStops
from ladder_backends.cuda_gdb.lane import Lane
from ladder_backends.cuda_gdb.lane_runs import CudaLaneRuns
from ladder_backends.cuda_gdb.lanes import CudaLanes
from ladder_backends.cuda_gdb.memory import CudaMemory
from ladder_backends.cuda_gdb.registers import CudaRegisters
from ladder_backends.cuda_gdb.sass import TOOLS, path_with_sass_tools, sass_tools
from ladder_backends.cuda_gdb.stack import LaunchStack, taken
from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.cuda_gdb.stops import StopWords
from ladder_backends.cuda_gdb.threads import THREAD_LIBRARIES, CudaThreads
from ladder_backends.cuda_gdb.values import CudaValues
from ladder_backends.debugger.contract import Capability, StepKind
from ladder_backends.debugger.probe import Probe
from ladder_backends.debugger.target import AttachTarget, CoreTarget, GpuDumpTarget, Target
from ladder_backends.errors import CommandFailed, EngineError, NotRecorded, TargetInvalid
from ladder_backends.gdb.attaching import ATTACH_DEADLINE, Attaching
from ladder_backends.gdb.debugger import GdbDebugger
from ladder_backends.gdb.dialect import TransportFactory
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.records import Value
from ladder_backends.mi.transport import EngineCommand
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.events import (
    EngineExited,
    EngineNotice,
    Event,
    FocusChanged,
    SettingChanged,
    TargetExited,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.focus import Dim3, Focus, FocusLevel
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.model.grid import NO_KERNEL, BlockRange, Instruction, Kernel, ThreadRun, Warp
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.rungs import host_rung
from ladder_backends.text import clean_line

INTERRUPT_PATIENCE = 8.0
"""Seconds that a GPU may take to be suspended before the engine itself is interrupted."""

_OUTERMOST = "not meaningful in the outermost frame"

_QUESTIONS = Capability.CONSOLE | Capability.EVALUATE | Capability.DEVICE_FOCUS


class CudaGdbDebugger(GdbDebugger):
    """One cuda-gdb process, and the one program, process or GPU core dump that it opens.

    Some of its facets differ with where it stands. On a dump, nothing is asked of a host; behind a recording no
    file is needed: commands name a dump's files by their last component only, so that it answers on any machine.
    """

    name: ClassVar[str] = "cuda-gdb"
    rung: ClassVar[str] = "cuda-gdb"
    engine: ClassVar[str] = "cuda-gdb"
    dump_engine: ClassVar[bool] = True
    stops_threads_apart: ClassVar[bool] = False
    keeps_libraries: ClassVar[str] = "cuda-gdb finds libcuda and the toolkit's libraries by it"
    focus_schema: ClassVar[tuple[FocusLevel, ...]] = FOCUS_SCHEMA
    settings: ClassVar[tuple[str, ...]] = (
        *GdbDebugger.settings,
        *(f'-interpreter-exec console "add-auto-load-safe-path {each}"' for each in THREAD_LIBRARIES),
    )

    _opened = _without_lanes = False
    _opening: DumpOpening | None = None
    _big_attach: CudaAttaching | None = None

    def __init__(
        self, transport: TransportFactory = PtyTransport, *, provenance: Provenance = Provenance.ENGINE
    ) -> None:
        super().__init__(transport, provenance=provenance)
        self.running_target.patience = INTERRUPT_PATIENCE
        self.standing = Standing(self, self.events)
        self.grid = GridQuestions(self, self.standing, provenance)
        self.threads = CudaThreads(self, self.events, self.standing)
        self.device_map = CudaDeviceMap(self, self.grid.kernels)
        self.lanes: CudaLanes = CudaLanes(self, self.standing, self.grid)
        self.lane = Lane(provenance)
        self.launch_stack = LaunchStack(
            self, self.questions, self.standing, self.events, provenance, self.mappings.locate
        )
        made = KernelBreakpoints(self, self.events, self.emit, self.standing, self.grid)
        self.setting = self._kernel_breakpoints = made
        self._stop_words = StopWords()
        self._settings = CudaDeviceStops(self)
        self._fault_origins = FaultOrigins(self, self.events, super().emit)
        self._kernel_stops = KernelStops(self.events, self._kernel_breakpoints, self._settings, self.running_target)
        self._typed_frame: Frame | None = None
        self.events.amend = self._stop_words.amend
        self.events.overhear = self._overhear
        self.events.overhear_console = ConsoleEar(self._overhear, self._console.unfinished).hear
        self._failed: Failure | None = None
        host = {name: getattr(self, name) for name in ("registers", "memory", "code", "values", "kernel_launches")}
        self._on_host: Mapping[str, Any] = host
        self._on_device: Mapping[str, Any] = {
            "registers": CudaRegisters(self, self.standing, self.lane.registers, self._in_lane),
            "memory": CudaMemory(self, self.standing, self._in_lane),
            "code": CudaCode(self, self._in_lane),
            "values": CudaValues(self, self.lane, self._in_lane),
            "kernel_launches": CudaKernelLaunches(
                self, self.standing, self.lane, self.kernels, self.questions.frames, provenance
            ),
        }
        self._show_facets()

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
        """The focus that a record tells of."""
        focus = self.standing.told(results)
        self._show_facets()
        return focus

    def at_thread(self) -> str:
        """Nothing on a device: naming a thread of the host would take the focus off it."""
        return super().at_thread() if self.standing.live and not self.standing.on_device else ""

    async def at_frame(self, level: int) -> str:
        """Select a lane's frame, for which there are no options; a frame of the host is named with its thread."""
        if self.standing.live and not self.standing.on_device:
            return await super().at_frame(level)
        host = self.launch_stack.host_level(level)
        if host is not None and self.events.thread is not None:
            return f" --thread {self.events.thread} --frame {host}"
        if level != self.selected_frame:
            await self.select_frame(level)
        elif level and self.standing.on_device:
            # Tables of the grid that were asked for meanwhile bring the engine back into the innermost frame.
            self.submit(f"-stack-select-frame {level}").add_done_callback(taken)
        return ""

    async def select_frame(self, level: int) -> None:
        """Make a frame the engine's selected one; one of the launching thread is named in each question."""
        if not self.standing.on_device:
            await super().select_frame(level)
            return
        if self.launch_stack.host_level(level) is not None:
            # The engine's command line stays in the lane.
            return
        # Noted at once: questions about the host that are sent meanwhile come back to it.
        before, self.selected_frame = self.selected_frame, level
        try:
            await super().select_frame(level)
        except BaseException:
            self.selected_frame = before
            raise

    async def back_in_frame(self) -> None:
        """Behind a question that named a thread of the host: the engine is in the lane's innermost frame then."""
        if self.selected_frame and self.standing.on_device:
            await self.command(f"-stack-select-frame {self.selected_frame}")

    def engine_command(self) -> EngineCommand:
        """How cuda-gdb is started: with the disassembly programs behind its PATH."""
        command = super().engine_command()
        return replace(command, environment={**command.environment, "PATH": path_with_sass_tools()})

    def settings_found(self) -> tuple[str, ...]:
        """None: printers of other compilers are not for kernels."""
        return ()

    def attaching(self, pid: int) -> Attaching:
        """The way it attaches to a process with a GPU."""
        self._big_attach = CudaAttaching(self, pid, self.events)
        return self._big_attach

    def _overhear(self, line: str) -> None:
        self._stop_words.overhear(line)
        failure = failure_in(line)
        if failure is not None:
            self._gave_up(failure)

    def _gave_up(self, failure: Failure) -> None:
        """The engine's words that it cannot debug the target; it tells of no stop, and maybe in two places."""
        if failure == self._failed:
            return
        self._failed = failure
        self.emit(EngineNotice(f"{failure.what} — {failure.remedy}", "error"))
        if failure.fatal and self.events.alive:
            self.events.running = self.events.alive = False
            self.events.thread = None
            self.events.stops += 1
            self.emit(TargetExited(words=failure.what))

    # -- events

    def emit(self, event: Event) -> None:
        """Hand an event on, unless it is a warning that says nothing, or a stop that was only on the way."""
        if isinstance(event, EngineNotice) and says_nothing(event.text):
            return
        if isinstance(event, FocusChanged) and event.frame is not None and self.standing.on_device:
            # Which of two things was typed, `frame 1` or `thread 1`, tells the focus alone, which is asked next.
            self._typed_frame = event.frame
            return
        if isinstance(event, FocusChanged) and event.focus is None:
            # A notice names the host thread only; the device focus is as it was, until it is asked for.
            event = replace(event, focus=self.standing.focus)
        if isinstance(event, TargetRunning):
            self._failed = None
            self.launch_stack.forget()
        elif isinstance(event, TargetExited):
            self.standing.forget()
            self.launch_stack.forget()
        elif isinstance(event, SettingChanged):
            self._settings.typed(event.name, event.value)
        if isinstance(event, TargetExited | EngineExited):
            self._kernel_stops.once.set()
        elif isinstance(event, TargetStopped):
            self.launch_stack.forget()
            self.selected_frame = 0
            if self._kernel_stops.take(event) or self._fault_origins.take(event):
                return
        super().emit(event)

    async def after_console(self) -> None:
        """Ask for the focus: commands typed there move it without a notice."""
        typed, self._typed_frame = self._typed_frame, None
        if self.standing.live:
            await super().after_console()
            if self.events.running or not self.events.alive:
                return
        before = self.standing.focus
        try:
            focus = await self._ask_focus()
        except NotRecorded:
            # Nothing of what was typed is in the recording, so nothing has moved.
            return
        if focus != before:
            self.selected_frame = 0
            window = await self.frames(0, 1)
            frame = window.frames[0] if window.frames else None
        elif typed is not None:
            frame = typed
        else:
            return
        super().emit(FocusChanged(focus, frame))

    # -- opening

    async def open(self, target: Target) -> None:
        """Open a program, a process, or a GPU core dump, checked before the engine sees it.

        Raises:
            TargetInvalid: It cannot be debugged here; of a dump, it is not whole, or not of this executable.
            EngineDied: The engine ended on it.
        """
        if isinstance(target, CoreTarget):
            raise TargetInvalid("cuda-gdb opens no host cores here", "", f"open it on the {host_rung().name} rung")
        if self._opened and isinstance(target, GpuDumpTarget):
            raise TargetInvalid(
                f"{clean_line(target.dump.name)} cannot be opened here",
                "one cuda-gdb opens one dump, a second one ends it",
                "open it in a session of its own",
            )
        self._opened = True
        if isinstance(target, GpuDumpTarget):
            await self._open_dump(target)
            return
        self.standing.live, self.lane.program = True, str(getattr(target, "program", None) or "")
        self._show_facets()
        self.device_stops, self.gpu_dumps = self._settings, CudaGpuDumps(self)
        self.lane_runs = CudaLaneRuns(self, self.events.own_stops)
        await super().open(target)
        self.capabilities |= Capability.DEVICE_FOCUS
        if isinstance(target, AttachTarget) and self.provenance is Provenance.ENGINE:
            await self._await_stop()

    async def _await_stop(self) -> None:
        """An attach is accepted long before the GPU stands; what is asked earlier is refused."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ATTACH_DEADLINE):
                await self._kernel_stops.once.wait()
        attach = self._big_attach
        if attach is not None and self.events.alive and await attach.read_needed():
            super().emit(FocusChanged(self.standing.focus))

    async def _open_dump(self, target: GpuDumpTarget) -> None:
        self.threads = self.signals = self.libraries = self.source_files = self.process = self.python = None
        self.grid.constant = True
        self._opening = opening = DumpOpening(self)
        self._show_facets()
        story = await opening.open(target)
        self.lane.dump, self.lane.program = opening.dump, str(target.executable or "")
        focus, kernels, window = await asyncio.gather(self.focus(), self.kernels(), self.frames(0, 1))
        self.capabilities = _QUESTIONS
        if focus is None and not kernels:
            # What the engine answers then is of no lane, and looks like a frame without symbols.
            self._without_lanes, window = True, FrameWindow()
            self._show_facets()
        if self.provenance is Provenance.RECORDING or len(sass_tools()) == len(TOOLS):
            self.capabilities |= Capability.DISASSEMBLE
        for note in opening.notes:
            self.emit(EngineNotice(note, "information"))
        frame = window.frames[0] if window.frames else None
        super().emit(TargetStopped("dump", story.description, frame, focus, time.monotonic(), story.fault))

    # -- running

    async def resume(self, kind: StepKind, location: str = "") -> None:
        """Let the target run; at launches it stops for breakpoints that wait for one."""
        if self._opening is not None:
            raise CommandFailed(f"-exec-{kind.value}", "a GPU core dump cannot run: it is the moment of the fault")
        await self._kernel_stops.prepare()
        try:
            await super().resume(kind, location)
        except CommandFailed as refused:
            if failure := failure_in(refused.what):
                what = "start it" if kind.anew else "let it run on"
                raise TargetInvalid(f"cuda-gdb cannot {what}", failure.what, failure.remedy) from refused
            if _OUTERMOST in refused.what and self.standing.on_device:
                why = CommandFailed(refused.command, "the kernel itself is the outermost frame of a lane")
                why.remedy = "continue runs on to the next stop"
                raise why from refused
            raise

    async def set_breakpoint(self, intent: BreakpointIntent) -> BreakpointBinding:
        """Apply an intent; on a dump, keep it for a rung where the program runs."""
        if self._opening is not None:
            return BreakpointBinding(intent, BindingState.UNSUPPORTED, why="a GPU core dump does not run")
        return await super().set_breakpoint(intent)

    async def console(self, text: str) -> None:
        """Type a line, unless the engine would end of it while it holds a dump."""
        if self._opening is not None and (why := why_deadly(text)):
            raise CommandFailed(text.strip(), why)
        await self.lanes.at_rest()
        await super().console(text)

    async def close(self) -> None:
        """End the engine."""
        self._kernel_stops.close()
        self._fault_origins.close()
        await super().close()

    # -- focus

    @property
    def lane_left(self) -> Focus | None:
        """The lane that a visit to a thread of the host has left."""
        return self.standing.left

    def _show_facets(self) -> None:
        """Put those facets on the debugger that answer where it stands."""
        lane = self.standing.on_device or not self.standing.live
        for name, facet in (self._on_device if lane else self._on_host).items():
            setattr(self, name, None if self._without_lanes else facet)

    async def _ask_focus(self) -> Focus | None:
        focus = await self.standing.ask()
        self._show_facets()
        return focus

    async def focus(self) -> Focus | None:
        """Where the engine stands, or None where it stands nowhere."""
        if self.standing.live and (self.events.running or not self.events.alive):
            return self.standing.focus
        try:
            return await self._ask_focus()
        except NotRecorded:
            # A recording need not hold the question in every lane: where it stands was told by the last move.
            if self.standing.focus is None:
                raise
            return self.standing.focus

    async def switch(self, asked: Focus) -> Focus:
        """Move the focus to a lane, or visit a thread of the host: from there the lane can be returned to."""
        thread = asked.index("thread")
        if self.standing.live and thread is not None and "block" not in asked:
            await super().switch(asked)
            reached = self.standing.visit(self.events.thread)
        else:
            reached = await self.standing.switch(asked)
        self.selected_frame = 0
        self.launch_stack.forget()
        self._show_facets()
        return reached or asked

    # -- the grid

    async def kernels(self) -> Sequence[Kernel]:
        """Kernels on the devices, or in the dump."""
        return await self.grid.kernels()

    async def blocks(self, kernel: int) -> Sequence[BlockRange]:
        """Blocks of a kernel that are held, coalesced."""
        return await self.grid.blocks(kernel)

    async def threads_held(self, block: Dim3) -> Sequence[ThreadRun]:
        """Threads of a block of the focused kernel that are held, coalesced."""
        return await self.grid.threads_held(block)

    async def warps(self, focus: Focus) -> Sequence[Warp]:
        """The block's warps that are held: the lanes of the focused one exactly, of others from the masks."""
        before = self.standing.focus
        try:
            return await self.grid.warps(focus)
        finally:
            if before is not None and before.get("block") != focus.get("block"):
                # It was there and came back, to the innermost frame.
                self.selected_frame = 0

    # -- the lane

    async def frames(self, start: int, count: int) -> FrameWindow:
        """The lane's stack and, below it, that of the host thread which launched the kernel; or a thread's."""
        if self._without_lanes:
            return FrameWindow((), start)
        if self.standing.live and not self.standing.on_device:
            return await super().frames(start, count)
        return await self.launch_stack.frames(start, count)

    def _in_lane(self, level: int) -> bool:
        return not self.standing.live or (self.standing.on_device and self.launch_stack.host_level(level) is None)

    @contextlib.asynccontextmanager
    async def keeping_lane(self) -> AsyncIterator[None]:
        """Round a question about a frame of the host: see that the lane is still in focus behind it."""
        lane = self.standing.focus
        try:
            yield
        finally:
            if lane is not None and is_lane(lane):
                with contextlib.suppress(EngineError):
                    if not is_lane(await self.standing.ask()):
                        await self.standing.return_to(lane)
                    await self.back_in_frame()

    async def variables(self, frame_level: int, limit: int) -> VariableWindow:
        """Arguments and locals, with a note where the kernel was built without them."""
        if self._without_lanes:
            return VariableWindow(frame_level=frame_level, note=NO_KERNEL)
        if self._in_lane(frame_level):
            window = await super().variables(frame_level, limit)
            return await self.lane.variables(window, self.standing.focus, self.questions.frames)
        async with self.keeping_lane():
            return await super().variables(frame_level, limit)

    async def evaluate(self, expression: str, frame_level: int = 0) -> Variable:
        """The value of an expression as the focused lane, or a frame of the host, sees it."""
        if self._in_lane(frame_level):
            return self.lane.variable(await super().evaluate(expression, frame_level))
        async with self.keeping_lane():
            return await super().evaluate(expression, frame_level)

    async def disassemble(self, frame_level: int, count: int) -> Sequence[Instruction]:
        """SASS around the lane's program counter, or the host's code round a frame's."""
        if not self._in_lane(frame_level):
            return await super().disassemble(frame_level, count)
        try:
            instructions = await super().disassemble(frame_level, count)
        except CommandFailed as refused:
            missing = [tool for tool in TOOLS if tool not in sass_tools()]
            if isinstance(refused, NotRecorded) or not missing:
                raise
            why = f"no SASS: {' and '.join(missing)} not found; pip install nvidia-cuda-{missing[0]}"
            raise CommandFailed(refused.command, why) from refused
        return tuple(replace(each, text=each.text.rstrip()) for each in instructions)

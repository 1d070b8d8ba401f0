"""A stand-in for a debugger of kernels: launches, blocks that come and go, a breakpoint for one lane. No engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ladder_backends.cuda_gdb.focus import FOCUS_SCHEMA
from ladder_backends.debugger.contract import Capability, Debugger, FocusRefused, Listener, StepKind
from ladder_backends.debugger.facets import DeviceStops, LaneRuns, LaunchStops
from ladder_backends.debugger.probe import Probe
from ladder_backends.debugger.target import Target
from ladder_backends.errors import CommandFailed
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.events import TargetExited, TargetRunning, TargetStopped
from ladder_backends.model.focus import Dim3, Focus
from ladder_backends.model.frame import Frame, FrameKind, FrameWindow, Place
from ladder_backends.model.grid import BlockRange, Instruction, Kernel, Warp
from ladder_backends.model.stop_reasons import KERNEL_ENTRY
from ladder_backends.model.variable import Variable, VariableWindow

FILE = "vector_add_oob.cu"
ENTRY, END = 9, 14


@dataclass(slots=True)
class Launch:
    """A kernel that the program launches.

    Attributes:
        resident: Blocks on the device at the launch; None for all.
        comes: The lane of a breakpoint ever comes to its place.
    """

    name: str = "vadd(float const*, float const*, float*, int)"
    grid: Dim3 = (4, 1, 1)
    block: Dim3 = (256, 1, 1)
    resident: set[Dim3] | None = None
    comes: bool = True
    faults: bool = False
    elsewhere: int = 0


class Stops(DeviceStops):
    """What stops by itself."""

    def __init__(self, gpu: SimulatedGpu) -> None:
        self.gpu = gpu

    async def at_launch(self, which: LaunchStops) -> None:
        self.gpu.asked.append(f"launches {which}")
        self.launches = which

    async def at_failure(self, what: Any) -> None:
        self.failures = what

    def concerns(self, name: str) -> bool:
        return False


class Runs(LaneRuns):
    """The breakpoint for a lane."""

    def __init__(self, gpu: SimulatedGpu) -> None:
        self.gpu = gpu
        self.place = ""

    @property
    def waiting(self) -> bool:
        return bool(self.place)

    async def wait_at(self, location: str, block: Dim3 | None, thread: Dim3 | None) -> None:
        if location in self.gpu.no_places:
            raise CommandFailed("-break-insert", f"No line {location.rpartition(':')[2]} in file.")
        self.gpu.asked.append(f"wait {location} {block} {thread}")
        self.place, self.lane = location, (block, thread)

    async def drop(self) -> None:
        self.place = ""


@dataclass
class Standing:
    """Where it stands."""

    launch: int = -1
    block: Dim3 = (0, 0, 0)
    thread: Dim3 = (0, 0, 0)
    line: int = ENTRY


class SimulatedGpu(Debugger):
    """One program with launches."""

    name = "cuda-gdb"
    rung = "cuda-gdb"
    focus_schema = FOCUS_SCHEMA

    def __init__(self, *launches: Launch) -> None:
        self.script = list(launches) or [Launch()]
        self.asked: list[str] = []
        self.no_places: set[str] = set()
        self.here = Standing()
        self.runs = self.on_host = False
        self.hangs = self.comes_late = False
        self.refuses = ""
        self.stops = 0
        self.device_stops = Stops(self)
        self.lane_runs = Runs(self)
        self.target: Target | None = None
        self._tell: Listener = lambda event: None

    @classmethod
    def probe(cls) -> Probe:
        return Probe(engine="cuda-gdb", version="simulated")  # type: ignore[call-arg]

    def listen(self, listener: Listener) -> None:
        self._tell = listener

    async def start(self) -> None: ...

    async def open(self, target: Target) -> None:
        self.target = target
        self.capabilities = Capability.RUN_CONTROL | Capability.BREAKPOINTS | Capability.DEVICE_FOCUS

    # -- running

    async def resume(self, kind: StepKind, location: str = "") -> None:
        self.asked.append(kind.value)
        if kind is StepKind.CONTINUE and self.refuses:
            raise CommandFailed("-exec-continue", self.refuses)
        self.runs = True
        self._tell(TargetRunning(time.monotonic()))
        if kind.anew:
            self.here = Standing()
        if not self.hangs:
            asyncio.get_running_loop().call_soon(self._go, kind)

    def _go(self, kind: StepKind) -> None:
        if not self.runs:
            return
        here = self.here
        if kind is StepKind.NEXT:
            here.line += 1
            self._stop("end-stepping-range", "stepped")
            return
        launch = self.script[here.launch] if 0 <= here.launch < len(self.script) else None
        if launch is not None and launch.faults:
            self._stop("signal-received", "Warp Illegal Address", fault=True)
            return
        if launch is not None and launch.elsewhere:
            launch.elsewhere -= 1
            here.block, here.thread = (0, 0, 0), (0, 0, 0)
            self._stop("breakpoint-hit", "breakpoint 1")
            return
        if launch is not None and self.lane_runs.waiting:
            if not launch.comes:
                return
            block, thread = self.lane_runs.lane
            here.block, here.thread = block or (0, 0, 0), thread or (0, 0, 0)
            here.line = int(self.lane_runs.place.rpartition(":")[2])
            if launch.resident is not None:
                launch.resident.add(here.block)
            self.lane_runs.place = ""
            self._stop("location-reached", "lane reached")
            return
        if self.device_stops.launches is LaunchStops.APPLICATION and here.launch + 1 < len(self.script):
            self.here = Standing(here.launch + 1)
            name = self.script[self.here.launch].name
            self._stop(KERNEL_ENTRY, f"{name} was launched")
            return
        self.runs = False
        self.here = Standing()
        self._tell(TargetExited(0))

    def _stop(self, reason: str, words: str, *, fault: bool = False) -> None:
        self.runs = False
        self.stops += 1
        self._tell(TargetStopped(reason, words, self._frame(), self._focus(), time.monotonic(), fault))

    async def interrupt(self) -> None:
        self.asked.append("interrupt")
        if self.runs and self.comes_late:
            self.script[self.here.launch].comes = True
            self._go(StepKind.CONTINUE)
        elif self.runs:
            self._stop("signal-received", "interrupted")

    # -- looking

    def _frame(self) -> Frame:
        name = self.script[max(0, self.here.launch)].name.partition("(")[0]
        place = Place(FILE, self.here.line)
        return Frame(0, name, place, address="0x10", kind=FrameKind.DEVICE)

    def _focus(self) -> Focus:
        here = self.here
        if here.launch < 0:
            return Focus.of(thread=1)
        return Focus.of(kernel=here.launch, grid=here.launch + 1, block=here.block, thread=here.thread)

    async def focus(self) -> Focus | None:
        return self._focus()

    async def switch(self, asked: Focus) -> Focus:
        self.asked.append(f"switch {asked.describe()}")
        launch = self.script[self.here.launch]
        block, thread = asked.dim3("block"), asked.dim3("thread")
        if block is None or (launch.resident is not None and block not in launch.resident):
            raise FocusRefused("", f"{asked.describe()} is not on the device now", asked)
        self.here.block, self.here.thread = block, thread or (0, 0, 0)
        return self._focus()

    async def kernels(self) -> Sequence[Kernel]:
        number = self.here.launch
        launch = self.script[number]
        return (Kernel(number, number + 1, 0, launch.name, launch.grid, launch.block, "Active"),)

    async def blocks(self, kernel: int) -> Sequence[BlockRange]:
        return ()

    async def warps(self, focus: Focus) -> Sequence[Warp]:
        return ()

    async def frames(self, start: int, count: int) -> FrameWindow:
        return FrameWindow((self._frame(),))

    async def select_frame(self, level: int) -> None: ...

    async def variables(self, frame_level: int, limit: int) -> VariableWindow:
        here, launch = self.here, self.script[self.here.launch]
        return VariableWindow((Variable("i", str(here.block[0] * launch.block[0] + here.thread[0]), type="int"),))

    async def evaluate(self, expression: str, frame_level: int = 0) -> Variable:
        raise CommandFailed(expression, "not here")

    async def disassemble(self, frame_level: int, count: int) -> Sequence[Instruction]:
        return ()

    # -- the rest

    async def set_breakpoint(self, intent: BreakpointIntent) -> BreakpointBinding:
        return BreakpointBinding(intent, BindingState.SET, number="1")

    async def remove_breakpoint(self, binding: BreakpointBinding) -> None: ...

    async def enable_breakpoint(self, binding: BreakpointBinding, enabled: bool) -> None: ...

    async def console(self, text: str) -> None: ...

    async def complete(self, text: str) -> Sequence[str]:
        return ()

    def type_to_program(self, raw: bytes) -> None: ...

    def resize_program(self, columns: int, rows: int) -> None: ...

    def pending(self) -> Sequence[tuple[str, float]]:
        return ()

    async def close(self) -> None: ...


@dataclass
class Heard:
    """What a jump told."""

    lines: list[str] = field(default_factory=list)

    def __call__(self, line: str) -> None:
        self.lines.append(line)

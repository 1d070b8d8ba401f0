"""The contract itself: small, asynchronous, with capabilities instead of types to ask for.

A debugger is one engine process (or a recording of one) and what it holds. It is made, opened once on a target,
driven, and closed. Everything that happens arrives as events, in order, through the callback given to `listen`;
answers to questions are returned. No method blocks the event loop, and each can be cancelled: a cancelled question
is forgotten, and its late answer dropped.

Every method that asks the engine may raise `EngineDied`, `DeadlinePassed`, `CommandFailed` or, behind a recording,
`NotRecorded`.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ladder_backends.errors import CommandFailed
from ladder_backends.model.provenance import Provenance

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import (
        Build,
        Code,
        DeviceMap,
        DeviceStops,
        Firewall,
        GpuDumps,
        KernelLaunches,
        LaneRuns,
        Lanes,
        Libraries,
        Memory,
        Process,
        PythonTarget,
        Registers,
        Signals,
        SourceFiles,
        Threads,
        Values,
    )
    from ladder_backends.debugger.probe import Probe
    from ladder_backends.debugger.target import Target
    from ladder_backends.model.breakpoint import BreakpointBinding, BreakpointIntent
    from ladder_backends.model.events import Event
    from ladder_backends.model.focus import Dim3, Focus, FocusLevel
    from ladder_backends.model.frame import FrameWindow, Place
    from ladder_backends.model.grid import BlockRange, Instruction, Kernel, ThreadRun, Warp
    from ladder_backends.model.variable import Variable, VariableWindow


class Capability(enum.Flag):
    """What an opened debugger can do with its target."""

    NONE = 0
    RUN_CONTROL = enum.auto()
    BREAKPOINTS = enum.auto()
    CONSOLE = enum.auto()
    PROGRAM_TERMINAL = enum.auto()
    EVALUATE = enum.auto()
    DISASSEMBLE = enum.auto()
    DEVICE_FOCUS = enum.auto()
    THREADS = enum.auto()
    PROCESS = enum.auto()


class StepKind(enum.StrEnum):
    """Ways to let the target run for a while."""

    RUN = "run"
    START = "start"
    CONTINUE = "continue"
    NEXT = "next"
    STEP = "step"
    FINISH = "finish"
    UNTIL = "until"
    ADVANCE = "advance"
    JUMP = "jump"
    NEXT_INSTRUCTION = "next-instruction"
    STEP_INSTRUCTION = "step-instruction"
    REVERSE_CONTINUE = "reverse-continue"
    REVERSE_NEXT = "reverse-next"
    REVERSE_STEP = "reverse-step"
    REVERSE_FINISH = "reverse-finish"
    REVERSE_NEXT_INSTRUCTION = "reverse-next-instruction"
    REVERSE_STEP_INSTRUCTION = "reverse-step-instruction"

    @property
    def anew(self) -> bool:
        """It runs the program from its beginning: RUN on, START to the first line of `main`."""
        return self in (StepKind.RUN, StepKind.START)

    @property
    def backwards(self) -> bool:
        """It lets the target run backwards."""
        return self.value.startswith("reverse-")


class FocusRefused(CommandFailed):
    """The engine would not move its focus; it stands where it stood.

    Attributes:
        asked: The focus that was refused.
    """

    def __init__(self, command: str, message: str, asked: Focus) -> None:
        super().__init__(command, message)
        self.asked = asked


Listener: TypeAlias = Callable[["Event"], None]


class Debugger(abc.ABC):
    """One engine session. Subclasses are registered under the entry point group `ladder.debuggers`.

    Attributes:
        name: What texts call it: its engine, and in most cases its entry point.
        rung: The rung it serves: a name of `rungs.OURS`, or one of its own, at the end of the ladder.
        rung_answers: The questions that a rung of its own is for.
        rung_device: Whose kernels are looked into on a rung of its own: `CUDA`, `HIP`; else an empty string.
        rung_opens: The command that opens something on a rung of its own; empty for the usual one.
        stops_threads_apart: Threads of a program that it starts can stop one by one.
        focus_schema: Levels of the dialect, outermost first.
        capabilities: Valid once opened.
        provenance: ENGINE, or RECORDING where a recording stands in for the engine.
        missing_program: Which program an opened core needs and was not found, in few words, or an empty string.
        stopping_took: Seconds from the request to attach to a process until it stood; None without one.
        threads, values, registers, memory, code, signals, libraries, source_files, process, build, firewall,
            python, device_stops, gpu_dumps, lane_runs, device_map, lanes, kernel_launches: Facets; None where the
            engine or its target has no such thing. Valid once opened; on an engine of a GPU some differ with where
            it stands, in a lane or on the host.
    """

    name: ClassVar[str]
    rung: ClassVar[str]
    rung_answers: ClassVar[str] = ""
    rung_device: ClassVar[str] = ""
    rung_opens: ClassVar[str] = ""
    stops_threads_apart: ClassVar[bool] = False
    focus_schema: ClassVar[tuple[FocusLevel, ...]]

    capabilities: Capability = Capability.NONE
    provenance: Provenance = Provenance.ENGINE
    stopping_took: float | None = None
    missing_program: str = ""

    threads: Threads | None = None
    values: Values | None = None
    registers: Registers | None = None
    memory: Memory | None = None
    code: Code | None = None
    signals: Signals | None = None
    libraries: Libraries | None = None
    source_files: SourceFiles | None = None
    process: Process | None = None
    build: Build | None = None
    firewall: Firewall | None = None
    python: PythonTarget | None = None
    device_stops: DeviceStops | None = None
    gpu_dumps: GpuDumps | None = None
    lane_runs: LaneRuns | None = None
    device_map: DeviceMap | None = None
    lanes: Lanes | None = None
    kernel_launches: KernelLaunches | None = None

    @property
    def lane_left(self) -> Focus | None:
        """The lane of a GPU that a visit to a thread of the host has left, as long as it can be returned to."""
        return None

    @classmethod
    @abc.abstractmethod
    def probe(cls) -> Probe:
        """Look for the engine on this machine; starts it at most for its version text (seconds at worst)."""

    @abc.abstractmethod
    def listen(self, listener: Listener) -> None:
        """Deliver every event to `listener`, on the event loop, in order. One listener; call before `open`."""

    @abc.abstractmethod
    async def start(self) -> None:
        """Start the engine without a target, so that `open` finds it warm. `open` calls it where needed."""

    @abc.abstractmethod
    async def open(self, target: Target) -> None:
        """Point the engine at its target. Once per debugger.

        Raises:
            TargetInvalid: The target cannot be debugged as given; the debugger stays usable for `close` only.
            EngineMissing: The engine cannot be started here.
        """

    async def entry(self) -> Place | None:
        """The first line of the program's main function; None where it is not known."""
        return None

    @abc.abstractmethod
    async def resume(self, kind: StepKind, location: str = "") -> None:
        """Let the target run; returns when the engine has accepted, the stop comes as an event.

        Args:
            kind: How to run.
            location: For UNTIL, where to stop in the selected frame; for ADVANCE, in any; for JUMP, where to go on.
                For RUN it only tells that a breakpoint waits there: the run goes on past `main`.
        """

    @abc.abstractmethod
    async def interrupt(self) -> None:
        """Stop a running target; where only the engine is busy, interrupt its work instead."""

    @abc.abstractmethod
    async def set_breakpoint(self, intent: BreakpointIntent) -> BreakpointBinding:
        """Apply an intent. A location that is not loaded yet gives a PENDING binding, never an error."""

    @abc.abstractmethod
    async def remove_breakpoint(self, binding: BreakpointBinding) -> None:
        """Take a breakpoint away from the engine."""

    @abc.abstractmethod
    async def enable_breakpoint(self, binding: BreakpointBinding, enabled: bool) -> None:
        """Switch a breakpoint on or off without losing it."""

    async def change_breakpoint(self, binding: BreakpointBinding, intent: BreakpointIntent) -> BreakpointBinding:
        """Make a breakpoint what `intent` says; a refusal is a FAILED binding, and nothing has changed then."""
        from ladder_backends.model.breakpoint import BindingState

        made = await self.set_breakpoint(intent)
        if made.state is not BindingState.FAILED:
            await self.remove_breakpoint(binding)
        return made

    async def enable_location(self, number: str, enabled: bool) -> None:
        """Switch one of a breakpoint's locations on or off, by its number."""
        raise CommandFailed("", "locations cannot be switched one by one here")

    @abc.abstractmethod
    async def frames(self, start: int, count: int) -> FrameWindow:
        """Frames `start` to `start + count - 1` of the focused thread or lane."""

    @abc.abstractmethod
    async def select_frame(self, level: int) -> None:
        """Make a frame the engine's own selected one, so that its command line speaks of the same place."""

    @abc.abstractmethod
    async def variables(self, frame_level: int, limit: int) -> VariableWindow:
        """Arguments and locals of a frame, at most `limit`, each value cut to a printable length."""

    @abc.abstractmethod
    async def evaluate(self, expression: str, frame_level: int = 0) -> Variable:
        """The value of an expression in a frame."""

    @abc.abstractmethod
    async def disassemble(self, frame_level: int, count: int) -> Sequence[Instruction]:
        """Up to `count` instructions around the frame's program counter."""

    @abc.abstractmethod
    async def focus(self) -> Focus | None:
        """Where the engine stands, or None where it stands nowhere."""

    @abc.abstractmethod
    async def switch(self, asked: Focus) -> Focus:
        """Move the focus; returns the focus actually reached, which may differ from the one asked for.

        Raises:
            FocusRefused: The place does not exist, or is not held; the focus is unchanged.
        """

    @abc.abstractmethod
    async def kernels(self) -> Sequence[Kernel]:
        """Kernels on the device or in the dump; empty for a host dialect."""

    @abc.abstractmethod
    async def blocks(self, kernel: int) -> Sequence[BlockRange]:
        """Resident blocks of a kernel, coalesced."""

    @abc.abstractmethod
    async def warps(self, focus: Focus) -> Sequence[Warp]:
        """The resident warps of the block that `focus` names, in the order of their threads."""

    async def threads_held(self, block: Dim3) -> Sequence[ThreadRun]:
        """Threads of a block of the focused kernel that can be focused, coalesced; none where it cannot tell."""
        return ()

    @abc.abstractmethod
    async def console(self, text: str) -> None:
        """Type a line into the engine's own command line; its answer comes as `ConsoleOutput`."""

    @abc.abstractmethod
    async def complete(self, text: str) -> Sequence[str]:
        """The engine's own completions of a command line: whole lines, clean."""

    @abc.abstractmethod
    def type_to_program(self, raw: bytes) -> None:
        """Send keys to the debugged program's terminal."""

    @abc.abstractmethod
    def resize_program(self, columns: int, rows: int) -> None:
        """Tell the program's terminal its size."""

    @abc.abstractmethod
    def pending(self) -> Sequence[tuple[str, float]]:
        """Commands without an answer yet: text and age in seconds, oldest first."""

    @abc.abstractmethod
    async def close(self) -> None:
        """End the engine: ask, close its terminals, wait. A launched target ends; an attached one lives on."""

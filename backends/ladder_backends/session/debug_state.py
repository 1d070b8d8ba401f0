"""One debugger session as panes see it."""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability
from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.frame import FrameWindow
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import VariableWindow
from ladder_backends.session.build_state import BuildState
from ladder_backends.session.control_state import ControlState
from ladder_backends.session.device_state import DeviceState
from ladder_backends.session.grid_state import HardwareState, LinesOfLanes
from ladder_backends.session.lane_values_state import LaneValuesState
from ladder_backends.session.ledger_state import LedgerState
from ladder_backends.session.log_lines import LogLines
from ladder_backends.session.machine_state import MachineState
from ladder_backends.session.python_state import PythonState
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Notice, Run
from ladder_backends.session.thread_list import ThreadList
from ladder_backends.session.value_rows import ValueTrees

if TYPE_CHECKING:
    from ladder_backends.model.breakpoint import BreakpointBinding
    from ladder_backends.model.focus import Focus
    from ladder_backends.model.frame import Place
    from ladder_backends.model.grid import BlockRange, Instruction, Kernel, Warp
    from ladder_backends.session.alternatives import Alternative
    from ladder_backends.session.stack_walk import StackWalk


CONSOLE_LINES = 10_000
"""Lines of an engine's command line that are kept."""


@dataclass(slots=True)
class Grid:
    """What the engine told of the focused kernel.

    Attributes:
        kernels: All kernels, few.
        blocks: Resident blocks of the focused kernel, coalesced.
        warps: Resident warps of the focused block.
    """

    kernels: tuple[Kernel, ...] = ()
    blocks: tuple[BlockRange, ...] = ()
    warps: tuple[Warp, ...] = ()


@dataclass(slots=True)
class DebugState:
    """One debugger session as panes see it.

    Attributes:
        rung: `gdb`, `cuda-gdb`, ...
        seat: Which of the rung's sessions it is.
        title: The target in few words: `segfault`, `vector_add_oob · dump`.
        run_detail: `SIGSEGV, Segmentation fault`, exit code, or why it is dead.
        since: `time.monotonic()` of the last change of `run`.
        fault: The target stands or ended at a signal or exception, not at a step or breakpoint.
        exit_code: Exit status of the target's last run, or None.
        asked: The focus that was asked for by the last jump or switch, or None.
        focus: The focus the engine stands in.
        stopped_in: The focus at the last stop: what stopped there, wherever the focus went since.
        selected_frame: Level of the frame shown.
        walk: A way down a deep stack that goes on, or None.
        place: Source place of the selected frame, or None.
        entry: Where the program begins: what to show of a program that does not stand anywhere.
        threads: The threads of the target, as far as anyone looked at them.
        hardware: Devices, SMs and the warps of one, as far as anyone looked at them.
        lane_lines: Where the lanes beside the focused one stand, where that was asked for.
        lane_values: An expression over many lanes, where one was asked.
        disassembly: Instructions around the selected frame's program counter, when asked for.
        values: Watched expressions, and which values are open and how they are written.
        machine: Registers, memory, signals and libraries, as far as anyone looked at them.
        python: Python frames of the focused thread.
        stop_to_paint: Seconds from the last stop's record to the end of its paint, or None; the screen writes it.
        jump_seconds: Seconds of the last jump, or None.
        reason: Why the last jump did not reach the asked lane, or an empty string.
        alternatives: Where else to go then, best first.
        console: Lines of the engine's command line, bounded; the last one may be a prompt without newline.
        console_dropped: Lines dropped from the front.
        typed_ahead: Lines for the command line that wait until the engine listens.
        program: Raw chunks of the program's terminal, bounded.
        program_dropped: Bytes dropped from the front.
        build: The program's file and what became of it.
        ledger: What the engine is given otherwise than it would be without the console.
        control: How it is started, and which way it runs.
        device: What was chosen for its GPU.
        logged: What log points wrote.
        notice: The last line for the user.
        notices: The lines before it, newest last, bounded.
    """

    rung: str
    seat: Seat = Seat.LIVE
    title: str = ""
    run: Run = Run.NOTHING
    run_detail: str = ""
    since: float = 0.0
    fault: bool = False
    exit_code: int | None = None
    capabilities: Capability = Capability.NONE
    provenance: Provenance = Provenance.ENGINE
    asked: Focus | None = None
    focus: Focus | None = None
    stopped_in: Focus | None = None
    frames: FrameWindow = field(default_factory=FrameWindow)
    selected_frame: int = 0
    walk: StackWalk | None = None
    variables: VariableWindow = field(default_factory=VariableWindow)
    place: Place | None = None
    entry: Place | None = None
    breakpoints: tuple[BreakpointBinding, ...] = ()
    grid: Grid = field(default_factory=Grid)
    hardware: HardwareState = field(default_factory=HardwareState)
    lane_lines: LinesOfLanes = field(default_factory=LinesOfLanes)
    lane_values: LaneValuesState = field(default_factory=LaneValuesState)
    threads: ThreadList = field(default_factory=ThreadList)
    disassembly: tuple[Instruction, ...] = ()
    values: ValueTrees = field(default_factory=ValueTrees)
    machine: MachineState = field(default_factory=MachineState)
    python: PythonState = field(default_factory=PythonState)
    stop_to_paint: float | None = None
    jump_seconds: float | None = None
    reason: str = ""
    alternatives: tuple[Alternative, ...] = ()
    console: deque[str] = field(default_factory=lambda: deque(maxlen=CONSOLE_LINES))
    console_dropped: int = 0
    typed_ahead: int = 0
    program: deque[bytes] = field(default_factory=lambda: deque(maxlen=4_000))
    program_dropped: int = 0
    build: BuildState = field(default_factory=BuildState)
    ledger: LedgerState = field(default_factory=LedgerState)
    control: ControlState = field(default_factory=ControlState)
    device: DeviceState = field(default_factory=DeviceState)
    logged: LogLines = field(default_factory=LogLines)
    notice: Notice | None = None
    notices: deque[Notice] = field(default_factory=lambda: deque(maxlen=200))

    @property
    def place_name(self) -> str:
        """Tells sessions apart, as two of one rung: `cuda-gdb dump`."""
        return f"{self.rung} {self.seat}"

    @property
    def stopped_elsewhere(self) -> int | None:
        """The thread that `run_detail` tells of where the focus is in another one, else None."""
        if self.focus is None or self.stopped_in is None or self.threads.non_stop:
            # In non-stop mode it is always the focused thread's.
            return None
        thread = self.stopped_in.index("thread")
        return thread if thread != self.focus.index("thread") else None

    @property
    def fault_here(self) -> bool:
        """The focused thread stands at a signal or exception."""
        return self.fault and self.stopped_elsewhere is None

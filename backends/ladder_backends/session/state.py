"""The state that panes show. Only the session writes it; panes pull what is visible."""

from __future__ import annotations

import enum
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ladder_backends.late_dataclass import dataclass
from ladder_backends.rungs import host_rung
from ladder_backends.session.hardware_state import HardwareState
from ladder_backends.session.pairs_state import PairsState
from ladder_backends.session.rank_state import RankState
from ladder_backends.session.sanitizer_state import SanitizerRunState

if TYPE_CHECKING:
    from pathlib import Path

    from ladder_backends.model.finding import Report
    from ladder_backends.session.debug_state import CONSOLE_LINES as CONSOLE_LINES
    from ladder_backends.session.debug_state import DebugState as DebugState
    from ladder_backends.session.debug_state import Grid as Grid


class Change(enum.Flag):
    """Which parts of the state differ since the last notification."""

    NONE = 0
    RUN = enum.auto()
    FOCUS = enum.auto()
    FRAMES = enum.auto()
    VARIABLES = enum.auto()
    BREAKPOINTS = enum.auto()
    GRID = enum.auto()
    FINDINGS = enum.auto()
    CONSOLE = enum.auto()
    PROGRAM = enum.auto()
    NOTICE = enum.auto()
    SOURCE = enum.auto()
    DISASSEMBLY = enum.auto()
    RUNG = enum.auto()
    THREADS = enum.auto()
    MACHINE = enum.auto()
    LEDGER = enum.auto()
    SANITIZER_RUN = enum.auto()
    LANES = enum.auto()
    HARDWARE = enum.auto()
    PAIRS = enum.auto()
    RANKS = enum.auto()


NOT_STARTED = "not started yet"
"""`run_detail` of a program that was opened and has not run."""

NOT_STARTED_HERE = "only a program that was started here can be started again"


class Run(enum.StrEnum):
    """What the target is doing."""

    NOTHING = "nothing open"
    STARTING = "starting"
    RUNNING = "running"
    STOPPED = "stopped"
    EXITED = "exited"
    DUMP = "dump"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the user: what, why, what to do.

    Attributes:
        severity: `information`, `warning` or `error`.
    """

    text: str
    severity: str = "information"


@dataclass(slots=True)
class LadderState:
    """The whole ladder: what is open on each rung and what was found.

    Attributes:
        rung: The rung on screen.
        case_title: `vector_add_oob · memcheck · H200 case`, or an empty string.
        report: Findings of the open log or running tool, or None.
        report_files: Files that the report was read from; empty for a run's own.
        selected_finding: Index into the report's findings, or None.
        debug: State of the session on screen of each rung that has one.
        aside: State of the other session of a rung that has two.
        notice: The last line for the user.
        source_roots: Folders in which basenames are looked up.
        sanitizer: The run of compute-sanitizer that goes on, or the last one.
        hardware: The machine as it was read, and its live counters.
        pairs: The last sweep over its pairs of GPUs.
        ranks: The parallel jobs of this host, and the looks at one of them.
        runs_to: The lane that the live program is being run to, in words, or an empty string.
    """

    rung: str = field(default_factory=lambda: host_rung().name)
    case_title: str = ""
    report: Report | None = None
    report_files: tuple[Path, ...] = ()
    selected_finding: int | None = None
    debug: dict[str, DebugState] = field(default_factory=dict)
    aside: dict[str, DebugState] = field(default_factory=dict)
    notice: Notice | None = None
    source_roots: tuple[str, ...] = ()
    sanitizer: SanitizerRunState = field(default_factory=SanitizerRunState)
    runs_to: str = ""
    hardware: HardwareState = field(default_factory=HardwareState)
    pairs: PairsState = field(default_factory=PairsState)
    ranks: RankState = field(default_factory=RankState)


def __getattr__(name: str) -> Any:
    """What belongs to a debugger session, which no first frame waits for (PEP 562)."""
    if name in ("CONSOLE_LINES", "DebugState", "Grid"):
        from ladder_backends.session import debug_state

        return getattr(debug_state, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

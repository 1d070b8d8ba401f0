"""A run of compute-sanitizer, as panes see it."""

from __future__ import annotations

import enum
from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from ladder_backends.sanitizer.ending import RunEnd
    from ladder_backends.sanitizer.plan import Plan

OUTPUT_LINES = 10_000
"""Lines of the program's output that are kept."""


class RunPhase(enum.StrEnum):
    """What is being done."""

    NONE = "no run yet"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


@dataclass(slots=True)
class SanitizerRunState:
    """The run that goes on, or the last one.

    Attributes:
        plan: What it does; None before the first run.
        tool: The tool that runs, or that ran last.
        number: Which of the plan's tools that is, from 1.
        since: When it was started, on the monotonic clock.
        seconds: How long the whole run took, once it has ended.
        begun: When the first tool was started, on the monotonic clock.
        found: Findings about the program, over all tools so far.
        launches: Kernel launches seen; None where this version, or this plan, does not tell of them.
        ends: How the tools before ended.
        notes: What was left out of the command, and why.
        output: Lines that the program has written, clean.
        output_lines: How many lines that were, those dropped among them.
        output_open: The last line may go on.
        folder: Where it is kept, or None.
        commands: The command line of each tool of the plan.
        dumps: GPU core dumps of each tool that has ended.
    """

    phase: RunPhase = RunPhase.NONE
    plan: Plan | None = None
    tool: str = ""
    number: int = 0
    begun: float = 0.0
    since: float = 0.0
    seconds: float = 0.0
    found: int = 0
    launches: int | None = None
    ends: list[RunEnd] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    output: deque[str] = field(default_factory=lambda: deque(maxlen=OUTPUT_LINES))
    output_lines: int = 0
    output_open: bool = False
    folder: Path | None = None
    commands: list[tuple[str, ...]] = field(default_factory=list)
    dumps: list[tuple[Path, ...]] = field(default_factory=list)

    @property
    def active(self) -> bool:
        """Something runs."""
        return self.phase in (RunPhase.STARTING, RunPhase.RUNNING, RunPhase.STOPPING)

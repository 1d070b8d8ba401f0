"""What a run of compute-sanitizer is to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ladder_backends.sanitizer.presets import PLAIN, SWITCHES

PRINT_LIMIT = 10_000
"""Findings that a run prints unless told otherwise: the tool's own 100 hide most lanes of one bug."""

PADDING = 64
"""Guard bytes behind an allocation where padding is switched on without a number."""


HERE = "{}"
"""Argument of a launcher in whose place the sanitizer stands: `mpirun -n 4 {} ./prog`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One or several tools on one program, one after the other.

    The program may be a launcher of processes: where one of its arguments is `{}`, it starts the sanitizer in that
    place, once for each process, and the reports are told apart by their ranks.

    Attributes:
        environment: Variables set, or with None taken away, on top of the console's own; they win over switches.
        stdin: File the program reads instead of its terminal.
        tools: Of memcheck, racecheck, initcheck, synccheck, in the order in which they run.
        leaks: memcheck looks for leaks as well.
        preset: Name of the preset that the switches were taken from.
        switches: Ids of `presets.SWITCHES` that are on.
        kernels: Kernels to check, parts of mangled names or the tool's own `kne=`, `kns=`, `regex=`; empty for all.
        launch_skip: Matching launches that are not checked first.
        launch_count: Matching launches that are checked; 0 for all.
        padding: Guard bytes behind each allocation, 0 for none.
        print_limit: Findings that are printed, 0 for all.
        error_exitcode: Status of the tool where it found something and the program ended well; None for 0.
        target_processes: `all`, `application-only`, or empty for the tool's default.
        process_filter: Names of the processes that are tracked, as the tool takes them; empty for all.
        racecheck_report: `analysis`, `hazard` or `all`.
        launch_timeout: Seconds that the tool waits for the program to begin; None for its default.
        timeout: Seconds after which a tool is stopped; None for never.
        suppressions: File of findings that are not to be reported.
        extra: More options, as words.
    """

    program: Path
    arguments: tuple[str, ...] = ()
    directory: Path | None = None
    environment: Mapping[str, str | None] = field(default_factory=dict)
    stdin: Path | None = None
    tools: tuple[str, ...] = ("memcheck",)
    leaks: bool = False
    preset: str = PLAIN.name
    switches: frozenset[str] = PLAIN.switches
    kernels: tuple[str, ...] = ()
    launch_skip: int = 0
    launch_count: int = 0
    padding: int = 0
    print_limit: int = PRINT_LIMIT
    error_exitcode: int | None = None
    target_processes: str = ""
    process_filter: str = ""
    racecheck_report: str = "analysis"
    launch_timeout: int | None = None
    timeout: float | None = None
    suppressions: Path | None = None
    extra: tuple[str, ...] = ()

    def is_on(self, switch: str) -> bool:
        """Whether a switch is on."""
        assert switch in SWITCHES, switch
        return switch in self.switches

    @property
    def launches_itself(self) -> bool:
        """The program is a launcher, which starts a sanitizer for each process: each has a log of its own."""
        return HERE in self.arguments

    @property
    def padding_bytes(self) -> int:
        """Guard bytes: as many as were asked for, or a few where only the switch is on."""
        return self.padding or (PADDING if self.is_on("padding") else 0)

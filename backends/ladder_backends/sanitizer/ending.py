"""How one tool's run ended, told apart: found, clean, stopped, timed out, cut short, never ran."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

# Bare metal and containers; WSL; embedded boards.
_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"), Path("/dev/nvhost-gpu"), Path("/dev/nvgpu"))


class End(enum.StrEnum):
    """What became of a run."""

    CLEAN = "nothing found"
    FOUND = "found"
    INCOMPLETE = "incomplete"
    STOPPED = "stopped"
    TIMED_OUT = "timed out"
    NOT_RUN = "did not run"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Attributes:
        found: Findings about the program.
        reason: Why it is worth less than a whole run, or what else is to be known; may be empty.
        status: Exit status of the tool, negative for a signal; None where it was never started.
        ran: The tool saw the program use CUDA.
        complete: It looked at all of it.
    """

    tool: str
    end: End
    found: int = 0
    reason: str = ""
    status: int | None = None
    ran: bool = False
    complete: bool = False

    @property
    def line(self) -> str:
        """`memcheck: did not run: ...`, one line."""
        words = f"{self.found:,} found" if self.found else str(self.end)
        if self.found and self.end in (End.STOPPED, End.TIMED_OUT, End.INCOMPLETE):
            words = f"{words}, {self.end}"
        return f"{self.tool}: {words}" + (f": {self.reason}" if self.reason else "")


def why_no_device() -> str:
    """What this machine lacks for any CUDA program, or an empty string where nothing is known to be missing."""
    return "" if any(path.exists() for path in _DEVICES) else "this machine shows no NVIDIA device (/dev/nvidiactl)"


def end_of(*, found: int, ran: bool, complete: bool, stopped: bool, timed_out: bool) -> End:
    """What became of a run; being stopped says more than that its report is not whole."""
    if timed_out:
        return End.TIMED_OUT
    if stopped:
        return End.STOPPED
    if not ran:
        return End.NOT_RUN
    if not complete:
        return End.INCOMPLETE
    return End.FOUND if found else End.CLEAN

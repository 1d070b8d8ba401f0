"""Where a live jump is to lead, and how long it tries."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import file_name
from ladder_backends.model.grid import LANES, volume
from ladder_backends.session.alternatives import Act, Alternative
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ladder_backends.model.finding import Finding
    from ladder_backends.model.frame import Frame
    from ladder_backends.model.grid import Kernel

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class LiveWish:
    """Where to.

    Attributes:
        asked: Block and thread.
        kernel: A name as a tool spells it, or an empty string for any kernel.
        location: `file:line`, or an empty string for the kernel's entry.
        launch: Which launch of the kernel, from 1; None for the first that has the lane.
    """

    asked: Focus
    kernel: str = ""
    location: str = ""
    launch: int | None = None

    @property
    def line(self) -> int | None:
        """The line of the location."""
        return line_of(self.location)

    @property
    def words(self) -> str:
        """`block (3,0,0) thread (232,0,0) at vector_add_oob.cu:10`."""
        at = f" at {file_name(self.location)}" if self.location else ""
        return f"{self.asked.describe('block', 'thread')}{at}"


@dataclass(frozen=True, slots=True)
class LiveLimits:
    """How long a live jump tries.

    Attributes:
        seconds: From the launch on, until it asks whether to wait on.
        launch: Seconds until the launch; big programs take their time to start.
        stops: At places on the way that are not the lane's.
        steps: In the lane's block.
    """

    seconds: float = 30.0
    launch: float = 120.0
    stops: int = 24
    steps: int = 200


class Phase(enum.Enum):
    """How far a live jump has come: what it waits for."""

    LAUNCH = enum.auto()
    COMING = enum.auto()
    LANE = enum.auto()
    STEPS = enum.auto()


class GaveUp(Exception):
    """A live jump ends without the lane.

    Attributes:
        ways: What is left to do.
    """

    def __init__(self, reason: str, ways: tuple[Alternative, ...] = ()) -> None:
        super().__init__(reason)
        self.ways = ways


WAIT = Alternative("wait on for it", act=Act.WAIT)
STAY = Alternative("stay where it stands", act=Act.STAY)
DUMP = Alternative("write a GPU core dump of this moment", act=Act.GPU_DUMP)
AGAIN = Alternative("run the program again", act=Act.LIVE)


def line_of(place: str) -> int | None:
    """10 of `/src/vector_add_oob.cu:10`; None where a place names no line."""
    line = place.rpartition(":")[2]
    return int(line) if line.isdecimal() else None


def warps_in(kernel: Kernel) -> int:
    """Warps of all its blocks; 0 where the engine did not tell how many there are."""
    return volume(kernel.grid_dim) * math.ceil(volume(kernel.block_dim) / LANES)


def last_line(output: Sequence[bytes]) -> str:
    """The last line with words in what a program wrote, clean and cut; else an empty string."""
    lines = b"".join(output).decode(errors="replace").split("\n")
    return next((clean_line(line.strip())[:_LONGEST] for line in reversed(lines) if line.strip()), "")


def stands_at(frame: Frame | None, place: str) -> bool:
    """Whether a frame is on the line of a place, whatever stopped it there."""
    at = frame.place if frame is not None else None
    return at is not None and f"{file_name(at.file)}:{at.line}" == file_name(place)


def wish_of(finding: Finding, asked: Focus, side: int = 0) -> LiveWish:
    """The wish to stand in the lane of a finding's side, on its line."""
    place = finding.sides[side].location if side < len(finding.sides) else None
    file, line = finding.src_file, finding.line
    if place is not None and place.file and place.line is not None:
        file, line = place.file, place.line
    # A function of the device's own library is told in the kernel's place where an assertion failed.
    kernel = "" if finding.kernel.startswith("__") else finding.kernel
    return LiveWish(asked, kernel, f"{file}:{line}" if file and line is not None else "")


def changed_since(program: Path, reports: Iterable[Path]) -> str:
    """Words for a program that was built after a report was written; empty where it was not, or is unknown."""
    try:
        built = program.stat().st_mtime
        written = max((report.stat().st_mtime for report in reports), default=None)
    except OSError:
        return ""
    if written is None or built <= written:
        return ""
    return f"{program.name} was built after the report was written: lines and lanes may be others now"

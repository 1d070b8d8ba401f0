"""What rows of findings stand for."""

from __future__ import annotations

import enum
from typing import NamedTuple

from ladder_backends.images.names import base_name
from ladder_backends.model.finding import CodeLocation, Finding
from ladder_backends.model.focus import Dim3
from ladder_tui.panes.findings_words import side_of
from ladder_tui.widgets.row import Cell, Row


class Part(enum.Enum):
    """What a row is of its group."""

    TITLE = enum.auto()
    NOTE = enum.auto()
    INSET = enum.auto()
    MEMBER = enum.auto()
    MORE = enum.auto()
    FOLD = enum.auto()
    CONSEQUENCE = enum.auto()


class FindingTarget(NamedTuple):
    """What a row stands for; stays the same while the report grows.

    Attributes:
        finding: Index into the report's findings: the member, the consequence, or a group's first one.
        side: Side of the finding; for a note or an inset row, its line.
    """

    part: Part
    group: str
    finding: int
    side: int = 0


class LaneTarget(NamedTuple):
    """A lane that a finding names: to be jumped into."""

    finding: int
    side: int = 0


class FrameTarget(NamedTuple):
    """A line of source: to be shown."""

    frame: CodeLocation


class BlockTarget(NamedTuple):
    """A block of a bug's map: to be looked into."""

    group: str
    block: Dim3


class StackTarget(NamedTuple):
    """Folded frames of a bug's host stack: to be listed, or folded again."""

    group: str


Act = LaneTarget | FrameTarget | BlockTarget | StackTarget | None


class InsetRow(NamedTuple):
    """A row between a bug's title and its lanes: a map, a note, a frame.

    Attributes:
        act: What Enter does there.
    """

    cells: tuple[Cell, ...]
    end: tuple[Cell, ...] = ()
    act: Act = None

    def row(self, target: FindingTarget) -> Row:
        """The row as it is drawn."""
        return Row(self.cells, self.end, target)


class Here(NamedTuple):
    """The lane that the engine stands in; `function` is the frame's, or empty where unknown."""

    block: Dim3
    thread: Dim3
    function: str = ""

    def holds(self, finding: Finding, side: int = 0) -> bool:
        """Whether a side of a finding is this lane."""
        if side == 0:
            block, thread = finding.block, finding.thread
        else:
            where = side_of(finding, side)
            if where is None:
                return False
            block, thread = where.block, where.thread
        if thread != self.thread or block != self.block:
            return False
        return not self.function or not finding.kernel or base_name(finding.kernel) == self.function


class Extents(NamedTuple):
    """How large a kernel's grid and blocks are, as an engine has told."""

    grid: Dim3
    block: Dim3

"""The findings of a report as rows, made one by one as they are looked at.

A report may hold 100,000 findings: what is kept is one height a group, and a row is built when it is asked for.
"""

from __future__ import annotations

import enum
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from ladder_backends.images.names import base_name
from ladder_backends.model.finding import Finding, FindingGroup, FindingKind, LaneAnswer, Report
from ladder_backends.model.focus import Dim3
from ladder_backends.sanitizer import allocation_line, offset_words
from ladder_backends.sanitizer.describe import RUN_KINDS
from ladder_tui.panes.findings_filter import Order, matching, place_key
from ladder_tui.panes.findings_words import (
    has_lane,
    host_words,
    lane_words,
    place_words,
    plural,
    reason_lines,
    side_of,
)
from ladder_tui.widgets.row import EMPTY, Cell, Row

BRIEF = 3
"""Members of a bug that are shown at first, where there is no room for more."""

_SAMPLE = 64
_MAX_SIDES = 8
_GLYPHS = {"error": ("✗", "fault"), "warning": ("!", "warn"), "info": ("i", "muted")}


class Part(enum.Enum):
    """What a row is of its group."""

    TITLE = enum.auto()
    NOTE = enum.auto()
    MEMBER = enum.auto()
    MORE = enum.auto()
    FOLD = enum.auto()
    CONSEQUENCE = enum.auto()


class FindingTarget(NamedTuple):
    """What a row stands for; stays the same while the report grows.

    Attributes:
        finding: Index into the report's findings: the member, the consequence, or a group's first one.
        side: Side of the finding; for a note, its line.
    """

    part: Part
    group: str
    finding: int
    side: int = 0


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


class _Shape(NamedTuple):
    """Rows of one group, from the top: title, notes, members, `more`, consequences."""

    notes: tuple[str, ...]
    sides: int
    members: Sequence[int]
    shown: int
    extra: int | None
    more: bool
    fold: bool
    consequences: int

    @property
    def height(self) -> int:
        members = (self.shown + (self.extra is not None)) * self.sides
        return 1 + len(self.notes) + members + self.more + self.fold + self.consequences


class FindingsRows:
    """Rows of a report under an order, a filter and what is folded.

    Attributes:
        lanes: Findings that name a lane.
        bugs: Groups that are about the program rather than about the run of the tool.
    """

    def __init__(self) -> None:
        self.order = Order.REPORT
        self.query = ""
        self._brief = BRIEF
        self._forget(Report())

    def _forget(self, report: Report) -> None:
        """Start over with another report; order and filter stay."""
        self._report = report
        self.lanes = self.bugs = 0
        self._counted = 0
        self._folded: set[str] = set()
        self._full: set[str] = set()
        self._consequences: set[str] = set()
        self._here: Here | None = None
        self._here_finding: int | None = None
        self._here_scanned = 0
        self._groups: list[FindingGroup] = []
        self._positions: dict[str, int] = {}
        self._heights: list[int] = []
        self._ends: list[int] = []
        self._sizes: list[int] = []
        self._in_report_order = False
        self._changed: set[str] = set()
        self._notes: dict[str, tuple[str, ...]] = {}
        self._matches: dict[str, Sequence[int]] | None = None

    # What is shown

    def update(self, report: Report, here: Here | None = None) -> None:
        """Take in what the report holds by now."""
        if report is not self._report:
            self._forget(report)
        findings = report.findings
        grown = len(findings) != self._counted
        if not grown and here == self._here:
            return
        for finding in islice(findings, self._counted, None):
            self.lanes += has_lane(finding)
        self._counted = len(findings)
        if grown:
            self.bugs = sum(group.kind not in RUN_KINDS for group in report.groups.values())
        if here != self._here:
            self._touch(self._here_finding)
            self._here, self._here_finding, self._here_scanned = here, None, 0
        self._look_for_here()
        self._lay_out()

    def arrange(self, *, order: Order | None = None, query: str | None = None) -> None:
        """List in another order, or only what holds every word of a query."""
        self.order = order or self.order
        self.query = self.query if query is None else query.strip()
        self._lay_out()

    def show_at_first(self, members: int) -> None:
        """How many members a bug shows before it is unfolded."""
        if members != self._brief:
            self._brief = members
            self._changed.update(self._positions)
            self._lay_out()

    def toggle(self, target: FindingTarget) -> None:
        """Fold or unfold what a row stands for."""
        if target.part in (Part.MORE, Part.MEMBER):
            self._full ^= {target.group}
        elif target.part in (Part.FOLD, Part.CONSEQUENCE):
            self._consequences ^= {target.group}
        else:
            self._folded ^= {target.group}
            self._full.discard(target.group)
        self._changed.add(target.group)
        self._lay_out()

    @property
    def group_count(self) -> int:
        """Bugs listed."""
        return len(self._groups)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, number: int) -> Row:
        if not 0 <= number < len(self):
            return EMPTY
        position = bisect_right(self._ends, number)
        group = self._groups[position]
        start = self._ends[position - 1] if position else 0
        return self._row(group, self._shape(group), number - start)

    def position(self, target: FindingTarget) -> int | None:
        """The number of the row that stands for a target, or for its group while the target is folded away."""
        position = self._positions.get(target.group)
        if position is None:
            return None
        group = self._groups[position]
        start = self._ends[position - 1] if position else 0
        return start + self._offset(group, self._shape(group), target)

    def target_of(self, finding: int) -> FindingTarget | None:
        """The row target of a finding by its index in the report."""
        if not 0 <= finding < len(self._report.findings):
            return None
        return FindingTarget(Part.MEMBER, self._report.findings[finding].group, finding)

    # Layout

    def _touch(self, finding: int | None) -> None:
        if finding is not None:
            self._changed.add(self._report.findings[finding].group)

    def _look_for_here(self) -> None:
        here, findings = self._here, self._report.findings
        if here is None or self._here_finding is not None:
            return
        for number in range(self._here_scanned, len(findings)):
            if here.holds(findings[number]):
                self._here_finding = number
                self._touch(number)
                break
        self._here_scanned = len(findings)

    def _lay_out(self) -> None:
        """Put the bugs in order; in the report's own order only what is new or has changed is measured."""
        if self.order is Order.REPORT and not self.query:
            self._follow_report()
        else:
            self._arrange()
        self._ends = list(accumulate(self._heights))

    def _follow_report(self) -> None:
        groups = self._report.groups
        if not self._in_report_order:
            self._groups, self._positions, self._heights, self._sizes = [], {}, [], []
            self._matches, self._in_report_order = None, True
        for group in islice(groups.values(), len(self._groups), None):
            self._positions[group.id] = len(self._groups)
            self._groups.append(group)
            self._heights.append(0)
            self._sizes.append(-1)
        sizes = [len(group.members) + len(group.folded) for group in self._groups]
        if sizes != self._sizes:
            grown = (number for number, (new, old) in enumerate(zip(sizes, self._sizes, strict=True)) if new != old)
            for number in grown:
                self._heights[number] = self._height(self._groups[number])
            self._sizes = sizes
        for group_id in self._changed & self._positions.keys():
            number = self._positions[group_id]
            self._heights[number] = self._height(self._groups[number])
        self._changed.clear()

    def _arrange(self) -> None:
        self._in_report_order = False
        self._changed.clear()
        findings = self._report.findings
        groups = [group for group in self._report.groups.values() if group.members]
        self._matches = None
        if self.query:
            found = {group.id: members for group in groups if (members := matching(group, findings, self.query))}
            self._matches = found
            groups = [group for group in groups if group.id in found]
        if self.order is Order.COUNT:
            groups.sort(key=lambda group: -len(self._members(group)))
        elif self.order is Order.LINE:
            groups.sort(key=lambda group: place_key(group, findings))
        self._groups = groups
        self._positions = {group.id: position for position, group in enumerate(groups)}
        self._heights = [self._height(group) for group in groups]

    def _height(self, group: FindingGroup) -> int:
        return self._shape(group).height if group.members else 0

    def _members(self, group: FindingGroup) -> Sequence[int]:
        return self._matches[group.id] if self._matches is not None else group.members

    def _shape(self, group: FindingGroup) -> _Shape:
        members = self._members(group)
        if group.id in self._folded:
            return _Shape((), 1, members, 0, None, False, False, 0)
        first = self._report.findings[members[0]]
        notes = self._notes.get(group.id)
        if notes is None:
            notes = self._notes[group.id] = _notes(first)
        shown = len(members) if group.id in self._full else min(self._brief, len(members))
        if len(members) == 1 and not has_lane(first) and len(first.sides) < 2 and not host_words(first):
            # The only row would repeat the title.
            shown = 0
        extra = None
        if shown < len(members) and self._here_finding is not None:
            place = bisect_left(members, self._here_finding)
            if place >= shown and place < len(members) and members[place] == self._here_finding:
                extra = place
        more = len(members) - shown - (extra is not None) > 0 and shown > 0
        opened = len(group.folded) if group.id in self._consequences else 0
        sides = min(_MAX_SIDES, max(1, len(first.sides)))
        return _Shape(notes, sides, members, shown, extra, more, bool(group.folded), opened)

    def _offset(self, group: FindingGroup, shape: _Shape, target: FindingTarget) -> int:
        if shape.height == 1 or target.part is Part.TITLE:
            return 0
        first = 1 + len(shape.notes)
        end_of_members = first + (shape.shown + (shape.extra is not None)) * shape.sides
        if target.part is Part.NOTE:
            return min(1 + target.side, len(shape.notes))
        if target.part is Part.MEMBER:
            place = bisect_left(shape.members, target.finding)
            if place == shape.extra:
                place = shape.shown
            elif place >= shape.shown:
                return end_of_members if shape.more else 0
            return first + place * shape.sides + min(target.side, shape.sides - 1)
        if target.part is Part.MORE:
            # Unfolded, the first of the lanes that it stood for is there.
            return end_of_members if shape.more else first + min(self._brief, shape.shown - 1) * shape.sides
        fold = end_of_members + shape.more
        if target.part is Part.CONSEQUENCE and shape.consequences:
            return fold + 1 + group.folded.index(target.finding)
        return fold

    # Rows

    def _row(self, group: FindingGroup, shape: _Shape, offset: int) -> Row:
        findings = self._report.findings
        if offset == 0:
            return self._title(group, shape)
        offset -= 1
        first = shape.members[0]
        if offset < len(shape.notes):
            cells = (Cell("    "), Cell(shape.notes[offset], "report"))
            target = FindingTarget(Part.NOTE, group.id, first, offset)
            return Row(cells, (Cell("report", "muted"),) if offset == 0 else (), target)
        offset -= len(shape.notes)
        rows = shape.shown + (shape.extra is not None)
        if offset < rows * shape.sides:
            place, side = divmod(offset, shape.sides)
            member = shape.members[place if place < shape.shown else shape.extra or 0]
            return self._member(group, shape, findings[member], side)
        offset -= rows * shape.sides
        if shape.more:
            if offset == 0:
                count = len(shape.members) - rows
                target = FindingTarget(Part.MORE, group.id, first)
                return Row((Cell("    "), Cell(f"… {count:,} more", "muted")), target=target)
            offset -= 1
        if offset == 0:
            noun = "follow-up API error" if _all_api(group, findings) else "consequence"
            words = f"↯ {plural(len(group.folded), noun)} {'shown' if shape.consequences else 'folded'}"
            return Row((Cell("  "), Cell(words, "muted")), target=FindingTarget(Part.FOLD, group.id, first))
        consequence = group.folded[offset - 1]
        return _consequence(group, findings[consequence])

    def _title(self, group: FindingGroup, shape: _Shape) -> Row:
        first = self._report.findings[shape.members[0]]
        glyph, style = _GLYPHS.get(first.severity, _GLYPHS["error"])
        what, gap, where = group.title.partition("  ")
        cells = (Cell(f"{glyph} ", style), Cell(what, "strong"), Cell(gap + where, "function"))
        count = len(shape.members)
        if first.lane is LaneAnswer.TWO:
            end = plural(count, "pair")
        elif has_lane(first):
            end = plural(count, "lane")
        else:
            end = "no lane" if count == 1 else f"{count:,} times, no lane"
        marks = (Cell("▸ ", "muted"),) if group.id in self._folded else ()
        return Row(cells, (*marks, Cell(end, "number")), FindingTarget(Part.TITLE, group.id, first.index))

    def _member(self, group: FindingGroup, shape: _Shape, finding: Finding, side: int) -> Row:
        target = FindingTarget(Part.MEMBER, group.id, finding.index, side)
        where = side_of(finding, side)
        cells = [Cell("    ")]
        if where is None:
            cells.append(Cell(host_words(finding) or finding.access or "the report names no place", "muted"))
            return Row(tuple(cells), target=target)
        if shape.sides > 1:
            cells.append(Cell(f"{where.access or '?':<6} ", "text"))
        blocks, threads = self._widths(shape)
        if blocks or threads:
            block, thread = lane_words(where)
            cells.append(Cell(f"{block:<{blocks}} {thread:<{threads}}  ", "number"))
        if shape.sides > 1:
            cells.append(Cell(place_words(where.location), "file"))
        else:
            bug = self._report.findings[shape.members[0]]
            cells.append(Cell(offset_words(finding, told=bug.allocation), "report"))
        if where.block_rank is not None:
            cells.append(Cell(f"  cluster rank {where.block_rank}", "muted"))
        if self._here is not None and self._here.holds(finding, side):
            cells.append(Cell("  ← you are here", "focus"))
        return Row(tuple(cells), target=target)

    def _widths(self, shape: _Shape) -> tuple[int, int]:
        """Widths of the block and thread columns, from the first members and the last."""
        sample = [*shape.members[:_SAMPLE], shape.members[-1]]
        blocks = threads = 0
        for number in sample:
            for side in range(shape.sides):
                where = side_of(self._report.findings[number], side)
                if where is not None:
                    block, thread = lane_words(where)
                    blocks, threads = max(blocks, len(block)), max(threads, len(thread))
        return blocks, threads


def _consequence(group: FindingGroup, finding: Finding) -> Row:
    words = finding.access or finding.kind.value
    cells = [Cell("      "), Cell(words, "function")]
    host = host_words(finding)
    if host:
        cells += [Cell("  "), Cell(host, "file")]
    if finding.reason:
        cells += [Cell("  "), Cell(finding.reason, "report")]
    return Row(tuple(cells), target=FindingTarget(Part.CONSEQUENCE, group.id, finding.index))


def _notes(finding: Finding) -> tuple[str, ...]:
    allocation = allocation_line(finding.allocation)
    return ((allocation,) if allocation else ()) + reason_lines(finding)


def _all_api(group: FindingGroup, findings: Sequence[Finding]) -> bool:
    return all(findings[number].kind is FindingKind.API_ERROR for number in group.folded[:_SAMPLE])

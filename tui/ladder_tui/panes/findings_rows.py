"""The findings of a report as rows, made one by one as they are looked at.

A report may hold 100,000 findings: what is kept is one height a group, and a row is built when it is asked for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from ladder_backends.model.finding import CodeLocation, Finding, FindingGroup, LaneAnswer, Report
from ladder_backends.sanitizer.allocation_words import allocation_words
from ladder_backends.sanitizer.describe import RUN_KINDS
from ladder_backends.session.finding_query import About, Order, Query, in_order
from ladder_backends.session.finding_remarks import Mark
from ladder_tui.panes.findings_drawing import column_widths, consequence_row, fold_row, member_row, title_row
from ladder_tui.panes.findings_inset import BRIEF, Insets
from ladder_tui.panes.findings_targets import (
    BlockTarget,
    FindingTarget,
    Here,
    InsetRow,
    Part,
    StackTarget,
)
from ladder_tui.panes.findings_words import has_lane, host_words, reason_lines
from ladder_tui.widgets.row import EMPTY, Cell, Row

__all__ = ["BRIEF", "FindingTarget", "FindingsRows", "Here", "Order", "Part"]

_MAX_SIDES = 8
_ROUND_TITLE = 8


class _Shape(NamedTuple):
    """Rows of one group, from the top: title, notes, inset rows, members, `more`, consequences."""

    notes: tuple[str, ...]
    inset: int
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
        return 1 + len(self.notes) + self.inset + members + self.more + self.fold + self.consequences


class FindingsRows:
    """Rows of a report under an order, a filter and what is folded.

    Attributes:
        lanes: Findings that name a lane.
        bugs: Groups that are about the program rather than about the run of the tool.
        name_of: The variable that the source names for a finding's allocation.
        leaked_at: Who allocated that memory, as a leak record of the report says.
    """

    def __init__(self) -> None:
        self.order = Order.ARRIVAL
        self._insets = Insets()
        self.name_of: Callable[[Finding], str] = lambda finding: ""
        self.leaked_at: Callable[[Finding], CodeLocation | None] = lambda finding: None
        self._query = Query()
        self._brief = BRIEF
        self._forget(Report())

    def _forget(self, report: Report) -> None:
        """Start over with another report; order and filter stay."""
        self._report = report
        self.lanes = self.pairs = self.bugs = 0
        self._insets.forget(report)
        self._counted = 0
        self._folded: set[str] = set()
        self._full: set[str] = set()
        self._consequences: set[str] = set()
        self._opened: set[str] = set()
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
        self._measured: dict[str, tuple[tuple[int, int], int]] = {}
        self._searched: dict[str, tuple[int, Sequence[int]]] = {}
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
            if finding.lane is LaneAnswer.TWO:
                self.pairs += 1
            else:
                self.lanes += has_lane(finding)
        self._counted = len(findings)
        if grown:
            self.bugs = sum(group.kind not in RUN_KINDS for group in report.groups.values())
        if here != self._here:
            self._touch(self._here_finding)
            self._here, self._here_finding, self._here_scanned = here, None, 0
            self._insets.here = here
        self._look_for_here()
        self._lay_out()

    @property
    def query(self) -> str:
        """What is looked for, as it was typed."""
        return self._query.text

    def arrange(self, *, order: Order | None = None, query: str | None = None) -> None:
        """List in another order, or only what holds every word of a query."""
        self.order = order or self.order
        if query is not None:
            self._query, self._searched = Query(query), {}
        self._lay_out()

    def say_again(self) -> None:
        """What is said of the bugs has changed."""
        self._changed.update(self._positions)
        self._measured, self._searched = {}, {}
        self._lay_out()

    @property
    def insets(self) -> Insets:
        """Maps, details and notes of the bugs."""
        return self._insets

    def about(self, group: FindingGroup) -> About:
        """What a person or an earlier run says of a bug."""
        return self._insets.about(group)

    def show_at_first(self, members: int) -> None:
        """How many members a bug shows before it is unfolded."""
        if members != self._brief:
            self._brief = members
            self._changed.update(self._positions)
            self._measured = {}
            self._lay_out()

    def toggle(self, target: FindingTarget) -> None:
        """Fold or unfold what a row stands for."""
        if target.part in (Part.MORE, Part.MEMBER):
            self._full ^= {target.group}
        elif target.part in (Part.FOLD, Part.CONSEQUENCE):
            self._consequences ^= {target.group}
        elif self._is_shut(target.group):
            self._folded.discard(target.group)
            self._opened.add(target.group)
        else:
            self._folded.add(target.group)
            self._opened.discard(target.group)
            self._full.discard(target.group)
        self._touch_group(target.group)

    def _is_shut(self, group_id: str) -> bool:
        """Whether only the title of a bug is shown: folded, or done with and not opened again."""
        if group_id in self._folded:
            return True
        group = self._report.groups.get(group_id)
        if group is None or group_id in self._opened:
            return False
        return self.about(group).remark.mark is not Mark.OPEN

    def shut(self, group_id: str) -> None:
        """Show the title alone of a bug that is done with, although it was opened before."""
        self._opened.discard(group_id)
        self._touch_group(group_id)

    def _touch_group(self, group_id: str) -> None:
        self._changed.add(group_id)
        self._lay_out()

    def turn(self, act: StackTarget | BlockTarget) -> None:
        """List the frames that a row stands for, or show the lanes of a block."""
        self._insets.turn(act)
        self._touch_group(act.group)

    def toggle_map(self, group_id: str) -> None:
        """Draw a bug's lanes as a map in the place of their list, or list them again."""
        self._insets.mapped ^= {group_id}
        self._insets.map_first.add(group_id)
        found = self._matches.get(group_id) if self._matches is not None else None
        block = self._report.findings[found[0]].block if found else None
        if block is not None:
            # What was looked for is what is to be seen.
            self._insets.turn(BlockTarget(group_id, block))
        self._touch_group(group_id)

    def toggle_details(self, group_id: str) -> None:
        """Show everything that the report says of a bug, or no longer."""
        self._insets.detailed ^= {group_id}
        self._insets.map_first.discard(group_id)
        self._touch_group(group_id)

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
        if self.order is Order.ARRIVAL and not self._query:
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
        changed = self._forget_changed()
        if sizes != self._sizes:
            grown = (number for number, (new, old) in enumerate(zip(sizes, self._sizes, strict=True)) if new != old)
            for number in grown:
                self._heights[number] = self._height(self._groups[number])
            self._sizes = sizes
        for group_id in changed & self._positions.keys():
            number = self._positions[group_id]
            self._heights[number] = self._height(self._groups[number])

    def _forget_changed(self) -> set[str]:
        """Bugs that look otherwise than when they were measured; they are measured again."""
        changed, self._changed = self._changed, set()
        for group_id in changed:
            self._measured.pop(group_id, None)
        return changed

    def _arrange(self) -> None:
        self._in_report_order = False
        self._forget_changed()
        findings = self._report.findings
        groups = [group for group in self._report.groups.values() if group.members]
        self._matches = None
        if self._query:
            self._matches = {group.id: members for group in groups if (members := self._found(group))}
            groups = [group for group in groups if group.id in self._matches]
        groups = in_order(groups, self.order, findings, lambda group: len(self._members(group)))
        self._groups = groups
        self._positions = {group.id: position for position, group in enumerate(groups)}
        self._heights = [self._height(group) for group in groups]

    def _found(self, group: FindingGroup) -> Sequence[int]:
        """Members of a bug that hold every word of the query; only those that are new are looked at."""
        done, found = self._searched.get(group.id, (0, []))
        if done < len(group.members):
            new = self._query.members(group, self._report.findings, self.about(group), start=done)
            # Where all members are meant, the list of the bug itself stands for them, and grows with it.
            found = new if not done or new is group.members else [*found, *new]
            self._searched[group.id] = len(group.members), found
        return found

    def _height(self, group: FindingGroup) -> int:
        if not group.members:
            return 0
        stamp = len(group.folded), len(self._members(group))
        known = self._measured.get(group.id)
        if known is not None and known[0] == stamp:
            return known[1]
        height = self._shape(group).height
        self._measured[group.id] = stamp, height
        return height

    def _members(self, group: FindingGroup) -> Sequence[int]:
        return self._matches[group.id] if self._matches is not None else group.members

    def _shape(self, group: FindingGroup) -> _Shape:
        members = self._members(group)
        if self._is_shut(group.id):
            return _Shape((), 0, 1, members, 0, None, False, False, 0)
        first = self._report.findings[members[0]]
        notes = self._notes.get(group.id)
        if notes is None:
            notes = self._notes[group.id] = _notes(first)
        sides = min(_MAX_SIDES, max(1, len(first.sides)))
        opened = len(group.folded) if group.id in self._consequences else 0
        inset = self._insets.height(group)
        if self._insets.replaces_members(group):
            return _Shape(notes, inset, sides, members, 0, None, False, bool(group.folded), opened)
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
        return _Shape(notes, inset, sides, members, shown, extra, more, bool(group.folded), opened)

    def inset_row(self, target: FindingTarget) -> InsetRow | None:
        """The row of a map, note or frame that a target stands for, or None where it is gone."""
        group = self._report.groups.get(target.group)
        if group is None or target.group not in self._positions:
            return None
        return self._insets.row(group, target.side)

    def _offset(self, group: FindingGroup, shape: _Shape, target: FindingTarget) -> int:
        if shape.height == 1 or target.part is Part.TITLE:
            return 0
        first = 1 + len(shape.notes) + shape.inset
        end_of_members = first + (shape.shown + (shape.extra is not None)) * shape.sides
        if target.part is Part.NOTE:
            return min(1 + target.side, len(shape.notes))
        if target.part is Part.INSET:
            return len(shape.notes) + min(1 + target.side, shape.inset)
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
        first = shape.members[0]
        if offset == 0 or offset >= shape.height:
            # Also of a bug that has become shorter, as one that was marked just now, and was not measured again.
            return self._title(group, shape)
        offset -= 1
        if offset < len(shape.notes):
            return self._note(group, shape, findings[first], offset)
        offset -= len(shape.notes)
        if offset < shape.inset:
            target = FindingTarget(Part.INSET, group.id, first, offset)
            inset = self.inset_row(target)
            return inset.row(target) if inset is not None else EMPTY
        offset -= shape.inset
        rows = shape.shown + (shape.extra is not None)
        if offset < rows * shape.sides:
            place, side = divmod(offset, shape.sides)
            member = shape.members[place if place < shape.shown else shape.extra or 0]
            widths = column_widths(findings, shape.members, shape.sides)
            return member_row(group, findings[first], findings[member], side, shape.sides, widths, self._here)
        offset -= rows * shape.sides
        if shape.more:
            if offset == 0:
                target = FindingTarget(Part.MORE, group.id, first)
                count = len(shape.members) - rows
                return Row((Cell("    "), Cell(f"… {count:,} more", "muted")), target=target)
            offset -= 1
        if offset == 0:
            return fold_row(group, first, findings, shown=bool(shape.consequences))
        return consequence_row(group, findings[group.folded[offset - 1]])

    def _title(self, group: FindingGroup, shape: _Shape) -> Row:
        first = self._report.findings[shape.members[0]]
        lanes = ""
        if len(shape.members) == len(group.members) and first.lane is not LaneAnswer.NONE:
            lanes = self._insets.where(group)
            if len(group.title) + len(lanes) + _ROUND_TITLE > self._insets.width:
                lanes = ""
        folded = self._is_shut(group.id)
        return title_row(group, first, len(shape.members), self.about(group), folded=folded, lanes=lanes)

    def _note(self, group: FindingGroup, shape: _Shape, first: Finding, line: int) -> Row:
        words = shape.notes[line]
        if line == 0 and first.allocation is not None:
            name, leaked_at = self.name_of(first), self.leaked_at(first)
            if name or leaked_at is not None:
                words = allocation_words(first, name, leaked_at)
        end = (Cell("report", "muted"),) if line == 0 else ()
        return Row(
            (Cell("    "), Cell(words, "report")), end, FindingTarget(Part.NOTE, group.id, first.index, line)
        )


def _notes(finding: Finding) -> tuple[str, ...]:
    allocation = allocation_words(finding)
    return ((allocation,) if allocation else ()) + reason_lines(finding)

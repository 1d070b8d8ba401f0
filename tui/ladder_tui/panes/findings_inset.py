"""What stands between a bug's title and its lanes: a person's note, the map, everything the report says."""

from __future__ import annotations

from collections.abc import Callable

from ladder_backends.model.finding import Finding, FindingGroup, LaneAnswer, Report
from ladder_backends.model.focus import Dim3
from ladder_backends.sanitizer.lane_map import LaneMap
from ladder_backends.session.finding_query import NOTHING, About
from ladder_tui.panes.findings_details import detail_rows
from ladder_tui.panes.findings_map import map_rows, strip_row
from ladder_tui.panes.findings_targets import BlockTarget, Extents, Here, InsetRow, StackTarget
from ladder_tui.panes.findings_words import plural
from ladder_tui.widgets.row import Cell

BRIEF = 3
"""Members of a bug that are shown at first, where there is no room for more; more than these are drawn too."""

COUNTED_AT_ONCE = 20_000
"""Lanes that are put on a map in one go."""


class Insets:
    """Rows of maps, details and notes; made when they are looked at.

    Attributes:
        width: Columns that a row has.
        here: The lane that the engine stands in.
        about: What a person or an earlier run says of a bug.
        extents_of: How large grid and blocks of a finding's kernel are, where an engine has told.
        mapped: Bugs whose lanes are drawn as a map.
        detailed: Bugs that are shown in full.
        map_first: Bugs whose map was asked for after their details: what was asked for last is seen in a low view.
    """

    def __init__(self) -> None:
        self.width = 80
        self.here: Here | None = None
        self.about: Callable[[FindingGroup], About] = lambda group: NOTHING
        self.extents_of: Callable[[Finding], Extents | None] = lambda finding: None
        self.forget(Report())

    def forget(self, report: Report) -> None:
        """Start over with another report."""
        self._report = report
        self.mapped: set[str] = set()
        self.detailed: set[str] = set()
        self.map_first: set[str] = set()
        self._stacks: set[str] = set()
        self._blocks: dict[str, Dim3] = {}
        self._maps: dict[str, LaneMap] = {}
        self._made: dict[str, tuple[object, list[InsetRow]]] = {}

    def turn(self, act: StackTarget | BlockTarget) -> None:
        """List the frames of a bug's host stack or fold them; show the lanes of a block on its map."""
        if isinstance(act, StackTarget):
            self._stacks ^= {act.group}
        else:
            self._blocks[act.group] = act.block

    @property
    def counting(self) -> bool:
        """Whether lanes are still being put on a map that was looked at; each look goes on with it."""
        groups = self._report.groups
        return any(
            number in groups and lanes.taken < len(groups[number].members) for number, lanes in self._maps.items()
        )

    def lanes(self, group: FindingGroup) -> LaneMap:
        """The map of a bug; each call takes in some more of a long one."""
        lanes = self._maps.get(group.id)
        if lanes is None:
            lanes = self._maps[group.id] = LaneMap()
        if lanes.taken < len(group.members):
            lanes.take(self._report.findings, group.members, COUNTED_AT_ONCE)
        return lanes

    def where(self, group: FindingGroup) -> str:
        """`24 lanes of block 3`, `20 pairs in block 2`, once all are on the map; empty until then."""
        large = len(group.members) > COUNTED_AT_ONCE
        lanes = self._maps.get(group.id) if large else self.lanes(group)
        if lanes is None or lanes.taken < len(group.members):
            return ""
        if self._first(group).lane is LaneAnswer.TWO:
            return f"{plural(len(group.members), 'pair')} in {lanes.where()}"
        return lanes.words() if lanes.lanes == len(group.members) else ""

    def _first(self, group: FindingGroup) -> Finding:
        return self._report.findings[group.members[0]]

    def _drawable(self, group: FindingGroup) -> bool:
        return any(side.thread is not None and side.block is not None for side in self._first(group).sides)

    def replaces_members(self, group: FindingGroup) -> bool:
        """Whether the map stands in the place of the list of lanes."""
        return group.id in self.mapped and self._drawable(group)

    def _heads(self, group: FindingGroup) -> list[str]:
        """Rows of one line: a person's note, and the map in small."""
        heads = ["note"] if self.about(group).remark.note else []
        if len(group.members) > BRIEF and group.id not in self.mapped and self._drawable(group):
            heads.append("strip")
        return heads

    def height(self, group: FindingGroup) -> int:
        """Rows of a bug."""
        return len(self._heads(group)) + len(self._rows(group))

    def row(self, group: FindingGroup, place: int) -> InsetRow | None:
        """A row of a bug, or None past the last one."""
        heads = self._heads(group)
        if place < len(heads):
            return self._head(group, heads[place])
        rows = self._rows(group)
        return rows[place - len(heads)] if place - len(heads) < len(rows) else None

    def _head(self, group: FindingGroup, what: str) -> InsetRow:
        if what == "note":
            note = self.about(group).remark.note
            return InsetRow((Cell("    "), Cell("✎ ", "focus"), Cell(note)), (Cell("your note", "muted"),))
        first, lanes = self._first(group), self.lanes(group)
        if lanes.taken < len(group.members):
            words = f"counting lanes: {lanes.taken:,} of {len(group.members):,}"
            return InsetRow((Cell("    "), Cell(words, "muted")))
        letters = first.lane is LaneAnswer.TWO
        return strip_row(lanes, self.here, self.width, extents=self.extents_of(first), letters=letters)

    def _rows(self, group: FindingGroup) -> list[InsetRow]:
        """The details of a bug and its map at full size, where they are asked for."""
        detailed, mapped = group.id in self.detailed, self.replaces_members(group)
        if not (detailed or mapped):
            return []
        first, whole, block = self._first(group), group.id in self._stacks, self._blocks.get(group.id)
        extents = self.extents_of(first)
        counting = self._maps[group.id].taken if group.id in self._maps else 0
        map_first = group.id in self.map_first
        stamp = (
            detailed,
            mapped,
            map_first,
            whole,
            block,
            extents,
            self.here,
            self.width,
            len(group.members),
            counting,
        )
        made = self._made.get(group.id)
        if made is not None and made[0] == stamp and counting == len(group.members):
            return made[1]
        details = detail_rows(group.id, first, whole_stack=whole) if detailed else []
        drawn: list[InsetRow] = []
        if mapped:
            drawn = map_rows(
                group.id,
                self.lanes(group),
                self.here,
                self.width,
                block=block,
                extents=extents,
                letters=first.lane is LaneAnswer.TWO,
            )
        rows = drawn + details if map_first else details + drawn
        self._made[group.id] = stamp, rows
        return rows

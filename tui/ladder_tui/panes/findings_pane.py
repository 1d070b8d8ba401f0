"""Findings of the sanitizer: bugs, their lanes, and the way into each lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.timer import Timer

from ladder_backends.images.names import base_name
from ladder_backends.model.finding import Finding, FindingGroup, Report
from ladder_backends.session.finding_query import Order
from ladder_backends.session.finding_remarks import Mark
from ladder_backends.session.findings_desk import FindingsDesk
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, DebugState, LadderState
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.findings_acts import FindingsActs
from ladder_tui.panes.findings_rows import BRIEF, FindingsRows
from ladder_tui.panes.findings_targets import (
    Act,
    BlockTarget,
    Extents,
    FindingTarget,
    FrameTarget,
    Here,
    LaneTarget,
    Part,
    StackTarget,
)
from ladder_tui.panes.findings_words import report_summary
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.sanitizer_progress import SanitizerActs, progress_cells, progress_text
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

STREAM_INTERVAL = 0.25
"""Seconds between two looks at a large report that is still growing."""

COUNT_INTERVAL = 0.03
"""Seconds between two parts of the lanes of a large bug that are put on its map."""

_LARGE = 2_000
_FEW = 4
_LOW = 8
_ROWS_BESIDE = 4


class FindingsPane(SanitizerActs, Pane):
    """Bugs as groups of lanes; Enter or a click stands in the lane.

    Attributes:
        desk: What is known of the bugs besides the report.
    """

    INTEREST = Change.FINDINGS | Change.FOCUS | Change.FRAMES | Change.RUNG | Change.SANITIZER_RUN
    BINDINGS = bindings_for("findings")
    SEARCHES = "words, kind:race kernel:vadd file: line: lane: note: is:open, -word"

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self.desk = FindingsDesk(ladder.source)
        self._rows = FindingsRows()
        self._rows.insets.about = self.desk.about
        self._rows.name_of = self.desk.allocation_name
        self._rows.leaked_at = self.desk.leaked_at
        self._rows.insets.extents_of = self._extents_of
        self._acts = FindingsActs(self)
        self._counting: Timer | None = None
        self._report: Report | None = None
        self._selected: int | None = None
        self._later: Timer | None = None

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Rows of the report as it is folded, ordered and filtered."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """A bug, one of its lanes, or what else there is to say of it."""
        return self._rows[index]

    def title(self) -> Title:
        """`Findings  1 bug · 24 lanes`."""
        report = self._report
        words, style = report_summary(report, self._rows.bugs, self._rows.lanes, self._rows.pairs)
        state = progress_cells(self.ladder.state.sanitizer, self.ladder_app.clock()) or [Cell(words, style)]
        against = self.desk.against
        if against is not None:
            # A run that goes on may still find what it has not found yet.
            running = self.ladder.state.sanitizer.active
            words = f"{len(against.new):,} new so far" if running else against.words()
            state.append(Cell(f" · {words}", "focus" if against.new else "text"))
        if self._rows.query:
            state.append(Cell(f" · {self._rows.group_count:,} with “{self._rows.query}”", "match"))
            state += [Cell(f"  {key_of('findings.all')}", "key"), Cell(" all", "muted")]
        if self._rows.order is not Order.ARRIVAL:
            state.append(Cell(f" · by {self._rows.order}", "muted"))
        return Title(self.pane_name, tuple(state), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        report = self._report
        if self._rows.query:
            return f"no finding holds “{self._rows.query}”; {key_of('findings.all')} shows all again"
        if run := progress_text(self.ladder.state.sanitizer, self.ladder_app.clock()):
            return run
        if report is None:
            return (
                "no report is open; start with: ladder-tui open LOG [DUMP] [PROGRAM], "
                f"or {key_of('sanitize.run')} runs the sanitizer"
            )
        if report.reason:
            return report.reason if not report.ran or report.complete else f"incomplete: {report.reason}"
        return "the tool looked and found nothing" if report.ran and report.complete else ""

    # Changes ---------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Take in new findings and the lane the engine stands in; the selected row stays selected."""
        if change == Change.SANITIZER_RUN:
            self.update()
            return
        growing = state.report is self._report and self._report is not None and change == Change.FINDINGS
        if growing and self._later is None and len(self._rows) > 0 and len(state.report.findings) > _LARGE:  # type: ignore[union-attr]
            self._later = self.set_timer(STREAM_INTERVAL, self._look)
        elif not growing or self._later is None:
            self._look()

    def _look(self) -> None:
        if self._later is not None:
            self._later.stop()
            self._later = None
        state = self.ladder.state
        before = self._target_at_cursor()
        offset: int | None = self.cursor - self.top
        if state.report is not self._report:
            self._report, before = state.report, None
            self.cursor = self.top = 0
        self._rows.insets.width = self.body_width
        run = state.sanitizer
        program = run.plan.program if run.plan is not None else next(iter(state.report_files), None)
        said = self.desk.take(state.report, program=program, run_again=run.plan is not None)
        self._rows.show_at_first(self._room())
        self._rows.update(state.report or Report(), _here(self.debug))
        if said:
            self._rows.say_again()
        if notice := self.desk.take_notice():
            self.ladder_app.say(notice)
        if state.selected_finding != self._selected:
            self._selected = state.selected_finding
            if self._selected is not None:
                # Scrolled no further than it takes to see the lane: its bug is the row above.
                before, offset = self._rows.target_of(self._selected) or before, None
                self._follow_cursor = True
        self._stand_on(before, offset)

    def _room(self) -> int:
        """Members that each of a few bugs may show at first."""
        if self.body_height < _LOW:
            # The bug, its allocation, its map and the lane at hand come first.
            return 1
        bugs = len(self._report.groups) if self._report is not None else 0
        return max(BRIEF, self.body_height // bugs - _ROWS_BESIDE) if 0 < bugs <= _FEW else BRIEF

    def on_resize(self, event: events.Resize) -> None:
        """More room shows more lanes."""
        target, offset = self._target_at_cursor(), self.cursor - self.top
        self._rows.insets.width = self.body_width
        self._rows.show_at_first(self._room())
        self._stand_on(target, offset)

    def look_again(self) -> None:
        """Take in what is known of the bugs by now."""
        self._look()

    def said(self) -> None:
        """What is said of the bugs has changed."""
        target, offset = self._target_at_cursor(), self.cursor - self.top
        self._rows.say_again()
        self._stand_on(target, offset)
        if notice := self.desk.take_notice():
            self.ladder_app.say(notice)

    def update(self) -> None:
        """Draw again; a large bug's lanes are counted in parts, between which keys are heard."""
        super().update()
        if self._rows.insets.counting and self._counting is None:
            self._counting = self.set_timer(COUNT_INTERVAL, self._count_on)

    def _count_on(self) -> None:
        self._counting = None
        self.update()

    def _extents_of(self, finding: Finding) -> Extents | None:
        """Sizes of a finding's kernel, where the engine holds a kernel of its name."""
        debug = self.debug
        name = base_name(finding.kernel) if finding.kernel else ""
        found = {
            Extents(kernel.grid_dim, kernel.block_dim)
            for kernel in (debug.grid.kernels if debug is not None and name else ())
            if base_name(kernel.name) == name
        }
        return found.pop() if len(found) == 1 else None

    def _target_at_cursor(self) -> FindingTarget | None:
        target = self.row(self.cursor).target if self.row_count else None
        return target if isinstance(target, FindingTarget) else None

    def _stand_on(self, target: FindingTarget | None, offset: int | None) -> None:
        position = self._rows.position(target) if target is not None else None
        if position is not None:
            self.top = self.top if offset is None else max(0, position - offset)
            self.cursor = position
        self.update()

    def finding_at_cursor(self) -> Finding | None:
        """The finding of the row under the cursor, or the first of its bug."""
        target, report = self._target_at_cursor(), self._report
        known = target is not None and report is not None and target.finding < len(report.findings)
        return report.findings[target.finding] if known and report is not None and target is not None else None

    def side_at_cursor(self) -> int:
        """The side of the finding under the cursor: a hazard has two."""
        target = self._target_at_cursor()
        return target.side if target is not None and target.part is Part.MEMBER else 0

    # Acting ----------------------------------------------------------------------------------------------------

    def activate(self, hit: Hit) -> None:
        """Jump into the row's lane, show its line of source, or unfold what the row stands for."""
        target = hit.target
        if self._report is None:
            return
        if isinstance(target, (LaneTarget, FrameTarget, BlockTarget, StackTarget)):
            self._act(target)
            return
        if not isinstance(target, FindingTarget):
            return
        if target.part in (Part.MORE, Part.FOLD):
            self._toggle(target)
            return
        if target.part is Part.INSET:
            inset = self._rows.inset_row(target)
            self._act(inset.act if inset is not None else None)
            return
        self._jump(target.finding, target.side if target.part is Part.MEMBER else 0)

    def _jump(self, finding: int, side: int) -> None:
        if self._report is not None and finding < len(self._report.findings):
            self._selected = finding
            self.work(self.ladder_app.workspace.jump_to_finding(self._report.findings[finding], side))

    def _act(self, act: Act) -> None:
        """Do what a part of a map or a frame stands for."""
        target, offset = self._target_at_cursor(), self.cursor - self.top
        if isinstance(act, LaneTarget):
            self._jump(act.finding, act.side)
        elif isinstance(act, FrameTarget):
            self.ladder_app.workspace.show_source(act.frame.file, act.frame.line or 1)
        elif isinstance(act, (BlockTarget, StackTarget)):
            self._rows.turn(act)
            self._stand_on(target, offset)

    def _group_at_cursor(self) -> FindingGroup | None:
        target = self._target_at_cursor()
        return self._report.groups.get(target.group) if target is not None and self._report is not None else None

    def action_map(self) -> None:
        """Draw the bug's lanes as a map, or list them."""
        group = self._group_at_cursor()
        if group is not None:
            self._rows.toggle_map(group.id)
            self._stand_on(self._title_of(group), 0)

    def action_details(self) -> None:
        """Show everything the report says of the bug, or no longer."""
        group = self._group_at_cursor()
        if group is not None:
            self._rows.toggle_details(group.id)
            self._stand_on(self._title_of(group), 0)

    @staticmethod
    def _title_of(group: FindingGroup) -> FindingTarget:
        return FindingTarget(Part.TITLE, group.id, group.members[0])

    def action_side(self) -> None:
        """Stand in the lane of the other side: from one of a hazard's two lanes to its other."""
        finding = self.finding_at_cursor()
        if finding is None:
            return
        here, debug = self.side_at_cursor(), self.debug
        stands = _here(debug)
        if stands is not None:
            here = next((n for n in range(len(finding.sides)) if stands.holds(finding, n)), here)
        lanes = [n for n, side in enumerate(finding.sides) if n != here and side.thread is not None]
        if lanes:
            self._jump(finding.index, lanes[0])
        else:
            self.ladder_app.say("this finding names no other lane", "information")

    def action_note(self) -> None:
        """Write a note on the bug."""
        group = self._group_at_cursor()
        if group is not None:
            self._acts.note(group)

    def action_ignore(self) -> None:
        """Ignore the bug from now on, or no longer."""
        self._mark(Mark.IGNORED)

    def action_done(self) -> None:
        """Mark the bug as done, or open it again."""
        self._mark(Mark.DONE)

    def _mark(self, mark: Mark) -> None:
        group = self._group_at_cursor()
        if group is not None:
            self._rows.shut(group.id)
            self._acts.mark(group, mark)

    def action_export(self) -> None:
        """Write the report to a file for others."""
        if self._report is not None:
            self._acts.export(self._report)

    def action_suppress(self) -> None:
        """Write an entry for the sanitizer's suppressions file."""
        target = self._target_at_cursor()
        if target is not None and self._report is not None:
            self._acts.suppress(self._report.findings[target.finding])

    def action_compare(self) -> None:
        """Compare with an earlier report."""
        self._acts.compare()

    def action_fold(self) -> None:
        """Fold or unfold the bug, its further lanes, or its consequences."""
        target = self._target_at_cursor()
        if target is not None:
            self._toggle(target)

    def _toggle(self, target: FindingTarget) -> None:
        offset = self.cursor - self.top
        self._rows.toggle(target)
        self._stand_on(target, offset)

    def action_order(self) -> None:
        """List by arrival, lanes, severity, file and line, or kernel."""
        target, offset = self._target_at_cursor(), self.cursor - self.top
        self._rows.arrange(order=self._rows.order.following())
        self._stand_on(target, offset)

    def search(self, needle: str, *, backwards: bool = False) -> bool:
        """Show only what holds every word; an empty needle shows all again."""
        target, offset = self._target_at_cursor(), self.cursor - self.top
        self._rows.arrange(query=needle.strip())
        self._stand_on(target, offset)
        return True

    def action_show_all(self) -> None:
        """Show all again after a search."""
        if self._rows.query:
            self.search("")

    def copy_text(self, index: int) -> str:
        """The record as the report wrote it, for a lane; else the row."""
        target = self.row(index).target
        if isinstance(target, FindingTarget) and target.part is Part.MEMBER and self._report is not None:
            return self._report.findings[target.finding].raw or super().copy_text(index)
        return super().copy_text(index)


def _here(debug: DebugState | None) -> Here | None:
    """The lane that the session of the jumps stands in."""
    focus = debug.focus if debug is not None else None
    block = focus.dim3("block") if focus is not None else None
    thread = focus.dim3("thread") if focus is not None else None
    if debug is None or block is None or thread is None:
        return None
    frames = debug.frames.frames if debug.frames.start == 0 else ()
    outermost = frames[-1].function if frames and not debug.frames.more else ""
    return Here(block, thread, base_name(outermost) if outermost and outermost != "??" else "")

"""Findings of the sanitizer: bugs, their lanes, and the way into each lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.timer import Timer

from ladder_backends.images.names import base_name
from ladder_backends.model.finding import Report
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, DebugState, LadderState
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.findings_filter import Order
from ladder_tui.panes.findings_rows import BRIEF, FindingsRows, FindingTarget, Here, Part
from ladder_tui.panes.findings_words import report_summary
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

STREAM_INTERVAL = 0.25
"""Seconds between two looks at a large report that is still growing."""

_LARGE = 2_000
_FEW = 4
_ROWS_BESIDE = 4


class FindingsPane(Pane):
    """Bugs as groups of lanes; Enter or a click stands in the lane."""

    INTEREST = Change.FINDINGS | Change.FOCUS | Change.FRAMES | Change.RUNG
    BINDINGS = bindings_for("findings")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._rows = FindingsRows()
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
        words, style = report_summary(report, self._rows.bugs, self._rows.lanes)
        state = [Cell(words, style)]
        if self._rows.query:
            state.append(Cell(f" · {self._rows.group_count:,} with “{self._rows.query}”", "match"))
        if self._rows.order is not Order.REPORT:
            state.append(Cell(f" · by {self._rows.order}", "muted"))
        return Title(self.pane_name, tuple(state), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        report = self._report
        if self._rows.query:
            return f"no finding holds “{self._rows.query}”; {key_of('findings.all')} shows all again"
        if report is None:
            return "no report is open; start with: ladder-tui open LOG [DUMP] [PROGRAM]"
        if report.reason:
            return report.reason if not report.ran or report.complete else f"incomplete: {report.reason}"
        return "the tool looked and found nothing" if report.ran and report.complete else ""

    # Changes ---------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Take in new findings and the lane the engine stands in; the selected row stays selected."""
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
        self._rows.show_at_first(self._room())
        self._rows.update(state.report or Report(), _here(self.debug))
        if state.selected_finding != self._selected:
            self._selected = state.selected_finding
            if self._selected is not None:
                # Scrolled no further than it takes to see the lane: its bug is the row above.
                before, offset = self._rows.target_of(self._selected) or before, None
                self._follow_cursor = True
        self._stand_on(before, offset)

    def _room(self) -> int:
        """Members that each of a few bugs may show at first."""
        bugs = len(self._report.groups) if self._report is not None else 0
        return max(BRIEF, self.body_height // bugs - _ROWS_BESIDE) if 0 < bugs <= _FEW else BRIEF

    def on_resize(self, event: events.Resize) -> None:
        """More room shows more lanes."""
        target, offset = self._target_at_cursor(), self.cursor - self.top
        self._rows.show_at_first(self._room())
        self._stand_on(target, offset)

    def _target_at_cursor(self) -> FindingTarget | None:
        target = self.row(self.cursor).target if self.row_count else None
        return target if isinstance(target, FindingTarget) else None

    def _stand_on(self, target: FindingTarget | None, offset: int | None) -> None:
        position = self._rows.position(target) if target is not None else None
        if position is not None:
            self.top = self.top if offset is None else max(0, position - offset)
            self.cursor = position
        self.update()

    # Acting ----------------------------------------------------------------------------------------------------

    def activate(self, hit: Hit) -> None:
        """Jump into the row's lane, or unfold what the row stands for."""
        target = hit.target
        if not isinstance(target, FindingTarget) or self._report is None:
            return
        if target.part in (Part.MORE, Part.FOLD):
            self._toggle(target)
            return
        self._selected = target.finding
        side = target.side if target.part is Part.MEMBER else 0
        self.work(self.ladder.jump(self._report.findings[target.finding], side))

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
        """List by report, count or line."""
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

"""The source: where the target stands, what is set there, and what its variables are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events

from ladder_backends.model.frame import Place, file_name
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sources import SourceState
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.gutter_acts import edit_at, take_click
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.source_edits import EditNews, index_now
from ladder_tui.panes.source_gutter import (
    FindingMark,
    InlineValue,
    breakpoint_lines,
    finding_lines,
    inline_values,
    lane_lines,
    same_file,
)
from ladder_tui.panes.source_peek import SourcePeek
from ladder_tui.panes.source_texts import SourceText, SourceTexts
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row, cut, cut_front, width_of

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState
    from ladder_tui.theming import Palette

_BLANK = Cell(" ")
_REASON_ROOM = 24


class SourcePane(Pane):
    """Follows the selected frame, or the selected finding where nothing is open.

    The cursor shows only where it is not on the current line; keys `b` and `u` act on it.
    """

    CURSOR_LIT = False
    INTEREST = (
        Change.SOURCE
        | Change.FRAMES
        | Change.VARIABLES
        | Change.BREAKPOINTS
        | Change.FINDINGS
        | Change.FOCUS
        | Change.RUN
        | Change.GRID
    )
    BINDINGS: ClassVar = bindings_for("source")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._place: Place | None = None
        self._target: Place | None = None
        self._away = False
        self._text: SourceText | None = None
        self._texts = SourceTexts(ladder, self._colour)
        self._edits = EditNews()
        self._rows: dict[int, Row] = {}
        self._rows_width = 0
        self._stands_at = -1
        self._breakpoints: dict[int, Cell] = {}
        self._findings: dict[int, FindingMark] = {}
        self._values: dict[int, tuple[InlineValue, ...]] = {}
        self._lanes: dict[int, int] = {}
        self._lanes_asked: tuple[object, ...] = ()
        self._names: frozenset[str] = frozenset()
        self._report_size = -1
        self._peek = SourcePeek(self)

    # Following -------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Go where the target went, and mark what changed there."""
        if change & Change.RUN:
            self._peek.leave()
        debug = self.debug
        place = self._wanted(state, debug)
        if place != self._target or (self._away and change & Change.RUN):
            self._away = False
            self._target = place
            self._show(place)
        elif change & Change.SOURCE and not change & Change.RUN:
            # Not a stop: another file was chosen for this name, or it was edited.
            self._read_again()
        elif self._away:
            pass
        elif change & Change.RUN and place is not None:
            self._stand_at(place.line - 1)
        self._ask_for_lanes(debug)
        self._mark(state, debug)
        self.update()

    def _ask_for_lanes(self, debug: DebugState | None) -> None:
        """Ask on which lines the other lanes of the block stand; once for each stop and block."""
        focus, session = (debug.focus if debug is not None else None), self.session
        if debug is None or focus is None or session is None or debug.run not in (Run.STOPPED, Run.DUMP):
            return
        block = focus.dim3("block")
        wanted = (debug.place_name, debug.since, focus.get("kernel"), block)
        if block is not None and wanted != self._lanes_asked:
            self._lanes_asked = wanted
            self.work(session.machine.device.look_lines())

    def _wanted(self, state: LadderState, debug: DebugState | None) -> Place | None:
        if debug is not None and debug.place is not None:
            return debug.place
        report, selected = state.report, state.selected_finding
        if report is not None and selected is not None and selected < len(report.findings):
            finding = report.findings[selected]
            if finding.src_file and finding.line is not None:
                return Place(finding.src_file, finding.line)
        if debug is None or debug.run is Run.NOTHING:
            return None
        if debug.run is not Run.RUNNING and self._text is not None and not self._text.lines:
            # A file that is not here says nothing once nothing stands in it.
            return debug.entry or self._target if debug.run in (Run.EXITED, Run.DEAD) else None
        return self._target or debug.entry

    def _show(self, place: Place | None) -> None:
        before, self._place = self._text, place
        if place is None:
            self._text, self._names = None, frozenset()
            return
        self._names = frozenset(filter(None, (place.file, place.fullname, file_name(place.fullname or place.file))))
        self._text = self._texts.at(place)
        if self._text is not before:
            self._rows.clear()
            self.shift = 0
            self._report_size = -1
        self._stand_at(place.line - 1)
        if words := self._edits.words(self.debug, self._text.source):
            self.ladder_app.say(words, "warning")

    def _read_again(self) -> None:
        """Show the file as it is now; the cursor stays on its line, and that line where it is on the screen."""
        place, before = self._place, self._text
        if place is None:
            return
        cursor, top = self.cursor, self.top
        self._texts.forget(place)
        self._show(place)
        if before is not None and self._text is not None:
            self.cursor = index_now(before.source.lines, self._text.source.lines, cursor)
            self.top = max(0, top + self.cursor - cursor)

    def _colour(self, text: SourceText, line: int) -> None:
        height = max(20, self.body_height)
        self.ladder_app.run_worker(text.colour(line, height, self._coloured), exit_on_error=False)

    def _coloured(self) -> None:
        self._rows.clear()
        if self.is_attached:
            self.update()

    def _stand_at(self, line: int) -> None:
        """Put the cursor on a line and scroll only where it would be out of sight."""
        self.cursor = line
        self._follow_cursor = False
        height = self.body_height
        margin = min(2, height // 4)
        if not self.top + margin <= line < self.top + height - margin:
            self.top = max(0, line - height // 3)

    def sized(self) -> None:
        """What was stood at stays in sight, and no more is scrolled than that takes."""
        self.top = 0 if self.cursor < self.body_height - 2 else self.top
        self._stand_at(self.cursor)

    def _mark(self, state: LadderState, debug: DebugState | None) -> None:
        """Work out what stands beside the lines; only lines for which that differs are built again."""
        place, before = self._place, (self._breakpoints, self._findings, self._values, self._lanes)
        self._rows.pop(self._stands_at, None)
        self._stands_at = current = self._current
        self._breakpoints = breakpoint_lines(debug.breakpoints, self._names) if debug is not None else {}
        found = len(state.report.findings) if state.report is not None else 0
        if found != self._report_size and place is not None:
            self._report_size = found
            self._findings = finding_lines(state.report, file_name(place.fullname or place.file))
        self._lanes = lane_lines(debug.lane_lines, debug.focus, self._names) if debug is not None else {}
        self._values = {}
        if debug is not None and self._text is not None and current >= 0:
            self._values = inline_values(self._text.lines, current + 1, debug.variables.variables)
        self._rows.pop(current, None)
        self._forget(before[0], self._breakpoints)
        self._forget(before[1], self._findings)
        self._forget(before[2], self._values)
        self._forget(before[3], self._lanes)

    def _forget(self, old: Mapping[int, object], new: Mapping[int, object]) -> None:
        """Drop the rows of lines whose marks differ."""
        for line in old.keys() | new.keys():
            if old.get(line) != new.get(line):
                self._rows.pop(line - 1, None)

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def _current(self) -> int:
        """The 0-based line where the selected frame stands, or -1."""
        debug = self.debug
        if debug is None or debug.place is None or self._place is None:
            return -1
        return debug.place.line - 1 if same_file(debug.place, self._names) else -1

    @property
    def _candidates(self) -> tuple[Path, ...]:
        return self._text.source.candidates if self._text is not None and not self._text.lines else ()

    @property
    def row_count(self) -> int:
        """Lines of the file; its candidates where the name is ambiguous."""
        if self._text is None:
            return 0
        return len(self._text.lines) or len(self._candidates)

    def row(self, index: int) -> Row:
        """Gutter, code, values."""
        if self._rows_width != self.body_width:
            self._rows.clear()
            self._rows_width = self.body_width
        row = self._rows.get(index)
        if row is None:
            row = self._rows[index] = self._make_row(index)
        return row

    def _make_row(self, index: int) -> Row:
        text = self._text
        assert text is not None
        if not text.lines:
            candidate = self._candidates[index]
            return Row((Cell(cut_front(str(candidate), self.body_width)),), target=candidate)
        line = index + 1
        current = index == self._stands_at
        digits = max(3, len(str(len(text.lines))))
        finding = self._findings.get(line)
        if current:
            debug = self.debug
            outer = debug is not None and debug.selected_frame > 0
            style = "fault" if debug is not None and debug.fault_here and not outer else "current-line"
            marker = Cell("▷ " if outer else "▶ ", style)
        else:
            marker = Cell("▪ ", "lane-divergent") if line in self._lanes else Cell("  ")
        gutter = (
            self._breakpoints.get(line, _BLANK),
            Cell("✗", "fault") if finding else _BLANK,
            Cell(f"{line:>{digits}} ", "current-line" if current else "gutter"),
            marker,
        )
        code = text.colours[index] or (Cell(text.lines[index], "text"),)
        # A comment at the end of a line gives way to what is so now.
        words = code[:-1] if len(code) > 1 and code[-1].style == "syntax.comment" else code
        taken = width_of(gutter) + width_of([Cell("".join(cell.text for cell in words).rstrip())])
        return Row((*gutter, *code), self._end(index, taken), target=line, pinned=4)

    def _end(self, index: int, taken: int) -> tuple[Cell, ...]:
        """What stands at the end of a line: why the target stopped there, values, how many lanes."""
        line = index + 1
        if (
            not any(line in each for each in (self._values, self._findings, self._lanes))
            and index != self._stands_at
        ):
            return ()
        told: list[Cell] = []
        debug, finding = self.debug, self._findings.get(index + 1)
        stands_here = debug is not None and index == self._stands_at and not debug.selected_frame
        if debug is not None and debug.fault_here and stands_here and not finding:
            told.append(Cell(f"✗ {cut(debug.run_detail.split(',')[0], _REASON_ROOM)}", "fault"))
        if finding and finding.words:
            told.append(Cell(f"{finding.words} here", "fault"))
        standing = self._lanes.get(line, 0)
        if standing and (index != self._stands_at or len(self._lanes) > 1):
            # Of the report's lanes it is said that they erred here, of these that they are here now.
            told.append(Cell(f"{standing} lane{'s' if standing > 1 else ''} here now", "lane-divergent"))
        # What the current line is about is worth more than its text; elsewhere code gives way to a value or two.
        free = self.body_width - taken - 2 - width_of(told)
        kept = self.body_width * (0.6 if index == self._stands_at else 0.34) - width_of(told)
        values: list[Cell] = []
        used = 0
        for value, spare in self._values.get(index + 1, ()):
            size = width_of([value]) + 2
            if used + size <= (free if spare else max(free, kept)) + (0 if told or values else 2):
                values.append(value)
                used += size
        cells = [*values, *told]
        return tuple(Cell(("  " if number else "") + cell.text, cell.style) for number, cell in enumerate(cells))

    def is_marked(self, index: int) -> bool:
        """The cursor shows where it is not on the current line, which has a marker of its own."""
        return index == self.cursor != self._stands_at

    def title(self) -> Title:
        """File, function and focus; what is wrong with the file."""
        if self._place is None:
            return Title(self.pane_name, end=self.tab_cells())
        state: list[Cell] = []
        debug, source = self.debug, self._text.source if self._text is not None else None
        if source is not None and source.state is not SourceState.FOUND:
            state.append(Cell(source.state.value.upper(), "warn"))
        if debug is not None and debug.build.rebuilt:
            state.append(Cell(" REBUILT" if state else "REBUILT", "warn"))
        if debug is not None and debug.frames.frames:
            inner = next((one for one in debug.frames.frames if one.level == debug.selected_frame), None)
            shown = debug.python.frame or inner
            if shown is not None:
                state.append(Cell((" " if state else "") + shown.function, "muted"))
                if debug.place is None and debug.run in (Run.STOPPED, Run.DUMP):
                    state.append(Cell(" has no source", "warn"))
        where = debug.focus.describe("block") if debug is not None and debug.focus is not None else ""
        end = (Cell(where, "focus"),) if where else self.tab_cells()
        return Title(file_name(self._place.file) + self.of_two, tuple(state), end)

    def empty_text(self) -> str:
        """Why there is no source."""
        from ladder_tui.panes.source_absence import why_no_source

        return why_no_source(self.ladder.state, self.debug, self._text.source if self._text is not None else None)

    # Values under the mouse ------------------------------------------------------------------------------------

    @property
    def _gutter(self) -> int:
        """Columns before the code."""
        return max(3, len(str(self.row_count))) + 5

    def in_gutter(self, column: int) -> bool:
        """Whether a column of the view's body is one that sets breakpoints."""
        return 0 <= column < self._gutter - 2

    @property
    def names(self) -> frozenset[str]:
        """The names that the file goes by."""
        return self._names

    def code_column(self, column: int) -> int:
        """The column of the code at a column of the view's body; negative in the gutter."""
        return column - self._gutter + self.shift if column >= self._gutter else -1

    def place_of(self, index: int, column: int) -> tuple[int, int] | None:
        """Where on the screen something about a column of code has room: below it, or above; None out of sight."""
        if not self.top <= index < self.top + self.body_height:
            return None
        x = self.region.right - 1 - self.body_width + self._gutter + max(0, column - self.shift)
        y = self.region.y + 1 + index - self.top
        return x, y + 1 if y + 3 < self.app.size.height else y - 1

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """What the mouse rests on is shown."""
        self._peek.moved(event.x, event.y)

    def on_leave(self, event: events.Leave) -> None:
        """Nothing is under the mouse any more."""
        self._peek.leave()

    def action_value(self) -> None:
        """Show the value of an expression of the cursor's line; again for the next one."""
        if self._text is not None and self._text.lines:
            self._peek.next(self.cursor)

    # Acting ----------------------------------------------------------------------------------------------------

    def location_at_cursor(self) -> str:
        """`file:line` of the cursor as the engine knows the file, or an empty string."""
        if self._place is None or self._text is None or not self._text.lines:
            return ""
        return f"{self._place.fullname or self._place.file}:{self.cursor + 1}"

    def look_at(self, place: Place) -> None:
        """Show another place until the target moves."""
        self._away = True
        self._show(place)
        self._mark(self.ladder.state, self.debug)
        self.update()

    def go_to_line(self, line: int) -> None:
        """Put the cursor on a 1-based line."""
        self.move_cursor(line - 1)

    def activate(self, hit: Hit) -> None:
        """A click in the gutter sets or takes away a breakpoint, Enter edits it; a candidate becomes the source."""
        if isinstance(hit.target, Path):
            self._choose(hit.target)
        elif hit.column is None:
            edit_at(self, hit.index)
        elif self.in_gutter(hit.column) and self.session is not None:
            self.work(self.session.toggle_breakpoint(self.location_at_cursor()))

    def on_click(self, event: events.Click) -> None:
        """The gutter takes other buttons too."""
        if take_click(self, event):
            event.stop()
            event.prevent_default()

    def action_act(self) -> None:
        """Act on the line, or ask where a source lies that is not here."""
        if self._peek.pin():
            return
        place, text = self._place, self._text
        if place is None or text is None or not text.source.lost:
            super().action_act()
            return

        from ladder_tui.panes.source_absence import ask_where

        def found(path: Path) -> None:
            if self._place == place:
                self._choose(path)

        ask_where(self, place, found)

    def _choose(self, path: Path) -> None:
        place = self._place
        if place is None:
            return
        self.ladder.choose_source(place.file, path)
        self._texts.forget(place)
        self._show(place)
        self._mark(self.ladder.state, self.debug)
        self.update()

    def copy_text(self, index: int) -> str:
        """The line of source."""
        text = self._text
        return text.source.lines[index] if text is not None and text.lines else str(self._candidates[index])

    def row_text(self, index: int) -> str:
        """The line of source, without its gutter."""
        text = self._text
        return text.lines[index] if text is not None and text.lines else ""

    def action_disassembly(self) -> None:
        """Show the machine code."""
        self.ladder_app.workspace.show_pane("disassembly")

    def action_here(self) -> None:
        """Back to where the target stands."""
        self._away = False
        self.scroll_sideways(-self.shift)
        self._show(self._target)
        self._mark(self.ladder.state, self.debug)
        self.update()

"""The stack of the focused thread or lane, and for a finding who launched it."""

from __future__ import annotations

from typing import ClassVar

from ladder_backends.model.finding import CodeLocation
from ladder_backends.model.frame import Frame, FrameKind, file_name
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

_WINDOW = 64
_MORE = Row((Cell("   … more", "muted"),), target="more")


class StackPane(Pane):
    """Frames, innermost first; Enter or a click shows one. Frames of the report are marked as such."""

    INTEREST = Change.FRAMES | Change.FOCUS | Change.FINDINGS | Change.RUN
    BINDINGS: ClassVar = bindings_for("stack")
    _followed: tuple[object, ...] = ()

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Follow the selected frame."""
        debug = self.debug
        if debug is not None and change & (Change.FRAMES | Change.FOCUS):
            stands = (debug.rung, debug.since, debug.focus, debug.selected_frame, debug.frames.start)
            # Where only more frames were loaded, the cursor stays where it went to load them.
            if stands != self._followed:
                self._followed = stands
                self._follow_cursor = True
                self.cursor = max(0, debug.selected_frame - debug.frames.start)
        self.update()

    @property
    def _frames(self) -> tuple[Frame, ...]:
        debug = self.debug
        return debug.frames.frames if debug is not None and debug.run is not Run.RUNNING else ()

    @property
    def _launchers(self) -> tuple[CodeLocation, ...]:
        """Host frames of the selected finding, where the stack is a lane's."""
        state = self.ladder.state
        if state.report is None or state.selected_finding is None or state.rung not in ("sanitizer", "cuda-gdb"):
            return ()
        finding = state.report.findings[state.selected_finding]
        own = [frame for frame in finding.host_frames if frame.line is not None]
        return tuple(own or finding.host_frames)

    @property
    def _more(self) -> bool:
        debug = self.debug
        return debug is not None and bool(self._frames) and debug.frames.more

    @property
    def row_count(self) -> int:
        """Frames, a line for those not loaded, and the frames of the report."""
        launchers = self._launchers
        return len(self._frames) + self._more + (len(launchers) + 1 if launchers else 0)

    def row(self, index: int) -> Row:
        """Number, function, place."""
        frames = self._frames
        if index < len(frames):
            return _frame_row(frames[index])
        index -= len(frames)
        if self._more:
            if index == 0:
                return _MORE
            index -= 1
        if index == 0:
            return Row((Cell("launched by", "muted"),), (Cell("report", "report"),))
        return _launcher_row(self._launchers[index - 1])

    def title(self) -> Title:
        """How deep, as far as is known."""
        frames = self._frames
        count = f"{len(frames)}{'+' if self._more else ''}" if frames else ""
        state = (Cell(count, "muted"),) if count else ()
        return Title(self.pane_name, state, self.tab_cells())

    def empty_text(self) -> str:
        """Why there is no stack."""
        return self.not_standing() or "no stack"

    def activate(self, hit: Hit) -> None:
        """Show another frame, or load more of them."""
        session, debug = self.session, self.debug
        if session is None or debug is None:
            return
        if isinstance(hit.target, Frame):
            self.work(session.select_frame(hit.target.level))
        elif hit.target == "more":
            self.work(session.load_frames(debug.frames.start, len(debug.frames.frames) + _WINDOW))

    def cursor_moved(self) -> None:
        """The next frames are loaded when the end comes into view."""
        session, debug = self.session, self.debug
        if session is not None and debug is not None and self._more and self.cursor >= len(self._frames) - 1:
            self.work(session.load_frames(debug.frames.start, len(debug.frames.frames) + _WINDOW))


def _frame_row(frame: Frame) -> Row:
    cells = [
        Cell(f"#{frame.level:<2}", "gutter"),
        Cell(frame.function, "function" if frame.place is not None else "muted"),
    ]
    if frame.arguments:
        shown = ", ".join(f"{name}={value}" if value else name for name, value in frame.arguments)
        cells.append(Cell(f"({shown})", "muted"))
    if frame.kind is FrameKind.PYTHON:
        cells.append(Cell(" py", "report"))
    end: tuple[Cell, ...]
    if frame.place is not None:
        end = (Cell(f"{file_name(frame.place.file)}:", "file"), Cell(str(frame.place.line), "number"))
    else:
        end = (Cell(file_name(frame.module) or frame.address, "muted"),)
    return Row(tuple(cells), end, target=frame)


def _launcher_row(frame: CodeLocation) -> Row:
    cells = (Cell("   "), Cell(frame.function or "??", "report"))
    if frame.line is not None:
        return Row(
            cells, (Cell(f"{file_name(frame.file)}:", "file"), Cell(str(frame.line), "number")), target=frame
        )
    return Row(cells, (Cell(file_name(frame.module) or frame.offset, "muted"),), target=frame)

"""Machine code round the selected frame's program counter: SASS or the host's."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ladder_backends.debugger.contract import Capability
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Title
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

_ASKED = 64


class DisassemblyPane(Pane):
    """Instructions; they are asked for only while this pane is visible."""

    CURSOR_LIT = False
    INTEREST = Change.DISASSEMBLY | Change.FRAMES | Change.FOCUS | Change.RUN
    BINDINGS: ClassVar = bindings_for("disassembly")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._asked_for = ""

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Ask for the code round the program counter where it left what is here."""
        debug, session = self.debug, self.session
        if debug is not None and session is not None and debug.run in (Run.STOPPED, Run.DUMP):
            counter = self._counter
            # A stop brings the code along while this pane is visible; a pane that was hidden has to ask.
            missing = counter and not debug.disassembly and counter != self._asked_for
            if missing and debug.capabilities & Capability.DISASSEMBLE:
                self._asked_for = counter
                self.work(session.load_disassembly(_ASKED))
        current = self._current
        if current >= 0:
            self.cursor = current
            self._follow_cursor = False
            if not self.top <= current < self.top + self.body_height:
                self.top = max(0, current - self.body_height // 3)
        self.update()

    @property
    def _counter(self) -> str:
        debug = self.debug
        if debug is None:
            return ""
        return next((one.address for one in debug.frames.frames if one.level == debug.selected_frame), "")

    @property
    def _current(self) -> int:
        debug, counter = self.debug, self._counter
        if debug is None:
            return -1
        return next((index for index, one in enumerate(debug.disassembly) if one.address == counter), -1)

    @property
    def row_count(self) -> int:
        """Instructions."""
        debug = self.debug
        return len(debug.disassembly) if debug is not None else 0

    def row(self, index: int) -> Row:
        """Marker, offset, instruction."""
        debug = self.debug
        assert debug is not None
        one = debug.disassembly[index]
        current = index == self._current
        place = f"+{one.offset}" if one.function else one.address
        return Row(
            (
                Cell("▶ " if current else "  ", "current-line"),
                Cell(f"{place:>6}  ", "current-line" if current else "gutter"),
                Cell(one.text),
            ),
            target=one,
            pinned=2,
        )

    def title(self) -> Title:
        """The function."""
        debug = self.debug
        name = debug.disassembly[0].function if debug is not None and debug.disassembly else ""
        return Title(self.pane_name, (Cell(name, "muted"),) if name else (), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is none."""
        debug = self.debug
        if nowhere := self.not_standing():
            return nowhere
        if debug is not None and not debug.capabilities & Capability.DISASSEMBLE:
            return "this target has no machine code to show"
        return "no instructions yet"

    def action_source(self) -> None:
        """Back to the source."""
        self.ladder_app.workspace.show_pane("source")

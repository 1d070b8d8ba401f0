"""The debugged program's terminal: what it writes, and the keys it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.timer import Timer

from ladder_backends.debugger.contract import Capability
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, DebugState, LadderState, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.program_backlog import ProgramBacklog
from ladder_tui.panes.program_keys import key_bytes, paste_bytes
from ladder_tui.panes.program_looks import ProgramLooks, screen_row
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import EMPTY, Cell, Row, Styler
from ladder_tui.widgets.terminal_screen import TerminalScreen

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

INTERVAL = 0.05
"""Seconds between two helpings of output."""

_LEAVE = ("ctrl+right_square_bracket", "ctrl+]")


@dataclass(slots=True)
class _Terminal:
    """A rung's program: its screen and how far its output was read."""

    debug: DebugState
    screen: TerminalScreen
    backlog: ProgramBacklog
    looks: ProgramLooks


class ProgramPane(Pane):
    """A small terminal; `i` types to the program, Esc Esc or Ctrl-] leaves."""

    INTEREST = Change.PROGRAM | Change.RUN | Change.RUNG
    BINDINGS = bindings_for("program")
    HAS_CURSOR: ClassVar[bool] = False

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._terminals: dict[str, _Terminal] = {}
        self._next: Timer | None = None
        self._at_end = True
        self._escaped = False
        self._told_size: tuple[str, int, int] | None = None

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def _terminal(self) -> _Terminal | None:
        """The terminal of the rung's program; made anew where another program was opened there."""
        debug = self.debug
        if debug is None:
            return None
        terminal = self._terminals.get(debug.rung)
        if terminal is None or terminal.debug is not debug:
            screen = TerminalScreen(self.body_width, self.body_height) if self._sized else TerminalScreen()
            looks = ProgramLooks(self.palette, screen.looks)
            terminal = self._terminals[debug.rung] = _Terminal(debug, screen, ProgramBacklog(screen), looks)
        return terminal

    @property
    def _sized(self) -> bool:
        """The layout has given the pane its place."""
        return self.body_width > 1 and self.body_height > 0

    @property
    def row_count(self) -> int:
        """Lines of the history and of the screen; none before the program wrote anything."""
        terminal = self._terminal
        if terminal is None or not (terminal.debug.program or terminal.screen.scrolled or self.TAKES_TEXT):
            return 0
        return len(terminal.screen.history) + len(terminal.screen.lines)

    def row(self, index: int) -> Row:
        """A line of the history or of the screen."""
        terminal = self._terminal
        if terminal is None:
            return EMPTY
        screen = terminal.screen
        above = len(screen.history)
        if index < above:
            return screen_row(screen.history[index], self.body_width)
        row, column = screen.cursor
        shown = self.TAKES_TEXT and screen.cursor_visible and index - above == row
        return screen_row(screen.lines[index - above], self.body_width, column if shown else None)

    def styler(self, lit: bool) -> Styler:
        """The program's own looks, over the theme's."""
        terminal = self._terminal
        styler = super().styler(lit)
        return terminal.looks.styler(styler) if terminal is not None else styler

    def set_palette(self, palette: Palette) -> None:
        """Draw with other styles from now on."""
        for terminal in self._terminals.values():
            terminal.looks = ProgramLooks(palette, terminal.screen.looks)
        super().set_palette(palette)

    def title(self) -> Title:
        """Who gets the keys, and what of the output is gone."""
        state: list[Cell] = []
        terminal = self._terminal
        if self.TAKES_TEXT:
            state.append(Cell("typing to the program · Esc Esc leaves", "warn"))
        elif self.has_focus and self._can_type:
            state += [Cell(key_of("program.type"), "key"), Cell(" types to it", "muted")]
        if terminal is not None:
            backlog, screen = terminal.backlog, terminal.screen
            lost = backlog.dropped_lines + screen.dropped_rows
            if lost or backlog.dropped_bytes:
                words = f"{lost:,} lines" if lost else f"{backlog.dropped_bytes:,} bytes"
                state.append(Cell(f"{' · ' if state else ''}{words} dropped", "muted"))
            if not self._at_end:
                state.append(Cell(f"{' · ' if state else ''}scrolled back", "warn"))
        return Title(self.pane_name, tuple(state), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        debug = self.debug
        if debug is None or debug.run is Run.NOTHING:
            return "no program is open on this rung"
        if not debug.capabilities & Capability.PROGRAM_TERMINAL:
            return "this target has no terminal of its own"
        return "the program has written nothing"

    # Output ----------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Show output: at once when it is the first for a while, else with the next helping."""
        if change & Change.RUNG or not self._can_type:
            self._stop_typing()
        self._fit()
        if self._next is None and self._sized:
            self._drain()
        elif change & ~Change.PROGRAM:
            self.update()

    def _drain(self) -> None:
        self._next = None
        terminal = self._terminal
        if terminal is None:
            self.update()
            return
        screen, debug = terminal.screen, terminal.debug
        before = screen.revision
        scrolled = screen.scrolled - len(screen.history)
        more = terminal.backlog.drain(debug.program, debug.program_dropped)
        if screen.revision != before or more:
            self._next = self.set_timer(INTERVAL, self._drain)
        if not self._at_end:
            self.top = max(0, self.top - (screen.scrolled - len(screen.history) - scrolled))
        self._draw()

    def _draw(self) -> None:
        if self._at_end:
            self.top = max(0, self.row_count - self.body_height)
        self.update()

    def _fit(self) -> None:
        """Give the screen, and the program's terminal, the size of the pane."""
        terminal, session = self._terminal, self.session
        columns, rows = self.body_width, self.body_height
        if terminal is None or session is None or not self._sized:
            return
        terminal.screen.resize(columns, rows)
        told = (terminal.debug.rung, columns, rows)
        if told != self._told_size and terminal.debug.capabilities & Capability.PROGRAM_TERMINAL:
            self._told_size = told
            session.resize_program(columns, rows)

    def on_resize(self, event: events.Resize) -> None:
        """The program's terminal has the size of the pane."""
        self._fit()
        if self._next is None:
            self._drain()
        else:
            self._draw()

    def scroll_rows(self, count: int) -> None:
        """Look back; typing returns to the end."""
        last = max(0, self.row_count - self.body_height)
        self.top = max(0, min(self.top + count, last))
        self._at_end = self.top == last
        self.update()

    # Input -----------------------------------------------------------------------------------------------------

    @property
    def _can_type(self) -> bool:
        debug = self.debug
        able = debug is not None and bool(debug.capabilities & Capability.PROGRAM_TERMINAL)
        return able and debug is not None and debug.run in (Run.RUNNING, Run.STOPPED, Run.STARTING)

    def action_type(self) -> None:
        """Let the keys go to the program."""
        if not self._can_type:
            self.ladder_app.say("no program that could be typed to", "warning")
            return
        self._escaped, self._at_end = False, True
        self._take_text(True)

    def activate(self, hit: Hit) -> None:
        """Enter types to the program; a click only takes the focus."""
        if hit.column is None:
            self.action_type()

    def action_act(self) -> None:
        """Enter types to the program, whether it has written anything or not."""
        self.action_type()

    def _stop_typing(self) -> None:
        if self.TAKES_TEXT:
            self._take_text(False)

    def _take_text(self, takes: bool) -> None:
        self.TAKES_TEXT = takes
        self._draw()
        # Which keys work is another thing now.
        self.ladder_app.workspace.status_bar.update()

    def on_blur(self) -> None:
        """Keys that go elsewhere do not go to the program."""
        self._stop_typing()

    def on_key(self, event: events.Key) -> None:
        """Keys are the program's while it is typed to."""
        if not self.TAKES_TEXT:
            return
        event.stop()
        event.prevent_default()
        if event.key in _LEAVE or (event.key == "escape" and self._escaped):
            self._stop_typing()
            return
        self._escaped = event.key == "escape"
        terminal = self._terminal
        keys = terminal.screen.application_keys if terminal is not None else False
        raw = key_bytes(event.key, event.character, application_keys=keys)
        if raw is not None:
            self._give(raw)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text is the program's while it is typed to."""
        event.stop()
        terminal = self._terminal
        if self.TAKES_TEXT and terminal is not None:
            self._give(paste_bytes(event.text, bracketed=terminal.screen.bracketed_paste))

    def _give(self, raw: bytes) -> None:
        session = self.session
        if session is not None:
            session.type_to_program(raw)
        if not self._at_end:
            self._at_end = True
            self._draw()

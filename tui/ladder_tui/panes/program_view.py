"""Looking at what a program wrote: its lines, searching, selecting and copying them, saving them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events

from ladder_backends.paths import typed_path
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import DebugState
from ladder_backends.text import clean_line
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.program_backlog import ProgramBacklog
from ladder_tui.panes.program_looks import ProgramLooks, screen_row
from ladder_tui.panes.program_selection import Selection
from ladder_tui.widgets.row import EMPTY, Row, Styler, cut
from ladder_tui.widgets.terminal_row import TerminalRow
from ladder_tui.widgets.terminal_screen import TerminalScreen

if TYPE_CHECKING:
    from ladder_tui.theming import Palette


@dataclass(slots=True)
class ProgramTerminal:
    """A rung's program: its screen, how far its output was read, and how it looks."""

    debug: DebugState
    screen: TerminalScreen
    backlog: ProgramBacklog
    looks: ProgramLooks


class ProgramView(Pane):
    """The lines of a program's terminal, kept or on its screen."""

    HAS_CURSOR: ClassVar[bool] = False

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._terminals: dict[str, ProgramTerminal] = {}
        self._at_end = True
        # Lines count from the program's first one, kept or not.
        self._found = -1
        self._selection: Selection | None = None
        self._dragging = False

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def _terminal(self) -> ProgramTerminal | None:
        """The terminal of the rung's program; made anew where another program was opened there."""
        debug = self.debug
        if debug is None:
            return None
        terminal = self._terminals.get(debug.place_name)
        if terminal is None or terminal.debug is not debug:
            screen = TerminalScreen(self.body_width, self.body_height) if self._sized else TerminalScreen()
            looks = ProgramLooks(self.palette, screen.looks)
            terminal = self._terminals[debug.place_name] = ProgramTerminal(
                debug, screen, ProgramBacklog(screen), looks
            )
            self._found, self._selection = -1, None
        return terminal

    def _line_at(self, line: int) -> TerminalRow | None:
        """A line by its number since the program's first one; None where it is not kept."""
        terminal = self._terminal
        if terminal is None:
            return None
        screen = terminal.screen
        index, above = line - screen.dropped_rows, len(screen.history)
        if not 0 <= index < above + len(screen.lines):
            return None
        return screen.history[index] if index < above else screen.lines[index - above]

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
        above, line = len(screen.history), index + screen.dropped_rows
        lit = self._selection.span(line, self.body_width) if self._selection is not None else None
        if line == self._found:
            lit = lit or (0, self.body_width)
        if index < above or lit is not None:
            text = screen.history[index] if index < above else screen.lines[index - above]
            return screen_row(text, self.body_width, lit=lit)
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

    def _draw(self) -> None:
        if self._at_end:
            self.top = max(0, self.row_count - self.body_height)
        self.update()

    def scroll_rows(self, count: int) -> None:
        """Look back; typing returns to the end."""
        last = max(0, self.row_count - self.body_height)
        self.top = max(0, min(self.top + count, last))
        self._at_end = self.top == last
        self.update()

    # Selecting with the mouse ----------------------------------------------------------------------------------

    def _cell(self, event: events.MouseEvent) -> tuple[int, int]:
        """Row of the body and column under the mouse, kept within the pane."""
        row = max(0, min(int(event.y) - 1, self.body_height - 1))
        column = int(event.x) - len(self._edge_at(int(event.y)))
        return row, max(0, min(column, self.body_width - 1))

    def _place(self, event: events.MouseEvent, terminal: ProgramTerminal) -> tuple[int, int]:
        row, column = self._cell(event)
        index = min(self.top + row, self.row_count - 1)
        return index + terminal.screen.dropped_rows, column

    def begin_selecting(self, event: events.MouseDown) -> None:
        """Begin to select where the mouse is."""
        terminal = self._terminal
        if event.button != 1 or event.y < 1 or terminal is None or not self.row_count:
            return
        place = self._place(event, terminal)
        self._selection, self._dragging = Selection(place, place), True
        self.capture_mouse()

    def select_to(self, event: events.MouseMove) -> None:
        """Select up to where the mouse is."""
        terminal, selection = self._terminal, self._selection
        if not self._dragging or selection is None or terminal is None:
            return
        if event.y < 1 or event.y > self.body_height:
            self.scroll_rows(-1 if event.y < 1 else 1)
        selection.end = self._place(event, terminal)
        self.update()

    def end_selecting(self) -> None:
        """Copy what was selected; a click alone selects nothing."""
        if not self._dragging:
            return
        self._dragging = False
        self.release_mouse()
        selection, self._selection = self._selection, None
        if selection is not None and selection.anchor != selection.end:
            self._copy_selection(selection)
        self.update()

    # Selecting and copying -------------------------------------------------------------------------------------

    def action_select(self) -> None:
        """Begin to select whole lines: at the one found, or the last in view; arrows go on from there."""
        terminal = self._terminal
        if terminal is None or not self.row_count:
            return
        last = min(self.top + self.body_height, self.row_count) - 1
        while last > self.top and not self.row(last).text().strip():
            last -= 1
        line = self._found if self._found >= 0 else last + terminal.screen.dropped_rows
        self._selection = Selection((line, 0), (line, 0), whole=True)
        self.update()

    def action_drop(self) -> None:
        """Forget what is selected and found, and go back to the end."""
        self._selection, self._found, self._at_end = None, -1, True
        self._draw()

    def action_move(self, rows: int) -> None:
        """Move the end of what is selected, or scroll."""
        terminal, selection = self._terminal, self._selection
        if selection is None or terminal is None:
            super().action_move(rows)
            return
        gone = terminal.screen.dropped_rows
        line = max(gone, min(selection.end[0] + rows, gone + self.row_count - 1))
        selection.end = (line, 0)
        self._bring_into_view(line)

    def action_copy(self) -> None:
        """Copy what is selected, else the line found, else what is in view."""
        terminal = self._terminal
        if terminal is None or not self.row_count:
            return
        selection = self._selection
        if selection is None:
            gone = terminal.screen.dropped_rows
            first = self._found if self._found >= 0 else self.top + gone
            last = first if self._found >= 0 else min(self.top + self.body_height, self.row_count) - 1 + gone
            selection = Selection((first, 0), (last, 0), whole=True)
        self._copy_selection(selection)
        self._selection = None
        self.update()

    def _copy_selection(self, selection: Selection) -> None:
        text = selection.text(self._line_at, self.body_width).rstrip("\n")
        self.app.copy_to_clipboard(text)
        count = text.count("\n") + 1
        self.ladder_app.say(f"{count:,} line{'s' if count > 1 else ''} copied")

    # Searching -------------------------------------------------------------------------------------------------

    def action_search_here(self) -> None:
        """Ask what to look for in what the program wrote."""
        self.ladder_app.workspace.action_search()

    def action_again(self, backwards: bool) -> None:
        """Go to the match before, or to the one after."""
        if not self.search("", backwards=backwards):
            words = f"not found: {self._needle}" if self._needle else "nothing to repeat: type what to search"
            self.ladder_app.say(words, "warning")

    def search(self, needle: str, *, backwards: bool = False) -> bool:
        """Show the last line that holds `needle`, without regard to case; an empty one goes on to the one before.

        Args:
            needle: What to look for.
            backwards: Go on downwards instead, to what was written later.
        """
        repeated = not needle or needle.casefold() == self._needle
        self._selection = None
        self._needle = needle = (needle or self._needle).casefold()
        terminal = self._terminal
        if not needle or terminal is None:
            return False
        gone, count = terminal.screen.dropped_rows, self.row_count
        held = repeated and self._found >= gone
        start = self._found - gone if held else -1 if backwards else count
        above, below = range(start - 1, -1, -1), range(start + 1, count)
        order = (*below, *range(start + 1)) if backwards else (*above, *range(count - 1, start - 1, -1))
        for index in order:
            row = self._line_at(index + gone)
            if row is not None and needle in row.plain().casefold():
                self._found = index + gone
                self._bring_into_view(self._found)
                return True
        return False

    def _bring_into_view(self, line: int) -> None:
        terminal = self._terminal
        assert terminal is not None
        index, height = line - terminal.screen.dropped_rows, self.body_height
        if not self.top <= index < self.top + height:
            self.top = max(0, min(index - height // 2, self.row_count - height))
        self._at_end = self.top >= self.row_count - height
        self.update()

    # Saving ----------------------------------------------------------------------------------------------------

    def action_save(self) -> None:
        """Ask for a file and write the kept output there."""
        debug = self.debug
        if debug is None or not debug.program:
            self.ladder_app.refuse(f"save: {self.empty_text()}")
            return
        self.ladder_app.workspace.prompt.ask(
            "save output to", self._save_to, placeholder="a file; NAME.raw keeps the bytes as they came"
        )

    def _save_to(self, name: str) -> None:
        if not name.strip():
            return
        file = typed_path(name)
        if not file.exists():
            self.work(self._save(file, overwrite=False))
            return
        if not file.is_file():
            self.ladder_app.say(f"save: {name.strip()} is no ordinary file", "warning")
            return

        def answered(answer: str) -> None:
            if answer.strip().lower() in ("y", "yes"):
                self.work(self._save(file, overwrite=True))
            else:
                self.ladder_app.say(f"nothing written: {clean_line(file.name)} stays as it is")

        label = f"{cut(clean_line(file.name), 40)} is there already. Replace it? (y or n)"
        self.ladder_app.workspace.prompt.ask(label, answered)

    async def _save(self, file: Path, *, overwrite: bool) -> None:
        from ladder_tui.panes.program_saving import save

        debug = self.debug
        if debug is not None:
            kept, dropped = tuple(debug.program), debug.program_dropped
            self.ladder_app.say(await asyncio.to_thread(save, file, kept, dropped, overwrite=overwrite))

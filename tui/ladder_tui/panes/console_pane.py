"""The engine's own command line: what it wrote, and a line to type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from textual import events

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.provenance import Provenance
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.console_history import ConsoleHistory, history_file
from ladder_tui.panes.console_input import Ask, ConsoleInput
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Title
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.debug_state import DebugState
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.theming import Palette

_TYPED = re.compile(r"(\((?:[\w-]+-)?gdb\) )(.*)", re.DOTALL)


class ConsolePane(Pane):
    """Lines of the command line; the last one is typed on."""

    INTEREST = Change.CONSOLE | Change.RUN | Change.RUNG
    BINDINGS = bindings_for("console")
    HAS_CURSOR: ClassVar[bool] = False
    TAKES_TEXT = True

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._inputs: dict[str, ConsoleInput] = {}
        self._at_end = True
        self._stood: DebugState | None = None
        self._dropped = 0
        self._found = -1
        self._needle = ""

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def _input(self) -> ConsoleInput:
        """The input line of the rung's engine."""
        debug = self.debug
        engine = debug.rung if debug is not None else ""
        line = self._inputs.get(engine)
        if line is None:
            line = self._inputs[engine] = ConsoleInput(ConsoleHistory(history_file(engine) if engine else None))
        return line

    @property
    def _takes_lines(self) -> bool:
        debug = self.debug
        if debug is None or debug.run is Run.DEAD:
            return False
        # What is typed before the engine listens waits for that.
        opens = debug.run is Run.STARTING and debug.provenance is Provenance.ENGINE
        return opens or bool(debug.capabilities & Capability.CONSOLE)

    @property
    def _own_prompt(self) -> str:
        """What stands before the input line where the engine has written no prompt: after a stop, or at first."""
        debug = self.debug
        return f"({debug.rung}) " if debug is not None and debug.run is not Run.RUNNING else ""

    @property
    def row_count(self) -> int:
        """What the engine wrote, the input line, and what Tab found."""
        debug = self.debug
        if debug is None:
            return 0
        typing = self._takes_lines
        written = max(len(debug.console), 1 if typing else 0)
        return written + (1 if typing and self._input.candidate_cells(1) else 0)

    def row(self, index: int) -> Row:
        """A line of the engine, or the line that is typed on."""
        debug = self.debug
        lines = debug.console if debug is not None else ()
        last = len(lines) - 1
        if self._takes_lines and index >= max(last, 0):
            if index > max(last, 0):
                return Row(self._input.candidate_cells(self.body_width))
            prompt = (lines[last] if lines else "") or self._own_prompt
            return Row(self._input.cells(prompt, self.body_width, lit=self.has_focus))
        line = lines[index].expandtabs()
        typed = _TYPED.fullmatch(line)
        if typed is not None:
            return Row((Cell(typed[1], "muted"), Cell(typed[2], "strong")))
        return Row((Cell(line, "match" if index == self._found else "text"),))

    def title(self) -> Title:
        """Which engine, and what of its output is gone."""
        debug = self.debug
        state: list[Cell] = []
        if debug is not None:
            state.append(Cell(f"({debug.rung})", "muted"))
            if debug.typed_ahead:
                lines = "1 line waits" if debug.typed_ahead == 1 else f"{debug.typed_ahead} lines wait"
                state.append(Cell(f" · {lines} until it listens", "warn"))
            if debug.console_dropped:
                state.append(Cell(f" · {debug.console_dropped:,} lines dropped", "muted"))
            if not self._at_end:
                state.append(Cell(" · scrolled back", "warn"))
        return Title(self.pane_name, tuple(state), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing to type to."""
        debug = self.debug
        if debug is None or debug.run is Run.NOTHING:
            return "no engine runs on this rung"
        if debug.run is Run.DEAD:
            return "the engine is gone"
        return "" if self._takes_lines else "a recording takes no commands"

    # Changes ---------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Show what the engine wrote; a view that was scrolled back stays where it is."""
        debug = self.debug
        stands = debug if debug is not None and debug.run is Run.STOPPED else None
        if stands is not None and stands is self._stood and not change & (Change.CONSOLE | Change.RUNG):
            # From stop to stop nothing changes here but what is written.
            return
        self._stood = stands
        dropped = debug.console_dropped if debug is not None else 0
        if not self._at_end and dropped > self._dropped:
            self.top = max(0, self.top - (dropped - self._dropped))
        self._dropped = dropped
        # Without an engine to type to, letters are commands here as everywhere.
        if self.TAKES_TEXT and not self._takes_lines and self.has_focus:
            # They were words of a line when they were typed.
            self.ladder_app.workspace.stray_keys.begin(self.empty_text())
        self.TAKES_TEXT = self._takes_lines
        self._draw()

    def _draw(self) -> None:
        if self._at_end:
            self.top = max(0, self.row_count - self.body_height)
        self.update()

    def on_resize(self, event: events.Resize) -> None:
        """The end stays in view."""
        self._draw()

    def scroll_rows(self, count: int) -> None:
        """Look back; typing returns to the end."""
        last = max(0, self.row_count - self.body_height)
        self.top = max(0, min(self.top + count, last))
        self._at_end = self.top == last
        self.update()

    # Typing ----------------------------------------------------------------------------------------------------

    def edits(self, key: str) -> bool:
        """Whether a key edits the line, as it stands now."""
        return self._input.edits(key)

    def take_escape(self) -> bool:
        """Leave: what comes behind Esc is typed elsewhere."""
        self.on_key(events.Key("escape", "\x1b"))
        return True

    def on_key(self, event: events.Key) -> None:
        """Keys go to the line; those that it does not know are looked up as everywhere."""
        if not self._takes_lines:
            return
        asked = self._input.press(event.key, event.character)
        if asked is Ask.NOTHING:
            return
        event.stop()
        event.prevent_default()
        self._at_end = True
        if asked is Ask.SEND:
            self._send([self._input.take()])
        elif asked is Ask.COMPLETE:
            self._complete()
        elif asked is Ask.LEAVE:
            self.action_leave()
        self._draw()

    def on_paste(self, event: events.Paste) -> None:
        """Several lines run one after the other; the last waits for Enter."""
        event.stop()
        if self._takes_lines:
            self._send(self._input.paste(event.text))
            self._draw()

    def action_leave(self) -> None:
        """Give the keys back to what is looked at."""
        self.ladder_app.workspace.leave_text()

    def _send(self, lines: list[str]) -> None:
        session = self.session
        if session is not None and lines:
            self.work(_send_all(session, lines))

    def _complete(self) -> None:
        session = self.session
        if session is not None:
            self.work(self._ask_completions(session, self._input))

    async def _ask_completions(self, session: DebugSession, line: ConsoleInput) -> None:
        typed = line.before_cursor
        candidates = await session.complete(typed)
        if not candidates and line.before_cursor == typed:
            self.ladder_app.say(f"{session.state.rung} knows no completion of “{typed}”")
        line.offer(typed, candidates)
        self._draw()

    # Searching -------------------------------------------------------------------------------------------------

    def action_search_here(self) -> None:
        """Ask what to look for in what the engine wrote."""
        self.ladder_app.workspace.action_search()

    def search(self, needle: str, *, backwards: bool = False) -> bool:
        """Show the line before the last one found that holds `needle`, from the end upwards."""
        debug = self.debug
        needle = needle.casefold() or self._needle
        if debug is None or not needle:
            return False
        start = self._found if needle == self._needle and self._found >= 0 else len(debug.console)
        self._needle = needle
        lines = list(debug.console)
        order = [*range(start - 1, -1, -1), *range(len(lines) - 1, start - 1, -1)]
        found = next((number for number in order if needle in lines[number].casefold()), None)
        if found is None:
            return False
        self._found = found
        self._at_end = False
        self.top = max(0, found - self.body_height // 2)
        self.update()
        return True


async def _send_all(session: DebugSession, lines: list[str]) -> None:
    for line in lines:
        await session.console(line)

"""What the program writes under the sanitizer, as lines; its report is not among them."""

from __future__ import annotations

from textual.timer import Timer

from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sanitizer_state import SanitizerRunState
from ladder_backends.session.state import Change, LadderState
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.pane import Pane
from ladder_tui.theming import Palette
from ladder_tui.widgets.line_view import Title
from ladder_tui.widgets.row import Cell, Row

INTERVAL = 0.05
"""Seconds between two helpings of output."""


class OutputPane(Pane):
    """Lines of the run that goes on, or of the last one; stays at the end while nobody has scrolled away."""

    INTEREST = Change.SANITIZER_RUN | Change.RUNG
    BINDINGS = bindings_for("output")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._next: Timer | None = None
        self._shown: SanitizerRunState | None = None
        self._count = 0

    @property
    def _run(self) -> SanitizerRunState:
        return self.ladder.state.sanitizer

    @property
    def row_count(self) -> int:
        """Lines that are kept."""
        return len(self._run.output)

    def row(self, index: int) -> Row:
        """One line."""
        return Row((Cell(self._run.output[index]),))

    def title(self) -> Title:
        """How many lines, and how many of them are gone."""
        run = self._run
        dropped = run.output_lines - len(run.output)
        words = f"{run.output_lines:,} lines" + (f", {dropped:,} dropped" if dropped else "")
        return Title(self.pane_name, (Cell(words, "muted"),) if run.output_lines else (), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        if self._run.plan is None:
            return f"no run of the sanitizer yet; {key_of('sanitize.run')} starts one"
        return "the program has written nothing"

    def action_type_line(self) -> None:
        """Ask for a line, and type it to the program."""
        if self._refused():
            return

        def typed(line: str) -> None:
            self.take_focus()
            self.ladder.sanitizer.type_to_program(f"{line}\n".encode("utf-8", "surrogateescape"))

        self.ladder_app.workspace.prompt.ask(
            "to the program", typed, placeholder="a line; Ctrl-D ends its input", at_end=self.action_end_input
        )

    def action_end_input(self) -> None:
        """Type Ctrl-D to the program: what it reads ends there."""
        if not self._refused():
            self.ladder.sanitizer.type_to_program(b"\x04")
            self.ladder_app.say("Ctrl-D was typed to the program")

    def _refused(self) -> bool:
        active = self._run.active
        if not active:
            self.ladder_app.refuse("type: no program runs under the sanitizer")
        return not active

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Show what came: at once when it is the first for a while, else with the next helping."""
        if self._next is None:
            self._show()

    def _show(self) -> None:
        self._next = None
        run = self._run
        if run is not self._shown:
            self._shown, self._count = run, 0
            self.cursor = self.top = 0
        at_end = self.cursor >= min(self._count, self.row_count) - 1
        if run.output_lines != self._count:
            self._count = run.output_lines
            self._next = self.set_timer(INTERVAL, self._show)
        if at_end and self.row_count:
            self.move_cursor(self.row_count - 1)
        self.update()

"""What is wrong with the job whose ranks are looked at, and what each further step would cost it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ladder_backends.session.state import Change, LadderState
from ladder_tui.actions import bindings_for
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.verdict_rows import CommandTarget, StepTarget, verdict_rows
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import EMPTY, Row

if TYPE_CHECKING:
    from ladder_backends.session.rank_state import RankState


class VerdictPane(Pane):
    """The verdict, with its facts where they are asked for, the stop budget, and the pause ladder."""

    INTEREST = Change.RANKS | Change.RUNG
    BINDINGS: ClassVar = bindings_for("verdict")

    _facts = False
    _built: tuple[object, list[Row]] = ((), [])

    @property
    def ranks(self) -> RankState:
        """What is known."""
        return self.ladder.state.ranks

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Build the rows again."""
        self._built = ((), [])
        self.update()

    @property
    def _rows(self) -> list[Row]:
        state, width = self.ranks, self.body_width
        key = (id(state.verdicts), id(state.steps), id(state.printed), self._facts, width)
        if self._built[0] != key:
            self._built = key, verdict_rows(state, width, facts=self._facts) if state.job is not None else []
        return self._built[1]

    @property
    def row_count(self) -> int:
        """Rows of what is shown."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """One of them."""
        rows = self._rows
        return rows[index] if index < len(rows) else EMPTY

    def title(self) -> Title:
        """The pane's name alone: the sentence is its first row."""
        return Title(self.pane_name, (), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        return "choose a job" if self.ranks.jobs else ""

    def activate(self, hit: Hit) -> None:
        """Do what the row offers: copy a command, take a step, show facts."""
        target = hit.target
        if isinstance(target, CommandTarget):
            self.action_copy_command()
        elif isinstance(target, StepTarget):
            self._take(target.action)
        else:
            self.action_facts()

    def _take(self, action: str) -> None:
        """Do what a step of the pause ladder does, as its key in the ranks would."""
        if action == "ranks.debugger":
            self.action_debugger()
        elif (pane := self.ladder_app.workspace.show_pane("ranks")) is not None:
            getattr(pane, f"action_{action.partition('.')[2]}")()

    def action_facts(self) -> None:
        """Show the facts, or hide them."""
        self._facts = not self._facts
        self._built = ((), [])
        self.repaint()

    def action_copy_command(self) -> None:
        """Copy the command of the verdict."""
        command = self.ranks.verdicts[0].now if self.ranks.verdicts else ""
        if not command:
            self.ladder_app.say("this verdict has no command")
            return
        self.app.copy_to_clipboard(command)
        self.ladder_app.say(f"copied: {command}")

    def action_debugger(self) -> None:
        """Attach to the first suspect."""
        suspects = self.ranks.verdicts[0].suspects if self.ranks.verdicts else ()
        if suspects:
            self.ladder_app.workspace.debug_rank(suspects[0])
        else:
            self.ladder_app.say("nobody is suspected; choose a rank in the tree")

    def copy_text(self, index: int) -> str:
        """A command alone, else the row."""
        target = self.row(index).target
        return target.command if isinstance(target, CommandTarget) else super().copy_text(index)

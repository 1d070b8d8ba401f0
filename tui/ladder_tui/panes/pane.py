"""What all panes share: the ladder they show, and when they look at it again."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ladder_backends.rungs import rung_named
from ladder_backends.session.lane_words import in_no_lane
from ladder_backends.session.state import Change, LadderState, Run
from ladder_backends.text import clean_line
from ladder_tui.actions import key_of, runs_no_more
from ladder_tui.panes import PANES
from ladder_tui.widgets.line_view import LineView, Title
from ladder_tui.widgets.row import Cell

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.debug_state import DebugState
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.app import LadderApp
    from ladder_tui.theming import Palette

_OF_THE_LADDER = ("findings",)
"""Panes that show no session."""

_SHOWN_COPY = 60
"""Characters of what was copied that are repeated."""


class Pane(LineView):
    """A view on the ladder's state.

    A pane reads `ladder.state` and its own `debug`, asks sessions to do things through `work`, and never blocks.

    Attributes:
        INTEREST: Changes after which `refresh_from` is called while the pane is visible; a pane that becomes
            visible is told of all of them.
        tabs: Ids of the panes that share this place, this one among them; the layout sets it.
        news: Ids of those of them that hold something nobody has looked at; the workspace sets it.
    """

    INTEREST: ClassVar[Change] = ~Change.NONE

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(id=id, palette=palette)
        self.ladder = ladder
        self.tabs: tuple[str, ...] = ()
        self.news: frozenset[str] = frozenset()

    @property
    def session(self) -> DebugSession | None:
        """The session that keys act on, or None."""
        return self.ladder.active

    @property
    def debug(self) -> DebugState | None:
        """The state of that session, or None."""
        session = self.ladder.active
        return session.state if session is not None else None

    @property
    def ladder_app(self) -> LadderApp:
        """The application, typed."""
        return cast("LadderApp", self.app)

    @property
    def pane_name(self) -> str:
        """What the title calls this pane, with the session it shows where its rung has two."""
        name = PANES[self.id].name if self.id in PANES else ""
        return name if self.id in _OF_THE_LADDER else name + self.of_two

    @property
    def of_two(self) -> str:
        """Which session of a rung that has two is shown: ` (dump)`; empty where it has one."""
        debug = self.debug
        return f" ({debug.seat})" if debug is not None and debug.rung in self.ladder.state.aside else ""

    def title(self) -> Title:
        """The pane's name, and the panes it shares its place with."""
        return Title(self.pane_name, end=self.tab_cells())

    def tab_cells(self) -> tuple[Cell, ...]:
        """The other panes of this place, for the end of the title; a click shows one."""
        others = [other for other in self.tabs if other != self.id and not PANES[other].quiet]
        return tuple(
            Cell(
                ("  " if number else "")
                + (f"• {PANES[other].name} new" if other in self.news else PANES[other].name),
                "focus" if other in self.news else "muted",
                other,
            )
            for number, other in enumerate(others)
        )

    def activate_title(self, target: object) -> None:
        """A click on the name of another pane of this place shows that one."""
        if isinstance(target, str):
            self.ladder_app.workspace.show_pane(target)

    def not_standing(self) -> str:
        """Why there is nothing to show of where the target stands: it stands nowhere; empty where it does."""
        debug = self.debug
        run = debug.run if debug is not None else Run.NOTHING
        if run is Run.NOTHING:
            lanes = self.ladder.state.report is not None and rung_named(self.ladder.state.rung).lanes
            return self._no_lane_yet() if lanes else "nothing is open on this rung"
        if run is Run.EXITED and debug is not None:
            return runs_no_more(debug)
        if run is Run.DUMP and debug is not None:
            return in_no_lane(debug)
        return {
            Run.STARTING: "the target is starting",
            Run.RUNNING: "the target runs",
            Run.DEAD: f"the engine is gone; {key_of('run.continue')} starts it again",
        }.get(run, "")

    def _no_lane_yet(self) -> str:
        """How to come into a lane; without a dump Enter does not lead there."""
        if self.debug is None and self.ladder.jumps.dump is None:
            return f"no lane: no dump is open with the report; {key_of('jump.ways')} lists the ways"
        return "no lane yet; Enter on a finding goes into its lane"

    def location_at_cursor(self) -> str:
        """The place in the code under the cursor, as engines write it; empty where this pane shows none."""
        return ""

    def expression_at_cursor(self) -> str:
        """What is under the cursor as an expression of the selected frame; empty where it is none."""
        return ""

    def ask_place(self) -> bool:
        """Ask for a place of this pane's own kind to go to; False where a line of source is meant."""
        return False

    def action_copy(self) -> None:
        """Copy the selected row, and say what was copied: the terminal tells nothing of it."""
        super().action_copy()
        if self.row_count:
            text = clean_line(self.copy_text(self.cursor)).strip()
            shown = text if len(text) <= _SHOWN_COPY else text[: _SHOWN_COPY - 1] + "…"
            self.ladder_app.say(f"copied: {shown}" if shown else "copied an empty line")

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Look at the state again; called in the loop turn of the change, only while visible."""
        self.update()

    def work(self, doing: Coroutine[Any, Any, Any]) -> None:
        """Run a session's coroutine without blocking; a `LadderError` becomes a notice."""
        self.ladder_app.work(doing)

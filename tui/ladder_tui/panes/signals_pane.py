"""What the engine does about each signal, and why the last one came."""

from __future__ import annotations

import itertools
import re
from typing import ClassVar

from ladder_backends.model.signal_handling import SignalHandling
from ladder_backends.session.state import Change, DebugState, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

_CAME = "came"
_NAME_WIDTH = 10
_HANDLE = re.compile(r"\) *(?:ha\w*|so\w*)\b")
"""What is typed to change the table, or to read a file that may."""


class SignalsPane(Pane):
    """The signal the target stands at, then the engine's table; Enter offers what can be done about one."""

    INTEREST = Change.RUN | Change.MACHINE | Change.CONSOLE
    BINDINGS: ClassVar = bindings_for("signals")
    _rung = ""
    _lines = 0

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Read the table once it is seen, and again after a `handle` that was typed, which tells nobody."""
        debug, session = self.debug, self.session
        if debug is not None and session is not None and debug.run not in (Run.NOTHING, Run.STARTING, Run.DEAD):
            lines = len(debug.console) + debug.console_dropped
            if self._rung != debug.place_name or change & Change.RUNG or self._was_handled(debug, lines):
                self._rung, self._lines = debug.place_name, lines
                self.work(session.machine.signals.look())
        else:
            self._rung = ""
        self.update()

    def _was_handled(self, debug: DebugState, lines: int) -> bool:
        """The command line is at its prompt again behind a command that changes the table."""
        if lines == self._lines or not debug.console or not debug.console[-1].rstrip().endswith(")"):
            return False
        fresh = itertools.islice(reversed(debug.console), max(0, lines - self._lines) + 1)
        handled = any(_HANDLE.search(line) for line in fresh)
        self._lines = lines
        return handled

    @property
    def _table(self) -> tuple[SignalHandling, ...]:
        debug = self.debug
        known = debug is not None and debug.run not in (Run.NOTHING, Run.DEAD)
        return debug.machine.signals.table if debug is not None and known else ()

    @property
    def _came(self) -> bool:
        """The target stands at a signal."""
        debug = self.debug
        return debug is not None and debug.fault and debug.run in (Run.STOPPED, Run.DUMP) and bool(self._table)

    @property
    def row_count(self) -> int:
        """The signal that came, and the table."""
        return len(self._table) + self._came

    def row(self, index: int) -> Row:
        """Name, what is done about it, meaning."""
        debug = self.debug
        assert debug is not None
        if self._came:
            if index == 0:
                cause = debug.machine.signals.cause
                words = f"  {cause.words}" if cause is not None and cause.words else ""
                return Row((Cell("✗ ", "fault"), Cell(debug.run_detail, "fault"), Cell(words)), target=_CAME)
            index -= 1
        one = self._table[index]
        return Row(
            (
                Cell(f"{one.name:<{_NAME_WIDTH}} ", "name"),
                *_switch("stop", one.stops),
                *_switch("print", one.prints),
                *_switch("pass", one.passes),
                Cell(f" {one.description}", "muted"),
            ),
            target=one,
            pinned=1,
        )

    def title(self) -> Title:
        """The columns, in words."""
        note = "stop · print · pass to the program" if self._table else ""
        return Title(self.pane_name, (Cell(note, "muted"),) if note else (), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is no table."""
        debug = self.debug
        if debug is None or debug.run in (Run.NOTHING, Run.STARTING, Run.DEAD):
            return self.not_standing()
        return debug.machine.signals.note or "reading …"

    def activate(self, hit: Hit) -> None:
        """Offer what can be changed about a signal, or how to run on from the one that came."""
        if hit.target == _CAME:
            self._offer_to_run_on()
        elif isinstance(hit.target, SignalHandling):
            self._offer(hit.target)

    def _offer(self, one: SignalHandling) -> None:
        session = self.session
        if session is None:
            return
        answers = (
            ("s", "do not stop" if one.stops else "stop", "stops", "" if one.stops else "prints it too"),
            ("p", "do not print" if one.prints else "print", "prints", "nor stop" if one.stops else ""),
            ("a", "do not pass it to the program" if one.passes else "pass it to the program", "passes", ""),
        )

        def chosen(column: str) -> None:
            self.work(session.machine.signals.handle(one.name, **{column: not getattr(one, column)}))

        self.ladder_app.workspace.offer(f"When {one.name} comes", answers, chosen, why=one.description)

    def _offer_to_run_on(self) -> None:
        session, debug = self.session, self.debug
        if session is None or debug is None:
            return
        if debug.run is not Run.STOPPED:
            self.ladder_app.say("a core shows one moment: it cannot run on", "information")
            return
        name = debug.run_detail.split(",", 1)[0]
        answers = (
            ("0", "continue without the signal", "drop", "the program never sees it"),
            ("c", f"continue with {name}", "pass", "its handler runs, or the program ends"),
        )

        def chosen(answer: str) -> None:
            self.work(session.machine.signals.continue_with(name if answer == "pass" else ""))

        cause = debug.machine.signals.cause
        why = cause.words if cause is not None else ""
        self.ladder_app.workspace.offer(f"Run on from {debug.run_detail}", answers, chosen, why=why)


def _switch(word: str, on: bool) -> tuple[Cell, ...]:
    return (Cell(word if on else "·".center(len(word)), "ok" if on else "muted"), Cell(" "))

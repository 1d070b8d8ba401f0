"""What the console keeps from the engine or forces on it, and how to change that."""

from __future__ import annotations

import asyncio
import textwrap
from typing import ClassVar

from ladder_backends import let_in
from ladder_backends.model.ledger import LedgerEntry, Scope
from ladder_backends.model.provenance import Provenance
from ladder_backends.paths import config_file
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.config_edit import write_list
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row, cut, size_of

_STATE, _NAME, _NOW = 6, 19, 14
_OTHER = 22


class EnvironmentPane(Pane):
    """One row for each thing that the console decides; Space lets it in or keeps it out, Enter for good."""

    INTEREST = Change.RUN | Change.LEDGER
    BINDINGS: ClassVar = bindings_for("environment")

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def _entries(self) -> tuple[LedgerEntry, ...]:
        debug = self.debug
        return debug.ledger.entries if debug is not None else ()

    @property
    def row_count(self) -> int:
        """One row an entry, and what there is to say about the selected one."""
        entries = len(self._entries)
        return entries + len(self._details()) if entries else 0

    def _details(self) -> list[str]:
        """The selected entry in whole sentences, for narrow screens."""
        entry = self._selected
        if entry is None:
            return []
        text = f"{entry.name}: {entry.why}"
        if entry.fixed and entry.fixed != entry.why:
            text += f"; it cannot be let in: {entry.fixed}"
        elif entry.later:
            text += "; a choice counts from the next start on"
        return ["", *textwrap.wrap(text, max(20, self.body_width))]

    def move_cursor(self, index: int) -> None:
        """Select another entry."""
        super().move_cursor(min(index, len(self._entries) - 1))

    def row(self, index: int) -> Row:
        """Whose value holds, what it is, what it would be otherwise, and why."""
        if index >= len(self._entries):
            details = self._details()
            position = index - len(self._entries)
            return Row((Cell(details[position] if position < len(details) else "", "muted"),))
        entry = self._entries[index]
        lets = let_in.lets_in(entry.name)
        word, style = _state(entry, lets)
        if (entry.name in let_in.kept_for_good()) != lets:
            # It holds until the console ends.
            word += "*"
        other = f"ours {entry.ours}" if lets else f"yours {entry.yours}"
        if entry.ours == entry.yours == entry.now:
            other = "the same as gdb's own"
        concerns = "" if entry.scope is Scope.ENGINE else "for the program: "
        return Row(
            (
                Cell(_column(word, _STATE), style, "state"),
                Cell(_column(entry.name, _NAME), "name"),
                Cell(_column(entry.now, _NOW), "value"),
                Cell(_column(other, _OTHER), "muted"),
                Cell(f"{concerns}{entry.why}", "muted"),
            ),
            target=entry,
            pinned=2,
        )

    def title(self) -> Title:
        """What the keys do; that a choice does not outlast the console is marked in its row."""
        state: list[Cell] = []
        if self.has_focus and self._entries:
            kept, now = (
                let_in.kept_for_good(),
                {entry.name for entry in self._entries if let_in.lets_in(entry.name)},
            )
            known = {entry.name for entry in self._entries}
            if kept & known != now:
                state.append(Cell("* until the console ends · Enter keeps it for good", "warn"))
        debug = self.debug
        if debug is not None and debug.ledger.note and self._entries:
            state.append(Cell(f"{' · ' if state else ''}{debug.ledger.note}", "warn"))
        return Title(self.pane_name, tuple(state), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        debug = self.debug
        if debug is None or debug.run is Run.NOTHING:
            return "no engine runs on this rung"
        if debug.provenance is Provenance.RECORDING:
            return "a recording has no engine to keep anything from"
        return debug.ledger.note or "asking the engine …"

    def copy_text(self, index: int) -> str:
        """The whole entry as one line."""
        index = min(index, len(self._entries) - 1)
        entry = self._entries[index]
        return f"{entry.name}: {entry.now} (ours {entry.ours}, yours {entry.yours}) — {entry.why}"

    # Changes ---------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Ask again where something changed since the ledger was read."""
        debug, session = self.debug, self.session
        able = debug is not None and debug.run not in (Run.NOTHING, Run.STARTING, Run.DEAD)
        if debug is not None and session is not None and able and not debug.ledger.read:
            self.work(session.ledger.load())
        self.update()

    # Acting ----------------------------------------------------------------------------------------------------

    @property
    def _selected(self) -> LedgerEntry | None:
        return self._entries[self.cursor] if self.cursor < len(self._entries) else None

    def activate(self, hit: Hit) -> None:
        """A click on what holds changes it."""
        if hit.target == "state":
            self.action_flip()

    def action_flip(self) -> None:
        """Let the selected entry in, or keep it out, until the console ends."""
        entry, session = self._selected, self.session
        if entry is not None and session is not None:
            self.work(session.ledger.flip(entry))

    def action_keep(self) -> None:
        """Keep what holds for the selected entry now for good."""
        entry = self._selected
        if entry is not None:
            self.work(self._keep(entry))

    async def _keep(self, entry: LedgerEntry) -> None:
        kept, lets = let_in.kept_for_good(), let_in.lets_in(entry.name)
        if (entry.name in kept) == lets:
            words = entry.fixed or f"{entry.name} is {'let in' if lets else 'kept out'} for good already"
            self.ladder_app.say(words)
            return
        names = sorted(kept | {entry.name} if lets else kept - {entry.name})
        await asyncio.to_thread(write_list, config_file(), "environment", "let_in", names)
        let_in.keep_for_good(names)
        self.ladder_app.say(f"{entry.name} is {'let in' if lets else 'kept out'} for good: {config_file()}")
        self.update()


def _state(entry: LedgerEntry, lets: bool) -> tuple[str, str]:
    if entry.fixed:
        return "fixed", "muted"
    if not entry.later and entry.now not in (entry.ours, entry.yours) and not entry.yours.startswith(entry.now):
        return "set", "changed"
    return ("yours", "warn") if lets else ("ours", "ok")


def _column(text: str, width: int) -> str:
    text = cut(text, width)
    return text + " " * (width - size_of(text) + 1)

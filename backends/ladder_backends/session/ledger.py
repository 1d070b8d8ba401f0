"""The ledger of a session: asked for when a view shows it, and never otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.errors import EngineDied, LadderError
from ladder_backends.let_in import lets_in
from ladder_backends.model.events import EngineExited, Event, SettingChanged
from ladder_backends.model.ledger import LedgerEntry
from ladder_backends.session.state import Change

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession


class Ledger:
    """Keeps `state.ledger`."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._loading = False

    def take(self, event: Event) -> None:
        """Note that what was read is so no more."""
        if isinstance(event, SettingChanged | EngineExited) and self._session.state.ledger.read:
            self._session.state.ledger.read = False
            self._session.tell(Change.LEDGER)

    async def load(self) -> None:
        """Ask the engine; nothing where that is under way already."""
        ledger, firewall = self._session.state.ledger, self._session.debugger.firewall
        if self._loading or ledger.read:
            return
        if firewall is None:
            ledger.entries, ledger.read, ledger.note = (), True, "this target has no engine of its own to set up"
            self._session.tell(Change.LEDGER)
            return
        self._loading = ledger.read = True
        try:
            ledger.entries, ledger.note = tuple(await firewall.entries()), ""
        except EngineDied:
            ledger.entries, ledger.note = (), "the engine is gone"
        except LadderError as error:
            ledger.note = error.line()
        finally:
            self._loading = False
            self._session.tell(Change.LEDGER)

    async def flip(self, entry: LedgerEntry) -> None:
        """Let an entry in where it is kept out, and the other way round; what cannot be is told."""
        session = self._session
        firewall = session.debugger.firewall
        if firewall is None:
            return
        if entry.fixed:
            session.notice(f"{entry.name} stays as it is: {entry.fixed}", "warning")
            return
        if entry.ours == entry.yours == entry.now:
            session.notice(f"{entry.name} is {entry.now} with and without the console; `set` changes it", "warning")
            return
        # What was changed by hand to something else goes back to ours first.
        changed = entry.now not in (entry.ours, entry.yours) and not entry.later
        try:
            said = await firewall.let_in(entry.name, not lets_in(entry.name) and not changed)
        except LadderError as error:
            session.notice(error.line(), "error")
            return
        if said:
            session.notice(said)
        session.state.ledger.read = False
        await self.load()

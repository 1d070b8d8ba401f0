"""Shared libraries, and whether their symbols are read."""

from __future__ import annotations

from typing import ClassVar

from ladder_backends.model.library import Library
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row, cut_front, width_of

_ADDRESS_WIDTH = 18


class LibrariesPane(Pane):
    """One library a row, in the order of loading; Enter has its symbols read."""

    INTEREST = Change.RUN | Change.MACHINE
    BINDINGS: ClassVar = bindings_for("libraries")
    _looked: tuple[object, ...] = ()

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Read the list at each stop while it is seen; a running target keeps the one it had."""
        debug, session = self.debug, self.session
        if debug is not None and session is not None and debug.run in (Run.STOPPED, Run.DUMP):
            looked = (debug.place_name, debug.since)
            if looked != self._looked:
                self._looked = looked
                self.work(session.machine.libraries.look())
        self.update()

    @property
    def _libraries(self) -> tuple[Library, ...]:
        debug = self.debug
        there = debug is not None and debug.run in (Run.STOPPED, Run.DUMP, Run.RUNNING)
        return debug.machine.libraries.libraries if debug is not None and there else ()

    @property
    def row_count(self) -> int:
        """Libraries."""
        return len(self._libraries)

    def row(self, index: int) -> Row:
        """What is read of it, where it lies, its path; the end of a long one."""
        one = self._libraries[index]
        if not one.symbols:
            mark = Cell("○ not read  ", "warn")
        elif one.bare:
            mark = Cell("◐ no debug  ", "muted")
        else:
            mark = Cell("● symbols   ", "ok")
        cells = (mark, Cell(f"{one.start or '':<{_ADDRESS_WIDTH}}  ", "number"))
        return Row((*cells, Cell(cut_front(one.path, max(8, self.body_width - width_of(cells))))), target=one)

    def title(self) -> Title:
        """How many, and whether symbols of new ones are read."""
        debug, count = self.debug, len(self._libraries)
        told = [str(count)] if count else []
        if debug is not None and not debug.machine.libraries.automatic:
            told.append("symbols only when asked for")
        return Title(self.pane_name, (Cell(" · ".join(told), "muted"),) if told else (), self.tab_cells())

    def empty_text(self) -> str:
        """Why there are none."""
        debug = self.debug
        if debug is None or debug.run not in (Run.STOPPED, Run.DUMP):
            return self.not_standing()
        return debug.machine.libraries.note or ("none: the program is linked statically" if self._looked else "")

    def activate(self, hit: Hit) -> None:
        """Have the symbols of a library read."""
        session = self.session
        if session is None or not isinstance(hit.target, Library) or hit.column is not None:
            return
        one = hit.target
        if one.symbols:
            missing = f"{one.path} has no debug information: install its debug symbols, or switch debuginfod on"
            self.ladder_app.say(missing if one.bare else f"the symbols of {one.path} are read", "information")
            return
        self.ladder_app.say(f"reading symbols of {one.path}; {key_of('run.interrupt')} stops that", "information")
        self.work(session.machine.libraries.read_symbols(one.path))

    def copy_text(self, index: int) -> str:
        """The path."""
        return self._libraries[index].path

    def row_text(self, index: int) -> str:
        """The path, whole."""
        return self._libraries[index].path

    def action_read_matching(self) -> None:
        """Ask for a regular expression, and have symbols of all libraries read that match."""
        session = self.session
        if session is None or self.not_standing():
            self.ladder_app.refuse(self.not_standing() or "nothing is open")
            return

        def give(text: str) -> None:
            if text.strip():
                self.work(session.machine.libraries.read_matching(text.strip()))

        self.ladder_app.workspace.prompt.ask("read symbols of", give, placeholder="a regular expression of paths")

    def action_automatic(self) -> None:
        """Read symbols of libraries when they are loaded, or only when asked to."""
        session, debug = self.session, self.debug
        if session is None or debug is None:
            return
        on = not debug.machine.libraries.automatic
        self.work(session.machine.libraries.read_new(on))
        told = "symbols are read as libraries are loaded" if on else "symbols are read only when asked for"
        self.ladder_app.say(told, "information")

"""The threads of the target, grouped by where they stand."""

from __future__ import annotations

from typing import ClassVar

from ladder_backends.model.thread import Locking, Thread, ThreadGroup
from ladder_backends.session.state import Change, LadderState, Run
from ladder_backends.session.thread_list import ThreadList
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.thread_rows import ThreadLine, ThreadRows, named_frame
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

_MODES = {
    Locking.ON: ("only this thread runs", "alone"),
    Locking.STEP: ("steps run only this thread", "steps alone"),
}
_ROOMY = 60
"""Columns from which the title uses whole sentences."""


class ThreadsPane(Pane):
    """Groups of threads with one stack, the smallest first; a group unfolds, Enter on a thread goes there."""

    INTEREST = Change.FRAMES | Change.FOCUS | Change.RUN | Change.THREADS
    BINDINGS: ClassVar = bindings_for("threads")
    _focused: object = None
    _rows: ThreadRows | None = None

    @property
    def _lines(self) -> ThreadRows:
        if self._rows is None:
            self._rows = ThreadRows()
        return self._rows

    @property
    def _threads(self) -> ThreadList:
        debug = self.debug
        return debug.threads if debug is not None else ThreadList()

    @property
    def _shown(self) -> bool:
        """There is something to list: the target stands, or some of its threads may."""
        debug = self.debug
        if debug is None:
            return False
        return debug.run in (Run.STOPPED, Run.DUMP) or (debug.run is Run.RUNNING and debug.threads.non_stop)

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Ask for the list where it is not current; follow the focus."""
        session, debug = self.session, self.debug
        if session is not None:
            session.threads.wanted()
        focused = debug.focus.index("thread") if debug is not None and debug.focus is not None else None
        kept = self._target()
        self._lines.lay_out(self._threads, focused)
        if focused != self._focused:
            self._focused = focused
            self._stand_on(focused)
        elif kept is not None:
            self._stand_on(kept.key)
        self.update()

    def _target(self) -> ThreadLine | None:
        lines = self._lines.lines
        return lines[self.cursor] if self.cursor < len(lines) else None

    def _stand_on(self, key: object) -> None:
        """Keep the cursor on what it stood on, wherever that is now."""
        index = self._lines.index_of(key)
        if index is not None and index != self.cursor:
            self.top = max(0, self.top + index - self.cursor)
            self.cursor = index

    @property
    def row_count(self) -> int:
        """Groups, and the threads of those that are unfolded."""
        return len(self._lines.lines) if self._shown else 0

    def row(self, index: int) -> Row:
        """A group or a thread."""
        return self._lines.row(index, self.body_width)

    def title(self) -> Title:
        """How many there are, in how many groups, and which of them run."""
        seen = self._threads
        cells: list[Cell] = []
        if seen.count and self._shown:
            groups = len(seen.groups)
            cells.append(Cell(f"{seen.count:,}" + (f" in {groups:,}" if groups else ""), "muted"))
            if self._lines.query:
                cells.append(Cell(f" · {self._lines.query}", "focus"))
            if seen.read is not None:
                cells.append(Cell(f" · {seen.read:,} read", "muted"))
            elif seen.current and groups and not seen.whole:
                cells.append(Cell(" · some by innermost frame", "muted"))
        long, short = _MODES.get(seen.locking or Locking.OFF, ("", ""))
        mode = "non-stop" if seen.non_stop else long if self.size.width >= _ROOMY else short
        if mode:
            cells.append(Cell((" · " if cells else "") + mode, "warn"))
        if seen.ended and self._shown:
            cells.append(Cell(f" · {seen.ended:,} ended", "muted"))
        return Title(self.pane_name, tuple(cells), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is no list."""
        session = self.session
        if not self._shown:
            return self.not_standing() + self._choice()
        if session is not None and not session.threads.available:
            return "this engine does not tell of threads"
        if self._lines.query and self._threads.groups:
            return f"no thread has {self._lines.query}"
        return self._threads.note or ("no threads" if self._threads.current else "reading …")

    def _choice(self) -> str:
        """How its threads will stop, where that can still be chosen."""
        debug = self.debug
        if debug is None or debug.run is not Run.EXITED or not debug.control.startable:
            return ""
        mode = "one by one (non-stop)" if debug.threads.non_stop else "all together (all-stop)"
        return f" — threads will stop {mode}; {key_of('threads.non-stop')} changes that"

    def activate(self, hit: Hit) -> None:
        """Go to a thread, into the frame that its row names, or unfold a group."""
        session = self.session
        if isinstance(hit.target, Thread) and session is not None:
            named = named_frame(self._lines.lines[hit.index])
            self.work(session.threads.focus(hit.target.id, named.level if named is not None else 0))
        elif isinstance(hit.target, ThreadGroup):
            self._lines.fold(hit.target)
            self.update()

    def search(self, needle: str, *, backwards: bool = False) -> bool:
        """Show only threads that hold every word in name, number or a function; an empty needle shows all again."""
        kept = self._target()
        self._lines.query = needle.strip()
        self._lines.lay_out(self._threads, self._focused if isinstance(self._focused, int) else None)
        self._stand_on(kept.key if kept is not None else self._focused)
        self.update()
        return True

    def action_show_all(self) -> None:
        """Show all again after a search."""
        if self._lines.query:
            self.search("")

    def action_freeze(self) -> None:
        """Freeze the selected thread, or all of the selected group, or let them go again."""
        session, line = self.session, self._target()
        if session is None or line is None or not self.row_count:
            return
        threads = (line.thread,) if line.thread is not None else line.group.threads
        self.work(session.threads.freeze(*(thread.id for thread in threads)))

    def action_non_stop(self) -> None:
        """Let threads stop one by one, or all together again; before the program runs."""
        session = self.session
        if session is not None:
            self.work(session.threads.set_non_stop(not self._threads.non_stop))

    def copy_text(self, index: int) -> str:
        """The group's threads and their stack."""
        return self._lines.text(index)

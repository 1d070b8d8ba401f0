"""The stack of the focused thread or lane, with its Python frames, and for a finding who launched it."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.frame import Frame
from ladder_backends.model.python_stack import FoldedFrames, PythonRow
from ladder_backends.rungs import rung_named
from ladder_backends.session.own_frames import is_library
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.stack_rows import (
    Entry,
    LibraryFrames,
    entries_of,
    fold_key,
    index_of,
    launcher_row,
    row_of,
    row_of_level,
    same_row,
    text_of,
)
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_backends.model.finding import CodeLocation
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.theming import Palette

_ROOM_FOR_SOURCE = 40
"""Columns from which on the title says who read the Python frames."""

_MORE = Row((Cell("   … more", "muted"),), target="more")


class StackPane(Pane):
    """Frames, innermost first; Enter or a click shows one. Frames of the report are marked as such."""

    INTEREST = Change.FRAMES | Change.FOCUS | Change.FINDINGS | Change.RUN
    BINDINGS: ClassVar = bindings_for("stack")
    _followed: tuple[object, ...] = ()

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._entries: tuple[Entry, ...] = ()
        self._opened: set[str] = set()
        self._libraries = True
        self._filled: tuple[object, ...] = ()

    def on_resize(self, event: events.Resize) -> None:
        """There may be room for more frames."""
        self._fill()

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Follow the selected frame."""
        debug = self.debug
        before = self._entries[self.cursor] if self.cursor < len(self._entries) else None
        self._lay_out()
        if debug is not None and change & (Change.FRAMES | Change.FOCUS):
            selected = (debug.selected_frame, debug.python.selected)
            stands = (debug.place_name, debug.since, debug.focus, selected)
            if stands != self._followed:
                self._followed = stands
                self._follow_cursor = True
                self.cursor = index_of(self._entries, debug)
            elif before is not None:
                # Where more frames were loaded or woven in, the cursor stays with what it was on.
                self._stay(before)
        self.update()
        self._fill()

    def _fill(self) -> None:
        """Load what there is room for: the stack was read while less of it was seen, or nothing."""
        session, debug = self.session, self.debug
        if session is None or debug is None or not self._more or debug.frames.start:
            return
        held = len(debug.frames.frames)
        if held >= self.body_height or not debug.capabilities & Capability.RUN_CONTROL:
            # A recording answers what was asked when it was made.
            return
        asked = (debug.since, debug.focus, held)
        if asked != self._filled:
            self._filled = asked
            self.work(session.stack.further())

    def _lay_out(self) -> None:
        debug = self.debug
        standing = debug is not None and debug.run is not Run.RUNNING
        self._entries = (
            entries_of(debug, self._opened, libraries=self._libraries) if debug is not None and standing else ()
        )

    def _stay(self, before: Entry) -> None:
        row = same_row(self._entries, before)
        if row is not None and row != self.cursor:
            self._follow_cursor = True
            self.cursor = row

    @property
    def _launchers(self) -> tuple[CodeLocation, ...]:
        """Host frames of the selected finding, where the stack is a lane's."""
        state = self.ladder.state
        if state.report is None or state.selected_finding is None or not rung_named(state.rung).lanes:
            return ()
        if state.selected_finding >= len(state.report.findings):
            return ()
        finding = state.report.findings[state.selected_finding]
        own = [frame for frame in finding.host_frames if frame.line is not None]
        return tuple(own or finding.host_frames)

    @property
    def _more(self) -> bool:
        debug = self.debug
        return debug is not None and bool(self._entries) and debug.frames.more

    @property
    def _why(self) -> str:
        """Why there are no Python frames where there could be some, or what else is to know of those."""
        debug = self.debug
        if debug is None or not self._entries:
            return ""
        told = debug.python
        if told.woven is not None and not told.woven.exact:
            return "Python frames: where they belong is not certain"
        if told.woven is not None:
            return f"GIL held by {told.gil}" if told.gil else ""
        return f"no Python frames ({key_of('python.toggle')}): {told.why}" if told.why else ""

    @property
    def row_count(self) -> int:
        """Frames, a line for those not loaded, why there are no Python frames, and the frames of the report."""
        launchers = self._launchers
        return len(self._entries) + self._more + bool(self._why) + (len(launchers) + 1 if launchers else 0)

    def row(self, index: int) -> Row:
        """Number, function, place."""
        entries = self._entries
        if index < len(entries):
            return row_of(entries[index], self._opened)
        index -= len(entries)
        if self._more:
            if index == 0:
                return _MORE
            index -= 1
        if self._why:
            if index == 0:
                return Row((Cell(f"   {self._why}", "muted"),), target="why")
            index -= 1
        if index == 0:
            return Row((Cell("launched by", "muted"),), (Cell("report", "report"),))
        return launcher_row(self._launchers[index - 1])

    def title(self) -> Title:
        """How deep, as far as is known, and who read its Python frames."""
        debug = self.debug
        frames = debug.frames.frames if debug is not None and self._entries else ()
        more = "+" if self._more else ""
        count = f"{len(frames)}{more}" if frames else ""
        if frames and debug is not None and debug.frames.start:
            count = f"#{frames[0].level:,}–{frames[-1].level:,}{more}"
        if debug is not None and debug.python.woven is not None and count and self.body_width >= _ROOM_FOR_SOURCE:
            count += f" · {debug.python.source}"
        state = (Cell(count, "muted"),) if count else ()
        if debug is not None and debug.walk is not None and count:
            what = f"/{debug.walk.needle}" if debug.walk.needle else "to the last"
            state = (Cell(f"{debug.walk.level:,} … {key_of('stack.cancel')} ends {what}", "warn"),)
            # What goes on needs the room that names of other panes have.
            return Title(self.pane_name, state)
        return Title(self.pane_name, state, self.tab_cells())

    def empty_text(self) -> str:
        """Why there is no stack."""
        return self.not_standing() or "no stack"

    def row_text(self, index: int) -> str:
        """What a search finds: of a fold all that it hides."""
        return text_of(self._entries[index]) if index < len(self._entries) else self.row(index).text()

    def copy_text(self, index: int) -> str:
        """The frame with its place; of a fold all that it hides."""
        return self.row_text(index).strip()

    def activate(self, hit: Hit) -> None:
        """Show another frame, open a fold, or load more frames."""
        session, debug = self.session, self.debug
        if session is None or debug is None:
            return
        if isinstance(hit.target, Frame):
            self.work(session.select_frame(hit.target.level))
        elif isinstance(hit.target, PythonRow):
            self.work(session.python.select(hit.target))
        elif isinstance(hit.target, FoldedFrames):
            self._turn(hit.target)
        elif isinstance(hit.target, LibraryFrames):
            self._turn_libraries(hit.target)
        elif hit.target == "more":
            self.work(session.stack.further())
        elif hit.target == "why" and debug.python.woven is None:
            self.work(session.python.toggle())

    def action_fold(self) -> None:
        """Hide frames of libraries or of the interpreter, where the selected row is one, or list them again."""
        entry = self._entries[self.cursor] if self.cursor < len(self._entries) else None
        if isinstance(entry, Frame):
            # A frame of an open fold, or one that stands for itself.
            fold = next(
                (each for each in self._entries if isinstance(each, FoldedFrames) and entry in each.frames), None
            )
            if fold is not None:
                self._turn(fold)
            elif is_library(entry):
                self._turn_libraries(entry)
        elif isinstance(entry, FoldedFrames):
            self._turn(entry)
        elif isinstance(entry, LibraryFrames):
            self._turn_libraries(entry)

    def _turn_libraries(self, entry: Frame | LibraryFrames) -> None:
        self._libraries = not self._libraries
        self._lay_out()
        self._stay(entry)
        self.update()

    def _turn(self, fold: FoldedFrames) -> None:
        self._opened ^= {fold_key(fold)}
        self._lay_out()
        self._stay(fold)
        self.update()

    def cursor_moved(self) -> None:
        """Further frames are loaded when an end of those that are held comes into view."""
        session, debug = self.session, self.debug
        if session is None or debug is None or not self._entries:
            return
        if self._more and self.cursor >= len(self._entries) - 1:
            self.work(session.stack.further())
        elif debug.frames.start and self.cursor == 0:
            self.work(session.stack.nearer())

    def action_edge(self, which: str) -> None:
        """Go to the innermost frame, or to the outermost one, which in a deep stack may take seconds."""
        session, debug = self.session, self.debug
        if session is not None and debug is not None and which == "last" and self._more:
            self.work(self._go_to(session.stack.outermost()))
        elif session is not None and debug is not None and which == "first" and debug.frames.start:
            self.work(self._go_to(session.stack.innermost()))
        else:
            super().action_edge(which)

    async def _go_to(self, way: Coroutine[Any, Any, int | None]) -> None:
        """Put the cursor on the frame that a way through the stack led to."""
        level = await way
        if level is not None:
            self._lay_out()
            self._follow_cursor = True
            self.cursor = row_of_level(self._entries, level)
            self.update()

    def search(self, needle: str, *, backwards: bool = False) -> bool:
        """Select the next frame that holds `needle`; those not held are looked through window by window."""
        session, debug = self.session, self.debug
        words = (needle or self._needle).casefold()
        below = range(self.cursor + 1, len(self._entries))
        here = any(words in self.row_text(index).casefold() for index in below)
        if not words or backwards or here or session is None or debug is None or not self._more:
            return super().search(needle, backwards=backwards)
        self._needle = words
        self.work(self._go_to(session.stack.find(words, lambda frame: words in text_of(frame).casefold())))
        return True

    def action_cancel(self) -> None:
        """End a search, or the way to the outermost frame."""
        session = self.session
        if session is not None:
            session.stack.cancel()

    def action_copy_all(self) -> None:
        """Copy the frames that are held, as a backtrace."""
        debug = self.debug
        frames = debug.frames.frames if debug is not None and self._entries else ()
        if debug is None or not frames:
            self.ladder_app.say(self.empty_text(), "information")
            return
        lines = [self.copy_text(index) for index in range(len(self._entries))]
        self.app.copy_to_clipboard("\n".join([*lines, "…"] if self._more else lines))
        self.ladder_app.say(f"copied: {len(frames)} frames{', the stack goes on' if self._more else ''}")

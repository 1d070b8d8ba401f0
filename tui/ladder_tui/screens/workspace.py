"""The main screen: rungs above, panes between, truth below."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer

from ladder_backends.model.frame import Place
from ladder_backends.session.state import Change, Notice, Run
from ladder_tui._paint_now import DirtyLines, paint_now
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes import PANES, load_pane
from ladder_tui.panes.pane import Pane
from ladder_tui.screens.commands import Commands
from ladder_tui.screens.layouts import MINIMUM, layout_for, slots_of
from ladder_tui.screens.pane_area import PaneArea
from ladder_tui.screens.program_news import ProgramNews
from ladder_tui.screens.rebuild_offer import RebuildOffer
from ladder_tui.screens.stray_keys import StrayKeys
from ladder_tui.screens.too_small import TooSmall
from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.notice_line import NoticeLine
from ladder_tui.widgets.prompt import Prompt
from ladder_tui.widgets.rung_bar import RungBar
from ladder_tui.widgets.status_bar import StatusBar

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.app import LadderApp
    from ladder_tui.theming import Palette
    from ladder_tui.widgets.value_popup import ValuePopup

_INLINE_VARIABLES = 12
_INSTRUCTIONS = 64
FINDINGS = "findings"
SANITIZER = "sanitizer"
"""The rung on which a missing report says how to get one."""

FRAME = 1 / 240
"""Seconds between two stops that are painted at once."""

COST_AFTER = 0.25
"""Seconds after a stop at which its cost is written, unless the next stop writes it."""


class Workspace(Commands, Screen[None]):
    """Panes over one ladder."""

    AUTO_FOCUS: ClassVar[str | None] = None
    ALLOW_SELECT = False
    BINDINGS = bindings_for("workspace")
    DEFAULT_CSS = """
    Workspace { layers: base notice; layout: vertical; overflow: hidden hidden; background: $background; }
    """

    def __init__(self, ladder: Ladder, palette: Palette, clock: Callable[[], float]) -> None:
        super().__init__(id="workspace")
        self.ladder = ladder
        self.palette = palette
        self.panes: dict[str, Pane] = {}
        self.area = PaneArea(palette)
        # Made at once, not in `compose`: what opening says before the first paint has a line to stand on.
        self.rung_bar = RungBar(ladder.state, self.go_to_rung, palette=palette)
        self.status_bar = StatusBar(ladder, self.perform, palette=palette, clock=clock)
        self.status_bar.how_to_answer = self._how_to_answer
        self.program_news = ProgramNews(clock)
        self.rebuild_offer = RebuildOffer()
        self.notice_line = NoticeLine(palette=palette)
        self.stray_keys = StrayKeys(lambda text: self.notice_line.amend(Notice(text, "warning")), clock)
        self.value_popup: ValuePopup | None = None
        self._said: dict[str, Notice | None] = {}
        self.prompt = Prompt(palette=palette)
        self.too_small = TooSmall(palette=palette)
        self._rung = ""
        self._focus_of: dict[str, str] = {}
        self._asked: set[tuple[str, str]] = set()
        self._app_context: contextvars.Context | None = None
        self._looked_at: LineView | None = None
        self._clock_timer: Timer | None = None
        self._cost_timer: Timer | None = None
        self._measured = 0.0
        self._painted_at = 0.0
        self.starts_covered = False
        """The start screen will cover this one at once: nothing is built for the moment before."""

    # Building --------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """The bars and the area; panes are made when the layout first shows them."""
        if not self.starts_covered:
            yield from self._parts

    @property
    def _parts(self) -> tuple[LineView | PaneArea, ...]:
        return self.rung_bar, self.area, self.status_bar, self.notice_line, self.prompt, self.too_small

    @property
    def ladder_app(self) -> LadderApp:
        """The application, typed."""
        return cast("LadderApp", self.app)

    @property
    def debug(self) -> DebugState | None:
        """State of the session that keys act on, or None."""
        session = self.ladder.active
        return session.state if session is not None else None

    def on_mount(self) -> None:
        """Follow the ladder from now on."""
        # Changes come from the engine's reader, outside any widget: without this, Textual would not know its app.
        self._app_context = contextvars.copy_context()
        self._unsubscribe = self.ladder.subscribe(self._changed)
        # The target may have been opened, and something said about it, before there was a screen.
        self.call_after_refresh(self._show_notice)

    def on_unmount(self) -> None:
        """Stop following."""
        self._unsubscribe()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """What was said before is read, as with a key."""
        self.notice_line.hide()

    # Layout ----------------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """Choose the layout for the new size; what had the keys stays in sight, and keeps them."""
        rung = self.ladder.state.rung
        focused = self._focus_of.get(rung, "")
        slots = slots_of(layout_for(rung, *self.app.size))
        if (slot := next((slot for slot in slots if focused in slot.panes), None)) is not None:
            self.area.active[slot.panes] = focused
        self.arrange_panes()

    def on_screen_suspend(self) -> None:
        """Now it is covered."""
        self.starts_covered = False

    def on_screen_resume(self) -> None:
        """Build what was not built under another screen."""
        if self.is_attached and not self.area.is_attached and not self.starts_covered:
            self.mount(*self._parts)
        if not self.panes:
            self.arrange_panes()

    def arrange_panes(self) -> None:
        """Show the panes that the rung and the size call for."""
        width, height = self.app.size
        small = width < MINIMUM[0] or height < MINIMUM[1]
        covered = not self.panes and (self.starts_covered or self.app.screen is not self)
        for widget in (self.rung_bar, self.area, self.status_bar):
            widget.display = not small and not covered
        self.too_small.display = small and not covered
        if small or covered:
            return
        part = layout_for(self.ladder.state.rung, width, height)
        shown = self.area.visible_ids(part, self.app.size.with_height(height - 2), self._idle_panes())
        fresh = [pane_id for pane_id, _ in shown if pane_id not in self.panes]
        for pane_id in fresh:
            self.panes[pane_id] = load_pane(pane_id)(self.ladder, palette=self.palette, id=pane_id)
        if fresh:
            self.area.mount(*(self.panes[pane_id] for pane_id in fresh))
        hidden = {pane_id for pane_id, pane in self.panes.items() if not pane.display}
        self.area.arrange_panes(shown, self.panes)
        for pane_id, _ in shown:
            if pane_id in fresh or pane_id in hidden:
                self.panes[pane_id].refresh_from(self.ladder.state, ~Change.NONE)
        self.rung_bar.update()
        self.status_bar.update()
        self.ask_for_visible_rows()
        self._give_focus()
        self._note_output(Change.NONE)

    def _idle_panes(self) -> frozenset[str]:
        """Panes with nothing to show on this rung: the findings, where there is no report and nobody asked."""
        state, debug = self.ladder.state, self.debug
        bare = state.report is None and not state.sanitizer.active and state.rung != SANITIZER
        if not bare or debug is None or debug.run is Run.NOTHING or (state.rung, FINDINGS) in self._asked:
            return frozenset()
        return frozenset({FINDINGS})

    def _fold(self) -> None:
        """Give the room of panes with nothing to show to the others, or take it back."""
        if not self.area.zoomed and self.area.folded != self._idle_panes() & self.area.regions.keys():
            self.arrange_panes()

    def _give_focus(self) -> None:
        """The keys go to a pane that is visible: on a rung seen before, to the one that had them there."""
        visible = [pane for pane in self.area.regions if pane not in self.area.folded] or list(self.area.regions)
        if self.area.folded:
            # Where there is a program and no report, the code comes first.
            visible.sort(key=lambda pane: pane != "source")
        rung = self.ladder.state.rung
        wanted = self._focus_of.get(rung, next(iter(visible), ""))
        if wanted not in visible:
            wanted = next(iter(visible), "")
        focused = self.focused
        away = focused is None or (focused.id in self.panes and (focused.id not in visible or rung != self._rung))
        self._rung = rung
        if wanted and away:
            self.panes[wanted].take_focus()

    def ask_for_visible_rows(self) -> None:
        """Tell the session how much of a stop is seen, so that it asks the engine for no more."""
        regions = self.area.regions
        rows = {name: max(1, region.height - 1) for name, region in regions.items()}
        for session in self.ladder.every_session():
            session.show_rows(
                frames=rows.get("stack", 1),
                variables=max(rows.get("variables", 1), _INLINE_VARIABLES if "source" in rows else 1),
                instructions=_INSTRUCTIONS if "disassembly" in rows else 0,
                python="stack" in rows,
                grid="grid" in rows and not getattr(self.panes["grid"], "looks_at_hardware", False),
            )
            if "variables" not in rows:
                session.values.show(0, 0)

    def show_pane(self, pane_id: str, *, focus: bool = True) -> Pane | None:
        """Bring a pane to the front of its place and give it the keys; None where this layout has none."""
        part = layout_for(self.ladder.state.rung, *self.app.size)
        if self.area.zoomed:
            self.area.zoomed = pane_id
        slot = next((slot for slot in slots_of(part) if pane_id in slot.panes), None)
        if slot is None:
            return None
        self.area.active[slot.panes] = pane_id
        self._asked.add((self.ladder.state.rung, pane_id))
        self.arrange_panes()
        pane = self.panes.get(pane_id)
        if pane is not None and focus:
            # At once: the next keys of a burst must not reach the pane that had the focus.
            self.set_focus(pane, scroll_visible=False)
        return pane

    def show_source(self, file: str, line: int, fullname: str = "") -> None:
        """Show a line of source; the target stays where it is."""
        from ladder_tui.panes.source_pane import SourcePane

        source = self.show_pane("source")
        if isinstance(source, SourcePane):
            source.look_at(Place(file, line, fullname))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The hints follow the focus."""
        focused = self.focused
        if focused is not None and focused.id in self.panes:
            self._focus_of[self._rung] = focused.id
            if focused.id in self.area.folded:
                # A click on its title.
                self._asked.add((self.ladder.state.rung, focused.id))
                self.arrange_panes()
        if isinstance(focused, LineView) and not focused.TAKES_TEXT:
            self._looked_at = focused
        self.status_bar.update()

    def leave_text(self) -> None:
        """Give the keys back to the view that had them before a line was typed, or to the first one."""
        view = self._looked_at
        if view is None or not view.display or not view.is_attached:
            shown = (self.panes[pane_id] for pane_id in self.area.regions)
            view = next((pane for pane in shown if not pane.TAKES_TEXT), None)
        if view is not None:
            self.set_focus(view, scroll_visible=False)
        else:
            # Only one pane has room, and a line was typed in it.
            self.show_pane(str(self._looked_at.id) if self._looked_at is not None else "source")

    # Changes ---------------------------------------------------------------------------------------------------

    def _changed(self, change: Change) -> None:
        # While the console ends, widgets go before their screen does; nothing is left then to show a change.
        if self._app_context is None or not self.status_bar.is_attached:
            return
        try:
            self._app_context.run(self.apply, change)
        except Exception as error:
            # Whoever tells of a change goes on: a view that fails must not leave a session half way.
            self._app_context.run(self.ladder_app.unexpected, error)

    def apply(self, change: Change) -> None:
        """Show a change of the ladder, with one paint."""
        debug = self.debug
        if change & Change.NOTICE:
            self._show_notice()
        if change & Change.RUNG:
            self.arrange_panes()
            change = ~Change.NONE
        elif change & (Change.FINDINGS | Change.SANITIZER_RUN | Change.RUN):
            self._fold()
        if change & Change.PAIRS:
            self.note_sweep()
        if change & Change.RUN and debug is not None and debug.run is Run.STOPPED and debug.since != self._measured:
            self._show_stop(debug, change)
            self._note_output(change)
        else:
            self._note_output(change)
            self._refresh_panes(change)
        self._keep_clock()
        if change & (Change.RUN | Change.SOURCE) and (words := self.rebuild_offer.note(self.ladder.active, change)):
            self.ladder_app.say(words)
        if change & Change.RUN and debug is not None and debug.run not in (Run.RUNNING, Run.STARTING):
            self.ladder_app.target_rests()

    def _note_output(self, change: Change) -> None:
        """Mark the tab of the program's terminal while it holds what nobody has looked at."""
        debug = self.debug
        if debug is not None:
            self.program_news.note(debug, change, seen="program" in self.area.regions)
        news = frozenset({"program"}) if self.program_news.unread(debug) else frozenset()
        for pane in self.panes.values():
            if pane.news != news:
                pane.news = news
                if "program" in pane.tabs:
                    pane.update()

    def _how_to_answer(self) -> str:
        """The keys that lead to typing to a program that seems to wait for it; else an empty string."""
        if not self.program_news.asks(self.debug):
            return ""
        focused, key = self.focused, key_of("program.type")
        if focused is None or focused.id != "program":
            return f"{key_of('pane.go')} {PANES['program'].letter} {key}"
        return "" if isinstance(focused, LineView) and focused.TAKES_TEXT else key

    def _refresh_panes(self, change: Change) -> None:
        state = self.ladder.state
        for pane_id in self.area.regions:
            pane = self.panes[pane_id]
            if pane.INTEREST & change:
                try:
                    pane.standing_still(partial(pane.refresh_from, state, change))
                except Exception as error:
                    self.ladder_app.unexpected(error)
        if LineView.collected is not None:
            self.status_bar.update_at_stop()
            return
        if change & (Change.RUNG | Change.FINDINGS | Change.RUN):
            self.rung_bar.update()
        self.status_bar.update()

    def _keep_clock(self) -> None:
        """Run the one-second clock while there is something to count, and only then."""
        debug, session = self.debug, self.ladder.active
        counts = debug is not None and debug.run in (Run.RUNNING, Run.STARTING)
        counts = counts or (session is not None and bool(session.pending())) or self.ladder.state.sanitizer.active
        counts = counts or self.ladder.state.ranks.goes_on_at is not None
        if counts and self._clock_timer is None:
            self._clock_timer = self.set_interval(1.0, self.tick)
        elif not counts and self._clock_timer is not None:
            self._clock_timer.stop()
            self._clock_timer = None

    def tick(self) -> None:
        """Write ages and times anew."""
        self.status_bar.update()
        if self.ladder.state.sanitizer.active and "findings" in self.area.regions:
            self.panes["findings"].update()
        self._keep_clock()

    def _show_stop(self, debug: DebugState, change: Change) -> None:
        """Show a stop, and note when that is written; the figure is painted later, or with the next stop."""
        self._measured = since = debug.since
        clock = self.ladder_app.clock

        def painted() -> None:
            self._painted_at = now = clock()
            debug.stop_to_paint = max(0.0, now - since)
            if self._cost_timer is None:
                self._cost_timer = self.set_timer(COST_AFTER, self._write_cost)
            else:
                self._cost_timer.reset()

        # Stops that come faster than a screen shows them are painted in its own time.
        if clock() - self._painted_at < FRAME:
            self._refresh_panes(change)
        else:
            dirty: list[DirtyLines] = []
            LineView.collected = dirty
            try:
                self._refresh_panes(change)
            finally:
                LineView.collected = None
                at_once = paint_now(self, dirty)
            # It hardly ever differs after a stop.
            self.rung_bar.update()
            if at_once:
                painted()
                return
        self.status_bar.call_after_refresh(painted)

    def _write_cost(self) -> None:
        self._cost_timer = None
        self.status_bar.update()

    def _show_notice(self) -> None:
        """Show what was said last, by the ladder or by the session on screen."""
        debug = self.debug
        said = {"": self.ladder.state.notice}
        if debug is not None:
            said[debug.place_name] = debug.notice
        new = [
            notice for place, notice in said.items() if notice is not None and notice is not self._said.get(place)
        ]
        self._said.update(said)
        if new:
            self.notice_line.show(new[0])

    def render_lines(self, crop: Region) -> list[Strip]:
        """Blank, in the palette's own colours; the bars and the area cover all of it."""
        return [Strip.blank(crop.width, self.palette.base)] * crop.height

    def set_palette(self, palette: Palette) -> None:
        """Draw everything with other styles."""
        self.palette = self.area.palette = palette
        for view in self.query(LineView):
            view.set_palette(palette)

"""The application: themes, keys, and one workspace over one ladder."""

from __future__ import annotations

import os

# Textual reads this once, when it is imported: a second update in one burst waits for the next frame.
os.environ.setdefault("TEXTUAL_FPS", "240")

import asyncio
import gc
import logging
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme

from ladder_backends.beginning import begin
from ladder_backends.debugger.contract import Capability
from ladder_backends.debugger.target import CoreTarget
from ladder_backends.errors import LadderError, WrongProgram
from ladder_backends.session.state import Notice, Run
from ladder_backends.text import clean_line
from ladder_tui._paint_now import paint_first
from ladder_tui._textual_compat import SparingApp, act_above_all, act_at_once, act_on_screen, binds
from ladder_tui.actions import ACTIONS, choose_keys, parse_key
from ladder_tui.config import DEFAULT_THEME, Settings
from ladder_tui.escapes import behind_escape
from ladder_tui.screens.dialog import Dialog
from ladder_tui.screens.workspace import Workspace
from ladder_tui.theme_watch import watch_themes
from ladder_tui.theming import Depth, Palette, ThemeInvalid, ThemeSource, load_theme, user_theme_dir
from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.status_bar import PENDING_AFTER

if TYPE_CHECKING:
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.command_palette import LadderCommands
    from ladder_tui.opening import Opening
    from ladder_tui.screens.choice import ChoiceScreen

RUNGS_AFTER = 0.3
"""Seconds after the first paint at which debuggers of other packages are looked for."""

_LOG = logging.getLogger(__name__)
REDRAW = next(action for action in ACTIONS if action.id == "redraw")
STEP_KEYS = {
    key: call[1]
    for action in ACTIONS
    if (call := re.fullmatch(r"resume\('([\w-]+)'\)", action.call)) is not None
    for key in action.keys
    if len(key) == 1
}
"""Kinds of steps by the letters that they are bound to."""
_UNEXPECTED = "this is a fault of ladder-tui; its log file holds the details"


def _palette_provider() -> type[LadderCommands]:
    from ladder_tui.command_palette import LadderCommands

    return LadderCommands


class LadderApp(SparingApp[int]):
    """The console.

    Args:
        ladder: What is debugged.
        settings: Theme and keys.
        opening: Opens the target, after the first paint. Its `LadderError` is shown and ends nothing.
        clock: Seconds, monotonic.
        start: Begin with the start screen, which asks what to open.
        picks_process: Begin with the list of processes, over the start screen.
    """

    TITLE = "ladder-tui"
    AUTO_FOCUS: ClassVar[str | None] = None
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[Any]] = {_palette_provider}
    # Textual's own bindings of Ctrl-C and Ctrl-Q are replaced by the registry's.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "", show=False, priority=True, system=True)
    ]
    CSS = "Screen { overflow: hidden hidden; }"

    def __init__(
        self,
        ladder: Ladder,
        settings: Settings | None = None,
        *,
        opening: Callable[[Ladder], Awaitable[object]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        start: bool = False,
        picks_process: bool = False,
    ) -> None:
        super().__init__()
        self.ladder = ladder
        self.settings = settings or Settings()
        self.clock = clock
        self._keys = {name: parse_key(key) for name, key in self.settings.keys.items()}
        choose_keys(self._keys)
        self._opening = opening
        self._start = start
        self._picks_process = picks_process
        self.tasks: set[asyncio.Future[None]] = set()
        self._waits_for_stop: ChoiceScreen | None = None
        self._offered_for: DebugSession | None = None
        self._theme_error = ""
        self.palette = self._load_palette(self.settings.theme)
        self._begin_theme()
        self.workspace = Workspace(ladder, self.palette, clock)
        self.workspace.starts_covered = start

    # Themes ----------------------------------------------------------------------------------------------------

    @property
    def depth(self) -> Depth:
        """What the terminal shows, as the environment says."""
        if self.no_color or self.console.color_system is None:
            return Depth.NONE
        return Depth.SIXTEEN if self.console.color_system == "standard" else Depth.FULL

    def _load_palette(self, name: str) -> Palette:
        """The palette of a theme; of the default one, with a notice, where that theme does not load."""
        try:
            palette = Palette(load_theme(name, user_theme_dir()), self.depth)
        except ThemeInvalid as error:
            self._theme_error = error.line()
            palette = Palette(load_theme(DEFAULT_THEME), self.depth)
        self.register_theme(_textual_theme(palette.source))
        return palette

    def _begin_theme(self) -> None:
        """Take a theme before there is anything to be drawn anew, as setting `theme` would all of it."""
        name = f"ladder-{self.palette.source.name}"
        self.set_reactive(LadderApp.theme, name)
        for class_name, on in (
            (f"-theme-{name}", True),
            ("-dark-mode", self.palette.source.dark),
            ("-light-mode", not self.palette.source.dark),
        ):
            self.set_class(on, class_name, update=False)
        self.stylesheet.set_variables(self.get_css_variables())

    def use_theme(self, name: str) -> None:
        """Draw everything in another theme."""
        self._theme_error = ""
        self.palette = self._load_palette(name)
        self.theme = f"ladder-{self.palette.source.name}"
        self.workspace.set_palette(self.palette)
        if self._theme_error:
            self.say(self._theme_error, "error")

    def reload_theme(self) -> None:
        """Draw the theme as its file is now; a file with a fault changes nothing but says what is wrong."""
        try:
            palette = Palette(load_theme(self.palette.source.name, user_theme_dir()), self.depth)
        except ThemeInvalid as error:
            self.say(error.line(), "error")
            return
        self.palette = palette
        self.register_theme(_textual_theme(palette.source))
        self.workspace.set_palette(palette)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """No filters: palettes hold final colours, and filters would run over every line of every frame."""
        return super().get_line_filters() if self.no_color else ()

    # Life ------------------------------------------------------------------------------------------------------

    def get_default_screen(self) -> Screen[Any]:
        """The workspace."""
        return self.workspace

    def on_mount(self) -> None:
        """Open what was asked for; then leave the start-up's objects out of every later collection."""
        if self.settings.keys:
            self.set_keymap(self._keys)
        if self._opening is not None:
            self.call_after_refresh(lambda: self.work(self._open()))
        elif self._start:
            self._show_start(picks_process=self._picks_process)
            self.call_later(paint_first, self)
        if self._theme_error:
            self.say(self._theme_error, "error")
        self.call_after_refresh(self._settled)

    async def _open(self) -> None:
        assert self._opening is not None
        try:
            await self._opening(self.ladder)
        except WrongProgram as error:
            from ladder_tui.screens.dump_program import ask_and_open

            self.say(error.line(), "error")
            ask_and_open(self.workspace)
        else:
            self._ask_for_program()

    def _show_start(self, failure: str = "", *, picks_process: bool = False) -> None:
        from ladder_tui.screens.start import StartScreen

        def chosen(opening: Opening | None) -> None:
            if opening is not None:
                self.work(self._open_chosen(opening))

        self.push_screen(StartScreen(self.palette, failure, picks_process=picks_process), chosen)

    async def _open_chosen(self, opening: Opening) -> None:
        """Open what was chosen; where that fails, the start screen comes back and says why."""
        try:
            await opening.open_and_remember(self.ladder)
        except LadderError as error:
            self._show_start(error.line())
        else:
            self._ask_for_program()

    def _ask_for_program(self) -> None:
        """A core was opened whose program was not found: the user may know where it is."""
        session = self.ladder.active
        if session is not None and isinstance(session.target, CoreTarget):
            from ladder_tui.screens.core_program import ask_for_program

            ask_for_program(self.workspace)

    async def on_unmount(self) -> None:
        """Forget what is under way and end the engines: launched programs with them, attached ones live on."""
        for task in tuple(self.tasks):
            task.cancel()
        try:
            await self.ladder.close()
        except LadderError as error:
            _LOG.warning("an engine did not end: %s", error.line())

    @property
    def failure(self) -> Exception | None:
        """What ended the console although nobody asked for it, or None."""
        return self._exception

    def _fatal_error(self) -> None:
        # Textual would print the traceback over the terminal; whoever runs the app takes `failure` to the log file.
        self._close_messages_no_wait()

    def _settled(self) -> None:
        if user_theme_dir().is_dir():
            self.run_worker(watch_themes(user_theme_dir(), self.reload_theme), group="themes", exit_on_error=False)
        from ladder_tui._paint_now import write_at_once

        write_at_once(self)
        gc.collect()
        gc.freeze()
        # A stop makes some thousands of short-lived rows and cells: none of them is worth a look in its midst.
        gc.set_threshold(20_000, 10, 10)
        gc.enable()
        self.set_timer(RUNGS_AFTER, lambda: self.work(self._find_rungs()))

    async def _find_rungs(self) -> None:
        """Debuggers that other packages add stand at the end of the ladder."""
        from ladder_backends.debugger.registry import find_rungs

        if await asyncio.to_thread(find_rungs):
            self.workspace.rung_bar.update()

    async def on_event(self, event: events.Event) -> None:
        """Keys meet the workspace, or what lies over it, in the order in which they were typed, however fast."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            screen = self.screen
            if event.key in REDRAW.bound and not event.is_printable:
                # Wherever the keys go: a program that is typed to hears of it as well.
                self.redraw()
                if screen is not self.workspace:
                    return
            if screen is not self.workspace:
                await self._for_dialog(screen, event)
                return
            event = await self._escape_first(event)
            # The second half of a chord is seen by no view.
            if self.workspace.take_key(event):
                return
            view = self.focused
            if isinstance(view, LineView) and not view.TAKES_TEXT and await act_at_once(view, event.key):
                return
            if isinstance(view, LineView) and not view.TAKES_TEXT and await act_on_screen(screen, event.key):
                return
        await super().on_event(event)

    def take_at_once(self, character: str) -> bool:
        """Act on a key that lets the target run, where nothing else may mean something by it."""
        kind, view = STEP_KEYS.get(character), self.focused
        if kind is None or not self.waits_for_messages or self.screen is not self.workspace:
            return False
        if not isinstance(view, LineView) or view.TAKES_TEXT or binds(view, character):
            return False
        if not self.workspace.take_key(events.Key(character, character)):
            self.workspace.action_resume(kind)
        return True

    async def _for_dialog(self, screen: Screen[Any], event: events.Key) -> None:
        if isinstance(screen, Dialog):
            keys = tuple(screen.apart(event))
            if len(keys) > 1:
                for one in keys:
                    await self.on_event(one)
                return
            if await act_above_all(self, event.key) or screen.take_key(event):
                return
        await super().on_event(event)

    async def _escape_first(self, event: events.Key) -> events.Key:
        """A key that comes right behind Esc reads as one with Alt: where that means nothing, both were meant."""
        view, second = self.focused, behind_escape(event)
        if second is None or not isinstance(view, LineView) or any(event.key in each.bound for each in ACTIONS):
            return event
        if not view.TAKES_TEXT:
            await act_at_once(view, "escape")
        elif view.edits(event.key) or not view.take_escape():
            return event
        return second

    # Work ------------------------------------------------------------------------------------------------------

    def work(self, doing: Coroutine[Any, Any, Any], *, at_once: bool = False) -> None:
        """Do something without blocking the keys; what fails becomes one line.

        Args:
            doing: What to do.
            at_once: Begin with it now, where nothing else is under way; `begin` says what may be begun so.
        """
        # A task, not a worker: a worker's life costs a quarter of a millisecond, on every step.
        start = begin if at_once and not self.tasks else asyncio.ensure_future
        task = start(self._guarded(doing))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        asyncio.get_running_loop().call_later(PENDING_AFTER, self._show_pending)

    def _show_pending(self) -> None:
        """A request that is not answered by now is shown with its age, and the clock runs for it."""
        if self.tasks and self.is_running:
            self.workspace.tick()

    async def _guarded(self, doing: Coroutine[Any, Any, Any]) -> None:
        try:
            await doing
        except LadderError as error:
            self.say(error.line(), "error")
        except Exception as error:
            self.unexpected(error)

    def unexpected(self, error: BaseException) -> None:
        """Tell of a fault of our own in one line; its traceback goes to the log file."""
        _LOG.error("unexpected", exc_info=error)
        if self.is_running:
            self.say(f"{type(error).__name__}: {clean_line(str(error))[:200]} — {_UNEXPECTED}", "error")

    def say(self, text: str, severity: str = "information") -> None:
        """Show one line until the next key."""
        self.workspace.notice_line.show(Notice(text, severity))

    def refuse(self, why: str) -> None:
        """Say why something does not open; what is typed right behind the key was meant for that: no commands."""
        self.say(why, "warning")
        self.workspace.stray_keys.begin(why)

    def action_interrupt(self) -> None:
        """Ctrl-C outside the workspace closes what is over it; the start screen stays, over nothing."""
        from ladder_tui.screens.start import StartScreen

        if self.screen is self.workspace:
            self.workspace.action_interrupt()
        elif isinstance(self.screen, StartScreen):
            self.screen.say("nothing runs; q quits")
        elif self.screen is self._waits_for_stop:
            # Pressed once more than it took to open the offer.
            self._more("interrupt")
        else:
            self.pop_screen()

    def offer_more(self) -> None:
        """What a second Ctrl-C offers."""
        from ladder_tui.screens.attaching import what_becomes, what_ends_with_the_engine
        from ladder_tui.screens.choice import ChoiceScreen, Option

        # What is being run to a lane is meant, although the dump may be on screen.
        runs = self.ladder.jumps.live.session if self.ladder.state.runs_to else None
        self._offered_for = session = runs or self.ladder.active
        debug = session.state if session is not None else None
        options = [
            Option("q", "leave", "leave", what_becomes(self.ladder.every_session())),
            Option("n", "do nothing", ""),
        ]
        if debug is not None and session is not None and debug.run not in (Run.NOTHING, Run.DEAD):
            options.insert(0, Option("e", "end the engine", "close", what_ends_with_the_engine(session)))
            if debug.run is Run.RUNNING and debug.capabilities & Capability.PROCESS:
                options.insert(0, Option("s", "stop it hard", "hard", "SIGSTOP, where it is deaf to Ctrl-C"))
            options.insert(0, Option("i", "interrupt again", "interrupt"))
        offer = ChoiceScreen("Ctrl-C came twice. What else?", tuple(options), self.palette)
        self._waits_for_stop = offer if debug is not None and debug.run is Run.RUNNING else None
        self.push_screen(offer, self._more)

    def target_rests(self) -> None:
        """A target stands or has ended: what was offered because it did not is taken back."""
        session = self._offered_for
        if session is not None and session.state.run in (Run.RUNNING, Run.STARTING):
            return
        offer, self._waits_for_stop = self._waits_for_stop, None
        if offer is not None and self.screen is offer:
            offer.dismiss("")
            self.workspace.stray_keys.begin("what was offered is not needed any more: the target has stopped")

    def _more(self, answer: str | None) -> None:
        session = self._offered_for
        if answer == "leave":
            self.exit()
        elif session is not None and answer == "interrupt":
            self.work(session.interrupt())
        elif session is not None and answer == "hard":
            self.work(session.control.stop_hard())
        elif session is not None and answer == "close":
            self.work(session.close())


def _textual_theme(source: ThemeSource) -> Theme:
    """The colours of stock widgets: prompt, palette."""
    color = {"background": "#15171b", "raised": "#1f2228", "foreground": "#c9ced8", **source.colors}
    return Theme(
        name=f"ladder-{source.name}",
        primary=color.get("blue", "#7fb2f5"),
        accent=color.get("blue"),
        warning=color.get("yellow"),
        error=color.get("red"),
        success=color.get("green"),
        foreground=color["foreground"],
        background=color["background"],
        surface=color["raised"],
        panel=color["raised"],
        dark=source.dark,
    )

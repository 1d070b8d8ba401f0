"""What the workspace's keys do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from textual import events

from ladder_backends.debugger.contract import Capability, StepKind
from ladder_backends.rungs import added, rung_at, rung_named
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Run
from ladder_tui.actions import ACTIONS, ALWAYS_COMMANDS, Action, key_of, why_not
from ladder_tui.panes import PANES
from ladder_tui.screens.breakpoint_commands import BreakpointCommands
from ladder_tui.screens.device_commands import DeviceCommands
from ladder_tui.screens.jump_commands import JumpCommands
from ladder_tui.screens.lane_commands import LaneCommands
from ladder_tui.screens.layouts import layout_for, slots_of
from ladder_tui.screens.machine_commands import MachineCommands
from ladder_tui.screens.pair_commands import PairCommands
from ladder_tui.screens.rank_commands import RankCommands
from ladder_tui.screens.run_commands import RunCommands
from ladder_tui.screens.sanitizer_commands import SanitizerCommands
from ladder_tui.screens.thread_commands import ThreadCommands
from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.row import Cell, width_of

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState
    from ladder_tui.panes.source_pane import SourcePane
    from ladder_tui.screens.workspace import Workspace

INTERRUPT_TWICE = 2.0
"""Seconds within which a second Ctrl-C offers more than an interrupt."""

_PROMPT = re.compile(r"\([\w.-]+\) ?")

_BY_CALL: dict[str, Action] = {action.call: action for action in ACTIONS}


def _asks(debug: DebugState) -> bool:
    """Whether the engine waits in the middle of a command: for more lines of it, or for an answer."""
    last = debug.console[-1] if debug.console else ""
    return debug.run is not Run.DEAD and bool(last.strip()) and _PROMPT.match(last) is None


class Commands(
    BreakpointCommands,
    RunCommands,
    ThreadCommands,
    MachineCommands,
    DeviceCommands,
    LaneCommands,
    PairCommands,
    RankCommands,
    SanitizerCommands,
    JumpCommands,
):
    """Actions of the workspace, each by the name that the registry calls."""

    _last_interrupt = float("-inf")
    _interrupted_since = 0.0
    _chord = False
    _is_text = False
    _digit = ""

    @property
    def _home(self) -> Workspace:
        return cast("Workspace", self)

    @property
    def _source(self) -> SourcePane | None:
        from ladder_tui.panes.source_pane import SourcePane

        pane = self._home.panes.get("source")
        return pane if isinstance(pane, SourcePane) else None

    def _say(self, text: str, severity: str = "warning") -> None:
        self._home.ladder_app.say(text, severity)

    def _typing(self) -> bool:
        """Whether what has the focus takes letters as text."""
        focused = self._home.focused
        if focused is None:
            return False
        return focused.TAKES_TEXT if isinstance(focused, LineView) else True

    # Keys ------------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are text where text is typed; nothing else is ever refused without saying why."""
        return not (self._is_text and hasattr(Commands, f"action_{action}"))

    def take_key(self, event: events.Key) -> bool:
        """Look at a key before anything else does.

        Returns:
            Whether it was the second half of `w` + letter, or meant for what had not opened.
        """
        home = self._home
        if not self._chord and home.stray_keys.takes(event):
            return True
        home.notice_line.hide()
        if home.value_popup is not None:
            home.value_popup.hide()
        self._is_text = self._typing() and event.key not in ALWAYS_COMMANDS
        self._digit = event.character if event.character and event.character.isdecimal() else ""
        if not self._chord:
            return False
        self._chord = False
        home.status_bar.chord = ()
        home.status_bar.update()
        for pane_id, entry in PANES.items():
            if event.character == entry.letter:
                if home.show_pane(pane_id) is None:
                    self._say(f"{entry.name} has no place on this rung")
                return True
        return event.key in ("escape", "w")

    def perform(self, action: Action) -> None:
        """Do what a hint, the palette or the help names."""
        home = self._home
        pane = home.panes.get(action.scope)
        target = pane if pane is not None else home.focused if action.scope == "list" else home
        home.ladder_app.work(home.app.run_action(action.call, target or home))

    def _refused(self, call: str) -> bool:
        """Whether the action of `call` makes no sense now; then it says why."""
        home = self._home
        action = _BY_CALL[call]
        reason = why_not(action, home.ladder.state, home.debug)
        if reason and action.opens:
            home.ladder_app.refuse(f"{action.hint_in(home.debug)}: {reason}")
        elif reason:
            self._say(f"{action.hint_in(home.debug)}: {reason}")
        return bool(reason)

    # Run control -----------------------------------------------------------------------------------------------

    def action_resume(self, kind: str) -> None:
        """Continue, next, step or finish."""
        home = self._home
        if self._refused(f"resume('{kind}')"):
            return
        debug, session = home.debug, home.ladder.active
        assert debug is not None
        assert session is not None
        step = StepKind.RUN if kind == "continue" and debug.run is Run.EXITED else StepKind(kind)
        # A step is on its way to the engine before the next turn of the loop.
        home.ladder_app.work(session.resume(step), at_once=debug.run is Run.STOPPED)

    def action_start(self) -> None:
        """Run the program from its beginning to `main`, after a question where it stands somewhere."""
        home = self._home
        if self._refused("start"):
            return
        debug, session = home.debug, home.ladder.active
        assert debug is not None
        assert session is not None
        if debug.run is not Run.STOPPED:
            home.ladder_app.work(session.resume(StepKind.START))
            return
        from ladder_tui.screens.choice import ChoiceScreen
        from ladder_tui.screens.rebuild_offer import ways_to_start

        options, here = ways_to_start(home.ladder, debug)
        question = ChoiceScreen(
            f"Start again? {debug.title or debug.rung}",
            options,
            home.palette,
            why="The run that is stopped here ends; the new one stops at main.",
        )

        def answered(answer: str | None) -> None:
            if answer == "here":
                home.ladder_app.work(session.resume(StepKind.RUN, here))
            elif answer:
                home.ladder_app.work(session.resume(StepKind.START))

        home.app.push_screen(question, answered)

    def action_until(self) -> None:
        """Run to the line that the source's cursor is on."""
        home = self._home
        if self._refused("until"):
            return
        location, session = self.location_at_cursor(), home.ladder.active
        if not location or session is None:
            self._say("until: no source line is selected")
            return
        home.ladder_app.work(session.resume(StepKind.UNTIL, location))

    def action_toggle_breakpoint(self) -> None:
        """Set or take away a breakpoint on the source cursor's line."""
        home = self._home
        if self._refused("toggle_breakpoint"):
            return
        location, session = self.location_at_cursor(), home.ladder.active
        if not location or session is None:
            self._say("break: no source line is selected")
            return
        home.ladder_app.work(session.toggle_breakpoint(location))

    def action_interrupt(self) -> None:
        """Stop the target; the second time in two seconds offers more, unless it ran anew between them."""
        home = self._home
        app = home.ladder_app
        if home.prompt.display:
            home.prompt.close()
            return
        taken = isinstance(home.focused, LineView) and home.focused.take_interrupt()
        if taken or (not home.ladder.state.runs_to and self.interrupts_sanitizer()):
            return
        debug, session = home.debug, home.ladder.active
        runs_anew = debug is not None and debug.run is Run.RUNNING and debug.since != self._interrupted_since
        self._interrupted_since = debug.since if debug is not None else 0.0
        now = app.clock()
        twice = now - self._last_interrupt < INTERRUPT_TWICE and not runs_anew
        self._last_interrupt = now
        if self.interrupts_jump(twice=twice):
            return
        if twice:
            app.offer_more()
            return
        busy = debug is not None and (debug.run in (Run.RUNNING, Run.STARTING) or _asks(debug))
        if session is not None and (busy or session.pending() or session.threads.any_runs()):
            app.work(session.interrupt())
        else:
            self._say("nothing runs; q quits, Ctrl-C again offers more", "information")

    # Going places ----------------------------------------------------------------------------------------------

    def action_panes(self) -> None:
        """Wait for the letter of a pane."""
        home = self._home
        part = layout_for(home.ladder.state.rung, *home.app.size)
        narrow = home.size.width < 100
        choices: list[tuple[Cell, ...]] = []
        for pane_id in dict.fromkeys(pane for slot in slots_of(part) for pane in slot.panes):
            entry = PANES[pane_id]
            name = entry.short if narrow and entry.short else entry.name.lower()
            choices.append((Cell(entry.letter, "key"), Cell(f" {name}", "muted")))
        self._chord = True
        line = tuple(cell for choice in choices for cell in (*choice, Cell("  ")))
        if width_of(line) > home.size.width:
            home.notice_line.offer(choices)
            line = (Cell(key_of("pane.go"), "key"), Cell(" goes to a pane: press its letter", "muted"))
        home.status_bar.chord = line
        home.status_bar.update()

    def action_zoom(self) -> None:
        """Give the focused pane the whole area, or give it back."""
        area, focused = self._home.area, self._home.focused
        area.zoomed = "" if area.zoomed or focused is None or focused.id not in PANES else str(focused.id)
        self._home.arrange_panes()

    def action_next_pane(self, step: int) -> None:
        """Go round the visible panes."""
        home = self._home
        visible = [pane for pane in home.area.regions if pane not in home.area.folded]
        if not visible:
            return
        focused = home.focused.id if home.focused is not None else None
        here = visible.index(focused) if focused in visible else -1 if step > 0 else 0
        home.panes[visible[(here + step) % len(visible)]].take_focus()

    def action_goto(self) -> None:
        """Ask for a line or a place in the grid."""
        if self.asks_place():
            return
        self._home.prompt.ask("go to", self._go_to, placeholder="line, or lane: 3,0,0 240 · #1008 · sm 5 warp 3")

    def goes_to_lane(self, text: str) -> bool:
        """Go to the lane that a text names which was typed where a place of another kind was asked for."""
        from ladder_tui.screens.coordinates import is_lane

        debug = self._home.debug
        lane = debug is not None and bool(debug.capabilities & Capability.DEVICE_FOCUS) and is_lane(text)
        if lane:
            self._go_to(text)
        return lane

    def _go_to(self, text: str) -> None:
        from ladder_tui.panes.grid_rows import focused_kernel
        from ladder_tui.screens.coordinates import read_place

        home = self._home
        try:
            place = read_place(text, focused_kernel(home.debug) if home.debug is not None else None)
        except ValueError as error:
            self._say(str(error))
            return
        if isinstance(place, int):
            home.show_pane("source")
            if (source := self._source) is not None:
                source.go_to_line(place)
            return
        session = home.ladder.active
        if self.went_to_thread(place):
            return
        if session is not None and session.state.run is Run.STOPPED:
            home.ladder_app.work(session.switch(place))
        else:
            # In a dump this opens it first where no lane was visited yet.
            home.ladder_app.work(home.ladder.jump_to(place))

    def action_search(self) -> None:
        """Search in the focused view, or in the source."""
        home = self._home
        view = home.focused if isinstance(home.focused, LineView) else home.panes.get("source")
        if view is None:
            home.ladder_app.refuse("search: nothing is shown that could be searched")
            return

        def search(needle: str) -> None:
            view.take_focus()
            if not view.search(needle):
                self._say(f"not found: {needle}" if needle else "nothing to repeat: type what to search")

        home.prompt.ask("/", search, placeholder=view.SEARCHES)

    def action_evaluate(self) -> None:
        """Ask for an expression; what it is stands in Variables from then on, in sight whoever has the keys."""
        home = self._home
        if self._refused("evaluate"):
            return

        def evaluate(text: str) -> None:
            from ladder_tui.panes.variables_pane import VariablesPane

            pane = home.show_pane("variables", focus=False) if text.strip() else None
            if isinstance(pane, VariablesPane):
                pane.evaluate(text.strip())

        home.prompt.ask("evaluate", evaluate, placeholder="an expression of this frame")

    def action_toggle_python(self) -> None:
        """Read the Python frames of where the target stands and weave them in, or take them out."""
        home = self._home
        session = home.ladder.active
        if self._refused("toggle_python") or session is None:
            return
        if home.show_pane("stack", focus=False) is not None:
            home.ladder_app.work(session.python.toggle())

    def action_console(self) -> None:
        """Go to the engine's command line."""
        if not self._refused("console") and self._home.show_pane("console") is None:
            self._home.ladder_app.refuse("console: it has no place on this rung")

    def action_rung(self, name: str) -> None:
        """Show a rung."""
        self.go_to_rung(name)

    def go_to_rung(self, name: str) -> None:
        """Show a rung, or say why there is nothing on it."""
        home = self._home
        rung = rung_named(name)
        if rung.missing:
            self._say(rung.missing, "information")
        elif name != home.ladder.state.rung:
            home.ladder.switch_rung(name)
            lanes = rung.lanes and home.ladder.state.report is not None
            if rung.opens and not lanes and (home.debug is None or home.debug.run is Run.NOTHING):
                from ladder_tui.screens.carrying import carry

                words = f"nothing is open on this rung; start with: {rung.opens}"
                home.ladder_app.work(carry(home, name, words))

    def action_next_seat(self) -> None:
        """Show the other session of this rung, dump or live program; from a dump alone, open its program."""
        home = self._home
        if home.ladder.next_seat():
            return
        alone = "no other session is open on this rung"
        if home.debug is None or home.debug.seat is not Seat.DUMP:
            self._say(alone)
            return
        from ladder_tui.screens.carrying import carry

        home.ladder_app.work(carry(home, home.debug.rung, alone))

    def action_close_seat(self) -> None:
        """End the session on screen, after a question where a program would end; the other one stays."""
        home, session = self._home, self._home.ladder.active
        if self._refused("close_seat") or session is None:
            return
        from ladder_tui.screens.closing import ask_to_close

        ask_to_close(home, session)

    def action_added_rung(self) -> None:
        """Show the rung of an added debugger: the one of the digit that was pressed, or the next one."""
        home = self._home
        here = rung_at(self._digit)
        names = [rung.name for rung in added()]
        if here is not None and here.name in names:
            self.go_to_rung(here.name)
        elif self._digit or not names:
            self._say("no debugger was added that has this rung")
        else:
            rung = home.ladder.state.rung
            self.go_to_rung(names[(names.index(rung) + 1) % len(names) if rung in names else 0])

    def action_attach(self) -> None:
        """Show the running processes and attach to the one that is chosen."""
        from ladder_tui.screens.attaching import pick_process

        pick_process(self._home)

    def action_help(self) -> None:
        """Show every key."""
        from ladder_tui.screens.help import HelpScreen

        focused = self._home.focused
        scope = str(focused.id or "") if focused is not None else ""
        self._home.app.push_screen(HelpScreen(self._home.palette, scope))

    def action_redraw(self) -> None:
        """Send the whole screen again."""
        self._home.ladder_app.redraw()

    def action_messages(self) -> None:
        """Show what was said so far."""
        from ladder_tui.screens.messages import MessageScreen

        self._home.app.push_screen(MessageScreen(self._home.palette, self._home.notice_line.said))

    def action_request_quit(self) -> None:
        """Leave, after a question where something would end."""
        home = self._home
        live = [
            session.state
            for session in home.ladder.every_session()
            if session.state.run in (Run.RUNNING, Run.STOPPED, Run.STARTING)
        ]
        run, pairs = home.ladder.state.sanitizer, home.ladder.state.pairs
        if not live and not run.active and not pairs.running:
            home.app.exit()
            return
        from ladder_tui.screens.attaching import what_becomes
        from ladder_tui.screens.choice import ChoiceScreen, Option

        names = [state.title or state.rung for state in live]
        names += [f"the sanitizer's {run.tool}".rstrip()] if run.active else []
        names += ["the test of GPUs"] if pairs.running else []
        titles = ", ".join(names)
        ends = "Its run ends; what it found is kept." if run.active else "It ends here, and its workers with it."
        question = ChoiceScreen(
            f"Leave? {titles}",
            (Option("q", "leave", "leave", also="y"), Option("n", "stay", "")),
            home.palette,
            why=what_becomes(home.ladder.every_session()) if live else ends,
        )
        home.app.push_screen(question, lambda answer: home.app.exit() if answer else None)

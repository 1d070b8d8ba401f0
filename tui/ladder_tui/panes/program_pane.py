"""The debugged program's terminal: what it writes, and the keys it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.timer import Timer

from ladder_backends.debugger.contract import Capability
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, DebugState, LadderState, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes import PANES
from ladder_tui.panes.program_keys import key_bytes, paste_bytes
from ladder_tui.panes.program_mouse import MouseAct, mouse_bytes
from ladder_tui.panes.program_view import ProgramTerminal, ProgramView
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import Cell

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

INTERVAL = 0.05
"""Seconds between two helpings of output."""

_LEAVE = ("ctrl+right_square_bracket", "ctrl+]")
ESCAPE_WAITS = 0.5
"""Seconds that an Esc waits for the one that leaves before the program is given it."""

_QUESTIONS = (b"\x1b[6n", b"\x1b[5n", b"\x1b[c", b"\x1b[0c", b"\x1b[>c", b"\x1b[>0c")
_NO_BUTTON = 3
INTERRUPT_HEARD = 0.5
"""Seconds in which Ctrl-C that was typed to a program stops it where its terminal makes a signal of it."""
_WHEEL_UP, _WHEEL_DOWN = 64, 65


class ProgramPane(ProgramView):
    """A small terminal; `i` types to the program, Esc Esc or Ctrl-] leaves.

    While the program is typed to, the mouse is the program's too where it asked for it; with Shift held, and at all
    other times, dragging selects text, which is copied when the button is let go.
    """

    INTEREST = Change.PROGRAM | Change.RUN | Change.RUNG
    BINDINGS = bindings_for("program")

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._next: Timer | None = None
        self._escaped = False
        self._held: Timer | None = None
        self._told_size: tuple[int, int] | None = None
        self._told_for: DebugState | None = None
        self._live: ProgramTerminal | None = None
        self._interrupted = False

    # What it says ---------------------------------------------------------------------------------------------

    def title(self) -> Title:
        """Who gets the keys, and what of the output is gone."""
        state: list[Cell] = []
        terminal = self._terminal
        if self.TAKES_TEXT:
            state.append(Cell("typing to the program · Esc Esc leaves", "warn"))
        elif self.has_focus and self._can_type:
            state += [Cell(key_of("program.type"), "key"), Cell(" types to it", "muted")]
        if terminal is not None:
            backlog, screen = terminal.backlog, terminal.screen
            lost = backlog.dropped_lines + screen.dropped_rows
            if lost or backlog.dropped_bytes:
                words = f"{lost:,} lines" if lost else f"{backlog.dropped_bytes:,} bytes"
                state.append(Cell(f"{' · ' if state else ''}{words} dropped", "muted"))
            if self._selection is not None and not self._dragging:
                words = f"{len(self._selection.lines)} selected, {key_of('list.copy')} copies"
                state.append(Cell(f"{' · ' if state else ''}{words}", "warn"))
            elif not self._at_end:
                state.append(Cell(f"{' · ' if state else ''}scrolled back", "warn"))
        return Title(self.pane_name, tuple(state), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        debug = self.debug
        if debug is None or debug.run is Run.NOTHING:
            return self._under_sanitizer() or "no program is open on this rung"
        if not debug.capabilities & Capability.PROGRAM_TERMINAL:
            return "this target has no terminal of its own"
        return "the program has written nothing"

    def _under_sanitizer(self) -> str:
        """Where the terminal of a program is that runs under the sanitizer; empty where none does."""
        if not self.ladder.state.sanitizer.active:
            return ""
        pane = PANES["output"]
        return f"what runs under the sanitizer writes to {pane.name} ({key_of('pane.go')} {pane.letter})"

    # Output ----------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Show output: at once when it is the first for a while, else with the next helping."""
        if change & Change.RUNG or not self._can_type:
            if self.TAKES_TEXT and self.has_focus:
                self.ladder_app.workspace.stray_keys.begin("the program takes no more")
            self._stop_typing()
        if change & Change.RUN and self._interrupted:
            self._tell_interruption()
        if change & Change.RUNG:
            # It was not looked at for a while: what it asked its terminal meanwhile is asked no more.
            self._live = None
        self._fit()
        if self._next is None and self._sized:
            self._drain()
        elif change & ~Change.PROGRAM:
            self.update()

    def _drain(self) -> None:
        self._next = None
        terminal = self._terminal
        if terminal is None:
            self.update()
            return
        screen, debug = terminal.screen, terminal.debug
        before = screen.revision
        scrolled = screen.scrolled - len(screen.history)
        more = terminal.backlog.drain(debug.program, debug.program_dropped)
        self._answer(terminal)
        if not more:
            self._live = terminal
        if screen.revision != before or more:
            self._next = self.set_timer(INTERVAL, self._drain)
        if not self._at_end:
            self.top = max(0, self.top - (screen.scrolled - len(screen.history) - scrolled))
        self._draw()

    def _answer(self, terminal: ProgramTerminal) -> None:
        """Give the program what it asks of its terminal, unless it asked so long ago that it waits no more."""
        answers = terminal.backlog.take_answers()
        if not answers or not self._can_type:
            return
        if self._live is not terminal:
            if not terminal.debug.program[-1].endswith(_QUESTIONS):
                return
            answers = answers[answers.rindex(b"\x1b") :]
        if self.session is not None:
            self.session.type_to_program(answers)

    def _fit(self) -> None:
        """Give the screen, and the program's terminal, the size of the pane."""
        terminal, session = self._terminal, self.session
        columns, rows = self.body_width, self.body_height
        if terminal is None or session is None or not self._sized:
            return
        terminal.screen.resize(columns, rows)
        told = (columns, rows)
        news = told != self._told_size or terminal.debug is not self._told_for
        if news and terminal.debug.capabilities & Capability.PROGRAM_TERMINAL:
            self._told_size, self._told_for = told, terminal.debug
            session.resize_program(columns, rows)

    def on_resize(self, event: events.Resize) -> None:
        """The program's terminal has the size of the pane."""
        self._fit()
        if self._next is None:
            self._drain()
        else:
            self._draw()

    # Input -----------------------------------------------------------------------------------------------------

    @property
    def _can_type(self) -> bool:
        debug = self.debug
        able = debug is not None and bool(debug.capabilities & Capability.PROGRAM_TERMINAL)
        return able and debug is not None and debug.run in (Run.RUNNING, Run.STOPPED, Run.STARTING)

    def action_type(self) -> None:
        """Let the keys go to the program."""
        if not self._can_type:
            self.ladder_app.refuse(self._under_sanitizer() or "no program that could be typed to")
            return
        self._escaped, self._at_end = False, True
        self._found, self._selection = -1, None
        self._take_text(True)

    def activate(self, hit: Hit) -> None:
        """Enter types to the program; a click only takes the focus."""
        if hit.column is None:
            self.action_type()

    def action_act(self) -> None:
        """Enter types to the program, whether it has written anything or not."""
        self.action_type()

    def _stop_typing(self) -> None:
        self._give_held()
        if self.TAKES_TEXT:
            self._take_text(False)

    def _take_text(self, takes: bool) -> None:
        self.TAKES_TEXT = takes
        terminal = self._terminal
        if terminal is not None and terminal.screen.focus_reports and self._can_type:
            self._give(b"\x1b[I" if takes else b"\x1b[O")
        self._draw()
        # Which keys work is another thing now.
        self.ladder_app.workspace.status_bar.update()

    def on_blur(self) -> None:
        """Keys that go elsewhere do not go to the program."""
        self._stop_typing()

    @property
    def keeps_interrupt(self) -> bool:
        """Ctrl-C is a key like others while a program that runs is typed to."""
        debug = self.debug
        return self.TAKES_TEXT and debug is not None and debug.run is Run.RUNNING

    def take_interrupt(self) -> bool:
        """Give Ctrl-C to the program that is typed to."""
        if not self.keeps_interrupt:
            return False
        self._give(b"\x03")
        if not self._interrupted:
            self._interrupted = True
            self.set_timer(INTERRUPT_HEARD, self._tell_unheard)
        return True

    def _tell_unheard(self) -> None:
        """Ctrl-C that was typed has stopped nothing: a program may read it as any other key."""
        if self._interrupted and self.keeps_interrupt:
            keys = f"Esc Esc {key_of('run.interrupt')}"
            self.ladder_app.say(f"Ctrl-C went to the program, which runs on; {keys} interrupts it")

    def _tell_interruption(self) -> None:
        """Ctrl-C that was typed has stopped the program, which does not hear of it unless it is told to."""
        debug = self.debug
        if debug is not None and debug.run is not Run.RUNNING:
            self._interrupted = False
            if debug.run is Run.STOPPED and debug.run_detail == "interrupted":
                self.ladder_app.say("Ctrl-C stopped it here; `signal SIGINT` in the console lets it hear of that")

    def on_key(self, event: events.Key) -> None:
        """Keys are the program's while it is typed to."""
        if not self.TAKES_TEXT:
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape" and self._escaped:
            # Of the two that leave, the program hears none: its next run would read them as typed.
            self._drop_held()
            self._stop_typing()
            return
        if event.key in _LEAVE:
            self._stop_typing()
            return
        self._escaped = event.key == "escape"
        if self._escaped:
            self._held = self.set_timer(ESCAPE_WAITS, self._give_held)
            return
        terminal = self._terminal
        keys = terminal.screen.application_keys if terminal is not None else False
        raw = key_bytes(event.key, event.character, application_keys=keys)
        if raw is not None:
            self._give(raw)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text is the program's while it is typed to."""
        event.stop()
        terminal = self._terminal
        if self.TAKES_TEXT and terminal is not None:
            self._give(paste_bytes(event.text, bracketed=terminal.screen.bracketed_paste))

    def _drop_held(self) -> bool:
        """Hold no Esc back any more; whether there was one."""
        held, self._held = self._held, None
        if held is not None:
            held.stop()
        return held is not None

    def _give_held(self) -> None:
        """Give the program an Esc that no other one followed."""
        if self._held is not None and self._can_type:
            self._give(b"")
        self._drop_held()

    def _give(self, raw: bytes) -> None:
        session = self.session
        if self._drop_held():
            raw = b"\x1b" + raw
        if session is not None:
            session.type_to_program(raw)
        if not self._at_end:
            self._at_end = True
            self._draw()

    # The program's mouse ---------------------------------------------------------------------------------------

    def _give_mouse(self, act: MouseAct, event: events.MouseEvent, button: int) -> bool:
        """Tell the program of the mouse; False where it did not ask, or Shift keeps the mouse for selecting."""
        terminal = self._terminal
        if not self.TAKES_TEXT or terminal is None or event.shift or not terminal.screen.mouse or event.y < 1:
            return False
        row, column = self._cell(event)
        screen = terminal.screen
        raw = mouse_bytes(
            act, button, column, row, mode=screen.mouse, sgr=screen.mouse_sgr, alt=event.meta, ctrl=event.ctrl
        )
        if raw is not None:
            self._give(raw)
        return True

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Press a button of the program's, or begin to select."""
        if not self._give_mouse(MouseAct.PRESS, event, max(0, event.button - 1)):
            self.begin_selecting(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Tell the program, or select up to here."""
        if self._dragging:
            self.select_to(event)
        else:
            self._give_mouse(MouseAct.MOVE, event, event.button - 1 if event.button else _NO_BUTTON)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let a button of the program's go, or copy what was selected."""
        if self._dragging:
            self.end_selecting()
        else:
            self._give_mouse(MouseAct.RELEASE, event, max(0, event.button - 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel is the program's where it asked for the mouse, else it scrolls."""
        self._wheel(event, _WHEEL_DOWN)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel is the program's where it asked for the mouse, else it scrolls."""
        self._wheel(event, _WHEEL_UP)

    def _wheel(self, event: events.MouseEvent, button: int) -> None:
        taken = self._give_mouse(MouseAct.PRESS, event, button)
        terminal = self._terminal
        if not taken and self.TAKES_TEXT and terminal is not None and terminal.screen.alternate and not event.shift:
            # There is nothing to scroll back to: pagers and editors hear arrow keys, as in other terminals.
            key = "up" if button == _WHEEL_UP else "down"
            self._give((key_bytes(key, None, application_keys=terminal.screen.application_keys) or b"") * 3)
            taken = True
        if taken:
            # Else the handler of all views, which comes next, scrolls.
            event.prevent_default()
            event.stop()

"""The last line, which is always true: state, focus, cost, what is pending, and keys that work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ladder_backends.model.focus import Focus, format_coordinate
from ladder_backends.model.provenance import Provenance
from ladder_backends.rungs import Layout, rung_named
from ladder_backends.session.lane_words import device_to_name
from ladder_backends.session.seat import Seat
from ladder_backends.session.seats import seat_title
from ladder_backends.session.state import Run
from ladder_tui.actions import ACTIONS, Action, Need, key_label, why_not
from ladder_tui.widgets.line_view import Hit, LineView
from ladder_tui.widgets.row import Cell, Row, cut, width_of

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.theming import Palette

PENDING_AFTER = 0.5
"""Seconds after which a request without an answer is shown."""

_RUN_LOOK: dict[Run, tuple[str, str]] = {
    Run.NOTHING: ("○", "muted"),
    Run.STARTING: ("◌", "warn"),
    Run.RUNNING: ("▶", "ok"),
    Run.STOPPED: ("■", "focus"),
    Run.EXITED: ("□", "muted"),
    Run.DUMP: ("●", "focus"),
    Run.DEAD: ("✗", "fault"),
}
_STANDING = (Run.STOPPED, Run.DUMP)
"""States in which there is a focus, and a cost of getting there."""
_OF_ALL = ("stopped", "interrupted")
"""Why a target stands, where that is true of each of its threads."""
_WIDE = 100
"""Columns from which there is room for more than the keys."""

_SEPARATOR = Cell(" │ ", "rule")
_NARROW_DETAIL = 28
_NARROW = 60
"""Columns below which the cost gives way to the key that shows all keys."""
_HELP = next(action for action in ACTIONS if action.id == "help")
_INTERRUPT = next(action for action in ACTIONS if action.id == "run.interrupt")
_OTHER = next(action for action in ACTIONS if action.id == "seat.next")


class StatusBar(LineView, can_focus=False):
    """Tells what is so now; a click on a hint does what it says."""

    HAS_TITLE = False
    HAS_CURSOR = False
    DEFAULT_CSS = "StatusBar { width: 1fr; height: 1; dock: bottom; }"

    def __init__(
        self,
        ladder: Ladder,
        perform: Callable[[Action], None],
        *,
        palette: Palette,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(id="status-bar", palette=palette)
        self.perform = perform
        self.ladder = ladder
        self.clock = clock
        self.chord: tuple[Cell, ...] = ()
        self.how_to_answer: Callable[[], str] = str
        """The keys that lead to typing to a program that seems to wait for it, or an empty string."""
        self._passing = False
        self._stood: tuple[object, ...] | None = None
        self._offered: tuple[object, tuple[Action, ...]] = ((), ())
        self._hinted: tuple[object, tuple[Cell, ...]] = ((), ())

    @property
    def scope(self) -> str:
        """Id of the view that has the keys; asked for, not told: events of focus may come in another order."""
        focused = self.screen.focused
        return (focused.id if focused is not None else None) or ""

    @property
    def row_count(self) -> int:
        """One line."""
        return 1

    def update(self) -> None:
        """Tell anew what is so now."""
        super().update()
        self._stood = self._standing() if not self._passing else None

    def update_at_stop(self) -> None:
        """Tell of a stop, unless all is as at the one before but for its cost, which is told a moment later."""
        if self._stood is None or self._stood != self._standing():
            self.update()

    def _standing(self) -> tuple[object, ...] | None:
        """Whatever is told of a target that stands, but for how much it cost to get there."""
        session = self.ladder.active
        if session is None or session.state.run is not Run.STOPPED or self._pending(session.pending()):
            return None
        debug = session.state
        control, threads = debug.control, debug.threads
        return (
            debug.place_name,
            debug.run_detail,
            debug.fault,
            debug.machine.signals.cause,
            debug.focus,
            debug.asked,
            debug.stopped_elsewhere,
            debug.capabilities,
            debug.stop_to_paint is None,
            threads.count,
            threads.alone,
            threads.non_stop,
            control.backwards,
            control.recording,
            len(control.processes),
            control.startable,
            self.ladder.state.aside.get(debug.rung),
            self.screen.focused,
        )

    def row(self, index: int) -> Row:
        """State at the left, keys at the right."""
        self._passing = bool(self.chord)
        if self.chord:
            return Row((Cell(" "), *self.chord))
        session = self.ladder.active
        debug = session.state if session is not None else None
        cells = [Cell(" "), *self._state(debug), *self._seats(debug)]
        if debug is not None:
            cells += self._focus(debug)
            cells += self._cost(debug)
        pending = self._pending(session.pending()) if session is not None else []
        cells += pending + self._elsewhere_runs() + self._goes_on()
        if answer := self.how_to_answer():
            cells += [
                _SEPARATOR,
                Cell("waits for input? ", "warn"),
                Cell(answer, "key"),
                Cell(" types to it", "muted"),
            ]
        room = self.size.width - width_of(cells) - 2
        return Row(tuple(cells), self._hints(debug, room, bool(pending)))

    def _state(self, debug: DebugState | None) -> list[Cell]:
        run = debug.run if debug is not None else Run.NOTHING
        glyph, style = _RUN_LOOK[run]
        words = str(run)
        if run is Run.NOTHING and self.ladder.state.report is not None:
            return [Cell("● ", "focus"), Cell("report", "strong")]
        machine = self.ladder.state.hardware.machine
        on_hardware = rung_named(self.ladder.state.rung).layout is Layout.HARDWARE
        if run is Run.NOTHING and machine is not None and on_hardware:
            # The pane's title has it whole; what can be pressed here matters more.
            title = cut(machine.title, self.size.width // 4) if self.size.width < _WIDE else machine.title
            return [Cell("● ", "focus"), Cell(title, "strong"), *self._simulated(machine.simulated)]
        job = self.ladder.state.ranks.job
        if run is Run.NOTHING and job is not None and rung_named(self.ladder.state.rung).layout is Layout.RANKS:
            return [Cell("● ", "focus"), Cell(f"{job.launcher} · {len(job.ranks)} ranks", "strong")]
        if debug is not None:
            if run in (Run.RUNNING, Run.STARTING):
                words += f" {max(0.0, self.clock() - debug.since):.0f} s" if debug.since else ""
                to = self.ladder.state.runs_to if debug.seat is Seat.LIVE else ""
                words += f" to {to}" if to else ""
            elif debug.run_detail and run is not Run.DUMP:
                detail = self._detail(debug) + self._elsewhere(debug)
                words = detail if run in (Run.STOPPED, Run.EXITED, Run.DEAD) else f"{words} · {detail}"
            if debug.provenance is Provenance.RECORDING:
                words += " (recording)"
        fault = debug is not None and debug.fault
        return [Cell(f"{glyph} ", style), Cell(words, "fault" if fault else "strong"), *self._way(debug)]

    def _simulated(self, title: str) -> list[Cell]:
        """That the machine on screen does not exist."""
        return [Cell(" · simulated", "warn")] if title else []

    def _seats(self, debug: DebugState | None) -> list[Cell]:
        """Which of a rung's two sessions is on screen, and the key to the other one."""
        other = self.ladder.state.aside.get(debug.rung) if debug is not None else None
        if debug is None or other is None:
            return []
        here = [] if debug.run is Run.DUMP else [Cell(f" · {debug.seat}", "muted")]
        there = seat_title(other) if self.size.width >= 100 else str(other.seat)
        return [*here, Cell("  "), Cell(_OTHER.key_label, "key", _OTHER), Cell(f" {there}", "muted", _OTHER)]

    def _way(self, debug: DebugState | None) -> list[Cell]:
        """Which way it runs where that is not simply forwards, and that several processes are held."""
        if debug is None:
            return []
        control = debug.control
        cells = [Cell(" ◀ backwards", "warn")] if control.backwards else []
        if control.recording and not control.backwards:
            cells.append(Cell(" ● recording" if self.size.width >= 100 else " ● rec", "warn"))
        if control.processes:
            cells.append(Cell(f" · {len(control.processes)} processes", "muted"))
        return cells

    def _detail(self, debug: DebugState) -> str:
        """Why it stands; why the signal came says more than what it is called."""
        if self.size.width < 100:
            words = debug.run_detail.split(",")[0]
            # The line is marked in the source; the keys are not told elsewhere.
            return words if len(words) <= _NARROW_DETAIL else words.split(" at ")[0]
        cause = debug.machine.signals.cause if debug.run is Run.STOPPED else None
        if cause is None or not cause.words:
            return debug.run_detail
        return f"{debug.run_detail.split(',')[0]}: {cause.words}"

    def _elsewhere(self, debug: DebugState) -> str:
        """Which thread stopped so, where the focus is in another one."""
        thread = debug.stopped_elsewhere
        if thread is None or debug.run is not Run.STOPPED or debug.run_detail in _OF_ALL:
            return ""
        return f" in thread {thread}" if self.size.width >= 100 else f" in {thread}"

    def _focus(self, debug: DebugState) -> list[Cell]:
        focus = debug.focus
        some_stand = debug.run is Run.RUNNING and (debug.threads.non_stop or debug.threads.alone)
        if focus is None or not (debug.run in _STANDING or some_stand):
            return []
        device = device_to_name(debug)
        on = "" if device is None else f"device {device} " if self.size.width >= 100 else f"dev {device} "
        cells = [Cell("  "), Cell(on + self._where(focus), "focus"), *self._among(debug)]
        if debug.asked is not None:
            if focus.satisfies(debug.asked):
                cells.append(Cell(" · asked = reached" if self.size.width >= 100 else " =", "ok"))
            else:
                asked = self._where(debug.asked)
                cells.append(Cell(f" ≠ asked {asked}", "fault"))
        return cells

    def _among(self, debug: DebugState) -> list[Cell]:
        """Of how many threads the focused one is, where they are several, and whether only it runs."""
        seen, focus = debug.threads, debug.focus
        if focus is None or focus.index("thread") is None or seen.count < 2:
            return []
        wide = self.size.width >= 100
        # Not "of": numbers of threads that have ended are not given again, so that thread 12 may be one of two.
        cells = [Cell(f" · {seen.count:,} threads" if wide else f" ({seen.count:,})", "muted")]
        if seen.alone:
            cells.append(Cell(" · only this thread runs" if wide else " alone", "warn"))
        elif seen.non_stop:
            cells.append(Cell(" · non-stop" if wide else " non-stop", "warn"))
        return cells

    def _where(self, focus: Focus) -> str:
        levels = [name for name in ("block", "thread") if name in focus] or list(focus)[:2]
        if self.size.width < 100 and len(levels) == 2:
            return "".join(format_coordinate(focus[name]) for name in levels)
        return focus.describe(*levels)

    def _cost(self, debug: DebugState) -> list[Cell]:
        seconds, word = debug.stop_to_paint, ""
        if debug.run is Run.DUMP:
            seconds, word = debug.jump_seconds, "jump "
        if seconds is None or debug.run not in _STANDING or self.size.width < _NARROW:
            return []
        return [_SEPARATOR, Cell(f"{word}{seconds * 1000:.{1 if seconds < 0.01 else 0}f} ms", "muted")]

    def _elsewhere_runs(self) -> list[Cell]:
        """The run of the sanitizer, on the rungs that do not show it."""
        run = self.ladder.state.sanitizer
        if not run.active or rung_named(self.ladder.state.rung).findings:
            return []
        found = f" · {run.found:,} found" if run.found else ""
        return [
            _SEPARATOR,
            Cell(f"{run.tool or 'sanitizer'} {max(0.0, self.clock() - run.begun):.0f} s{found}", "warn"),
        ]

    def _goes_on(self) -> list[Cell]:
        """When ranks that stand in a debugger go on by themselves."""
        at = self.ladder.state.ranks.goes_on_at
        if at is None:
            return []
        return [_SEPARATOR, Cell(f"goes on in {max(0.0, at - self.clock()):.0f} s", "warn")]

    def _pending(self, pending: Sequence[tuple[str, float]]) -> list[Cell]:
        waiting = [(text, age) for text, age in pending if age >= PENDING_AFTER]
        if not waiting:
            return []
        text, age = waiting[0]
        more = f" +{len(waiting) - 1}" if len(waiting) > 1 else ""
        return [_SEPARATOR, Cell(f"waits {age:.0f} s for {text[:24]}{more}", "warn")]

    def _hints(self, debug: DebugState | None, room: int, waiting: bool) -> tuple[Cell, ...]:
        """What fits of the keys that could be hinted at; worked out anew only where something has changed."""
        offered = self._offer(debug)
        key = (self._offered[0], room, waiting)
        if self._hinted[0] != key:
            self._hinted = key, tuple(self._fitting(offered, debug, room, waiting))
        return self._hinted[1]

    def _fitting(
        self, offered: tuple[Action, ...], debug: DebugState | None, room: int, waiting: bool
    ) -> Iterator[Cell]:
        """As many keys as fit, what stops a wait first, then those of the focused pane; `?` is always there."""
        if waiting and _INTERRUPT not in offered:
            offered = (_INTERRUPT, *offered)
        last = self._written(_HELP, debug)
        room -= len(last[0]) + len(last[1]) + 3
        if room < 0:
            return
        chosen: list[Action] = []
        for action in offered:
            size = sum(map(len, self._written(action, debug))) + 3
            if size <= room:
                chosen.append(action)
                room -= size
        for number, action in enumerate([*chosen, _HELP]):
            key, hint = self._written(action, debug)
            yield Cell(("  " if number else "") + key, "key", action)
            yield Cell(f" {hint}", "muted", action)

    def _written(self, action: Action, debug: DebugState | None) -> tuple[str, str]:
        """Key and words of a hint: where letters are text, a key that is none."""
        return key_label(action.key_in_text) if self._typing else action.key_label, action.hint_in(debug)

    @property
    def _typing(self) -> bool:
        """What has the focus takes letters as text."""
        focused = self.screen.focused
        return isinstance(focused, LineView) and focused.TAKES_TEXT

    def _offer(self, debug: DebugState | None) -> tuple[Action, ...]:
        """What could be hinted at now, the most useful first; worked out anew only where something has changed."""
        state = self.ladder.state
        run, able = (debug.run, debug.capabilities) if debug is not None else (Run.NOTHING, None)
        startable = debug is not None and debug.control.startable
        typing, focused = self._typing, self.screen.focused
        kept = isinstance(focused, LineView) and focused.keeps_interrupt
        empty = isinstance(focused, LineView) and not focused.row_count
        key = (run, able, startable, self.scope, state.report is None, typing, kept, empty)
        if self._offered[0] != key:
            offered = [
                action
                for action in ACTIONS
                if action.hinted
                and action is not _HELP
                and not (action is _INTERRUPT and kept)
                and (action.hinted_in or action.scope) in (self.scope, "workspace")
                and (action.key_in_text if typing else action.scope != "console")
                and not (empty and action.needs & Need.ROW)
                and not why_not(action, state, debug)
            ]
            stepping = run is Run.STOPPED and self.scope in ("source", "")
            if run is Run.RUNNING:
                offered.sort(key=lambda one: (one is not _INTERRUPT, one.scope != self.scope))
            else:
                offered.sort(key=lambda one: (one.scope != self.scope or stepping, one.group != "Run control"))
                # Beside what Enter does.
                beside = [one for one in offered if one.hinted_in]
                rest = [one for one in offered if not one.hinted_in]
                offered = [*rest[:1], *beside, *rest[1:]]
            self._offered = key, tuple(offered)
        return self._offered[1]

    def activate(self, hit: Hit) -> None:
        """Do what the hint under the mouse says."""
        if isinstance(hit.target, Action):
            self.perform(hit.target)

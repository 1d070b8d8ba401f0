"""Follows an engine: events in, one state out.

A stop is one notification. Its source place comes from the record; frames and variables are asked for together, and
nothing is told until they are in, or until they are late. While the target runs for less than `RUNNING_AFTER`
nothing is told either: a step is a step, not a run and a stop.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ladder_backends.debugger.contract import Capability, Debugger
from ladder_backends.errors import EngineError, LadderError
from ladder_backends.model.events import (
    ConsoleOutput,
    EngineExited,
    EngineNotice,
    Event,
    FocusChanged,
    ProgramOutput,
    TargetExited,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.answers import PATIENCE, Answers, Rows, answer, frame_at, send, settle
from ladder_backends.session.faulting import level_with_source
from ladder_backends.session.lane_words import lane_of
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.output import OutputLog
from ladder_backends.session.own_frames import is_library
from ladder_backends.session.state import Change, DebugState, Grid, Notice, Run
from ladder_backends.session.value_changes import ValueChanges
from ladder_backends.session.why_none import status_words, why_no_variables
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.session.jump import JumpOutcome

SECOND_PART = 0.25
"""Seconds to wait for the record that tells which signal ended a program."""

RUNNING_AFTER = 0.05
"""Seconds without a stop after which the target is shown as running."""

OWN_WITHIN = 16
"""Frames that are asked for where the target stands in a library: among them is the program's own, mostly."""

_STEPPED = frozenset({"end-stepping-range", "function-finished"})
"""Reasons of stops that come fast and stand where they were expected to."""

_ENDED_BY_OTHERS = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT})

_STOPPED_CHANGE = Change.RUN | Change.FOCUS | Change.FRAMES | Change.VARIABLES | Change.SOURCE | Change.DISASSEMBLY


class Follower:
    """Keeps a `DebugState` in step with a debugger's events.

    Attributes:
        debugger: The engine that is followed; a restart puts another one here.
        running: The target runs, whether that is shown already or not.
        rows: How much each stop asks for.
        looks: A stop is looked into; otherwise only that it stands is noted.
        overlooked: What is to be seen at the last stop was not asked for.
        at_rest: Set while nothing runs and no answer is awaited.
    """

    def __init__(self, debugger: Debugger, state: DebugState, notifier: Notifier) -> None:
        self.debugger = debugger
        self.running = False
        self.rows = Rows()
        self.looks = True
        self.overlooked = False
        self.at_rest = asyncio.Event()
        self.at_rest.set()
        self._state = state
        self._notifier = notifier
        self._output = OutputLog(state)
        self._values = ValueChanges()
        self._stop = 0
        self._anew = False
        self._ended_before: TargetExited | None = None
        self._asking: asyncio.Task[None] | None = None
        self._level = 0
        self._unseen: TargetStopped | None = None
        self._returned: Variable | None = None
        self._origin: Place | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._shown_at = 0.0

    # -- events

    def take(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, ConsoleOutput):
            self._output.console(event.text)
            self._notifier.tell(Change.CONSOLE)
        elif isinstance(event, ProgramOutput):
            self._output.program(event.raw)
            self._notifier.tell(Change.PROGRAM)
        elif isinstance(event, TargetRunning):
            self._run(event)
        elif isinstance(event, TargetStopped):
            self._stopped(event)
        elif isinstance(event, TargetExited):
            self._exited(event)
        elif isinstance(event, FocusChanged):
            self._focus_changed(event)
        elif isinstance(event, EngineNotice):
            self.notice(event.text, event.severity)
        elif isinstance(event, EngineExited):
            self._engine_exited(event)

    def notice(self, text: str, severity: str = "information") -> None:
        """Tell the user one line."""
        notice = Notice(clean_line(" ".join(text.split())), severity)
        self._state.notice = notice
        self._state.notices.append(notice)
        self._notifier.tell(Change.NOTICE)

    def failed(self, error: LadderError) -> None:
        """Tell the user of an error in one line."""
        self.notice(error.line(), "error")

    def restarted(self) -> None:
        """Forget what belonged to an earlier run of the program."""
        self._values.forget()
        self._output.begin_run()

    def expect_run(self, *, anew: bool = False) -> None:
        """The engine is about to be told to run: what it tells until then is part of that run's notification.

        Args:
            anew: A program that is there already is ended for it, which is no news.
        """
        self._anew, self._ended_before = anew, None
        self.at_rest.clear()
        self._notifier.hold()
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(RUNNING_AFTER, self._notifier.release)

    def stays(self) -> None:
        """The engine refused to run."""
        ended, self._ended_before = self._ended_before, None
        self._anew = False
        if ended is not None:
            self._exited(ended)
        if not self.running and self._asking is None:
            self._stop_timer()
            self._notifier.release()
            self.at_rest.set()

    def turn_to(self, focus: Focus, stop: TargetStopped | None) -> None:
        """Follow another of several threads with states of their own: one that stands, or one that runs."""
        if stop is not None:
            # It is shown from now on, whenever it stopped.
            self._stopped(replace(stop, focus=focus, at=time.monotonic()))
            return
        self.running = True
        self.at_rest.clear()
        self._drop_questions()
        self._stop_timer()
        self._state.focus = focus
        self._show_running(TargetRunning(time.monotonic()))

    def cancel(self) -> None:
        """Ask nothing more."""
        self._drop_questions()
        self._stop_timer()

    def _run(self, event: TargetRunning) -> None:
        self.running = True
        self._anew = False
        self._returned = None
        self.at_rest.clear()
        unseen = self._unseen
        self._drop_questions()
        if unseen is not None and time.monotonic() - self._shown_at > 2 * PATIENCE:
            # Steps come faster than their answers: show at least where they pass.
            self._show(unseen, FrameWindow((unseen.frame,) if unseen.frame else ()), VariableWindow())
            self._notifier.tell(_STOPPED_CHANGE)
            self._notifier.release()
        self._notifier.hold()
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(RUNNING_AFTER, self._show_running, event)

    def _show_running(self, event: TargetRunning) -> None:
        self._timer = None
        state = self._state
        state.run, state.run_detail, state.since, state.fault = Run.RUNNING, "", event.at, False
        self._clear_place()
        self._notifier.tell(_STOPPED_CHANGE)
        self._notifier.release()

    def _stopped(self, event: TargetStopped) -> None:
        self.running = False
        self._stop += 1
        self._stop_timer()
        self._drop_questions()
        if not self.looks:
            self.overlooked = True
            self._show(event, FrameWindow(), VariableWindow(note="reading …"))
            self._notifier.tell(_STOPPED_CHANGE)
            self.at_rest.set()
            return
        self._notifier.hold()
        self._unseen = event
        self._returned = event.returned
        self._ask(self._follow_stop(event))

    def _exited(self, event: TargetExited) -> None:
        if self._anew:
            self._ended_before = event
            return
        state = self._state
        self.running = False
        self._stop_timer()
        self._drop_questions()
        if event.words:
            detail = event.words
        elif event.signal:
            detail = f"ended by {event.signal}"
        elif event.code is None:
            # The record of a signal's death comes in two parts; the first knows less than what is shown.
            detail = state.run_detail if state.run is Run.EXITED else "gone"
        else:
            detail = "exited normally" if event.code == 0 else f"exited with code {event.code}"
        unknown = event.code is None and not event.signal and not event.words
        if not (unknown and state.run is Run.EXITED):
            state.exit_code, state.fault = event.code, bool(event.signal)
        state.run, state.run_detail, state.since = Run.EXITED, detail, time.monotonic()
        self._clear_place()
        self._values.forget()
        self._notifier.tell(_STOPPED_CHANGE)
        self._notifier.release()
        if unknown and not self.at_rest.is_set():
            # The second part may come a read later; of what was killed or let go there is none.
            asyncio.get_running_loop().call_later(SECOND_PART, self._gone)
        else:
            self.at_rest.set()

    def _gone(self) -> None:
        if self._state.run is Run.EXITED and not self.running:
            self.at_rest.set()

    def _engine_exited(self, event: EngineExited) -> None:
        state = self._state
        self.running = self._anew = False
        self._stop_timer()
        self._drop_questions()
        state.run, state.since = Run.DEAD, time.monotonic()
        self._clear_place()
        state.capabilities, state.jump_seconds = Capability.NONE, None
        name = self.debugger.name
        if event.expected or event.status == 0:
            # A status of zero is that of an engine that was told to go, as by `quit` on its command line.
            state.run_detail = f"{name} has ended"
        else:
            state.run_detail = f"{name} died{status_words(event.status)}"
            # What another process has ended did not have the time to say why.
            words = event.last_words.strip().splitlines() if event.status not in _ENDED_BY_OTHERS else []
            said = f"; its last words: {words[-1]}" if words else ""
            self.notice(f"{state.run_detail} — continue to start it again{said}", "error")
        self._notifier.tell(_STOPPED_CHANGE | Change.BREAKPOINTS)
        self._notifier.release()
        self.at_rest.set()

    def _focus_changed(self, event: FocusChanged) -> None:
        if self.running or self._state.run not in (Run.STOPPED, Run.DUMP):
            return
        if event.focus is not None:
            self._forget_asked(event.focus)
            self._state.focus = event.focus
        # A frame that was gone to a moment ago is not shown yet, and stays the one that is meant.
        now = self._level if self._asking is not None else self._state.selected_frame
        self.look_again(event.frame.level if event.frame is not None else now)

    def _forget_asked(self, now: Focus) -> None:
        """A focus that moved without being asked to makes the last wish, and why it failed, a thing of the past."""
        state, before = self._state, self._state.focus
        if before is None or any(now.get(level) != before.get(level) for level in ("block", "thread")):
            state.asked, state.reason, state.alternatives = None, "", ()

    def show_jump(self, outcome: JumpOutcome) -> None:
        """Take what a jump has read; only the blocks round it are asked for, and come later."""
        state = self._state
        self._give_way()
        self.overlooked = False
        self._stop += 1
        state.focus = outcome.reached
        state.frames, state.selected_frame = outcome.frames, 0
        state.place = outcome.frame.place if outcome.frame is not None else None
        variables = VariableWindow(outcome.variables, note=outcome.note)
        state.variables = self.mark(variables, outcome.frame)
        state.grid = replace(state.grid, warps=outcome.warps)
        # Lanes of one kernel mostly stand at one instruction: a view that has its code does not ask again.
        address = outcome.frame.address if outcome.frame is not None else ""
        if all(one.address != address for one in state.disassembly):
            state.disassembly = ()
        kernel = outcome.reached.index("kernel") if outcome.reached is not None else None
        if outcome.reached is not None and not any(blocks.kernel == kernel for blocks in state.grid.blocks):
            self._ask(self._follow_blocks(kernel or 0))

    async def _follow_blocks(self, kernel: int) -> None:
        try:
            kernels, blocks = await asyncio.gather(self.debugger.kernels(), self.debugger.blocks(kernel))
        except EngineError:
            # A recording may not hold them; the map of lanes stands without.
            return
        finally:
            self.at_rest.set()
        self._state.grid = replace(self._state.grid, kernels=tuple(kernels), blocks=tuple(blocks))
        self._notifier.tell(Change.GRID)

    # -- questions

    def show_grid(self, seen: bool) -> None:
        """Somebody looks at the grid now, or no longer; what was not asked for at the last stop is asked for."""
        hidden, self.rows.grid = not self.rows.grid, seen
        stands = self._state.run is Run.STOPPED and not self.running and self._asking is None
        if hidden and seen and stands and self._state.focus is not None and "block" in self._state.focus:
            self.look_again(self._state.selected_frame)

    def look_again(self, level: int = 0) -> None:
        """Ask for everything on screen again, as after a change of focus; `level` is the frame selected now."""
        self._give_way()
        self.overlooked = False
        self._ask(self._follow_focus(level), level)

    def _give_way(self) -> None:
        """What was asked gives way to what is seen instead; a stop that was not shown yet is shown without it."""
        unseen = self._unseen
        self._drop_questions()
        if unseen is not None:
            self._show(unseen, FrameWindow(), VariableWindow(note="reading …"))
            self._notifier.tell(_STOPPED_CHANGE)
            self._notifier.release()

    def _ask(self, questions: Coroutine[Any, Any, None], level: int = 0) -> None:
        self.at_rest.clear()
        self._level = level
        # A task of its own: what others have to tell the engine about this event goes before the questions.
        self._asking = task = asyncio.get_running_loop().create_task(questions)
        task.add_done_callback(self._asked)

    def _asked(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        self._notifier.release()
        self.at_rest.set()
        if not isinstance(error, LadderError):
            raise error
        self.failed(error)

    def _drop_questions(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        self._unseen = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _follow_stop(self, event: TargetStopped) -> None:
        focus, count = event.focus, self.rows.frames
        if event.reason not in _STEPPED and event.frame is not None and is_library(event.frame):
            # Which of the program's own lines led there is what is asked first, of `abort` as of a wait.
            count = max(count, OWN_WITHIN)
        level = await level_with_source(self.debugger, event)
        answers = send(self.debugger, self.rows, level, max(count, level + 1), focus)
        try:
            await settle(answers)
            frames = answer(answers.frames, FrameWindow())
            variables = answer(answers.variables, VariableWindow(frame_level=level, note="reading …"))
            self._show(event, frames, variables, level)
            self._show_rest(answers)
            self._unseen = None
            self._notifier.tell(_STOPPED_CHANGE | Change.BREAKPOINTS)
            self._notifier.release(at_once=True)
            await self._late(answers)
        finally:
            self._over(answers)

    async def _follow_focus(self, level: int) -> None:
        state = self._state
        answers = send(self.debugger, self.rows, level, max(self.rows.frames, level + 1), state.focus)
        try:
            await settle(answers)
            frames = answer(answers.frames, state.frames)
            state.frames = frames
            state.selected_frame = level
            frame = frame_at(frames, level)
            state.place = frame.place if frame is not None else None
            if self._origin is not None and not level and state.focus == state.stopped_in:
                # Still where the fault came, and shown from another side.
                state.place = self._origin
            variables = answer(answers.variables, VariableWindow(frame_level=level, note="reading …"))
            state.variables = self.mark(variables, frame)
            self._show_rest(answers)
            self._notifier.tell(_STOPPED_CHANGE)
            await self._late(answers)
        finally:
            self._over(answers)

    async def _late(self, answers: Answers) -> None:
        """Show what comes after the stop was shown, piece by piece."""
        state = self._state
        late = {task for task in answers.tasks() if not task.done()}
        while late:
            done, late = await asyncio.wait(late, return_when=asyncio.FIRST_COMPLETED)
            if answers.frames in done:
                self._show_frames(answer(answers.frames, state.frames))
                self._notifier.tell(Change.FRAMES | Change.SOURCE)
            if answers.variables in done:
                frame = frame_at(state.frames, state.selected_frame)
                state.variables = self.mark(answer(answers.variables, VariableWindow()), frame)
                self._notifier.tell(Change.VARIABLES)
            if answers.values is not None and answers.values in done:
                self._notifier.tell(Change.VARIABLES)
            if done - {answers.frames, answers.variables, answers.values}:
                self._show_rest(answers)
                self._notifier.tell(Change.GRID | Change.DISASSEMBLY)

    def _over(self, answers: Answers) -> None:
        for task in answers.tasks():
            task.cancel()
        if asyncio.current_task() is self._asking:
            self._asking = None
            if not self.running:
                self.at_rest.set()

    # -- state

    def mark(self, window: VariableWindow, frame: Frame | None) -> VariableWindow:
        """Variables of a frame with those marked that differ from the previous stop in its function."""
        if not window.variables and not window.note and frame is not None:
            window = replace(window, note=why_no_variables(frame, self.debugger.missing_program))
        function = frame.function if frame is not None else ""
        # Lanes are compared with themselves: going to another one changes nothing.
        marked = self._values.mark(window, (function, *lane_of(self._state.focus)), self._stop)
        if self._returned is not None and not window.frame_level:
            return replace(marked, variables=(self._returned, *marked.variables))
        return marked

    def _show(self, event: TargetStopped, frames: FrameWindow, variables: VariableWindow, level: int = 0) -> None:
        state = self._state
        state.run = Run.STOPPED if self.debugger.capabilities & Capability.RUN_CONTROL else Run.DUMP
        state.run_detail, state.since, state.fault = event.description, event.at, event.fault
        state.focus = state.stopped_in = event.focus
        state.selected_frame = level
        state.frames = FrameWindow((event.frame,)) if event.frame is not None else FrameWindow()
        self._origin = event.origin
        state.place = event.origin or (event.frame.place if event.frame is not None else None)
        self._show_frames(frames)
        state.variables = self.mark(variables, frame_at(state.frames, level))
        state.disassembly = ()
        self._shown_at = time.monotonic()

    def _show_frames(self, frames: FrameWindow) -> None:
        """Take a stack; until then only the stop's record has told of its innermost frame."""
        state = self._state
        if not frames.frames:
            return
        state.frames = frames
        selected = frame_at(frames, state.selected_frame)
        if state.place is None and selected is not None:
            state.place = selected.place

    def _show_rest(self, answers: Answers) -> None:
        state = self._state
        if answers.grid is not None and answers.grid.done():
            state.grid = answer(answers.grid, Grid())
            self._notifier.tell(Change.GRID)
        elif answers.grid is None and (state.grid.warps or state.grid.blocks):
            # What is not asked for, because nobody sees it, is not shown as it was.
            state.grid = Grid(kernels=state.grid.kernels if self.rows.grid is False else ())
            self._notifier.tell(Change.GRID)
        if answers.instructions is not None and answers.instructions.done():
            state.disassembly = answer(answers.instructions, ())

    def _clear_place(self) -> None:
        state = self._state
        state.frames, state.variables, state.disassembly = FrameWindow(), VariableWindow(), ()
        state.place, state.selected_frame = None, 0
        if state.run is not Run.RUNNING:
            state.focus, state.grid = None, Grid()

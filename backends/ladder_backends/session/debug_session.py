"""One debugger and its state: events in, intents out.

A stop is one notification: the source place comes from the record itself, the visible frames and variables are
asked for together, and listeners are told once when both answers are in. While the user steps faster than the
engine answers, the newest stop wins and the questions of older ones are dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability, Debugger, FocusRefused, StepKind
from ladder_backends.debugger.target import AttachTarget, CoreTarget, GpuDumpTarget, LaunchTarget, Target
from ladder_backends.errors import EngineDied, EngineError, LadderError
from ladder_backends.model.events import EngineExited, Event, TargetExited, TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable
from ladder_backends.session.answers import frame_at
from ladder_backends.session.breakpoint_acts import BreakpointActs
from ladder_backends.session.breakpoints import Breakpoints
from ladder_backends.session.device import SessionDevice
from ladder_backends.session.follower import Follower
from ladder_backends.session.lane_values import SessionLaneValues
from ladder_backends.session.ledger import Ledger
from ladder_backends.session.machine import Machine
from ladder_backends.session.notifier import Notifier, Subscriber
from ladder_backends.session.python_stack import PythonStack
from ladder_backends.session.rebuild import Rebuild
from ladder_backends.session.run_control import RunControl
from ladder_backends.session.stack import SessionStack
from ladder_backends.session.state import NOT_STARTED, NOT_STARTED_HERE, Change, DebugState, Run
from ladder_backends.session.terminal_acts import TerminalActs
from ladder_backends.session.threads import SessionThreads
from ladder_backends.session.titles import title_of
from ladder_backends.session.typed_ahead import TypedAhead
from ladder_backends.session.values import SessionValues
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.session.jump import JumpOutcome

__all__ = ["DebugSession", "Subscriber"]

_STEPS_END = frozenset({"end-stepping-range", "function-finished", "location-reached"})


class DebugSession(BreakpointActs, TerminalActs):
    """Drives one debugger and keeps its `DebugState`.

    Args:
        debugger: Not opened yet.
        replacement: Makes another debugger of the kind, for a restart after the engine has died.
    """

    state: DebugState

    def __init__(self, debugger: Debugger, *, replacement: Callable[[], Debugger] | None = None) -> None:
        self.debugger = debugger
        self.state = DebugState(rung=debugger.rung, provenance=debugger.provenance)
        self.target: Target | None = None
        self._replacement = replacement
        self._notifier = Notifier()
        self._follower = Follower(debugger, self.state, self._notifier)
        self.python = PythonStack(self.state, self._follower, self._notifier, lambda: self.target)
        self._breakpoints = Breakpoints(self.state, self._notifier, self._follower.notice)
        self.stack = SessionStack(self.state, self._notifier, self._follower)
        self.threads = SessionThreads(self.state, self._notifier, self._follower, self.switch)
        self.machine = Machine(self)
        self._follower.rows.code = self.machine.code.here
        self.values = SessionValues(self)
        self._follower.rows.values = self.values.follow
        self.rebuild = Rebuild(self.state, self._notifier)
        self.rebuild.read_unasked = self._rebind
        self.ledger = Ledger(self)
        self.control = RunControl(self)
        self.device = SessionDevice(self)
        self.lane_values = SessionLaneValues(self)
        self._typed_ahead = TypedAhead(self.state, self.tell, self.notice)
        self._queued: tuple[StepKind, str] | None = None
        self._accepting = 0
        self._last_stop: TargetStopped | None = None
        self._stepping: asyncio.Task[None] | None = None
        self._rebinding: asyncio.Task[None] | None = None
        self._program_size: tuple[int, int] | None = None
        debugger.listen(self._take)

    # -- listening

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` after each coherent change; returns the way to stop that."""
        return self._notifier.subscribe(subscriber)

    def show_rows(
        self, *, frames: int, variables: int, instructions: int = 0, python: bool = False, grid: bool = True
    ) -> None:
        """How many rows of each the screen shows; each stop asks for that many and no more."""
        rows = self._follower.rows
        rows.frames, rows.variables, rows.instructions = max(1, frames), max(1, variables), max(0, instructions)
        self.python.show(python)
        self._follower.show_grid(grid)

    def look_at_stops(self, looks: bool) -> None:
        """Ask for what is to be seen at stops; or only note where it stands, as on the way to a place."""
        self._follower.looks = looks

    def tell(self, change: Change) -> None:
        """Notify subscribers of a change that was made to the state from outside, as by a paint or a jump."""
        self._notifier.tell(change)

    def notice(self, text: str, severity: str = "information") -> None:
        """Tell the user one line."""
        self._follower.notice(text, severity)

    def pending(self) -> Sequence[tuple[str, float]]:
        """Commands without an answer: text and age in seconds."""
        return self.debugger.pending()

    async def at_rest(self) -> None:
        """Wait until the target stands or has ended and everything about it is shown."""
        while True:
            await self._follower.at_rest.wait()
            # What was only just allowed to settle may have been followed by the next thing.
            await asyncio.sleep(0)
            if self._follower.at_rest.is_set():
                return

    # -- opening and ending

    async def open(self, target: Target, *, run: bool = True, look: bool = True) -> None:
        """Open the debugger on a target, apply stored breakpoints, and start a program.

        Args:
            target: What to debug.
            run: Let a program run at once rather than wait for `resume`.
            look: Ask for what is to be seen where the engine stands; a jump that follows asks for itself.

        Raises:
            TargetInvalid, EngineMissing, EngineDied: As the debugger says.
        """
        state = self.state
        self.target = target
        state.title, state.run, state.run_detail = title_of(target), Run.STARTING, ""
        self._notifier.tell(Change.RUN)
        self._follower.looks = look
        self._typed_ahead.begin()
        if isinstance(target, AttachTarget):
            # The engine has accepted before it tells where the process stands.
            self._follower.expect_run()
        try:
            await self.debugger.open(target)
        except Exception as error:
            self._follower.stays()
            if state.run is not Run.DEAD:
                why = error.line() if isinstance(error, LadderError) else f"{title_of(target)} was not opened"
                state.run, state.run_detail = Run.NOTHING, why
            self._typed_ahead.drop("the engine was not opened")
            self._notifier.tell(Change.RUN)
            raise
        finally:
            self._follower.looks = True
        state.capabilities = self.debugger.capabilities
        state.provenance = self.debugger.provenance
        self.rebuild.opened(target, self.debugger)
        self.threads.opened(target)
        if state.provenance is Provenance.ENGINE:
            self.values.opened(target)
        await self.control.opened(target)
        await self.device.opened()
        if state.run is Run.STARTING and isinstance(target, GpuDumpTarget | CoreTarget):
            state.run = Run.DUMP
        self._notifier.tell(Change.RUN | Change.FOCUS)
        await self._breakpoints.apply(self.debugger, target)
        if isinstance(target, LaunchTarget):
            with contextlib.suppress(EngineError):
                state.entry = await self.debugger.entry()
                self._notifier.tell(Change.SOURCE)
        await self._typed_ahead.send(self._type)
        if not isinstance(target, LaunchTarget) or state.run is not Run.STARTING or self._follower.running:
            # What was typed ahead may have started it.
            return
        if run:
            await self._start(StepKind.RUN)
        else:
            state.run, state.run_detail = Run.EXITED, NOT_STARTED
            self._notifier.tell(Change.RUN)

    async def catch_up(self) -> None:
        """Take over breakpoints and watches that sessions of the same program have changed on other rungs."""
        await self._breakpoints.catch_up(self.debugger)
        await self.values.catch_up()

    async def restart(self) -> None:
        """Open the same target with a new engine, where the old one has died or was closed."""
        if self.target is None or self._replacement is None:
            self._follower.notice("nothing to restart: open a program first", "warning")
            return
        old = self.debugger
        # From now on: a key that was pressed twice finds an engine that starts, not another dead one.
        self.state.run, self.state.run_detail = Run.STARTING, ""
        self._typed_ahead.begin()
        self._notifier.tell(Change.RUN)
        self._follower.cancel()
        self.threads.cancel()
        self.python.cancel()
        old.listen(_deaf)
        with contextlib.suppress(LadderError):
            await old.close()
        self.debugger = self._follower.debugger = self._replacement()
        self.debugger.listen(self._take)
        if self._program_size is not None:
            self.debugger.resize_program(*self._program_size)
        self.machine.forget()
        self._follower.restarted()
        try:
            await self.open(self.control.as_chosen(self.threads.as_chosen(self.target)))
        except LadderError as error:
            self._follower.failed(error)
            if isinstance(self.target, LaunchTarget):
                # A program that is just being built: the next try may find it.
                self.state.run, self.state.run_detail = Run.DEAD, f"{self.debugger.name} does not run"
                self._notifier.tell(Change.RUN)

    async def close(self) -> None:
        """End the debugger."""
        self._follower.cancel()
        self.control.cancel()
        self.threads.cancel()
        self.python.cancel()
        self._breakpoints.close()
        self.lane_values.close()
        self._queued = None
        await asyncio.gather(self.rebuild.close(), self.debugger.close())

    def _take(self, event: Event) -> None:
        self.ledger.take(event)
        self.stack.take(event)
        if self.threads.take(event):
            return
        self.machine.take(event)
        self.values.take(event)
        self.rebuild.take(event)
        self.control.take(event)
        self.device.take(event)
        self.lane_values.take(event)
        self.python.take(event)
        self._follower.take(event)
        self._breakpoints.take(event, self.debugger)
        if isinstance(event, TargetStopped):
            self._last_stop = event
            self._run_queued(event)
        elif isinstance(event, TargetExited | EngineExited):
            self._queued = None

    # -- running

    async def resume(self, kind: StepKind, location: str = "") -> None:
        """Run, continue, step...; refused with a notice where the target cannot run. Fast repeats are coalesced."""
        state = self.state
        if state.run is Run.DEAD:
            await self.restart()
            return
        if state.run is Run.STARTING and state.capabilities is Capability.NONE:
            return
        if not state.capabilities & Capability.RUN_CONTROL:
            what = "a dump" if state.run is Run.DUMP else "this target"
            self._follower.notice(f"{what} cannot run: it shows one moment — run the program to step", "warning")
            return
        if kind.anew and not isinstance(self.target, LaunchTarget):
            self._follower.notice(NOT_STARTED_HERE, "warning")
            return
        if refusal := self.threads.refusal(kind):
            self._follower.notice(refusal, "warning")
            return
        if kind is StepKind.CONTINUE and not self._follower.running and self._waits_to_start():
            kind = StepKind.RUN
        if kind.anew and self._accepting:
            # It is being started: a key pressed twice does not start it twice.
            return
        kind = self.control.directed(kind)
        if (self._follower.running or self._accepting) and not kind.anew:
            if state.run is Run.RUNNING:
                self._follower.notice("the program is running — interrupt it first", "warning")
            else:
                # The step before has not ended yet: of all keys pressed meanwhile the last one counts.
                self._queued = (kind, location)
            return
        if self._follower.running:
            await self.interrupt()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2.0):
                    await self.at_rest()
        if self.control.leads_out(kind):
            await self._start_from_frame(kind)
        else:
            self.control.sets_out(kind, location)
            await self._start(kind, location)

    async def _start_from_frame(self, kind: StepKind) -> None:
        """A step belongs to the frame that is selected: out to it first."""
        level = self.state.selected_frame
        with self._told():
            way = await self.control.lead_out(kind)
            self._queued = (kind, "")
            if not await self._start(way):
                await self.debugger.select_frame(level)

    async def interrupt(self) -> None:
        """Stop the target, or a busy engine."""
        self._queued = None
        if self.lane_values.cancel():
            return
        self.threads.expect_stops()
        self.control.interrupted()
        with self._told():
            await self.debugger.interrupt()

    async def _start(self, kind: StepKind, location: str = "") -> bool:
        """Let it run; returns whether the engine has accepted."""
        self._accepting += 1
        try:
            return await self._ask_to_run(kind, location)
        finally:
            self._accepting -= 1
            if self._queued is not None and not self._accepting and not self._follower.running:
                # It has stopped already, in the same breath in which it accepted.
                self._run_queued(self._last_stop)

    async def _ask_to_run(self, kind: StepKind, location: str) -> bool:
        if kind.anew:
            self._follower.restarted()
        self._follower.expect_run(anew=kind.anew)
        try:
            if kind.anew:
                await self._prepare_run(location)
            await self.control.before(kind)
            await self.debugger.resume(kind, location)
        except LadderError as error:
            self._queued = None
            self._follower.stays()
            self.control.refused()
            # A dead engine has told of itself.
            if not isinstance(error, EngineDied):
                self._follower.failed(error)
            return False
        return True

    async def _prepare_run(self, location: str) -> None:
        """Before a program is started: have the engine read a new build, and stop once where that was asked for."""
        if await self.rebuild.before_run(self.debugger):
            await self._breakpoints.rebind(self.debugger)
        if location:
            await self.set_breakpoint(location, temporary=True)

    def _rebind(self) -> None:
        self._rebinding = asyncio.get_running_loop().create_task(self._rebind_told())

    async def _rebind_told(self) -> None:
        with self._told():
            await self._breakpoints.rebind(self.debugger)

    def _waits_to_start(self) -> bool:
        launched = isinstance(self.target, LaunchTarget)
        return launched and self.state.run in (Run.EXITED, Run.STARTING, Run.NOTHING)

    def _run_queued(self, stop: TargetStopped | None) -> None:
        queued, self._queued = self._queued, None
        # A breakpoint or fault that a key press did not know of is not run over.
        if queued is not None and stop is not None and stop.reason in _STEPS_END:
            self._stepping = asyncio.get_running_loop().create_task(self._start_queued(*queued))

    async def _start_queued(self, kind: StepKind, location: str) -> None:
        self.control.sets_out(kind, location)
        await self._start(kind, location)

    # -- looking

    async def select_frame(self, level: int) -> None:
        """Show another frame: its source place and variables."""
        state = self.state
        with self._told():
            if frame_at(state.frames, level) is None:
                await self.stack.show(max(0, level - self._follower.rows.frames // 2), self._follower.rows.frames)
            await self.debugger.select_frame(level)
            frame = frame_at(state.frames, level)
            state.selected_frame = level
            state.place = frame.place if frame is not None else None
            window = await self.debugger.variables(level, self._follower.rows.variables)
            # Another frame may have been selected while this one was asked about.
            if state.selected_frame == level:
                state.variables = self._follower.mark(window, frame)
                await self.values.look_again()
                if self._follower.rows.instructions:
                    state.disassembly = await self.machine.code.here(level, self._follower.rows.instructions)
            self._notifier.tell(Change.FRAMES | Change.SOURCE | Change.VARIABLES | Change.DISASSEMBLY)

    async def switch(self, asked: Focus, level: int = 0) -> Focus | None:
        """Move the focus, and select a frame there; state then holds both asked and reached.

        Returns:
            None, with a notice, where it is refused.
        """
        state = self.state
        try:
            reached = await self.debugger.switch(asked)
        except FocusRefused as refused:
            from ladder_backends.session.until_resident import why_refused

            state.asked, (state.reason, state.alternatives) = asked, why_refused(state, asked, refused.what)
            self._follower.notice(f"{asked.describe()} not reached: {state.reason}", "warning")
            self._notifier.tell(Change.FOCUS)
            return None
        except EngineError as error:
            self._follower.failed(error)
            return None
        self.stand_in(asked, reached)
        if level:
            with self._told():
                await self.debugger.select_frame(level)
        self._follower.look_again(level)
        return reached

    def stand_in(self, asked: Focus | None, reached: Focus | None, reason: str = "") -> None:
        """Note a focus that was reached, beside the one that was asked for."""
        state = self.state
        state.asked, state.focus = asked, reached
        self.device.visited(self.debugger.lane_left)
        if not reason and asked is not None and reached is not None and not reached.satisfies(asked):
            reason = f"asked for {asked.describe()}, standing in {reached.describe(*asked)}"
        state.reason, state.alternatives = reason, ()
        self._notifier.tell(Change.FOCUS)

    def show_jump(self, outcome: JumpOutcome) -> None:
        """Show where a jump led, in one notification; where it failed, that, and where the engine stands."""
        state = self.state
        state.asked, state.reason, state.jump_seconds = outcome.asked or None, outcome.reason, outcome.seconds
        state.alternatives = outcome.alternatives
        change = Change.FOCUS
        if outcome.reached is not None:
            self._follower.show_jump(outcome)
            self.values.moved()
            change |= Change.FRAMES | Change.SOURCE | Change.VARIABLES | Change.GRID | Change.DISASSEMBLY
        elif self._follower.overlooked:
            # The dump was opened for this jump, which was to look round.
            self._follower.look_again()
        self._notifier.tell(change)

    def look_again(self) -> None:
        """Ask the engine for everything on screen again."""
        self._follower.look_again(self.state.selected_frame)

    async def evaluate(self, expression: str) -> Variable:
        """The expression's value in the selected frame; a refusal is the variable's `error`."""
        try:
            return await self.debugger.evaluate(expression, self.state.selected_frame)
        except LadderError as error:
            return Variable(clean_line(expression), "", error=error.line())

    async def load_disassembly(self, count: int) -> None:
        """Fill `state.disassembly` for the selected frame."""
        with self._told():
            await self.machine.code.show(self.state.selected_frame, count)

    def look_for(self, variables: int) -> None:
        """Ask for that many variables from now on; what of them is not known yet is asked for at once."""
        self._follower.rows.variables = variables
        self._follower.look_again(self.state.selected_frame)

    def told(self) -> contextlib.AbstractContextManager[None]:
        """Within it, a failure becomes one line for the user."""
        return self._told()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """A failure of what the user asked for is one line, and nothing else."""
        try:
            yield
        except EngineDied as error:
            if self.state.run is not Run.DEAD:
                self._follower.failed(error)
        except LadderError as error:
            self._follower.failed(error)


def _deaf(event: Event) -> None:
    """Hear nothing more of an engine that was replaced."""

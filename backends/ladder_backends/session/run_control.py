"""Run control beyond a step: which way it runs, where to, how it is started, called into, and left."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder_backends.debugger.contract import Capability, StepKind
from ladder_backends.debugger.target import LaunchTarget, Target
from ladder_backends.errors import CommandFailed, EngineError
from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.events import EngineExited, Event, RecordingChanged, TargetExited, TargetStopped
from ladder_backends.model.frame import FrameKind
from ladder_backends.model.launch import ForkMode, LaunchSettings
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.stop_reasons import NO_HISTORY, PROCESS_ENDED, RECORDED_EXIT, UNRECORDABLE
from ladder_backends.model.variable import Variable
from ladder_backends.session.answers import frame_at
from ladder_backends.session.deafness import why_deaf
from ladder_backends.session.launch_store import LaunchStore
from ladder_backends.session.launch_words import describe
from ladder_backends.session.state import Change, Run
from ladder_backends.session.target_program import program_of
from ladder_backends.session.vigil import Vigil
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import Process
    from ladder_backends.session.control_state import ControlState
    from ladder_backends.session.debug_session import DebugSession

DEAF_AFTER = 1.0
"""Seconds after an interrupt in which a target that still runs is looked into."""

_BACKWARDS: Mapping[StepKind, StepKind] = {
    StepKind.CONTINUE: StepKind.REVERSE_CONTINUE,
    StepKind.NEXT: StepKind.REVERSE_NEXT,
    StepKind.STEP: StepKind.REVERSE_STEP,
    StepKind.FINISH: StepKind.REVERSE_FINISH,
    StepKind.NEXT_INSTRUCTION: StepKind.REVERSE_NEXT_INSTRUCTION,
    StepKind.STEP_INSTRUCTION: StepKind.REVERSE_STEP_INSTRUCTION,
}
_OF_THE_INNERMOST = frozenset(
    {StepKind.NEXT, StepKind.STEP, StepKind.NEXT_INSTRUCTION, StepKind.STEP_INSTRUCTION}
    | {_BACKWARDS[StepKind.NEXT], _BACKWARDS[StepKind.STEP]}
    | {_BACKWARDS[StepKind.NEXT_INSTRUCTION], _BACKWARDS[StepKind.STEP_INSTRUCTION]}
)
"""Steps that an engine takes from the innermost frame, whichever is selected."""

_ARRIVED = frozenset({"location-reached", "function-finished", "end-stepping-range"})
_NO_FACET = "this target has no process that could be held"


@dataclass(frozen=True, slots=True)
class Errand:
    """Where a run was to lead, to tell when something else stopped it.

    Attributes:
        place: `steps.c:21`, `frame 3`.
        function: In which the line lies, for a run that ends with its function; else empty.
    """

    kind: StepKind
    place: str
    function: str = ""


class RunControl:
    """What a person does to the target as a process. Failures of what was asked for are one notice each."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._vigil = Vigil(session)
        self._errand: Errand | None = None
        self._last_reason = ""
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def state(self) -> ControlState:
        """What panes show of it."""
        return self._session.state.control

    @property
    def _facet(self) -> Process:
        facet = self._session.debugger.process
        if facet is None or not self._session.state.capabilities & Capability.PROCESS:
            raise CommandFailed("", _NO_FACET)
        return facet

    # -- opening

    def as_chosen(self, target: Target) -> Target:
        """A target to be opened again, started as it was configured last."""
        chosen = self.state.settings
        if not isinstance(target, LaunchTarget):
            return target
        return replace(
            target,
            arguments=chosen.arguments,
            environment=chosen.environment,
            directory=chosen.directory,
            stdin=chosen.stdin,
        )

    async def adopt(self, settings: LaunchSettings) -> None:
        """Start the program from the next time on as a session of it on another rung is to start it."""
        with self._told():
            await self._facet.configure(settings)
            self.state.settings = settings

    def follow_first(self, mode: str, target: Target) -> None:
        """What happens at forks from the opening on: `parent`, `child` or `both`, unless the target says."""
        chosen = target.fork if isinstance(target, LaunchTarget) else None
        self.state.fork = chosen or ForkMode[mode.upper()]

    async def opened(self, target: Target) -> None:
        """Take over how a target was opened, and remember how its program is started."""
        state = self.state
        state.backwards, state.recording, state.processes = False, "", {}
        state.startable = isinstance(target, LaunchTarget)
        facet = self._session.debugger.process
        if facet is None or self._session.state.provenance is not Provenance.ENGINE:
            return
        if state.fork is not ForkMode.PARENT:
            with contextlib.suppress(EngineError):
                await facet.at_fork(state.fork)
        program = program_of(target)
        if not isinstance(target, LaunchTarget) or program is None:
            return
        state.settings = facet.settings
        store = LaunchStore(program)
        kept = await asyncio.to_thread(store.load)
        state.last_used = kept if kept is not None and not kept.plain else None
        if state.settings.plain:
            if state.last_used is not None:
                how = clean_line(describe(state.last_used))[:100]
                self._session.notice(f"started without settings; the form of settings offers the last ones: {how}")
        elif state.settings != kept:
            await asyncio.to_thread(store.save, state.settings)

    # -- events

    def take(self, event: Event) -> None:
        """Note what an event makes of all this, and tell what stopped a run before it got where it should."""
        state = self.state
        if isinstance(event, TargetStopped):
            facet = self._session.debugger.process
            pids = dict(facet.pids) if facet is not None else {}
            state.processes = pids if len(pids) > 1 else {}
            self._last_reason = event.reason
            self._tell_history(event)
            self._tell_errand(event)
            if event.reason == PROCESS_ENDED and event.focus is not None and facet is not None:
                # The engine's own command line stands in what has gone; what is on screen is where it should.
                self._later(self._session.debugger.switch(event.focus))
            self._vigil.begin()
            if event.reason == "error" and facet is not None:
                self._later(self._vigil.look())
        elif isinstance(event, RecordingChanged):
            if state.backwards and not event.method:
                self._session.notice("the recording has ended: it runs forwards again")
            state.recording = event.method
            state.backwards = state.backwards and bool(event.method)
            self._session.tell(Change.RUN)
        elif isinstance(event, TargetExited | EngineExited):
            errand, self._errand = self._errand, None
            state.recording, state.backwards, state.processes = "", False, {}
            if errand is not None and isinstance(event, TargetExited) and not event.words:
                self._session.notice(f"the program ended before {errand.place} was reached")

    def _tell_errand(self, event: TargetStopped) -> None:
        errand = self._errand
        if errand is None or (errand.kind in _OF_THE_INNERMOST and event.reason in _ARRIVED):
            return
        self._errand = None
        arrived = event.reason in _ARRIVED
        if not arrived:
            self._session.notice(f"{event.description} before {errand.place} was reached", "warning")
        elif errand.function and event.frame is not None and event.frame.function != errand.function:
            self._session.notice(f"{errand.function} returned before {errand.place} was reached", "warning")
        if errand.kind is StepKind.ADVANCE and not arrived and self._session.debugger.process is not None:
            self._later(self._session.debugger.process.drop_run_to())

    def _tell_history(self, event: TargetStopped) -> None:
        if event.reason == NO_HISTORY:
            which = "begins" if self.state.backwards else "ends"
            self._session.notice(f"the recording {which} here")
        elif event.reason == UNRECORDABLE:
            remedy = "step or continue goes on without it; Recordable (E) avoids such instructions in the next run"
            where = f"the instruction at {event.frame.address}" if event.frame is not None else "what comes"
            self._session.notice(f"recording stopped: gdb cannot record {where} — {remedy}", "warning")
        elif event.reason == RECORDED_EXIT:
            self._session.notice("the program is about to exit, and the recording ends; continue lets it exit")

    # -- running

    @property
    def one_of_several_ended(self) -> bool:
        """What stands stands only because another of the processes that are held has ended."""
        return self._last_reason == PROCESS_ENDED and self._session.state.run is Run.STOPPED

    def directed(self, kind: StepKind) -> StepKind:
        """The step in the direction that was chosen."""
        return _BACKWARDS.get(kind, kind) if self.state.backwards else kind

    def leads_out(self, kind: StepKind) -> bool:
        """Whether a step has to lead out to the selected frame first, because it belongs to that."""
        state = self._session.state
        frame = frame_at(state.frames, state.selected_frame)
        if frame is not None and frame.kind is FrameKind.NATIVE and state.focus and "block" in state.focus:
            # A frame of the host that launched the kernel: a step is the lane's.
            return False
        return kind in _OF_THE_INNERMOST and state.selected_frame > 0

    def sets_out(self, kind: StepKind, location: str) -> None:
        """A run begins; note where it is to lead."""
        state = self._session.state
        self._errand = None
        if kind in (StepKind.UNTIL, StepKind.ADVANCE) and location:
            frame = frame_at(state.frames, state.selected_frame)
            function = frame.function if frame is not None and kind is StepKind.UNTIL else ""
            self._errand = Errand(kind, _short(location), function)

    async def lead_out(self, kind: StepKind) -> StepKind:
        """Make ready to run out to the selected frame, from which `kind` is to follow; returns how."""
        level = self._session.state.selected_frame
        await self._session.debugger.select_frame(level - 1)
        self._errand = Errand(kind, f"frame {level}")
        self._session.notice(f"frame {level} is selected: out to it, then {kind.value.replace('-', ' ')}")
        return StepKind.REVERSE_FINISH if kind.backwards else StepKind.FINISH

    async def before(self, kind: StepKind) -> None:
        """Before the engine is told to run: a recording that cannot go on ends where one goes on forwards."""
        stuck, self._last_reason = self._last_reason in (UNRECORDABLE, RECORDED_EXIT), ""
        if stuck and self.state.recording and not kind.backwards and not kind.anew:
            await self._facet.record(False)

    def refused(self) -> None:
        """The engine would not let it run: look whether there is anything left to run."""
        if self._session.debugger.process is not None and self._session.state.run is Run.STOPPED:
            self._later(self._vigil.look())

    def interrupted(self) -> None:
        """An interrupt was sent: look soon whether it has helped."""
        if self._session.state.run is Run.RUNNING:
            self._later(self._look_whether_deaf())

    async def _look_whether_deaf(self) -> None:
        state = self._session.state
        since = state.since
        await asyncio.sleep(DEAF_AFTER)
        facet = self._session.debugger.process
        if state.run is not Run.RUNNING or state.since != since or facet is None:
            return
        for pid in facet.pids.values():
            why = await asyncio.to_thread(why_deaf, pid)
            if why:
                self._session.notice(f"process {pid} does not stop: {why} — Ctrl-C twice offers more", "warning")
                return

    async def stop_hard(self) -> None:
        """Stop a target that is deaf to interrupts."""
        with self._told():
            if not await self._facet.stop_hard():
                self._session.notice("the target does not stop for SIGSTOP either", "warning")

    # -- the way it runs

    async def toggle_backwards(self) -> None:
        """Record from here on; with a recording, turn the direction round."""
        state = self.state
        with self._told():
            if state.backwards:
                state.backwards = False
                self._session.notice("forwards again")
            elif state.recording or await self._facet.reverses():
                state.backwards = True
                self._session.notice("backwards: next, step, finish and continue undo what they did")
            else:
                await self._record()
            self._session.tell(Change.RUN)

    async def _record(self) -> None:
        try:
            method = await self._facet.record(True)
        except CommandFailed as refused:
            why = refused.what.rstrip(".")
            raise CommandFailed(refused.command, f"this target cannot be recorded: {why}") from refused
        knows = "" if method == "full" else ", without the values of variables"
        self._session.notice(f"recording from here, up to 200,000 instructions{knows}; the same key runs backwards")

    async def stop_recording(self) -> None:
        """Forget the recording; it runs on fast."""
        with self._told():
            if not self.state.recording:
                self._session.notice("nothing is recorded")
                return
            await self._facet.record(False)
            self._session.notice("the recording was dropped")

    # -- the process

    async def kill(self) -> None:
        """End the target; breakpoints stay."""
        with self._told():
            await self._facet.kill()

    async def detach(self) -> None:
        """Let the target run on by itself."""
        with self._told():
            pids = await self._facet.detach()
            which = ", ".join(map(str, pids))
            lives = (
                "it outlives the console" if isinstance(self._session.target, LaunchTarget) else "as it was found"
            )
            self._session.notice(f"process {which} runs on without the debugger; {lives}")

    async def configure(self, settings: LaunchSettings, fork: ForkMode) -> None:
        """Start the program like this from the next time on, and keep that."""
        with self._told():
            facet = self._facet
            await facet.configure(settings)
            await facet.at_fork(fork)
            self.state.settings, self.state.fork = settings, fork
            program = program_of(self._session.target) if self._session.target is not None else None
            if program is not None:
                why = await asyncio.to_thread(LaunchStore(program).save, settings)
                if why:
                    self._session.notice(why, "warning")
                    return
            self._session.notice("from the next start on: " + clean_line(describe(settings) or "without settings"))

    async def follow_at_fork(self, fork: ForkMode) -> None:
        """What happens at the next fork."""
        with self._told():
            await self._facet.at_fork(fork)
            self.state.fork = fork
            self._session.notice(f"at a fork: {fork.value}")

    # -- elsewhere at once

    async def call(self, expression: str) -> Variable | None:
        """Call a function of the target; its value is a notice too. None where there is none."""
        state = self._session.state
        with self._told():
            try:
                answer = await self._facet.call(expression, state.selected_frame)
            finally:
                # It may have changed anything, and an interrupted one leaves its own stop behind.
                if state.run is Run.STOPPED:
                    self._session.look_again()
            said = answer.error or answer.value or "done"
            self._session.notice(f"{answer.name} = {said}" if said != "void" else f"{answer.name} has returned")
            return answer
        return None

    async def return_now(self, value: str) -> None:
        """Leave the selected frame."""
        level = self._session.state.selected_frame
        with self._told():
            frame = await self._facet.return_now(level, value)
            if frame is not None:
                self._session.notice(f"back in {frame.function}; the rest of what it had called was not run")

    async def jump(self, location: str, *, elsewhere: bool = False) -> None:
        """Go on at a line of the innermost frame's function and stand there.

        Args:
            location: `file:line`.
            elsewhere: Let it be a line of another function.
        """
        state = self._session.state
        with self._told():
            frame = frame_at(state.frames, 0)
            there = await self._facet.function_at(location)
            if not there:
                raise CommandFailed("", f"{_short(location)} has no code to go on at")
            if not elsewhere and frame is not None and there != frame.function:
                raise CommandFailed(
                    "", f"{_short(location)} lies in {there}, and the target stands in {frame.function}: not jumped"
                )
            await self._session.resume(StepKind.JUMP, location)

    # -- parts

    def cancel(self) -> None:
        """Ask nothing more."""
        self._vigil.cancel()
        for task in self._tasks:
            task.cancel()

    def _later(self, doing: Coroutine[Any, Any, object]) -> None:
        task = asyncio.get_running_loop().create_task(self._guarded(doing))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _guarded(doing: Coroutine[Any, Any, object]) -> None:
        with contextlib.suppress(EngineError):
            await doing

    def _told(self) -> contextlib.AbstractContextManager[None]:
        return self._session.told()


def _short(location: str) -> str:
    file, colon, line = location.rpartition(":")
    return f"{Path(file).name}:{line}" if colon else clean_line(location)

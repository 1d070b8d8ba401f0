"""The threads of a session: who has the focus, which of them run, and what happens to the others."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ladder_backends.debugger.contract import FocusRefused, StepKind
from ladder_backends.debugger.target import LaunchTarget, Target
from ladder_backends.errors import CommandFailed, LadderError
from ladder_backends.model.events import (
    EngineExited,
    Event,
    FocusChanged,
    FocusEnded,
    SettingChanged,
    TargetExited,
    TargetRunning,
    TargetStopped,
    ThreadsChanged,
    ThreadsRunning,
    ThreadStopped,
)
from ladder_backends.model.focus import Focus
from ladder_backends.model.thread import Locking
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.state import Change, DebugState, Run
from ladder_backends.session.thread_list import ThreadList
from ladder_backends.session.thread_news import TOGETHER, ThreadNews
from ladder_backends.session.thread_reading import ThreadReading

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import Threads
    from ladder_backends.session.follower import Follower

SILENCE = 0.1
"""Seconds without a word from the engine after the focused thread ended, after which it is asked what stands."""


class SessionThreads:
    """Keeps `state.threads`, announces every move of the focus, and holds threads or lets them go.

    Args:
        switch: Moves the focus, to a frame there, where all threads stop together.
    """

    def __init__(
        self,
        state: DebugState,
        notifier: Notifier,
        follower: Follower,
        switch: Callable[[Focus, int], Awaitable[Focus | None]],
    ) -> None:
        self._state = state
        self._notifier = notifier
        self._follower = follower
        self._switch = switch
        self._reading = ThreadReading(lambda: follower.debugger, state, notifier)
        self._stood: int | None = None
        self._ran_before: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = ThreadNews(state, follower, self._do)
        self._asked_to_stop: set[int] = set()
        self._latest_end: FocusEnded | None = None

    @property
    def _facet(self) -> Threads | None:
        return self._follower.debugger.threads

    # -- events

    def take(self, event: Event) -> bool:
        """Take an event; True where the session has nothing more to do with it."""
        seen = self._state.threads
        if isinstance(event, TargetStopped):
            self._stopped(event)
        elif isinstance(event, TargetRunning):
            self._reading.outdated()
        elif isinstance(event, ThreadsChanged):
            self._changed(event)
        elif isinstance(event, FocusChanged):
            return self._moved(event)
        elif isinstance(event, ThreadStopped):
            self._stopped_elsewhere(event)
        elif isinstance(event, ThreadsRunning):
            gone = set(seen.processes_of) if event.threads is None else set(event.threads)
            seen.frozen -= gone
            for thread in gone:
                seen.news.pop(thread, None)
            self._look_again()
        elif isinstance(event, FocusEnded):
            pending, self._latest_end = self._latest_end, event
            if pending is None:
                self._do(self._follow_end)
        elif isinstance(event, SettingChanged):
            self._setting_changed(event)
        elif isinstance(event, TargetExited | EngineExited):
            self._over(gone=isinstance(event, EngineExited))
        return False

    def wanted(self) -> None:
        """Someone looks at the list: read it where it is not current."""
        self._reading.wanted()

    def cancel(self) -> None:
        """Ask nothing more."""
        self._reading.outdated()
        for task in self._tasks:
            task.cancel()
        self._news.forget()

    def _stopped(self, event: TargetStopped) -> None:
        self._reading.outdated()
        self._note_mode()
        thread = event.focus.index("thread") if event.focus is not None else None
        if thread is None:
            return
        before, self._stood = self._stood, thread
        self._state.threads.news.pop(thread, None)
        if before is not None and before != thread and event.reason != "thread-exited":
            self._do(self._news.moved, before, thread, event.description)
        elif event.reason == "thread-exited":
            self._do(self._news.moved, before, thread, "")

    def _changed(self, event: ThreadsChanged) -> None:
        seen = self._state.threads
        seen.processes_of.update(event.created)
        for thread in event.ended:
            seen.processes_of.pop(thread, None)
            seen.news.pop(thread, None)
        seen.ended += len(event.ended)
        seen.frozen -= set(event.ended)
        if self._stood in event.ended and not seen.non_stop:
            self._do(self._after_silence)
        self._look_again()

    def _moved(self, event: FocusChanged) -> bool:
        thread = event.focus.index("thread") if event.focus is not None else None
        if thread is None:
            return False
        before, self._stood = self._stood, thread
        self._state.threads.news.pop(thread, None)
        if self._state.threads.non_stop and before != thread and event.focus is not None:
            self._turn_to(event.focus)
            return True
        return False

    def _stopped_elsewhere(self, event: ThreadStopped) -> None:
        seen = self._state.threads
        self._look_again()
        asked = event.thread in self._asked_to_stop
        self._asked_to_stop.discard(event.thread)
        if event.thread in seen.frozen or (asked and event.stop.description == "interrupted"):
            # What was asked for is no news.
            return
        self._news.stopped_elsewhere(event.thread, event.stop.description)

    async def _follow_end(self) -> None:
        """Turn to the thread that the engine speaks of since the focused one ended, unless all of them do."""
        await asyncio.sleep(TOGETHER)
        event, self._latest_end = self._latest_end, None
        thread = event.now.index("thread") if event is not None else None
        facet = self._facet
        if event is None or thread is None or facet is None:
            return
        # The engine's own command line still speaks of the thread that has ended.
        await self._select(event.now)
        if self._stood == thread:
            return
        before, self._stood = self._stood, thread
        self._turn_to(event.now)
        stop = facet.standing(thread)
        await self._news.moved(before, thread, stop.description if stop is not None else "it runs")

    def _setting_changed(self, event: SettingChanged) -> None:
        seen = self._state.threads
        if event.name == "non-stop":
            seen.non_stop = event.value == "on"
        elif event.name == "scheduler-locking":
            with contextlib.suppress(ValueError):
                seen.locking = Locking(event.value)
        else:
            return
        self._notifier.tell(Change.THREADS)

    def _over(self, *, gone: bool) -> None:
        self.cancel()
        self._stood = self._latest_end = None
        old, facet = self._state.threads, self._facet
        self._state.threads = ThreadList(
            non_stop=old.non_stop if gone else facet is not None and facet.non_stop,
            locking=None if gone else old.locking,
        )
        self._asked_to_stop.clear()
        self._ran_before.clear()
        self._notifier.tell(Change.THREADS)

    async def _after_silence(self) -> None:
        """All that ran may have ended with the thread, without a word from the engine."""
        await asyncio.sleep(SILENCE)
        facet = self._facet
        if self._follower.running and facet is not None and self._stood not in self._state.threads.processes_of:
            await facet.find_stop()

    # -- what a person does

    async def focus(self, thread: int, level: int = 0) -> None:
        """Go to a thread, and select a frame of it."""
        state, before = self._state, self._stood
        asked = Focus.of(thread=thread)
        if not state.threads.non_stop:
            reached = await self._switch(asked, level)
            if reached is None:
                return
            # It was reached, and there is no further place in it to be told apart.
            state.asked = None
        else:
            try:
                await self._follower.debugger.switch(asked)
            except FocusRefused as refused:
                self._follower.notice(f"{state.threads.called(thread)} not reached: {refused.what}", "warning")
                return
            self._turn_to(asked)
            if level:
                with contextlib.suppress(LadderError):
                    await self._follower.debugger.select_frame(level)
                    self._follower.look_again(level)
        self._stood = thread
        state.threads.news.pop(thread, None)
        if before is not None and before != thread:
            await self._news.moved(before, thread, state.run_detail if state.threads.non_stop else "")

    @property
    def available(self) -> bool:
        """The engine tells of threads."""
        return self._facet is not None

    def any_runs(self) -> bool:
        """Some thread runs, whether it has the focus or not."""
        facet = self._facet
        return facet is not None and facet.any_runs()

    async def freeze(self, *threads: int) -> None:
        """Hold threads when the others go on, or let them go again where all of them are held."""
        facet, seen = self._facet, self._state.threads
        if facet is None:
            return
        if not seen.non_stop:
            self._follower.notice(
                "single threads freeze only in non-stop, chosen before the program runs", "warning"
            )
            return
        if seen.frozen.issuperset(threads):
            seen.frozen -= set(threads)
            await facet.go_on([thread for thread in threads if thread in self._ran_before])
        else:
            fresh = set(threads) - seen.frozen
            running = {thread for thread in fresh if facet.standing(thread) is None}
            self._ran_before = (self._ran_before - fresh) | running
            seen.frozen |= fresh
            await facet.hold(sorted(running))
        self._look_again()

    async def run_alone(self) -> None:
        """Let only the focused thread run from now on, or all of them again."""
        facet, seen = self._facet, self._state.threads
        if facet is None:
            self._follower.notice("this engine has no threads to choose from", "warning")
            return
        if seen.non_stop:
            self._follower.notice("in non-stop only the focused thread goes on anyway", "information")
            return
        if seen.locking is None:
            seen.locking = await facet.locking()
        wanted = Locking.OFF if seen.locking is Locking.ON else Locking.ON
        await facet.lock(wanted)
        seen.locking = wanted
        self._follower.notice(
            "only the focused thread runs; a lock that another one holds is never released"
            if wanted is Locking.ON
            else "all threads run again"
        )
        self._notifier.tell(Change.THREADS | Change.FOCUS)

    async def set_non_stop(self, on: bool) -> None:
        """Choose how threads stop, before the program runs."""
        facet, seen = self._facet, self._state.threads
        if facet is None:
            self._follower.notice("this engine stops all threads together", "warning")
            return
        if self._state.run in (Run.RUNNING, Run.STOPPED, Run.STARTING, Run.DUMP):
            self._follower.notice("how threads stop is chosen before the program runs: end it first", "warning")
            return
        try:
            await facet.set_non_stop(on)
        except CommandFailed as refused:
            self._follower.notice(refused.line(), "warning")
            return
        seen.non_stop = on
        self._follower.notice(
            "non-stop: each thread stops and goes on by itself" if on else "all-stop: all threads stop together"
        )
        self._notifier.tell(Change.THREADS)

    async def all_go_on(self) -> None:
        """Let every thread go on that is not frozen."""
        facet, seen = self._facet, self._state.threads
        if facet is None or not seen.non_stop:
            self._follower.notice("all threads go on together here: continue does it", "information")
            return
        standing = [thread for thread in seen.processes_of if facet.standing(thread) is not None]
        if seen.frozen:
            await facet.go_on([thread for thread in standing if thread not in seen.frozen])
        elif standing:
            await facet.go_on()

    async def all_hold(self) -> None:
        """Stop every thread."""
        facet = self._facet
        if facet is None or not self._state.threads.non_stop:
            self._follower.notice("all threads stop together here: interrupt does it", "information")
            return
        self.expect_stops()
        await facet.hold()

    def expect_stops(self) -> None:
        """Threads are about to be interrupted: that they stop is no news."""
        facet, seen = self._facet, self._state.threads
        if facet is not None and seen.non_stop:
            self._asked_to_stop = {thread for thread in seen.processes_of if facet.standing(thread) is None}

    def refusal(self, kind: StepKind) -> str:
        """Why the focused thread may not go on; empty where it may."""
        frozen = self._stood in self._state.threads.frozen and not kind.anew
        return f"{self._state.threads.called(self._stood or 0)} is frozen: let it go first" if frozen else ""

    def opened(self, target: Target) -> None:
        """A target was opened: note how its threads stop."""
        self._note_mode()
        if isinstance(target, LaunchTarget) and target.non_stop and not self._state.threads.non_stop:
            self._follower.notice(f"{self._follower.debugger.name} stops all threads together here", "warning")

    def _note_mode(self) -> None:
        facet = self._facet
        self._state.threads.non_stop = facet is not None and facet.non_stop

    def as_chosen(self, target: Target) -> Target:
        """A target to be opened again, its threads to stop as it was chosen last."""
        chosen = self._state.threads.non_stop
        return replace(target, non_stop=chosen) if isinstance(target, LaunchTarget) else target

    # -- parts

    def _turn_to(self, focus: Focus) -> None:
        """Show a thread in non-stop: where it stands, or that it runs."""
        facet, thread = self._facet, focus.index("thread")
        if facet is None or thread is None:
            return
        self._state.asked = None
        self._follower.turn_to(focus, facet.standing(thread))

    async def _select(self, focus: Focus) -> None:
        with contextlib.suppress(LadderError):
            await self._follower.debugger.switch(focus)

    def _look_again(self) -> None:
        self._reading.outdated()
        self._notifier.tell(Change.THREADS)

    def _do(self, doing: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        task = asyncio.get_running_loop().create_task(self._guarded(doing, *arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, doing: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        # What fails here was asked by nobody: a dead engine tells of itself.
        with contextlib.suppress(LadderError):
            await doing(*arguments)

"""The breakpoints of a session: the engine's, those it could not take, and what is kept on disk."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ladder_backends.debugger.contract import Capability, Debugger
from ladder_backends.debugger.target import Target
from ladder_backends.errors import LadderError
from ladder_backends.model.breakpoint import (
    BindingState,
    BreakpointBinding,
    BreakpointIntent,
    BreakpointKind,
    SourceAnchor,
)
from ladder_backends.model.events import BreakpointsChanged, EngineExited, Event, LogWritten, TargetStopped
from ladder_backends.model.provenance import Provenance
from ladder_backends.session.anchors import anchor_at, is_older, line_now
from ladder_backends.session.answers import frame_at
from ladder_backends.session.intents import IntentStore, key_of
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.state import Change, DebugState
from ladder_backends.session.target_program import program_of
from ladder_backends.session.target_script import script_of

_NOTHING_RUNS = "this target does not run"
COUNT_INTERVAL = 0.1
"""Seconds between two notifications that only tell how often breakpoints were hit."""


class Breakpoints:
    """Keeps `state.breakpoints` and the user's file in step with the engine."""

    def __init__(self, state: DebugState, notifier: Notifier, notice: Callable[[str, str], None]) -> None:
        self._state = state
        self._notifier = notifier
        self._notice = notice
        self._engine: tuple[BreakpointBinding, ...] = ()
        self._refused: dict[int, BreakpointBinding] = {}
        self._anchors: dict[int, tuple[str, SourceAnchor | None]] = {}
        self._moved: dict[int, tuple[str, str]] = {}
        self._store: IntentStore | None = None
        self._program: Path | None = None
        self._applying = False
        self._counting: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # -- with the program

    async def apply(self, debugger: Debugger, target: Target) -> None:
        """Set what is kept for the target's program; on a restart, what was set before.

        A target that takes no breakpoints shows what is kept, as nothing it can have.
        """
        program = self._program = program_of(target)
        wanted = [binding.intent for binding in self._state.breakpoints if not binding.intent.temporary]
        self._engine, self._refused = (), {}
        recorded = debugger.provenance is Provenance.RECORDING
        if self._store is None and program is not None and not recorded:
            self._store = IntentStore(program, script_of(target))
            wanted = self._store.load()
            self._told()
        if any(intent.anchor is not None for intent in wanted):
            wanted = await asyncio.to_thread(lambda: [self._rebound(intent) for intent in wanted])
        if not debugger.capabilities & Capability.BREAKPOINTS:
            self._refused = {
                intent.id: BreakpointBinding(intent, BindingState.UNSUPPORTED, why=_NOTHING_RUNS)
                for intent in wanted
            }
            self._publish()
            return
        self._applying = True
        try:
            for intent in wanted:
                if intent.anchor is not None:
                    self._anchors[intent.id] = intent.location, intent.anchor
                binding = await debugger.set_breakpoint(intent)
                if not binding.number and binding.state is not BindingState.PENDING:
                    self._refused[intent.id] = binding
        finally:
            self._applying = False
        self._publish()

    async def rebind(self, debugger: Debugger) -> None:
        """Move breakpoints to where the text of their lines is now; the engine has read a new build."""
        told: list[str] = []
        for binding in self._state.breakpoints:
            intent = await asyncio.to_thread(self._rebound, binding.intent)
            if intent.location == binding.intent.location:
                continue
            self._anchors[intent.id] = intent.location, intent.anchor
            made = await debugger.change_breakpoint(binding, intent)
            if made.state is not BindingState.FAILED:
                told.append(f"breakpoint {made.number or intent.id} {self._moved[intent.id][1]}")
        if told:
            self._notice("; ".join(told[:3]) + (f"; {len(told) - 3} more" if len(told) > 3 else ""), "information")
        self._publish()

    async def catch_up(self, debugger: Debugger) -> None:
        """Take over what sessions of the same program on other rungs, or other consoles, have changed meanwhile."""
        if self._store is None or self._applying:
            return
        changed, gone = await asyncio.to_thread(self._store.news)
        if not changed and not gone:
            return
        able = bool(debugger.capabilities & Capability.BREAKPOINTS)
        # Nothing is kept in between: what is not set yet would look like something that was taken away here.
        self._applying = True
        try:
            for binding in self._state.breakpoints:
                if key_of(binding.intent) in gone and not binding.intent.temporary:
                    self._refused.pop(binding.intent.id, None)
                    if able:
                        await debugger.remove_breakpoint(binding)
            for intent in changed:
                await self._take_over(debugger, intent, able=able)
        finally:
            self._applying = False
        self._publish()

    async def _take_over(self, debugger: Debugger, intent: BreakpointIntent, *, able: bool) -> None:
        bindings = self._listed()
        held = next((one for one in bindings if key_of(one.intent) == key_of(intent)), None)
        number = held.intent.id if held is not None else max((one.intent.id for one in bindings), default=0) + 1
        intent = replace(intent, id=number)
        if intent.anchor is not None:
            self._anchors[number] = intent.location, intent.anchor
        if not able:
            self._refused[number] = BreakpointBinding(intent, BindingState.UNSUPPORTED, why=_NOTHING_RUNS)
            return
        if held is not None and held.number:
            made = await debugger.change_breakpoint(held, intent)
        else:
            made = await debugger.set_breakpoint(intent)
        self._refused.pop(number, None)
        if not made.number and made.state is not BindingState.PENDING:
            self._refused[number] = made

    def _rebound(self, intent: BreakpointIntent) -> BreakpointIntent:
        """The intent at the line on which its text is now; not before the program was built from that text."""
        anchor = intent.anchor
        self._moved.pop(intent.id, None)
        file, colon, line = intent.location.rpartition(":")
        if anchor is None or not colon or not line.isdecimal() or not is_older(anchor.file, self._program):
            return intent
        now = line_now(anchor)
        if now is None:
            self._moved[intent.id] = (
                intent.location,
                f"the text of line {anchor.line} is gone: stays on line {line}",
            )
            return intent
        if now == anchor.line:
            return intent
        moved = replace(intent, location=f"{file}:{now}", anchor=anchor_at(anchor.file, now))
        self._moved[intent.id] = moved.location, f"moved from {anchor.line} to {now}: same text"
        return moved

    def close(self) -> None:
        """Do nothing more of what was begun."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._counting is not None:
            self._counting.cancel()

    # -- with the engine

    def take(self, event: Event, debugger: Debugger) -> None:
        """Follow the engine."""
        if isinstance(event, BreakpointsChanged):
            self.changed(event.bindings)
        elif isinstance(event, LogWritten):
            self._logged(event)
        elif isinstance(event, TargetStopped):
            self._stopped(debugger, event)
        elif isinstance(event, EngineExited):
            self._lost()

    def changed(self, bindings: tuple[BreakpointBinding, ...]) -> None:
        """Take the engine's list."""
        only_counts = len(bindings) == len(self._engine) and all(
            one is other or _uncounted(one) == _uncounted(other)
            for one, other in zip(bindings, self._engine, strict=True)
        )
        self._engine = bindings
        if not only_counts:
            self._publish()
        elif not self._applying:
            self._state.breakpoints = self._listed()
            self._tell_counts()

    def _lost(self) -> None:
        """The engine is gone: nothing is set any more, and all of it is wanted still."""
        why = "the engine is gone: set again with the next one"
        self._engine = tuple(
            replace(one, state=BindingState.PENDING, number="", why=why, locations=(), left=0)
            for one in self._engine
            if not one.intent.temporary
        )
        self._state.breakpoints = self._listed()
        self._notifier.tell(Change.BREAKPOINTS)

    def _logged(self, event: LogWritten) -> None:
        """Keep what a log point wrote."""
        self._state.logged.add(event.intent, event.text)
        self._tell_counts()

    def _stopped(self, debugger: Debugger, stop: TargetStopped) -> None:
        """Set what waits for the place where the target stands now."""
        function = stop.frame.function if stop.frame is not None else ""
        waiting = [
            binding.intent
            for binding in self._engine
            if not binding.number
            and binding.intent.enabled
            and (
                binding.intent.thread is not None
                or (binding.intent.kind.watches and function and binding.intent.scope == function)
            )
        ]
        if waiting:
            self._background(self._set_again(debugger, waiting))

    async def _set_again(self, debugger: Debugger, intents: Sequence[BreakpointIntent]) -> None:
        for intent in intents:
            with contextlib.suppress(LadderError):
                binding = await debugger.set_breakpoint(intent)
                if binding.number and intent.kind.watches:
                    self._notice(f"watchpoint {binding.number} is set again: {intent.location}", "information")

    # -- for the user

    def at(self, location: str) -> BreakpointBinding | None:
        """The breakpoint that was asked for at a location, or that stands there."""
        file, _, line = location.rpartition(":")
        for binding in self._state.breakpoints:
            if binding.intent.kind is not BreakpointKind.CODE:
                continue
            if binding.intent.location == location or _lies_at(binding, location):
                return binding
            if not file or not line.isdigit():
                continue
            for place in binding.places:
                if place.line == int(line) and _same_file(file, place.file, place.fullname):
                    return binding
        return None

    async def set(self, debugger: Debugger, intent: BreakpointIntent) -> BreakpointBinding:
        """Set a breakpoint; a failed one is returned and not kept."""
        if intent.kind.watches and not intent.scope:
            frame = frame_at(self._state.frames, self._state.selected_frame)
            intent = replace(intent, scope=frame.function if frame is not None else "")
        return await debugger.set_breakpoint(replace(intent, id=self._fresh_id()))

    def _fresh_id(self) -> int:
        return max((binding.intent.id for binding in self._state.breakpoints), default=0) + 1

    async def arm(self, debugger: Debugger, binding: BreakpointBinding, enabled: bool) -> BreakpointBinding:
        """Set what the engine could not take before; for a watch of a later frame, stop once where that begins."""
        made = await self.change(debugger, binding, replace(binding.intent, enabled=enabled))
        intent = made.intent
        if made.state is BindingState.PENDING and intent.kind.watches and intent.scope:
            first = BreakpointIntent(self._fresh_id(), intent.scope, temporary=True)
            stop = await debugger.set_breakpoint(first)
            if stop.state is BindingState.SET:
                return replace(made, why=f"the program stops once in {intent.scope}() to set it")
        return made

    async def change(
        self, debugger: Debugger, binding: BreakpointBinding, intent: BreakpointIntent
    ) -> BreakpointBinding:
        """Make a breakpoint what an intent says; where that fails, nothing has changed."""
        refused = self._refused.pop(binding.intent.id, None)
        made = await debugger.change_breakpoint(binding, intent)
        if made.state is BindingState.FAILED and refused is not None:
            self._refused[binding.intent.id] = refused
        self._publish()
        return made

    async def remove(self, debugger: Debugger, binding: BreakpointBinding) -> None:
        """Take one away, whether the engine has it or not."""
        self._refused.pop(binding.intent.id, None)
        await debugger.remove_breakpoint(binding)
        self._publish()

    # -- telling

    def _listed(self) -> tuple[BreakpointBinding, ...]:
        known = {binding.intent.id for binding in self._engine}
        refused = tuple(binding for number, binding in self._refused.items() if number not in known)
        return tuple(self._completed(binding) for binding in (*self._engine, *refused))

    def _completed(self, binding: BreakpointBinding) -> BreakpointBinding:
        """A binding with what only the session knows: the text of its line, and that it followed that text."""
        intent = binding.intent
        location, anchor = self._anchors.get(intent.id, ("", None))
        if location == intent.location and anchor is not intent.anchor:
            binding = replace(binding, intent=replace(intent, anchor=anchor))
        where, why = self._moved.get(intent.id, ("", ""))
        if where == intent.location and binding.state is BindingState.SET:
            binding = replace(binding, state=BindingState.MOVED, why=why)
        return binding

    def _publish(self) -> None:
        if self._applying:
            return
        self._state.breakpoints = self._listed()
        self._notifier.tell(Change.BREAKPOINTS)
        self._save()
        fresh = [binding for binding in self._state.breakpoints if self._lacks_anchor(binding)]
        if fresh:
            self._background(self._anchor(fresh))

    def _lacks_anchor(self, binding: BreakpointBinding) -> bool:
        intent = binding.intent
        known = self._anchors.get(intent.id)
        here = intent.kind is BreakpointKind.CODE and intent.location.rpartition(":")[2].isdecimal()
        return here and len(binding.places) == 1 and (known is None or known[0] != intent.location)

    async def _anchor(self, bindings: Sequence[BreakpointBinding]) -> None:
        """Remember the text of lines on which breakpoints were set."""
        found = False
        for binding in bindings:
            place = binding.places[0]
            anchor = await asyncio.to_thread(anchor_at, place.fullname, place.line) if place.fullname else None
            self._anchors[binding.intent.id] = binding.intent.location, anchor
            found = found or anchor is not None
        if found:
            self._state.breakpoints = self._listed()
            self._notifier.tell(Change.BREAKPOINTS)
            self._save()

    def _tell_counts(self) -> None:
        """Tell of hits, but not of each: a log point may be hit thousands of times a second."""
        if self._counting is None:
            self._counting = asyncio.get_running_loop().call_later(COUNT_INTERVAL, self._told_counts)

    def _told_counts(self) -> None:
        self._counting = None
        self._notifier.tell(Change.BREAKPOINTS)

    def _save(self) -> None:
        if self._store is not None:
            self._store.save(binding.intent for binding in self._state.breakpoints)
            self._told()

    def _told(self) -> None:
        if self._store is not None and self._store.notice:
            self._notice(self._store.notice, "warning")
            self._store.notice = ""

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _uncounted(binding: BreakpointBinding) -> BreakpointBinding:
    return replace(binding, hits=0, left=0)


def _lies_at(binding: BreakpointBinding, location: str) -> bool:
    """Whether a breakpoint lies at the address that a location `*0x401136` names."""
    if not location.startswith("*0x"):
        return False
    try:
        return int(location[1:], 16) in [int(address, 16) for address in binding.addresses]
    except ValueError:
        return False


def _same_file(asked: str, file: str, fullname: str) -> bool:
    if asked in (file, fullname):
        return True
    if asked.startswith("/") and fullname:
        return False
    # A name that is shorter than the other stands for it where it is its end, from a slash on.
    return any(long.endswith(f"/{short}") for long, short in ((fullname, asked), (asked, file), (file, asked)))

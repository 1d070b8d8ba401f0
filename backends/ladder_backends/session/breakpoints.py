"""The breakpoints of a session: the engine's, those it could not take, and what is kept on disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from ladder_backends.debugger.contract import Debugger
from ladder_backends.debugger.target import AttachTarget, LaunchTarget, Target
from ladder_backends.model.breakpoint import BreakpointBinding, BreakpointIntent
from ladder_backends.session.intents import IntentStore
from ladder_backends.session.notifier import Notifier
from ladder_backends.session.state import Change, DebugState


class Breakpoints:
    """Keeps `state.breakpoints` and the user's file in step with the engine."""

    def __init__(self, state: DebugState, notifier: Notifier, notice: Callable[[str, str], None]) -> None:
        self._state = state
        self._notifier = notifier
        self._notice = notice
        self._engine: tuple[BreakpointBinding, ...] = ()
        self._refused: dict[int, BreakpointBinding] = {}
        self._store: IntentStore | None = None
        self._applying = False

    async def apply(self, debugger: Debugger, target: Target) -> None:
        """Set what is kept for the target's program; on a restart, what was set before."""
        program = _program_of(target)
        wanted = [binding.intent for binding in self._state.breakpoints if not binding.intent.temporary]
        self._engine, self._refused = (), {}
        if self._store is None and program is not None:
            self._store = IntentStore(program)
            wanted = self._store.load()
            self._told()
        self._applying = True
        try:
            for intent in wanted:
                binding = await debugger.set_breakpoint(intent)
                if not binding.number:
                    self._refused[intent.id] = binding
        finally:
            self._applying = False
        self._publish()

    def changed(self, bindings: tuple[BreakpointBinding, ...]) -> None:
        """Take the engine's list."""
        self._engine = bindings
        self._publish()

    def at(self, location: str) -> BreakpointBinding | None:
        """The breakpoint that was asked for at a location, or that stands there."""
        file, _, line = location.rpartition(":")
        for binding in self._state.breakpoints:
            if binding.intent.location == location or _lies_at(binding, location):
                return binding
            if not file or not line.isdigit():
                continue
            for place in binding.places:
                if place.line == int(line) and _same_file(file, place.file, place.fullname):
                    return binding
        return None

    async def set(self, debugger: Debugger, location: str, condition: str, temporary: bool) -> BreakpointBinding:
        """Set a breakpoint; a failed one is returned and not kept."""
        number = max((binding.intent.id for binding in self._state.breakpoints), default=0) + 1
        return await debugger.set_breakpoint(BreakpointIntent(number, location, condition, temporary))

    async def remove(self, debugger: Debugger, binding: BreakpointBinding) -> None:
        """Take one away, whether the engine has it or not."""
        self._refused.pop(binding.intent.id, None)
        if binding.number:
            await debugger.remove_breakpoint(binding)
        self._publish()

    def _publish(self) -> None:
        if self._applying:
            return
        known = {binding.intent.id for binding in self._engine}
        refused = tuple(binding for number, binding in self._refused.items() if number not in known)
        self._state.breakpoints = (*self._engine, *refused)
        self._notifier.tell(Change.BREAKPOINTS)
        if self._store is not None:
            self._store.save(binding.intent for binding in self._state.breakpoints)
            self._told()

    def _told(self) -> None:
        if self._store is not None and self._store.notice:
            self._notice(self._store.notice, "warning")
            self._store.notice = ""


def _program_of(target: Target) -> Path | None:
    if isinstance(target, LaunchTarget):
        program = target.program
        if "/" not in str(program) and not program.exists():
            return Path(shutil.which(str(program)) or program)
        return program
    if isinstance(target, AttachTarget):
        try:
            return Path(f"/proc/{target.pid}/exe").readlink()
        except OSError:
            return None
    return None


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

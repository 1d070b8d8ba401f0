"""What a user does with the breakpoints of a session."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.session.python_stack import python_line_words
from ladder_backends.session.state import Run

if TYPE_CHECKING:
    from ladder_backends.debugger.contract import Debugger
    from ladder_backends.session.breakpoints import Breakpoints
    from ladder_backends.session.follower import Follower
    from ladder_backends.session.state import DebugState


class BreakpointActs:
    """The part of a `DebugSession` that is about breakpoints; what fails is one notice."""

    state: DebugState
    debugger: Debugger
    _breakpoints: Breakpoints
    _follower: Follower

    def _told(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def _takes_breakpoints(self) -> bool:
        """Whether the target takes any; says so where it does not."""
        state = self.state
        if state.capabilities & Capability.BREAKPOINTS or state.run is Run.DEAD:
            return True
        self._follower.notice("this target takes no breakpoints", "warning")
        return False

    async def toggle_breakpoint(self, location: str) -> BreakpointBinding | None:
        """Set a breakpoint at `file:line`, or take away the one that is there (then None)."""
        present = self._breakpoints.at(location)
        if present is not None:
            await self.remove_breakpoint(present)
            return None
        return await self.set_breakpoint(location)

    async def set_breakpoint(
        self, location: str, *, condition: str = "", temporary: bool = False
    ) -> BreakpointBinding | None:
        """Set a breakpoint; None, with a notice, where the target takes none."""
        return await self.place_breakpoint(BreakpointIntent(0, location, condition, temporary))

    async def place_breakpoint(self, intent: BreakpointIntent) -> BreakpointBinding | None:
        """Set a breakpoint of any kind; None, with a notice, where the target takes none."""
        if self._takes_breakpoints():
            with self._told():
                return self._tell_binding(await self._breakpoints.set(self.debugger, intent))
        return None

    async def change_breakpoint(
        self, binding: BreakpointBinding, intent: BreakpointIntent
    ) -> BreakpointBinding | None:
        """Make a breakpoint what an intent says; a refusal is a notice, and the breakpoint is as it was."""
        if self._takes_breakpoints():
            with self._told():
                return self._tell_binding(await self._breakpoints.change(self.debugger, binding, intent))
        return None

    async def remove_breakpoint(self, binding: BreakpointBinding) -> None:
        """Take a breakpoint away."""
        with self._told():
            await self._breakpoints.remove(self.debugger, binding)

    async def enable_breakpoint(self, binding: BreakpointBinding, enabled: bool) -> None:
        """Switch a breakpoint on or off; what the engine could not take before is tried again."""
        if not self._takes_breakpoints():
            return
        with self._told():
            if binding.number:
                await self.debugger.enable_breakpoint(binding, enabled)
            else:
                self._tell_binding(await self._breakpoints.arm(self.debugger, binding, enabled))

    async def enable_location(self, number: str, enabled: bool) -> None:
        """Switch one of a breakpoint's locations on or off, by the engine's number of it."""
        with self._told():
            await self.debugger.enable_location(number, enabled)

    def _tell_binding(self, binding: BreakpointBinding) -> BreakpointBinding:
        if binding.why:
            state = "set" if binding.state is BindingState.SET else binding.state
            severity = "error" if binding.state is BindingState.FAILED else "information"
            why = binding.why + python_line_words(binding)
            self._follower.notice(f"breakpoint {state} at {binding.intent.location}: {why}", severity)
        return binding

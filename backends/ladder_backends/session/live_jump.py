"""The live jump: run a program to a kernel's launch, and on to one lane of it, in steps that are told.

A launch stops the engine in the kernel's code, which is loaded then. In a small launch a breakpoint for the lane
gets there in milliseconds. The engine evaluates its condition for each warp that comes by, two million of them take
minutes: in a big launch the lane's block is stood in where it is on the device, and stepped to the line; where it
is not, its coming is waited for. What the sanitizer reports does not fault on hardware: no exception is waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import FocusRefused, StepKind
from ladder_backends.debugger.facets.device_stops import LaunchStops
from ladder_backends.errors import CommandFailed, EngineError, LadderError, TargetInvalid
from ladder_backends.images.names import base_name, same_kernel
from ladder_backends.model.focus import Focus, format_coordinate
from ladder_backends.model.frame import file_name
from ladder_backends.session.alternatives import Act, Alternative, Way, outside_grid
from ladder_backends.session.jump import JumpOutcome, look
from ladder_backends.session.live_wish import (
    AGAIN,
    DUMP,
    STAY,
    WAIT,
    GaveUp,
    LiveLimits,
    LiveWish,
    Phase,
    last_line,
    line_of,
    stands_at,
    warps_in,
)
from ladder_backends.session.state import NOT_STARTED, Run

if TYPE_CHECKING:
    from ladder_backends.model.frame import Frame
    from ladder_backends.model.grid import Kernel
    from ladder_backends.session.debug_session import DebugSession

FEW_WARPS = 2_048
"""Warps of a launch up to which a breakpoint for one of their lanes is quick."""

_SUSPENDING = 15.0
"""Seconds that a GPU may take to stand after an interrupt."""

_TELL_STEPS = 8


class LiveJump:
    """One jump on a session; what is left of it when it gave up can be waited on for.

    Args:
        session: A program is opened in it; whether it runs already does not matter.
        wish: Where to.
        tell: Takes each phase, one line.
    """

    def __init__(
        self, session: DebugSession, wish: LiveWish, tell: Callable[[str], None], limits: LiveLimits | None = None
    ) -> None:
        self.wish = wish
        self.phases: list[tuple[str, float]] = []
        self._session = session
        self._tell_line = tell
        self._limits = limits or LiveLimits()
        self._phase = Phase.LAUNCH
        self._began = self._waits_since = 0.0
        self._stopped_by_user = False
        self._launches: LaunchStops | None = None
        self._kernel: Kernel | None = None
        self._matching: list[int] = []
        self._others = self._way_stops = 0
        self._place_waited_for = ""
        self._since: float | None = None
        self._judged: float | None = None
        self._moved, self._counts = True, False

    # -- from outside

    async def go(self, *, anew: bool = False) -> JumpOutcome:
        """Get there; where it stands in the lane's launch already, without running the program again.

        Args:
            anew: Run the program from its beginning in any case.
        """
        if not anew and await self.is_in_launch():
            return await self._guarded(self._from_here)
        return await self._guarded(self._from_the_start)

    async def wait_on(self) -> JumpOutcome:
        """Go on with what was given up."""
        return await self._guarded(self._on)

    async def interrupt(self) -> None:
        """Stop the program where it is, and give up."""
        self._stopped_by_user = True
        await self._session.interrupt()

    async def stay(self) -> None:
        """Wait for nothing any longer."""
        with contextlib.suppress(EngineError):
            await self._drop()

    # -- the frame of it

    async def _guarded(self, way: Callable[[], Awaitable[None]]) -> JumpOutcome:
        self._began = self._waits_since = time.perf_counter()
        self._stopped_by_user, self._way_stops, session = False, 0, self._session
        self.phases.clear()
        session.look_at_stops(False)
        try:
            await way()
            outcome = await self._arrived()
        except GaveUp as over:
            outcome = self._missed(str(over), over.ways)
        except LadderError as error:
            outcome = self._missed(error.line(), ())
        finally:
            session.look_at_stops(True)
        if not any(each.act is Act.WAIT for each in outcome.alternatives):
            await self.stay()
        session.show_jump(outcome)
        return replace(outcome, phases=tuple(self.phases))

    def _missed(self, reason: str, ways: tuple[Alternative, ...]) -> JumpOutcome:
        return JumpOutcome(
            self.wish.asked,
            None,
            provenance=self._session.state.provenance,
            reason=reason,
            alternatives=ways,
            seconds=self._age,
            kernel=self._kernel,
            way=Way.LIVE,
        )

    async def _arrived(self) -> JumpOutcome:
        """Read the lane in which the engine stands."""
        state = self._session.state
        reached = state.focus or self.wish.asked
        outcome = JumpOutcome(
            self.wish.asked, reached, provenance=state.provenance, kernel=self._kernel, way=Way.LIVE
        )
        outcome = await look(self._session.debugger, outcome)
        self._tell(f"{reached.describe('block', 'thread')} reached")
        at = outcome.frame.place.line if outcome.frame is not None and outcome.frame.place is not None else None
        reason = ""
        if not reached.satisfies(self.wish.asked):
            reason = f"asked for {self.wish.asked.describe()}, reached {reached.describe(*self.wish.asked)}"
        elif self.wish.line is not None and at != self.wish.line:
            reason = f"the lane stands on line {at}, not on {self.wish.line}"
        return replace(outcome, reason=reason, seconds=self._age, alternatives=(AGAIN,) if reason else ())

    # -- ways

    async def is_in_launch(self) -> bool:
        """It stands in a launch of the kernel that is meant."""
        state = self._session.state
        if state.run is not Run.STOPPED or state.focus is None or "block" not in state.focus:
            return False
        with contextlib.suppress(EngineError):
            kernel = await self._kernel_here()
            if kernel is not None and self._is_meant(kernel) and not self._outside(kernel):
                self._kernel, self._matching = kernel, [kernel.number]
                self._place_waited_for = self.wish.location
                return True
        return False

    async def _from_here(self) -> None:
        """Stand in the lane, in the launch that stands here already."""
        debugger, wish = self._session.debugger, self.wish
        try:
            reached = await debugger.switch(self._lane())
        except FocusRefused as refused:
            raise GaveUp(
                f"{refused.what}: that moment of the launch has passed, or is yet to come",
                (AGAIN, Alternative(f"run on and wait for {wish.words}", act=Act.WAIT)),
            ) from refused
        finally:
            self._phase = Phase.LANE
        self._stands_in(reached)
        here = await self._line()
        if wish.line is not None and here is not None and here < wish.line:
            self._tell(f"the lane stands on line {here}: runs on to {wish.line}")
            await self._to_line()

    async def _from_the_start(self) -> None:
        debugger = self._session.debugger
        if debugger.device_stops is None or debugger.lane_runs is None:
            raise GaveUp(f"{debugger.name} does not wait for lanes of kernels")
        await self._drop()
        self._phase, self._matching, self._others = Phase.LAUNCH, [], 0
        self._launches = debugger.device_stops.launches
        await debugger.device_stops.at_launch(LaunchStops.APPLICATION)
        kernel = base_name(self.wish.kernel) if self.wish.kernel else "a kernel"
        self._tell(f"started; waits for the launch of {kernel}")
        await self._resume(StepKind.RUN)
        await self._launch()
        await self._in_launch()

    async def _on(self) -> None:
        """Go on in the phase that was reached."""
        session, runs = self._session, self._session.debugger.lane_runs
        self._since = None if session.state.run is not Run.STOPPED else self._since
        again = session.state.run is Run.STOPPED and self._phase in (Phase.COMING, Phase.LANE)
        if again and runs is not None:
            # Given up in the middle of waiting.
            if not runs.waiting:
                await self._wait_at(self._place_waited_for)
            await self._resume(StepKind.CONTINUE)
        elif session.state.run is Run.STOPPED and self._phase is Phase.LAUNCH and self._passes:
            await self._resume(StepKind.CONTINUE)
        if self._phase is Phase.LAUNCH:
            await self._launch()
            await self._in_launch()
            return
        if self._phase is not Phase.STEPS:
            await self._come(self._place_waited_for)
        if self._phase is not Phase.LANE:
            await self._to_line()

    async def _launch(self) -> None:
        """Run on from launch to launch up to the one that is meant."""
        session = self._session
        while True:
            await self._stands("the kernel was launched")
            kernel = await self._kernel_here() if "block" in (session.state.focus or ()) else None
            self._judged = session.state.since
            if kernel is not None and self._takes(kernel):
                self._kernel = kernel
                break
            if kernel is None:
                self._count_stop()
            await self._resume(StepKind.CONTINUE)
        assert session.debugger.device_stops is not None
        await self._restore_launches()
        self._waits_since = time.perf_counter()
        size = f"{format_coordinate(kernel.grid_dim)} blocks of {format_coordinate(kernel.block_dim)}"
        self._tell(f"launch {len(self._matching)} of {base_name(kernel.name)} reached · {size}")

    @property
    def _passes(self) -> bool:
        """What stands is not the launch that is meant, as far as it was looked at."""
        state = self._session.state
        looked_at = "block" not in (state.focus or ()) or state.since == self._judged
        return self._launches is not None and looked_at

    def _takes(self, kernel: Kernel) -> bool:
        """Whether a launch is the one that is meant; says which are passed over."""
        if not self._is_meant(kernel):
            self._others += 1
            self._tell(f"passed {self._others} of other kernels: {base_name(kernel.name)}", quiet=self._others > 3)
            return False
        if kernel.number not in self._matching:
            self._matching.append(kernel.number)
        number, wanted = len(self._matching), self.wish.launch
        if wanted is not None and number != wanted:
            self._tell(f"passed launch {number} of {base_name(kernel.name)}", quiet=number > 3)
            return False
        outside = self._outside(kernel)
        if outside:
            self._tell(f"launch {number}: {outside}", quiet=number > 3)
            return False
        return True

    async def _in_launch(self) -> None:
        """From the launch on to the lane."""
        kernel = self._kernel
        assert kernel is not None
        entry = await self._entry()
        # Whoever stands at a breakpoint's place already goes on without a hit.
        if self.wish.line in (None, line_of(entry)) and await self._stand():
            return
        if warps_in(kernel) <= FEW_WARPS:
            self._phase, self._place_waited_for = Phase.LANE, self.wish.location or entry
            await self._wait_at(self._place_waited_for)
            self._tell(f"waits for {self.wish.words}")
            await self._resume(StepKind.CONTINUE)
            await self._come(self._place_waited_for)
            return
        if not await self._stand():
            self._phase, self._place_waited_for = Phase.COMING, entry
            await self._wait_at(entry)
            block = format_coordinate(self.wish.asked["block"])
            self._tell(f"block {block} is not on the device yet: waits for it among {warps_in(kernel):,} warps")
            await self._resume(StepKind.CONTINUE)
            await self._come(entry)
        await self._to_line()

    async def _to_line(self) -> None:
        """From a lane in whose block it stands on to the line."""
        if self.wish.line is None:
            return
        kernel = self._kernel
        if kernel is not None and warps_in(kernel) <= FEW_WARPS:
            self._phase, self._place_waited_for = Phase.LANE, self.wish.location
            await self._wait_at(self.wish.location)
            await self._resume(StepKind.CONTINUE)
            await self._come(self.wish.location)
            return
        await self._steps()

    async def _come(self, place: str) -> None:
        """Wait until the lane comes to a place; stops of others on the way are run over."""
        session = self._session
        while True:
            await self._stands(f"the lane came to {file_name(place)}", waiting=True)
            runs = session.debugger.lane_runs
            hit = runs is not None and not runs.waiting
            if await self._stand() and (hit or stands_at(await self._frame(), place)):
                return
            self._count_stop()
            if hit:
                # Its warp has stopped there, its lane is none of those that did.
                await self._wait_at(place)
            await self._resume(StepKind.CONTINUE)

    async def _steps(self) -> None:
        """Step the lane's warp line by line."""
        wanted = self.wish.line
        self._phase = Phase.STEPS
        for step in range(self._limits.steps):
            line = await self._line()
            if line == wanted:
                return
            if step % _TELL_STEPS == 0:
                self._tell(f"{self.wish.asked.describe('block')}: steps from line {line} to {wanted}")
            await self._resume(StepKind.NEXT)
            await self._stands(f"line {wanted} was reached")
            if not await self._stand():
                raise GaveUp("the lane has ended on the way to its line", (STAY, AGAIN))
        raise GaveUp(f"line {wanted} was not reached in {self._limits.steps} steps", (WAIT, STAY, DUMP))

    # -- pieces

    async def _resume(self, kind: StepKind) -> None:
        if self._stopped_by_user:
            # Pressed while it stood for a moment: nothing ran that could have been stopped.
            raise GaveUp(f"you stopped it before {self.wish.words}", (WAIT, STAY))
        state = self._session.state
        self._since = state.since if state.run is Run.STOPPED else None
        await self._session.resume(kind)

    async def _stands(self, before: str, *, waiting: bool = False) -> None:
        """Wait until it stands somewhere.

        Raises:
            GaveUp: It ended, a fault or the user stopped it, or time is up.
        """
        session, state = self._session, self._session.state
        late = self._moved = False
        try:
            limit = self._limits.launch if self._phase is Phase.LAUNCH else self._limits.seconds
            async with asyncio.timeout(max(0.05, self._waits_since + limit - time.perf_counter())):
                await session.at_rest()
        except TimeoutError:
            late = True
            await session.interrupt()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SUSPENDING):
                    await session.at_rest()
        if state.run is Run.STOPPED and state.since == self._since and not late:
            said = state.notice.text if state.notice is not None else "the engine does not let it"
            raise GaveUp(f"it did not run on: {said}", (STAY,))
        runs = session.debugger.lane_runs
        if waiting and state.run is Run.STOPPED and not state.fault and runs is not None and not runs.waiting:
            # It has come just now, whatever else was to stop it.
            return
        if state.run is not Run.STOPPED:
            if state.run is Run.RUNNING:
                raise GaveUp("the GPU does not stand yet; it was asked to", (WAIT, STAY))
            if state.run_detail == NOT_STARTED:
                said = state.notice.text if state.notice is not None else "the engine does not say why"
                raise TargetInvalid("the program was not started", said)
            detail = state.run_detail or str(state.run)
            raise GaveUp(f"the program ended before {before}: {detail}{self._seen()}{self._said()}", (AGAIN,))
        if state.fault:
            raise GaveUp(f"{state.run_detail} before {before}", (STAY, DUMP))
        if self._stopped_by_user or late:
            why = "you stopped it" if self._stopped_by_user else f"{self._age:.0f} s are over"
            on_device = session.debugger.gpu_dumps is not None and "block" in (state.focus or ())
            raise GaveUp(f"{why} before {before}", (WAIT, STAY, DUMP) if on_device else (WAIT, STAY))

    def _seen(self) -> str:
        """What was launched, where nothing of it was meant."""
        if self._phase is not Phase.LAUNCH:
            return ""
        kernel = base_name(self.wish.kernel) if self.wish.kernel else "a kernel"
        if self._matching:
            times = len(self._matching)
            return f"; {kernel} was launched {times} time{'s' if times > 1 else ''}, none of them is meant"
        other = f", {self._others} of others" if self._others else ""
        return f"; no launch of {kernel} was seen{other}"

    def _said(self) -> str:
        """The last line that the program wrote: why there was no launch, most often."""
        last = last_line(tuple(self._session.state.program)[-4:]) if not self._matching else ""
        return f"; it wrote: {last}" if last else ""

    def _count_stop(self) -> None:
        self._way_stops += 1
        detail = self._session.state.run_detail
        self._tell(f"ran over: {detail}")
        if self._way_stops >= self._limits.stops:
            raise GaveUp(f"it stopped {self._way_stops} times elsewhere on the way", (WAIT, STAY, AGAIN))

    async def _stand(self) -> bool:
        """Stand in the lane; returns whether it is on the device."""
        focus = self._session.state.focus
        if focus is not None and focus.satisfies(self.wish.asked):
            return True
        try:
            reached = await self._session.debugger.switch(self._lane())
        except FocusRefused:
            return False
        self._stands_in(reached)
        return reached.satisfies(self.wish.asked)

    def _stands_in(self, reached: Focus) -> None:
        self._moved = True
        self._session.stand_in(self.wish.asked, reached)

    async def _frame(self) -> Frame | None:
        """The innermost frame: as the last stop's record told, unless the focus has moved since."""
        told = self._session.state.frames.frames
        if told and not self._moved:
            return told[0]
        window = await self._session.debugger.frames(0, 1)
        return window.frames[0] if window.frames else None

    async def _line(self) -> int | None:
        frame = await self._frame()
        return frame.place.line if frame is not None and frame.place is not None else None

    async def _entry(self) -> str:
        """Where the launch stands: its line, else its address."""
        frame = await self._frame()
        if frame is None:
            raise CommandFailed("", "the engine does not tell where the kernel begins")
        place = frame.place
        return f"{place.file}:{place.line}" if place is not None else f"*{frame.address}"

    async def _wait_at(self, place: str) -> None:
        runs = self._session.debugger.lane_runs
        assert runs is not None
        try:
            await runs.wait_at(place, self.wish.asked.dim3("block"), self.wish.asked.dim3("thread"))
        except CommandFailed as refused:
            why = refused.what.rstrip(".")
            raise GaveUp(f"cannot stop at {file_name(place)}: {why}", (STAY,)) from refused

    async def _kernel_here(self) -> Kernel | None:
        focus = self._session.state.focus
        number = focus.index("kernel") if focus is not None else None
        return next((each for each in await self._session.debugger.kernels() if each.number == number), None)

    def _is_meant(self, kernel: Kernel) -> bool:
        return not self.wish.kernel or same_kernel(kernel.name, self.wish.kernel)

    def _outside(self, kernel: Kernel) -> str:
        block = self.wish.asked.dim3("block")
        return outside_grid(kernel, block, self.wish.asked.dim3("thread")) if block is not None else ""

    def _lane(self) -> Focus:
        number = self._kernel.number if self._kernel is not None else None
        asked = self.wish.asked
        return Focus.of(kernel=number, block=asked.dim3("block"), thread=asked.dim3("thread"))

    async def _restore_launches(self) -> None:
        before, self._launches = self._launches, None
        stops = self._session.debugger.device_stops
        if before is not None and stops is not None:
            await stops.at_launch(before)

    async def _drop(self) -> None:
        runs = self._session.debugger.lane_runs
        if self._session.state.run is not Run.DEAD:
            if runs is not None:
                await runs.drop()
            await self._restore_launches()

    @property
    def _age(self) -> float:
        return time.perf_counter() - self._began

    def _tell(self, text: str, *, quiet: bool = False) -> None:
        if quiet and self._counts and self.phases:
            # The newest count says what those before it said: a program may launch for hours.
            self.phases.pop()
        self._counts = quiet
        self.phases.append((text, self._age))
        if not quiet:
            self._tell_line(f"{text} · {self._age:.1f} s")

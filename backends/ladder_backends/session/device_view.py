"""The hardware below a session, and the lines of the lanes beside the focused one: asked for while they are seen.

Each question has a filter, so that its answer is bounded by an SM or a block, and the engine's usual deadline. A
question that belongs to an earlier stop or an earlier wish is dropped when its answer comes.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ladder_backends.errors import LadderError
from ladder_backends.model.events import (
    EngineExited,
    Event,
    TargetExited,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.grid import LANES, LaneState, delinear, linear, volume
from ladder_backends.session.grid_state import LinesOfLanes
from ladder_backends.session.state import Change, Run
from ladder_backends.session.why_none import why_none

if TYPE_CHECKING:
    from ladder_backends.debugger.facets import DeviceMap
    from ladder_backends.model.focus import Dim3
    from ladder_backends.model.frame import Place
    from ladder_backends.model.grid import Lane, ThreadRun, Warp
    from ladder_backends.session.debug_session import DebugSession

LINES_AFTER = 0.05
"""Seconds that the target stands before it is asked where the other lanes of a block stand."""

MOST_RUNS = 1_024
"""Runs of threads that are taken: a block has at most so many threads."""

_NOT_KEPT = "this engine tells nothing of the hardware"

_Answer = TypeVar("_Answer")


class DeviceView:
    """Reads hardware and lines of lanes into a session's state, one level at a time.

    Attributes:
        stop: Number of the last stop or run.
    """

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self.stop = 0
        self._seen: tuple[object, ...] = ()
        self._devices_of = self._kernels_of = -1
        self._sms_of: tuple[int, ...] = ()
        self._warps_of: tuple[int, ...] = ()
        self._lines_for: tuple[object, ...] = ()

    def take(self, event: Event) -> None:
        """What was read is of the moment before the target ran; it is shown until it is asked for again."""
        if isinstance(event, TargetRunning | TargetStopped):
            self.stop += 1
            self._forget_lines()
            self._session.state.hardware.note = self._session.state.hardware.asked = ""
        elif isinstance(event, TargetExited | EngineExited):
            self.stop += 1
            self._forget_lines()
            self.forget()

    def forget(self) -> None:
        """There is no device any more; which SM was looked at is kept."""
        state = self._session.state.hardware
        state.devices, state.sms, state.warps, state.note, state.asked = (), (), (), "", ""
        self._seen = self._sms_of = self._warps_of = ()
        self._devices_of = -1

    def _forget_lines(self) -> None:
        self._lines_for = ()
        self._session.state.lane_lines = LinesOfLanes()

    # -- hardware

    @property
    def stands(self) -> bool:
        """The device can be asked."""
        return self._session.state.run in (Run.STOPPED, Run.DUMP)

    async def look(self, device: int | None = None, sm: int | None = None) -> None:
        """Read devices, the SMs of one, and the warps of one SM; what was asked at this stop is not asked again.

        Args:
            device: Which; by default the focused one, else the one looked at last, else the first.
            sm: Which; by default the focused one, else the one looked at last, else the first that is used.
        """
        session, state = self._session, self._session.state.hardware
        facet = session.debugger.device_map
        if not self.stands:
            return
        if facet is None:
            state.note = _NOT_KEPT
            session.tell(Change.GRID)
            return
        seen = (self.stop, device, sm, state.device, state.sm)
        if seen == self._seen:
            return
        self._seen = seen
        await self._look(facet, device, sm)
        if seen == self._seen:
            # Refused or not, the same wish is not asked twice.
            self._seen = (seen[0], device, sm, state.device, state.sm)

    async def _look(self, facet: DeviceMap, device: int | None, sm: int | None) -> None:
        session, state = self._session, self._session.state.hardware
        focus = session.state.focus
        if self._devices_of != self.stop:
            devices = await self._ask("devices", facet.devices)
            if devices is None:
                return
            state.devices, self._devices_of = tuple(devices), self.stop
        numbers = [each.number for each in state.devices]
        wanted = _first_of(numbers, device, focus.index("device") if focus else None, state.device)
        if wanted is None:
            state.note = "no device"
            session.tell(Change.GRID)
            return
        if wanted != state.device:
            state.device, state.sm, state.sms, state.warps = wanted, None, (), ()
            self._sms_of = self._warps_of = ()
        if self._sms_of != (self.stop, wanted):
            number = wanted
            sms = await self._ask(f"SMs of device {wanted}", lambda: facet.sms(number))
            if sms is None or state.device != wanted:
                return
            state.sms, self._sms_of = tuple(sms), (self.stop, wanted)
        here = focus.index("sm") if focus is not None and focus.index("device") == wanted else None
        used = [each.number for each in state.sms]
        chosen = sm if sm is not None else _first_of(used, here, state.sm)
        if chosen != state.sm:
            state.sm, state.warps, self._warps_of = chosen, (), ()
        if chosen is not None and self._warps_of != (self.stop, wanted, chosen):
            on, at = wanted, chosen
            warps = await self._ask(f"warps of SM {chosen}", lambda: facet.warps_on(on, at)) if at in used else ()
            if warps is None or (state.device, state.sm) != (on, at):
                # Another SM was wished for meanwhile.
                return
            state.warps, self._warps_of = tuple(warps), (self.stop, on, at)
        session.tell(Change.GRID)

    async def _ask(
        self, what: str, question: Callable[[], Awaitable[Sequence[_Answer]]]
    ) -> Sequence[_Answer] | None:
        """An answer that is still wanted when it comes; else None, with a note where it was refused."""
        session, state, stop = self._session, self._session.state.hardware, self.stop
        state.asked, state.at = what, time.monotonic()
        try:
            answer = await question()
        except LadderError as error:
            if stop == self.stop:
                state.asked, state.note = "", why_none(error)
                session.tell(Change.GRID)
            return None
        if stop != self.stop:
            return None
        state.asked, state.note, state.at = "", "", time.monotonic()
        return answer

    # -- kernels, seen from the host

    async def look_kernels(self) -> None:
        """Read kernels and the blocks of the first one, where the engine stands in no lane; once for each stop."""
        session = self._session
        state, focus = session.state, session.state.focus
        if not self.stands or self._kernels_of == self.stop or (focus is not None and "block" in focus):
            return
        self._kernels_of = stop = self.stop
        try:
            kernels = tuple(await session.debugger.kernels())
            blocks = tuple(await session.debugger.blocks(kernels[0].number)) if kernels else ()
        except LadderError:
            return
        focus = state.focus
        if stop == self.stop and kernels and (focus is None or "block" not in focus):
            state.grid = replace(state.grid, kernels=kernels, blocks=blocks, warps=())
            session.tell(Change.GRID)

    # -- lines of lanes

    async def look_lines(self, *, at_once: bool = False) -> None:
        """Read where the other lanes of the focused block stand; once for each stop and block.

        Args:
            at_once: Do not wait until the target has stood for a moment: steps typed fast do not pay for it.
        """
        session = self._session
        state = session.state
        focus = state.focus
        block = focus.dim3("block") if focus is not None else None
        if not self.stands or block is None or focus is None:
            return
        wanted = (self.stop, focus.index("kernel"), block)
        if wanted == self._lines_for:
            return
        self._lines_for = wanted
        if state.run is Run.STOPPED and not at_once:
            await asyncio.sleep(LINES_AFTER)
            if wanted != self._lines_for or not self.stands:
                return
        try:
            runs = tuple(await session.debugger.threads_held(block))[:MOST_RUNS]
        except LadderError:
            # A recording need not hold it: nothing is told then of lanes beside the focused one.
            return
        if wanted != self._lines_for or not self.stands:
            return
        state.lane_lines = LinesOfLanes(wanted[1], block, runs, lines_of(runs))
        session.tell(Change.GRID)


def lines_of(runs: Sequence[ThreadRun]) -> tuple[tuple[Place, int], ...]:
    """How many lanes stand in each place, most first."""
    counts: Counter[Place] = Counter()
    for run in runs:
        if run.place is not None:
            counts[run.place] += run.count
    return tuple(counts.most_common())


def with_places(
    warps: Sequence[Warp], told: LinesOfLanes, kernel: int | None, block: Dim3 | None, block_dim: Dim3
) -> tuple[Warp, ...]:
    """Warps of a block, their lanes with the place and program counter that were told of their threads.

    Args:
        warps: Of the block.
        told: Lines that were told, of this block or another one.
        kernel: Number of the block's kernel.
        block: The block.
        block_dim: Threads of a block in each direction.
    """
    threads = volume(block_dim)
    if told.block != block or told.kernel not in (kernel, None) or not told.runs or not 0 < threads <= MOST_RUNS:
        return tuple(warps)
    by_thread: list[ThreadRun | None] = [None] * threads
    for run in told.runs:
        first, last = linear(run.first, block_dim), linear(run.last, block_dim)
        # Where the count is another one, which threads are meant is not said.
        if last - first + 1 == run.count and 0 <= first <= last < threads:
            by_thread[first : last + 1] = [run] * run.count
    return tuple(
        replace(
            warp,
            lanes=tuple(
                _placed(lane, warp.index * LANES + lane.number, by_thread, block_dim) for lane in warp.lanes
            ),
        )
        for warp in warps
    )


def _placed(lane: Lane, number: int, by_thread: Sequence[ThreadRun | None], block_dim: Dim3) -> Lane:
    run = by_thread[number] if 0 <= number < len(by_thread) else None
    if run is None or lane.state in (LaneState.ABSENT, LaneState.EXITED):
        return lane
    if lane.pc and run.pc and lane.pc != run.pc:
        return lane
    return replace(lane, pc=lane.pc or run.pc, place=run.place, thread=lane.thread or delinear(number, block_dim))


def _first_of(present: Sequence[int], *wished: int | None) -> int | None:
    """The first wish that is present, else the first that is present, else None."""
    for wish in wished:
        if wish is not None and wish in present:
            return wish
    return present[0] if present else None

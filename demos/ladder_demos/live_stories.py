"""What is done in the live sessions that are recorded on a GPU: a replay answers what was asked here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger.contract import StepKind
from ladder_backends.debugger.facets import ApiFailures, LaunchStops
from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.transport import EngineCommand, Transport
from ladder_backends.model.focus import Dim3, Focus
from ladder_backends.model.frame import FrameKind
from ladder_backends.model.grid import volume
from ladder_backends.recording import Recorder
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.jump import FRAMES, VARIABLES
from ladder_backends.session.state import Run

INSTRUCTIONS = 200
STOP_WITHIN = 20.0
"""Seconds in which the program has to stop."""

SPINS = 0.5
_GROUPS = 2

Making: TypeAlias = Callable[[EngineCommand], Transport]


class StoryEnded(Exception):
    """The program did not do what the story is about; the text says what it did."""


class LiveStory:
    """One session on a real engine; each thing that is done is also looked at as far as a screen would look.

    Attributes:
        told: How each stop is told of.
        refused: Lanes that could not be visited, and why.
        stood: It has stood in a kernel.

    Args:
        program: What is debugged.
        recording: File to record into, or None.
        version: The engine's version text, for the recording.
        making: Makes the transport that is recorded.
    """

    def __init__(
        self, program: Path, recording: Path | None = None, version: str = "", making: Making = PtyTransport
    ) -> None:
        def transport(command: EngineCommand) -> Transport:
            inner = making(command)
            if recording is None:
                return inner
            # The header names the engine, not where it lies on the machine that recorded it.
            return Recorder(inner, recording, argv=("cuda-gdb", program.name), version=version)

        self._program = program
        self.session = DebugSession(CudaGdbDebugger(transport))
        self.session.show_rows(frames=FRAMES, variables=VARIABLES)
        self.state = self.session.state
        self.told: list[str] = []
        self.refused: list[str] = []
        self.stood = False

    async def begin(self, *, launches: bool = False, failures: bool = False) -> None:
        """Start the program, as a replay will: without breakpoints."""
        self.state.device.launches = LaunchStops.APPLICATION if launches else LaunchStops.NONE
        self.state.device.failures = ApiFailures.STOP_ALL if failures else ApiFailures.IGNORE
        await self.session.open(LaunchTarget(self._program))

    async def stopped(self) -> None:
        """Wait for the stop, or the end.

        Raises:
            StoryEnded: It has not come, or the engine has died.
        """
        try:
            async with asyncio.timeout(STOP_WITHIN):
                await self.session.at_rest()
        except TimeoutError:
            raise StoryEnded(f"no stop within {STOP_WITHIN:.0f} s") from None
        if self.state.run is Run.DEAD:
            raise StoryEnded(self.state.run_detail)
        self.told.append(f"{self.state.run_detail} {self.state.place or ''}".rstrip())

    async def go(self, kind: StepKind) -> None:
        """Let it run to the next stop or its end, and look at what is there."""
        await self.session.resume(kind)
        await self.stopped()
        if self.state.run is Run.STOPPED:
            await self.look()

    async def spin(self, kind: StepKind | None = None) -> None:
        """Let it run for a moment, then interrupt it."""
        if kind is not None:
            await self.session.resume(kind)
        await asyncio.sleep(SPINS)
        await self.session.interrupt()
        await self.stopped()
        if self.state.run is Run.STOPPED:
            await self.look()

    async def said(self, words: bytes) -> None:
        """Wait until the program has written this, or for as long as it may take to stop."""
        changed = asyncio.Event()
        leave = self.session.subscribe(lambda _: changed.set())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_WITHIN):
                while words not in b"".join(self.state.program) and self.state.run in (Run.STARTING, Run.RUNNING):
                    await changed.wait()
                    changed.clear()
        leave()

    async def look(self) -> None:
        """Ask what panes ask of a stop beside what every stop asks."""
        session = self.session
        await session.load_disassembly(INSTRUCTIONS)
        registers = session.machine.registers
        await registers.look(())
        if self.state.machine.registers.groups:
            await registers.look(self.state.machine.registers.groups[:_GROUPS])
        await session.machine.device.look()
        await session.machine.device.look_lines()
        await session.complete("info cuda ")

    async def visit(self, lanes: Sequence[Focus]) -> None:
        """Stand in each of these lanes, then where it stood before: a replay goes on from there."""
        here, level = self.in_kernel(), self.state.selected_frame
        for lane in lanes:
            await self.move(lane)
        await self.move(Focus.of(**{name: here.get(name) for name in ("kernel", "block", "thread")}), level)

    async def move(self, lane: Focus, level: int = 0) -> None:
        """Stand in a frame of a lane."""
        if await self.session.switch(lane, level) is None:
            self.refused.append(f"{lane.describe()}: {self.state.reason}")
            return
        await self.session.at_rest()
        await self.session.load_disassembly(INSTRUCTIONS)
        await self.session.machine.device.look_lines()

    async def ask_lanes(self, expression: str) -> None:
        """An expression over the lanes of the warp, then of the block."""
        values = self.session.lane_values
        for span in [each.name for each in values.spans][:2]:
            values.evaluate(expression, span)
            await values.at_rest()

    async def frames(self) -> None:
        """Look into the first frames and into those of the host below the kernel's, and come back."""
        frames = self.state.frames.frames
        native = [one.level for one in frames if one.kind is FrameKind.NATIVE and one.place][:2]
        # What is selected at the stop is selected again: a replay goes on from there.
        for level in dict.fromkeys((*native, *(one.level for one in frames[:3]), self.state.selected_frame)):
            await self.session.select_frame(level)
            await self.session.at_rest()

    def in_kernel(self) -> Focus:
        """Where it stands.

        Raises:
            StoryEnded: Not in a kernel.
        """
        focus = self.state.focus
        if self.state.run is not Run.STOPPED or focus is None or "block" not in focus:
            raise StoryEnded(f"it stands in no kernel: {self.state.run} {self.state.run_detail}".rstrip())
        self.stood = True
        return focus

    def blocks(self, most: int) -> list[Dim3]:
        """The first block of each run of resident blocks, and the last of all."""
        runs = self.state.grid.blocks
        return list(dict.fromkeys([run.first for run in runs][: most - 1] + [run.last for run in runs][-1:]))


def lane(block: Dim3, thread: Dim3, kernel: int = 0) -> Focus:
    """A lane by all of its coordinates, as the map asks for it."""
    return Focus.of(kernel=kernel, block=block, thread=thread)


async def step(story: LiveStory) -> None:
    """From the launch of the vector's kernel into the warp that runs past its end, and on to the end."""
    beyond = lane((3, 0, 0), (240, 0, 0))
    await story.begin(launches=True)
    await story.stopped()
    story.in_kernel()
    await story.look()
    await story.visit([*(lane((block, 0, 0), (0, 0, 0)) for block in range(4)), beyond])
    await story.go(StepKind.NEXT)
    await story.visit([lane((0, 0, 0), (1, 0, 0)), lane((0, 0, 0), (32, 0, 0))])
    await story.move(beyond)
    await story.go(StepKind.NEXT)
    await story.go(StepKind.NEXT)
    await story.visit([lane((3, 0, 0), (thread, 0, 0)) for thread in range(224, 256)])
    await story.ask_lanes("i")
    await story.frames()
    for _ in range(3):
        await story.go(StepKind.NEXT_INSTRUCTION)
    await story.go(StepKind.CONTINUE)


async def grid(story: LiveStory) -> None:
    """The launch of 250,000 blocks, a walk over the map, and steps to where the lanes of a warp part."""
    await story.begin(launches=True)
    await story.stopped()
    story.in_kernel()
    await story.look()
    for block in story.blocks(6):
        await story.visit([lane(block, (0, 0, 0)), lane(block, (1, 0, 0)), lane(block, (31, 7, 0))])
    await story.ask_lanes("threadIdx.x")
    for _ in range(6):
        await story.go(StepKind.NEXT)
        block = story.in_kernel().dim3("block") or (0, 0, 0)
        await story.visit([lane(block, (thread, 0, 0)) for thread in (0, 1)])
    await story.frames()
    await story.session.control.kill()


async def clusters(story: LiveStory) -> None:
    """Blocks of two clusters of four, what they read of each other, and what the device prints."""
    await story.begin(launches=True)
    await story.stopped()
    story.in_kernel()
    await story.look()
    await story.visit([lane((block, 0, 0), (thread, 0, 0)) for block in range(8) for thread in (0, 1)])
    for _ in range(4):
        await story.go(StepKind.NEXT)
        block = story.in_kernel().dim3("block") or (0, 0, 0)
        await story.visit([lane(block, (thread, 0, 0)) for thread in (1, 2)])
    await story.ask_lanes("rank")
    await story.frames()
    await story.go(StepKind.CONTINUE)


async def two_kernels(story: LiveStory) -> None:
    """Two launches, both kernels on the map, then the call that fails."""
    await story.begin(launches=True, failures=True)
    await story.stopped()
    for _ in range(8):
        if story.state.run is not Run.STOPPED:
            break
        await story.look()
        if story.state.focus is not None and "block" in story.state.focus:
            for kernel in story.state.grid.kernels:
                last = (volume(kernel.block_dim) - 1, 0, 0)
                await story.visit([lane((block, 0, 0), last, kernel.number) for block in (0, 1)])
        else:
            await story.frames()
        await story.go(StepKind.CONTINUE)
    if not story.stood:
        story.in_kernel()


async def fault(story: LiveStory) -> None:
    """The hardware stops a kernel: the lanes of the warp that erred, and the frames of the host."""
    await story.begin()
    await story.stopped()
    focus = story.in_kernel()
    await story.look()
    block, kernel = focus.dim3("block") or (0, 0, 0), focus.index("kernel") or 0
    threads = [run.first for run in story.state.lane_lines.runs]
    await story.visit([lane(block, thread, kernel) for thread in threads[:8]])
    await story.frames()
    await story.go(StepKind.CONTINUE)


async def hang(story: LiveStory) -> None:
    """A kernel that never ends: interrupted, stepped, interrupted again, killed."""
    await story.begin()
    await story.said(b"launched")
    await story.spin()
    story.in_kernel()
    await story.visit([lane((block, 0, 0), (thread, 0, 0)) for block in (0, 1) for thread in (0, 31, 32, 63)])
    await story.frames()
    await story.spin(StepKind.NEXT)
    await story.session.control.kill()


@dataclass(frozen=True, slots=True)
class Telling:
    """A story and the demo whose program it is about.

    Attributes:
        program: Stem of the program's source.
    """

    program: str
    tell: Callable[[LiveStory], Awaitable[None]]


STORIES: Mapping[str, Telling] = {
    "step": Telling("vector_add_oob", step),
    "grid": Telling("divergent_grid", grid),
    "clusters": Telling("clusters", clusters),
    "two-kernels": Telling("two_kernels", two_kernels),
    "illegal-address": Telling("illegal_address", fault),
    "assert-live": Telling("device_assert", fault),
    "hang-live": Telling("hang", hang),
}
"""Stories by the demo that they are the case of."""

"""An expression over the lanes of a live kernel on hardware; times beside those of the raw commands are printed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.focus import Focus
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Change, Run

Build = Callable[..., Path]
LIMIT = 60.0
LANE = Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0))

_IN_PYTHON = (
    "python import gdb, time; began = time.perf_counter(); "
    "told = [(gdb.execute('cuda kernel 0 block (3,0,0) thread (%d,0,0)' % t, to_string=True),"
    " str(gdb.parse_and_eval('i')))[1] for t in range(224, 256)]; "
    "print('took %.6f %s' % (time.perf_counter() - began, ','.join(told)))"
)


class Standing:
    """A session that stands in a kernel."""

    def __init__(self) -> None:
        self.session = DebugSession(CudaGdbDebugger())
        self.lines: list[str] = []

    @property
    def debugger(self) -> CudaGdbDebugger:
        debugger = self.session.debugger
        assert isinstance(debugger, CudaGdbDebugger)
        return debugger

    @property
    def state(self):
        return self.session.state.lane_values

    def note(self, what: str, seconds: float) -> None:
        self.lines.append(f"{what}: {seconds * 1e3:.1f} ms")

    async def stand(self, program: Path, location: str, lane: Focus | None = None) -> None:
        await self.session.open(LaunchTarget(program), run=False)
        await self.debugger.set_breakpoint(BreakpointIntent(1, location))
        async with asyncio.timeout(LIMIT):
            await self.session.resume(StepKind.RUN)
            await self.session.at_rest()
        assert self.session.state.run is Run.STOPPED, self.session.state.run_detail
        if lane is not None:
            assert await self.session.switch(lane) is not None
            await self.session.at_rest()

    async def ask(self, expression: str, span: str = "warp") -> None:
        began = time.perf_counter()
        first: list[float] = []

        def look(change: Change) -> None:
            if self.state.values and not first:
                first.append(time.perf_counter() - began)

        leave = self.session.subscribe(look)
        self.session.lane_values.evaluate(expression, span)
        async with asyncio.timeout(LIMIT):
            await self.session.lane_values.at_rest()
        leave()
        self.note(f"{expression} over {span} ({len(self.state.values)} lanes)", time.perf_counter() - began)
        if first:
            self.note("  first answers told after", first[0])

    def numbers(self) -> list[int | float | None]:
        return [self.state.values[place].number for place in sorted(self.state.values)]


@pytest.fixture
async def standing(request: pytest.FixtureRequest) -> AsyncIterator[Standing]:
    one = Standing()
    yield one
    print(f"\n--- {request.node.name}", *one.lines, f"{one.state.answered_words()} {one.state.failed}", sep="\n")
    await one.session.close()


async def raw_burst(debugger: CudaGdbDebugger) -> float:
    """Seconds of the same commands, sent by hand in one piece."""
    began = time.perf_counter()
    sent = []
    for thread in range(224, 256):
        sent.append(debugger.submit(f"-cuda-focus-switch kernel 0 block (3,0,0) thread ({thread},0,0)"))
        sent.append(debugger.submit("-data-evaluate-expression i"))
    sent.append(debugger.submit("-cuda-focus-switch kernel 0 block (3,0,0) thread (240,0,0)"))
    await asyncio.gather(*sent)
    return time.perf_counter() - began


async def test_warp_block_and_grid(standing: Standing, cuda_program: Build) -> None:
    await standing.stand(cuda_program("vector_add_oob"), "vector_add_oob.cu:10", LANE)
    for _ in range(3):
        await standing.ask("i")
        assert standing.numbers() == list(range(992, 1024))
        standing.note("  raw commands", await raw_burst(standing.debugger))
    assert standing.state.distribution.pattern is not None
    assert standing.state.distribution.pattern.words == "992..1023 step 1"
    # Other warps need not have come to the line where `i` is set.
    index = "blockIdx.x * blockDim.x + threadIdx.x"
    await standing.ask(index, "block")
    assert standing.state.whole, standing.state.answered_words()
    assert standing.numbers() == list(range(768, 1024))
    await standing.ask(index, "grid")
    assert sorted(number for number in standing.numbers() if number is not None) == list(range(1024))
    print(standing.state.answered_words(), [row.group for row in standing.state.layout.rows][:20])
    assert standing.session.state.focus is not None
    assert standing.session.state.focus["thread"] == (240, 0, 0)
    assert (await standing.session.evaluate("threadIdx.x")).value == "240"


async def test_inside_the_engines_python(standing: Standing, cuda_program: Build) -> None:
    await standing.stand(cuda_program("vector_add_oob"), "vector_add_oob.cu:10", LANE)
    try:
        for _ in range(3):
            said = await standing.debugger.cli_text(_IN_PYTHON)
            standing.lines.append(f"in the engine's Python: {said.strip()[:200]}")
            standing.note("  raw commands", await raw_burst(standing.debugger))
    except CommandFailed as refused:
        pytest.skip(f"no Python in this engine: {refused.what}")


@pytest.mark.parametrize("expression", ["&a[i]", "threadIdx", "$R4", "a[i] + i * 2", "i < n"])
async def test_all_kinds_of_expressions(standing: Standing, cuda_program: Build, expression: str) -> None:
    await standing.stand(cuda_program("vector_add_oob"), "vector_add_oob.cu:10", LANE)
    await standing.ask(expression)
    assert len(standing.state.values) == 32
    assert standing.state.distribution.errors == 0, standing.state.distribution.classes[:3]
    if standing.state.distribution.pattern is not None:
        standing.lines.append(standing.state.distribution.pattern.words)


async def test_a_step_makes_them_old_and_a_look_asks_again(standing: Standing, cuda_program: Build) -> None:
    await standing.stand(cuda_program("vector_add_oob"), "vector_add_oob.cu:9", LANE)
    await standing.ask("i")
    async with asyncio.timeout(LIMIT):
        await standing.session.resume(StepKind.NEXT)
        await standing.session.at_rest()
    assert standing.state.old
    standing.session.lane_values.look()
    await standing.session.lane_values.at_rest()
    assert not standing.state.old
    assert standing.state.distribution.pattern is not None


async def test_a_big_grid_is_asked_for_two_seconds_and_no_longer(standing: Standing, cuda_program: Build) -> None:
    await standing.stand(cuda_program("divergent_grid"), "tile")
    before = standing.session.state.focus
    began = time.perf_counter()
    await standing.ask("threadIdx.x", "grid")
    took = time.perf_counter() - began
    standing.lines.append(standing.state.answered_words())
    assert standing.state.values or standing.state.failed
    assert took < 10
    standing.session.lane_values.go_on()
    await asyncio.sleep(0.3)
    began = time.perf_counter()
    standing.session.lane_values.cancel()
    await standing.session.evaluate("blockIdx.x")
    standing.note("an answer after cancelling", time.perf_counter() - began)
    here = await standing.debugger.focus()
    assert here is not None
    assert before is not None
    assert (here["block"], here["thread"]) == (before["block"], before["thread"])


async def test_values_of_optimised_code_are_errors_in_words(standing: Standing, cuda_program: Build) -> None:
    await standing.stand(cuda_program("vector_add_oob", "-lineinfo"), "vector_add_oob.cu:10")
    await standing.ask("i")
    assert standing.state.distribution.numbers == 0
    assert standing.state.answered_words()
    await standing.ask("threadIdx.x")
    assert standing.state.distribution.pattern is not None

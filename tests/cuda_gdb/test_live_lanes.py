"""An expression over lanes of a live kernel, as a real cuda-gdb 13.0 answered on an H200; a stand-in says it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import BlockRange, Kernel
from ladder_backends.model.unit_values import UnitLayout
from ladder_backends.session import lane_values
from ladder_backends.session.debug_session import DebugSession

from .stand_in import StandIn

LANE = Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0))


async def laid_out(debugger: CudaGdbDebugger, span: str) -> UnitLayout:
    """The last layout, with everybody in it."""
    return [layout async for layout in debugger.lanes.layouts(span)][-1]


class Live:
    """A session that stands in a lane of `vadd`, and what stands in for its engine."""

    def __init__(self) -> None:
        self.engine = StandIn("live-oob")
        self.engine._exchanges += StandIn("live-lanes")._exchanges
        self.debugger = CudaGdbDebugger(self.engine)
        self.session = DebugSession(self.debugger)

    @property
    def state(self):
        return self.session.state.lane_values

    async def stand(self, program: Path) -> None:
        await self.session.open(LaunchTarget(program), run=False)
        await self.debugger.set_breakpoint(BreakpointIntent(1, "vadd"))
        await self.session.resume(StepKind.RUN)
        async with asyncio.timeout(5):
            await self.session.at_rest()
        # The transcript goes on to the end of the program, where there is no kernel any more.
        listed = next(one for one in self.engine._exchanges if one.asked == "-cuda-info-kernels")
        self.engine.answer("-cuda-info-kernels", next(text.lstrip("0123456789") for _, text in listed.lines))
        assert await self.session.switch(LANE) is not None
        await self.session.at_rest()
        self.engine.sent.clear()

    async def ask(self, expression: str, span: str = "") -> None:
        self.session.lane_values.evaluate(expression, span)
        async with asyncio.timeout(5):
            await self.session.lane_values.at_rest()


@pytest.fixture
async def live(compiled) -> AsyncIterator[Live]:
    one = Live()
    await one.stand(compiled("steps"))
    yield one
    await one.session.close()


async def test_the_warp_is_asked_in_bursts_that_go_back(live: Live) -> None:
    await live.ask("i")
    state = live.state
    assert (state.failed, state.reason, state.answered_words()) == ("", "", "32 lanes")
    assert [state.values[place].number for place in range(32)] == list(range(992, 1024))
    assert state.distribution.pattern is not None
    assert state.distribution.pattern.words == "992..1023 step 1"
    sent = live.engine.sent
    asked = [number for number, command in enumerate(sent) if command.startswith("-data-evaluate")]
    assert len(asked) == 32
    # Each question stands right behind the move to its lane; what follows the last one of a burst goes back.
    assert all(sent[number - 1].startswith("-cuda-focus-switch kernel 0 block (3,0,0)") for number in asked)
    assert sent[-2:] == [
        "-cuda-focus-switch kernel 0 block (3,0,0) thread (240,0,0)",
        # Nothing of the program was run for it.
        "-gdb-set may-call-functions on",
    ]
    assert sent[asked[0] - 2] == "-gdb-set may-call-functions off"
    assert live.session.state.focus is not None
    assert live.session.state.focus["thread"] == (240, 0, 0)


async def test_a_move_that_lands_beside_is_no_answer(live: Live) -> None:
    beside = (
        '^done,CudaFocus={device="0",sm="126",warp="7",lane="1",kernel="0",grid="1",'
        'blockIdx="(3,0,0)",threadIdx="(225,0,0)"}'
    )
    live.engine.answer("-cuda-focus-switch kernel 0 block (3,0,0) thread (224,0,0)", beside)
    await live.ask("i")
    assert live.state.values[0].error == "not held"
    assert live.state.values[1].number == 993


async def test_an_outer_frame_is_selected_in_each_lane_and_again_at_the_end(live: Live) -> None:
    live.debugger.selected_frame = 1
    layout = await laid_out(live.debugger, "warp")
    live.engine.sent.clear()
    await anext(live.debugger.lanes.values("i", layout, [0, 1], 1))
    asked = [command.split(" ")[0] for command in live.engine.sent if not command.startswith("-gdb-set")]
    assert asked == [
        "-cuda-focus-switch", "-stack-select-frame", "-stack-info-frame", "-data-evaluate-expression",
        "-cuda-focus-switch", "-stack-select-frame", "-stack-info-frame", "-data-evaluate-expression",
        "-cuda-focus-switch", "-stack-select-frame",
    ]  # fmt: skip


async def test_running_on_ends_the_question_and_makes_the_answers_old(live: Live) -> None:
    await live.ask("i")
    asked = len(live.engine.asked("-data-evaluate"))
    await live.session.resume(StepKind.NEXT)
    await live.session.at_rest()
    assert live.state.old
    await live.session.switch(LANE)
    await live.session.at_rest()
    # Nobody looks: nothing was asked again.
    assert len(live.engine.asked("-data-evaluate")) == asked
    live.session.lane_values.look()
    await live.session.lane_values.at_rest()
    assert len(live.engine.asked("-data-evaluate")) > asked
    assert not live.state.old


async def test_a_target_that_runs_is_not_asked(live: Live) -> None:
    layout = await laid_out(live.debugger, "warp")
    live.debugger.events.running = True
    with pytest.raises(CommandFailed, match="the target runs"):
        await anext(live.debugger.lanes.values("i", layout, [0]))
    live.debugger.events.running = False


async def test_on_the_host_there_is_no_lane_to_begin_from(live: Live) -> None:
    live.debugger.standing.visit(1)
    await live.ask("i")
    assert "stands in no lane" in live.state.failed
    assert live.engine.asked("-cuda-focus-switch") == []


async def test_a_value_that_takes_too_long_is_interrupted_when_the_time_is_over(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane_values, "LIMIT", 0.05)
    reply = live.engine._reply
    held: list[tuple[str, str]] = []

    def slow(token: str, command: str) -> None:
        if held or command.startswith("-data-evaluate"):
            held.append((token, command))
        else:
            reply(token, command)

    monkeypatch.setattr(live.engine, "_reply", slow)
    await live.ask("i")
    assert live.state.reason == "0.05 s are over"
    for _ in range(200):
        if "SIGINT" in live.engine.sent:
            break
        await asyncio.sleep(0.01)
    assert "SIGINT" in live.engine.sent
    for token, command in held:
        reply(token, command)
    held.clear()


async def test_blocks_of_two_dimensions(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(0, 1, 0, "tile", (250, 1000, 1), (32, 8, 1), "Active")

    async def kernels() -> tuple[Kernel, ...]:
        return (kernel,)

    monkeypatch.setattr(live.debugger.grid, "kernels", kernels)
    live.debugger.standing.focus = Focus.of(
        kernel=0, block=(1, 2, 0), thread=(3, 1, 0), device=0, sm=0, warp=0, lane=3
    )
    row = (
        'kernel="0",from_blockIdx="(1,2,0)",from_threadIdx="({})",to_blockIdx="(1,2,0)",to_threadIdx="({})",'
        'count="{}",virtual_pc="0x10",filename="t.cu",line="3"'
    )
    runs = (
        row.format("0,0,0", "31,0,0", 32),
        row.format("0,1,0", "15,1,0", 16),
        row.format("20,1,0", "31,1,0", 12),
    )
    body = ",".join(f"CoalescedInfoCudaThreadsRow={{{run}}}" for run in runs)
    live.engine.answer(
        "-cuda-info-threads kernel 0 block (1,2,0)",
        f'^done,CoalescedInfoCudaThreadsTable={{nr_rows="3",nr_cols="1",hdr=[],body=[{body}]}}',
    )
    layout = await laid_out(live.debugger, "warp")
    (only,) = layout.rows
    assert (only.number, only.first, layout.total) == (1, (1 + 250 * 2) * 256 + 32, 28)
    assert [unit["thread"] for unit in only.units[:2] if unit] == [(0, 1, 0), (1, 1, 0)]
    assert [column for column, unit in enumerate(only.units) if unit is None] == [16, 17, 18, 19]
    layout = await laid_out(live.debugger, "block")
    assert [row.number for row in layout.rows] == [0, 1]
    assert layout.places()[0] == 32


async def test_the_nearest_block_is_asked_before_others_are_looked_for(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(0, 1, 0, "tile", (250, 1000, 1), (32, 1, 1), "Active")

    async def kernels() -> tuple[Kernel, ...]:
        return (kernel,)

    async def blocks(number: int) -> tuple[BlockRange, ...]:
        return (BlockRange(0, (0, 0, 0), (249, 999, 0), 250_000, "running"),)

    monkeypatch.setattr(live.debugger.grid, "kernels", kernels)
    monkeypatch.setattr(live.debugger.grid, "blocks", blocks)
    live.debugger.standing.focus = Focus.of(
        kernel=0, block=(1, 2, 0), thread=(3, 0, 0), device=0, sm=0, warp=0, lane=3
    )
    asked: list[tuple[int, int, int]] = []

    async def held(of: Kernel, block: tuple[int, int, int]) -> list[int]:
        asked.append(block)
        return list(range(32))

    monkeypatch.setattr(live.debugger.lanes, "_held", held)
    layouts = live.debugger.lanes.layouts("grid")
    first = await anext(layouts)
    assert (asked, first.total, len(first.rows)) == ([(1, 2, 0)], 8_000_000, 1)
    more = await anext(layouts)
    assert (asked[1:], more.total, len(more.rows)) == ([(x, 0, 0) for x in range(8)], 8_000_000, 9)
    assert more.rows[0] is first.rows[0]
    on = await anext(live.debugger.lanes.layouts("grid", more))
    assert (on.rows, len(asked)) == (more.rows, 9)

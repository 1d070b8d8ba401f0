"""An expression in every lane of real dumps, by the real cuda-gdb; the focus is where it was."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import aclosing

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.cuda_gdb import lanes as lanes_module
from ladder_backends.errors import CommandFailed, EngineDied
from ladder_backends.model.focus import Focus
from ladder_backends.model.unit_values import UnitLayout, UnitValue

from .conftest import Stand, dump_target

pytestmark = pytest.mark.cuda_gdb

Make = Callable[[], Stand]


async def opened(stand: Make, name: str, **where: tuple[int, int, int]) -> CudaGdbDebugger:
    debugger = stand().debugger
    await debugger.open(dump_target(name))
    if where:
        await debugger.switch(Focus.of(**where))
    return debugger


async def laid_out(debugger: CudaGdbDebugger, span: str) -> UnitLayout:
    """The last layout, with everybody in it."""
    return [layout async for layout in debugger.lanes.layouts(span)][-1]


async def asked(
    debugger: CudaGdbDebugger, expression: str, span: str = "warp", level: int = 0
) -> tuple[UnitLayout, list[UnitValue]]:
    layout = await laid_out(debugger, span)
    values: list[UnitValue] = []
    async for batch in debugger.lanes.values(expression, layout, layout.places(), level):
        values += batch
    return layout, values


async def test_each_lane_sees_its_own_index(stand: Make) -> None:
    debugger = await opened(stand, "vector-add", block=(3, 0, 0), thread=(240, 0, 0))
    before = await debugger.focus()
    layout, values = await asked(debugger, "i")
    assert [value.place for value in values] == list(range(8, 32))
    assert [value.number for value in values] == list(range(1000, 1024))
    assert layout.total == 24
    assert [unit["thread"] for unit in layout.rows[0].units if unit] == [(each, 0, 0) for each in range(232, 256)]
    assert await debugger.focus() == before
    # The command line, which shares the focus, is where it was too.
    assert (await debugger.evaluate("i")).value == "1008"


@pytest.mark.parametrize(
    ("expression", "of"),
    [
        ("&a[i]", lambda lane: f"{0x7F586C800FA0 + 4 * lane:#x}"),
        ("threadIdx", lambda lane: f"{{x = {232 + lane}, y = 0, z = 0}}"),
        ("threadIdx.x % 8", lambda lane: str((232 + lane) % 8)),
        ("n > 999 && i >= n", lambda lane: "true"),
        ("a[i]", lambda lane: "0"),
    ],
)
async def test_pointers_members_and_conditions(stand: Make, expression: str, of: Callable[[int], str]) -> None:
    debugger = await opened(stand, "vector-add")
    _, values = await asked(debugger, expression)
    assert [value.text for value in values] == [of(lane) for lane in range(24)]


async def test_registers_are_expressions(stand: Make) -> None:
    debugger = await opened(stand, "vector-add")
    _, values = await asked(debugger, "$R4")
    assert len(values) == 24
    assert all(value.number is not None for value in values)


async def test_errors_are_each_lanes_own_and_say_the_same(stand: Make) -> None:
    debugger = await opened(stand, "vector-add")
    _, values = await asked(debugger, "a[i * i * 1000]")
    assert {value.error for value in values} == {
        "Generic memory is not available in this corefile (CUDBG_ERROR_MISSING_DATA)"
    }
    _, values = await asked(debugger, "1 / (i - 1008)")
    assert [(value.place, value.error) for value in values if value.error] == [(16, "Division by zero")]
    assert sum(value.number is not None for value in values) == 23


async def test_without_locals_the_registers_remain(stand: Make) -> None:
    debugger = await opened(stand, "vector-add-lineinfo")
    _, values = await asked(debugger, "i")
    assert {value.error for value in values} == {'No symbol "i" in current context'}
    _, values = await asked(debugger, "threadIdx.x")
    assert [value.number for value in values] == list(range(232, 256))


async def test_two_warps_and_two_blocks(stand: Make) -> None:
    debugger = await opened(stand, "uninit", block=(0, 0, 0), thread=(40, 0, 0))
    layout, values = await asked(debugger, "i", "warp")
    assert [row.number for row in layout.rows] == [1]
    assert [value.number for value in values] == list(range(32, 64))
    layout, values = await asked(debugger, "i", "block")
    assert [row.number for row in layout.rows] == [0, 1]
    # The warp one stands in is asked first.
    assert [value.place for value in values][:32] == list(range(32, 64))
    assert {value.place: value.number for value in values} == {place: place for place in range(64)}


async def test_all_resident_blocks(stand: Make) -> None:
    debugger = await opened(stand, "hang", block=(1, 0, 0), thread=(3, 0, 0))
    layout, values = await asked(debugger, "blockIdx.x * 1000 + threadIdx.x", "grid")
    assert layout.total == 128
    assert [(row.group, row.number, row.first) for row in layout.rows] == [
        ("(1,0,0)", 0, 64),
        ("(1,0,0)", 1, 96),
        ("(0,0,0)", 0, 0),
        ("(0,0,0)", 1, 32),
    ]
    assert [value.number for value in values][:64] == [1000 + thread for thread in range(64)]
    assert [value.number for value in values][64:] == list(range(64))
    here = await debugger.focus()
    assert here is not None
    assert (here["block"], here["thread"]) == ((1, 0, 0), (3, 0, 0))


async def test_a_lane_that_is_not_there_is_not_answered_by_its_neighbour(stand: Make) -> None:
    debugger = await opened(stand, "vector-add")
    layout = await laid_out(debugger, "warp")
    (row,) = layout.rows
    gone = Focus.of(kernel=0, block=(3, 0, 0), thread=(2, 0, 0))
    units = (gone, *row.units[1:])
    layout = UnitLayout("warp", rows=(type(row)(row.number, "", units, row.first),), total=25)
    values = [value async for batch in debugger.lanes.values("i", layout, [0, 8, 9]) for value in batch]
    assert [(value.text, value.error) for value in values] == [("", "not held"), ("1000", ""), ("1001", "")]


async def test_what_would_write_is_not_asked(stand: Make) -> None:
    debugger = await opened(stand, "vector-add")
    layout = await laid_out(debugger, "warp")
    with pytest.raises(CommandFailed, match="it would write: ="):
        await anext(debugger.lanes.values("i = 3", layout, layout.places()))
    with pytest.raises(CommandFailed, match="no span cluster"):
        await laid_out(debugger, "cluster")


async def test_who_stops_listening_leaves_the_focus_where_it_was(stand: Make) -> None:
    debugger = await opened(stand, "uninit", block=(0, 0, 0), thread=(40, 0, 0))
    layout = await laid_out(debugger, "block")

    async def first() -> None:
        async with aclosing(debugger.lanes.values("i", layout, layout.places())) as values:
            async for _ in values:
                await asyncio.sleep(3600)

    # Cancelled in the middle of a burst: as soon as its commands are written.
    task = asyncio.ensure_future(first())
    for _ in range(1_000):
        if any("-cuda-focus-switch" in text for text, _ in debugger.pending()):
            break
        await asyncio.sleep(0)
    else:
        pytest.fail("nothing was asked")
    task.cancel()
    assert (await debugger.evaluate("i")).value == "40"
    here = await debugger.focus()
    assert here is not None
    assert here["thread"] == (40, 0, 0)


async def test_questions_and_moves_of_others_between_bursts_stand_where_they_believe(
    stand: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes_module, "MOST_AT_ONCE", 4)
    debugger = await opened(stand, "uninit", block=(0, 0, 0), thread=(40, 0, 0))
    layout = await laid_out(debugger, "block")

    done = False

    async def again_and_again() -> None:
        while not done:
            values = debugger.lanes.values("i", layout, sorted(layout.places()))
            assert [value.number async for batch in values for value in batch] == list(range(64))

    asking = asyncio.ensure_future(again_and_again())
    for number in range(200):
        thread = number * 37 % 64
        await debugger.switch(Focus.of(kernel=0, block=(0, 0, 0), thread=(thread, 0, 0)))
        assert (await debugger.evaluate("i")).value == str(thread)
        await asyncio.sleep(0.001 * (number % 3))
    done = True
    await asking


async def test_a_burst_waits_for_a_move_that_is_on_its_way(stand: Make) -> None:
    debugger = await opened(stand, "uninit", block=(0, 0, 0), thread=(40, 0, 0))
    layout = await laid_out(debugger, "block")
    moving = asyncio.ensure_future(debugger.switch(Focus.of(kernel=0, block=(0, 0, 0), thread=(5, 0, 0))))
    await asyncio.sleep(0)
    assert [text for text, _ in debugger.pending()] == ["-cuda-focus-switch kernel 0 block (0,0,0) thread (5,0,0)"]
    assert len(await anext(debugger.lanes.values("i", layout, layout.places()))) == 8
    await moving
    assert (await debugger.evaluate("i")).value == "5"


async def test_a_line_typed_meanwhile_is_read_in_the_lane_one_stands_in(stand: Make) -> None:
    one = stand()
    debugger = one.debugger
    await debugger.open(dump_target("uninit"))
    await debugger.switch(Focus.of(block=(0, 0, 0), thread=(40, 0, 0)))
    layout = await laid_out(debugger, "block")

    async def everything() -> int:
        return sum([len(batch) async for batch in debugger.lanes.values("i", layout, layout.places())])

    asking = asyncio.ensure_future(everything())
    await asyncio.sleep(0)
    await debugger.console("print i")
    assert await asking == 64
    written = "".join(getattr(event, "text", "") for event in one.events)
    assert "$1 = 40" in written or " = 40" in written


async def test_an_engine_that_dies_in_the_middle_is_an_answer(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("uninit"))
    layout = await laid_out(one.debugger, "block")
    values = one.debugger.lanes.values("i", layout, layout.places())
    assert len(await anext(values)) == 8
    os.kill(one.pid, signal.SIGKILL)
    with pytest.raises(EngineDied):
        await anext(values)


async def test_warps_of_another_block_leave_a_move_of_somebody_else_alone(stand: Make) -> None:
    debugger = await opened(stand, "hang", block=(0, 0, 0), thread=(5, 0, 0))
    for number in range(60):
        thread = number * 37 % 64
        asking = asyncio.ensure_future(debugger.warps(Focus.of(kernel=0, block=(1, 0, 0))))
        for _ in range(number % 5):
            await asyncio.sleep(0)
        await debugger.switch(Focus.of(kernel=0, block=(0, 0, 0), thread=(thread, 0, 0)))
        assert [warp.block for warp in await asking] == [(1, 0, 0)] * 2
        assert (await debugger.evaluate("threadIdx.x")).value == str(thread)
        assert (await debugger.evaluate("blockIdx.x")).value == "0"


async def test_a_frame_that_a_lane_has_not_is_not_answered_by_another(stand: Make) -> None:
    debugger = await opened(stand, "vector-add")
    _, values = await asked(debugger, "i", "warp", 3)
    assert {(value.text, value.error) for value in values} == {("", "No such frame in this lane")}
    assert (await debugger.evaluate("i")).value == "1000"

"""The grid map in the workspace: walking and clicking on it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Place
from ladder_backends.model.grid import LANES, BlockRange, Device, Kernel, Lane, LaneState, Sm, Warp
from ladder_backends.session import until_resident
from ladder_backends.session.alternatives import Alternative
from ladder_backends.session.grid_state import HardwareState
from ladder_backends.session.state import Change, Grid, Run
from ladder_tui.app import LadderApp


def place(app: LadderApp, words: str) -> tuple[int, int]:
    strips = app.screen._compositor.render_strips()
    return next((strip.text.index(words), y) for y, strip in enumerate(strips) if words in strip.text)


def went(ladder: Any) -> list[Focus]:
    asked = [*ladder.asked, *ladder.sessions["cuda-gdb"].asked]
    return [what[1] for what in asked if what[0] in ("jump_to", "switch")]


async def settle(pilot: Any) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_arrow_keys_walk_over_the_lanes(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g", "left", "left", "right", "enter")
        await settle(pilot)
        assert went(gpu_dump) == [Focus.of(kernel=0, block=(3, 0, 0), thread=(239, 0, 0))]


async def test_a_click_on_a_lane_goes_there(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        x, y = place(app, "▸ w7 ········■")
        x += 5
        await pilot.click(offset=(x + 31, y))
        await settle(pilot)
        await pilot.click(offset=(x, y))
        await settle(pilot)
        assert went(gpu_dump) == [
            Focus.of(kernel=0, block=(3, 0, 0), thread=(255, 0, 0)),
            Focus.of(kernel=0, block=(3, 0, 0), thread=(224, 0, 0)),
        ]


async def test_a_block_is_gone_to_by_click_and_by_key(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    gpu_dump.sessions["cuda-gdb"].state.run = Run.STOPPED
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        x, y = place(app, "blocks 0 1 2")
        await pilot.click(offset=(x + 9, y))
        await pilot.press("w", "g", "home", "right", "right", "enter")
        await settle(pilot)
        assert went(gpu_dump) == [Focus.of(kernel=0, block=(1, 0, 0)), Focus.of(kernel=0, block=(2, 0, 0))]


async def test_the_cursor_follows_the_engine(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    session = gpu_dump.sessions["cuda-gdb"]
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g")
        session.state.focus = Focus.of(kernel=0, block=(3, 0, 0), thread=(232, 0, 0))
        session.tell(Change.FOCUS)
        await pilot.press("right", "enter")
        await settle(pilot)
        assert went(gpu_dump)[-1]["thread"] == (233, 0, 0)


async def test_where_else_to_go_can_be_clicked(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    state = gpu_dump.sessions["cuda-gdb"].state
    near = Focus.of(block=(3, 0, 0), thread=(232, 0, 0))
    state.asked = Focus.of(block=(3, 0, 0), thread=(100, 0, 0))
    state.reason = "the dump does not hold thread (100,0,0) of block (3,0,0)"
    state.alternatives = (
        Alternative("thread (232,0,0) of the same block", near),
        Alternative("source line vector_add_oob.cu:16", file="vector_add_oob.cu", line=16),
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        place(app, "asked for (3,0,0) (100,0,0)")
        await pilot.click(offset=place(app, "→ thread (232,0,0)"))
        await settle(pilot)
        assert went(gpu_dump) == [near]
        await pilot.click(offset=place(app, "→ source line"))
        await settle(pilot)
        assert app.workspace.panes["source"].cursor == 15


async def test_a_quarter_of_a_million_blocks(gpu_dump: Any, make_app: Callable[..., LadderApp], shots: Any) -> None:
    state = gpu_dump.sessions["cuda-gdb"].state
    state.run = Run.STOPPED
    state.grid = Grid(
        (Kernel(0, 1, 0, "step", (250, 1000, 1), (256, 1, 1), "Active"),),
        (
            BlockRange(0, (0, 0, 0), (55, 4, 0), 1056, "running"),
            BlockRange(0, (0, 900, 0), (9, 900, 0), 10, "running"),
        ),
        state.grid.warps,
    )
    async with make_app(gpu_dump).run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g", "home", "z")
        await shots.both(pilot, "grid-250x1000")


async def test_an_engine_that_died_is_not_one_without_lanes(
    gpu_dump: Any, make_app: Callable[..., LadderApp]
) -> None:
    state = gpu_dump.active.state
    state.run, state.focus, state.grid, state.capabilities = Run.DEAD, None, Grid(), Capability.NONE
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)):
        assert app.workspace.panes["grid"].empty_text() == "the engine is gone; c starts it again"


async def test_without_a_report_no_finding_is_offered(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    state = gpu_dump.active.state
    state.run, state.focus, state.grid = Run.NOTHING, None, Grid()
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)):
        grid = app.workspace.panes["grid"]
        assert grid.empty_text() == "no lane yet; Enter on a finding goes into its lane"
        gpu_dump.state.report = None
        assert grid.empty_text() == "nothing is open on this rung"


async def test_a_host_engine_has_no_map(segfault: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g")
        place(app, "this engine knows no lanes")


BIG = Kernel(0, 1, 0, "step", (250, 1000, 1), (256, 1, 1), "Active")


def lines(app: LadderApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


@pytest.fixture
def big(gpu_dump: Any) -> Any:
    """A live program that stands in a grid of 250 x 1000 blocks."""
    state = gpu_dump.sessions["cuda-gdb"].state
    state.run = Run.STOPPED
    state.focus = Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0), device=0, sm=5, warp=7, lane=16)
    state.capabilities |= Capability.RUN_CONTROL | Capability.BREAKPOINTS
    state.grid = Grid((BIG,), (BlockRange(0, (0, 0, 0), (55, 4, 0), 1056, "running"),), state.grid.warps)
    return gpu_dump


async def test_zooming_in_to_single_blocks(big: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(big)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g", "home", *["plus"] * 6)
        grid = app.workspace.panes["grid"]
        await pilot.pause()
        assert any("block (0,0,0) resident" in line for line in lines(app))
        await pilot.press("right", "right", "right", "right", "enter")
        await settle(pilot)
        assert went(big)[-1] == Focus.of(kernel=0, block=(4, 0, 0))
        await pilot.press("end")
        await pilot.pause()
        assert any("block (249,999,0) not resident" in line for line in lines(app))
        assert any("of 6,000" in line for line in lines(app))
        await pilot.press("up", "pageup", "home", *["minus"] * 6)
        await pilot.pause()
        assert "1 cell" in "".join(lines(app))
        assert grid.row_count < 60


async def test_down_leads_through_the_map_to_the_warps(big: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(big)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g", "home", "down", "down", "down")
        grid = app.workspace.panes["grid"]
        await pilot.press("down", "down", "left", "enter")
        await settle(pilot)
        assert went(big)[-1].dim3("block") == (3, 0, 0)
        assert grid.cursor > 3


async def test_each_block_is_asked_about_lines_once(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    session = gpu_dump.sessions["cuda-gdb"]
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        asked = [what[0] for what in session.asked if what[0].startswith("device.")]
        assert set(asked) <= {"device.look_lines"}


@pytest.fixture
def hardware(gpu_dump: Any) -> Any:
    """A dump whose hardware was read already."""
    state = gpu_dump.sessions["cuda-gdb"].state
    (warp,) = state.grid.warps
    active = sum(1 << number for number in range(1, 132, 2))
    state.hardware = HardwareState(
        devices=(Device(0, "00:06.0", "NVIDIA H200", "sm_90", 132, 64, active),),
        device=0,
        sms=tuple(Sm(number, 0, (1 << number % 64 + 1) - 1) for number in range(1, 132, 2)),
        sm=5,
        warps=(replace(warp, kernel=0), replace(warp, number=9, index=2, block=(1, 0, 0), kernel=0)),
    )
    return gpu_dump


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_hardware(
    hardware: Any, make_app: Callable[..., LadderApp], shots: Any, size: tuple[int, int]
) -> None:
    app = make_app(hardware)
    async with app.run_test(size=size) as pilot:
        await pilot.press("w", "g", "h", "z", "home", "down")
        await settle(pilot)
        assert any("device 0  NVIDIA H200" in line for line in lines(app))
        await shots.both(pilot, f"hardware-{size[0]}x{size[1]}")


async def test_a_lane_of_a_warp_slot_is_gone_to(hardware: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(hardware)
    session = hardware.sessions["cuda-gdb"]
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g", "h", "end", "left", "enter")
        await settle(pilot)
        assert went(hardware)[-1] == Focus.of(device=0, sm=5, warp=9, lane=15)
        await pilot.press("home", "down", "down", "right", "enter")
        await settle(pilot)
        looked = [what[1:] for what in session.asked if what[0] == "device.look"]
        assert looked[0] == (None, None)
        # SM 5 was under the cursor; on the second line of the map it is the one below, then the next.
        assert looked[-1][1] not in (None, 5)
        await pilot.press("h")
        await pilot.pause()
        assert any("blocks 0 1 2" in line for line in lines(app))


async def test_a_click_on_an_sm_asks_for_its_warps(hardware: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(hardware)
    session = hardware.sessions["cuda-gdb"]
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g", "h")
        await settle(pilot)
        x, y = place(app, "SM 0 ")
        await pilot.click(offset=(x + 8 + 13, y))
        await settle(pilot)
        assert [what[1:] for what in session.asked if what[0] == "device.look"][-1] == (0, 13)


async def test_while_it_runs_no_hardware_is_shown(hardware: Any, make_app: Callable[..., LadderApp]) -> None:
    hardware.sessions["cuda-gdb"].state.run = Run.RUNNING
    app = make_app(hardware)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "g", "h")
        await settle(pilot)
        assert not [what for what in hardware.sessions["cuda-gdb"].asked if what[0] == "device.look"]
        assert not any("NVIDIA H200" in line for line in lines(app))


async def test_while_it_runs_the_map_is_of_the_last_stop(big: Any, make_app: Callable[..., LadderApp]) -> None:
    big.sessions["cuda-gdb"].state.run = Run.RUNNING
    app = make_app(big)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert any("Grid as of the last stop" in line for line in lines(app))


async def test_rows_stay_where_they_are_when_the_cursor_enters_the_map(
    big: Any, make_app: Callable[..., LadderApp]
) -> None:
    app = make_app(big)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        before = place(app, "7 ········■■■■■■■■◆")
        await pilot.press("w", "g", "home", "right")
        await settle(pilot)
        assert any("–(499" in line or "of 2,000 resident" in line for line in lines(app))
        # Of two rows with the same lanes the last one is the map's.
        assert [y for y, line in enumerate(lines(app)) if "7 ········■■■■■■■■◆" in line][-1] >= before[1]


async def test_a_refusal_is_in_sight_in_a_small_view(
    big: Any, make_app: Callable[..., LadderApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[Focus] = []

    async def wait(session: Any, asked: Focus) -> bool:
        waited.append(asked)
        return True

    monkeypatch.setattr(until_resident, "run_until_resident", wait)
    session = big.sessions["cuda-gdb"]
    app = make_app(big)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        session.state.asked = Focus.of(kernel=0, block=(200, 500, 0))
        session.state.reason = "block (200,500,0) is not on the device now: it has ended or not begun"
        session.tell(Change.FOCUS)
        await settle(pilot)
        assert any("asked for block (200,500,0)" in line for line in lines(app))
        x, y = place(app, "→ run until block")
        await pilot.click(offset=(x + 3, y))
        await pilot.press("U")
        await settle(pilot)
        assert waited == [session.state.asked] * 2


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_diverged_block_of_a_big_grid(
    big: Any, make_app: Callable[..., LadderApp], shots: Any, size: tuple[int, int]
) -> None:
    state = big.sessions["cuda-gdb"].state
    state.asked = state.focus = Focus.of(
        kernel=0, block=(100, 3, 0), thread=(7, 3, 0), device=0, sm=22, warp=49, lane=7
    )
    tile = Kernel(0, 1, 0, "tile", (250, 1000, 1), (32, 8, 1), "Active")
    warps = []
    for index in range(8):
        lanes = []
        for number in range(LANES):
            there = (number + index) % 2
            kind = LaneState.ACTIVE if there else LaneState.DIVERGENT
            place = Place("vector_add_oob.cu", 10 if there else 9)
            lanes.append(Lane(number, kind, (number, index, 0), "0x1970" if there else "0x1a20", place=place))
        warps.append(Warp(46 + index, index, 22, 0, (100, 3, 0), tuple(lanes), "0x1970", 0))
    state.grid = Grid((tile,), (BlockRange(0, (0, 0, 0), (55, 4, 0), 1056, "running"),), tuple(warps))
    async with make_app(big).run_test(size=size) as pilot:
        await pilot.press("w", "g", "z", "home", *["plus"] * 3)
        await shots.both(pilot, f"diverged-{size[0]}x{size[1]}")


async def test_the_way_into_a_row_is_hinted_at(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump, (120, 40)) as view:
        await view.press("w", "g")
        assert "⏎ go" in view.text().splitlines()[-1]

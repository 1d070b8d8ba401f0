"""The grid map in the workspace: walking and clicking on it."""

from collections.abc import Callable
from typing import Any

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import BlockRange, Kernel
from ladder_backends.session.alternatives import Alternative
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
        x, y = place(app, "········■")
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
        await pilot.press("w", "g", "home")
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

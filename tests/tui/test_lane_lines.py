"""Lines on which other lanes of the block stand, beside the source."""

from collections.abc import Callable
from typing import Any

from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Place
from ladder_backends.session.grid_state import LinesOfLanes
from ladder_backends.session.state import Change
from ladder_tui.app import LadderApp
from ladder_tui.panes.source_gutter import lane_lines

FILE = "/home/user/ladder/vector_add_oob.cu"


def told(*lines: tuple[int, int]) -> LinesOfLanes:
    places = tuple((Place("vector_add_oob.cu", line, FILE), lanes) for line, lanes in lines)
    return LinesOfLanes(0, (3, 0, 0), (), places)


def shown(app: LadderApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


def test_lines_of_one_file_are_counted() -> None:
    lines = told((10, 14), (11, 18), (10, 2))
    elsewhere = LinesOfLanes(0, (3, 0, 0), (), (*lines.lanes, (Place("other.cuh", 10, "/o/other.cuh"), 5)))
    names = frozenset({"vector_add_oob.cu", FILE})
    focus = Focus.of(kernel=0, block=(3, 0, 0))
    assert lane_lines(elsewhere, focus, names) == {10: 16, 11: 18}
    # Of the block that was left nothing is said any longer.
    for other in (
        None,
        Focus.of(thread=1),
        Focus.of(kernel=0, block=(2, 0, 0)),
        Focus.of(kernel=1, block=(3, 0, 0)),
    ):
        assert lane_lines(elsewhere, other, names) == {}


async def test_other_lanes_are_marked_where_they_stand(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    session = gpu_dump.sessions["cuda-gdb"]
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert [what for what in session.asked if what[0] == "device.look_lines"]
        session.state.lane_lines = told((10, 14), (9, 1), (11, 9))
        session.tell(Change.GRID)
        await pilot.pause()
        lines = shown(app)
        assert any(" 9 ▪ " in line and "1 lane here now" in line for line in lines)
        assert any("11 ▪ " in line and "9 lanes here now" in line for line in lines)
        assert any("10 ▶ " in line and "14 lanes here now" in line for line in lines)
        # Where all of them stand together, the marker of the line says it.
        session.state.lane_lines = told((10, 24))
        session.tell(Change.GRID)
        await pilot.pause()
        assert not any("here now" in line or "▪" in line for line in shown(app))


async def test_nothing_is_asked_of_a_program_without_lanes(
    segfault: Any, make_app: Callable[..., LadderApp]
) -> None:
    app = make_app(segfault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert not [what for what in segfault.active.asked if str(what[0]).startswith("device.")]

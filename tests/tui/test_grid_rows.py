"""The grid map as rows, from states of any size."""

from dataclasses import replace

import pytest

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.focus import Dim3, Focus
from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.model.grid import BlockRange, Kernel, Lane, LaneState, ThreadRun, Warp, delinear, linear
from ladder_backends.session.device_view import with_places
from ladder_backends.session.grid_state import LinesOfLanes
from ladder_backends.session.jump import Alternative
from ladder_backends.session.state import DebugState, Grid, Run
from ladder_tui.panes.grid_blocks import BlockCell, Layout, Spans, cell_words, held_words, layouts, line_cells
from ladder_tui.panes.grid_lanes import lane_cells, program_counters, ranges_words
from ladder_tui.panes.grid_rows import (
    AlternativeTarget,
    BlocksTarget,
    BlockView,
    UntilTarget,
    WarpTarget,
    grid_rows,
    invocation,
    range_row,
)

VADD = Kernel(0, 1, 0, "vadd", (4, 1, 1), (256, 1, 1), "Active")
BIG = Kernel(0, 1, 0, "step", (250, 1000, 1), (16, 16, 1), "Active")


def warp(index: int, states: str, pcs: str = "", block: Dim3 = (3, 0, 0)) -> Warp:
    """`#` active, `d` divergent, `e` exited, `f` faulting, `.` absent; `pcs` one letter a lane."""
    kinds = {
        "#": LaneState.ACTIVE,
        "d": LaneState.DIVERGENT,
        "e": LaneState.EXITED,
        "f": LaneState.FAULTING,
        ".": LaneState.ABSENT,
    }
    lanes = []
    for number, letter in enumerate(states):
        held = letter not in ".e"
        pc = f"0x{pcs[number]}0" if pcs and held else "0xa0" if held else ""
        thread = (index * 32 + number, 0, 0) if held else None
        lanes.append(Lane(number, kinds[letter], thread, pc, "CUDA_EXCEPTION_6" if letter == "f" else ""))
    return Warp(index + 40, index, 5, 0, block, tuple(lanes), "0xa0")


def dump(warps: tuple[Warp, ...], thread: Dim3 = (240, 0, 0)) -> DebugState:
    return DebugState(
        "cuda-gdb",
        run=Run.DUMP,
        focus=Focus.of(kernel=0, block=(3, 0, 0), thread=thread),
        frames=FrameWindow((Frame(0, "vadd", Place("vector_add_oob.cu", 10)),)),
        grid=Grid((VADD,), (BlockRange(0, (3, 0, 0), (3, 0, 0), 1, "running"),), warps),
    )


def texts(debug: DebugState, width: int = 58, **more: object) -> list[str]:
    return [row.text() for row in grid_rows(debug, width=width, **more).rows]  # type: ignore[arg-type]


def test_the_lane_that_erred() -> None:
    debug = dump((warp(7, "........" + "#" * 24),))
    assert invocation(VADD) == "vadd<<<(4,1,1),(256,1,1)>>>"
    assert texts(debug) == [
        "blocks 0 1 2 ◆3  dump holds block 3 only",
        "· warps 0–6 not held by the dump",
        "w7 ········■■■■■■■■◆■■■■■■■■■■■■■■■",
        "  ◆ lane 16 = thread (240,0,0)",
        "  ■ lanes 8–31 at :10",
        "  · lanes 0–7 not held",
    ]


def test_divergence_shows_by_letter_and_colour() -> None:
    debug = dump((warp(7, "#" * 16 + "d" * 8 + "e" * 8, "a" * 16 + "b" * 8 + "a" * 8),), thread=(224, 0, 0))
    rows = texts(debug)
    assert "w7 ◆AAAAAAAAAAAAAAAbbbbbbbb◦◦◦◦◦◦◦◦" in rows
    assert "a 0xa0 16 lanes  b 0xb0 8 lanes" in rows
    assert "  A lanes 0–15 at :10" in rows
    assert "  b lanes 16–23 at 0xb0 waiting" in rows
    assert "  ◦ lanes 24–31 exited" in rows
    cells = lane_cells(debug.grid.warps[0], program_counters(debug.grid.warps), None, None)
    assert len({cell.style for cell in cells}) == 3


def test_lines_of_lanes_are_told_where_the_engine_told_them() -> None:
    debug = dump((warp(7, "#" * 14 + "d" * 18),), thread=(224, 0, 0))
    runs = (
        ThreadRun((3, 0, 0), (224, 0, 0), (3, 0, 0), (237, 0, 0), 14, "0xa0", Place("k.cu", 28)),
        ThreadRun((3, 0, 0), (238, 0, 0), (3, 0, 0), (255, 0, 0), 18, "0xb0", Place("k.cu", 31)),
    )
    for lane in debug.grid.warps[0].lanes[14:]:
        object.__setattr__(lane, "pc", "")
    told = LinesOfLanes(0, (3, 0, 0), runs)
    warps = with_places(debug.grid.warps, told, 0, (3, 0, 0), VADD.block_dim)
    rows = texts(debug, warps=warps)
    assert "a :31 18 lanes  b :28 14 lanes" in rows
    assert "w7 ◆BBBBBBBBBBBBBaaaaaaaaaaaaaaaaaa" in rows
    assert "  a lanes 14–31 at :31 waiting" in rows
    # Of another block, or where the count is another one than the span's, nothing is said of any lane.
    assert with_places(debug.grid.warps, told, 0, (2, 0, 0), VADD.block_dim) == debug.grid.warps
    odd = LinesOfLanes(0, (3, 0, 0), (replace(runs[1], count=17),))
    assert with_places(debug.grid.warps, odd, 0, (3, 0, 0), VADD.block_dim) == debug.grid.warps


def test_a_lane_whose_counter_is_not_told_is_no_class_of_its_own() -> None:
    debug = dump((warp(7, "#" * 14 + "d" * 18),), thread=(224, 0, 0))
    for lane in debug.grid.warps[0].lanes[14:]:
        object.__setattr__(lane, "pc", "")
    rows = texts(debug)
    assert "w7 ◆" + "A" * 13 + "?" * 18 in rows
    assert "a 0xa0 14 lanes  ? elsewhere 18 lanes" in rows


def test_a_faulting_lane_has_a_glyph_and_a_word() -> None:
    rows = texts(dump((warp(7, "#" * 31 + "f"),)))
    assert rows[2].endswith("✗")
    assert any("lane 31 at" in row and "faulting  CUDA_EXCEPTION_6" in row for row in rows)


def test_the_cursor_takes_a_style_and_keeps_the_glyph() -> None:
    debug = dump((warp(7, "#" * 32),))
    built = grid_rows(debug, width=58, cursor_warp=7, cursor_lane=3)
    row = built.rows[built.warp_rows[7]]
    assert [cell.text for cell in row.cells if cell.style == "lane-focus"] == ["■"]
    assert row.cells[0].text == "w7 "
    assert built.lane_start == 3
    assert row.target == WarpTarget(7)
    assert row.end[0].text == "lane 3 (227,0,0)"


def test_many_warps_share_one_row_where_they_are_absent() -> None:
    kernel = Kernel(0, 1, 0, "k", (1, 1, 1), (1024, 1, 1), "Active")
    debug = dump((warp(3, "#" * 32), warp(20, "#" * 32)))
    debug.grid = Grid((kernel,), (), debug.grid.warps)
    labels = [row.lstrip("· ").split(" not ")[0].split(" ■")[0] for row in texts(debug)[1:6]]
    assert labels == ["warps 0–2", "w3", "warps 4–19", "w20", "warps 21–31"]


def test_where_lanes_take_all_the_room_a_warp_is_its_number() -> None:
    assert "w7 ◆" + "■" * 31 in texts(dump((warp(7, "#" * 32),), (224, 0, 0)), width=35)
    assert "7 ◆" + "■" * 31 in texts(dump((warp(7, "#" * 32),), (224, 0, 0)), width=34)


def whole(
    kernel: Kernel, blocks: tuple[BlockRange, ...], layout: Layout, focus: Dim3 | None = None
) -> list[BlockCell]:
    spans = Spans(kernel, blocks)
    return [cell for line in range(layout.lines) for cell in line_cells(kernel, spans, layout, line, focus)]


@pytest.mark.parametrize(("room", "lines"), [(1, 1), (7, 2), (40, 3), (64, 1), (64, 8), (300, 5)])
def test_a_grid_of_250_000_blocks_at_every_zoom(room: int, lines: int) -> None:
    blocks = (BlockRange(0, (0, 0, 0), (55, 4, 0), 1056, "running"),)
    levels = layouts(BIG.grid_dim, room, lines)
    assert levels[0].lines <= lines
    assert levels[-1].size == 1
    for layout in levels[:3]:
        cells = whole(BIG, blocks, layout, (100, 3, 0))
        assert sum(cell.size for cell in cells) == 250_000
        assert sum(cell.held for cell in cells) == 1056
        assert [cell.focused for cell in cells].count(True) == 1
        assert max(cell.size for cell in cells) == layout.size
    assert held_words(BIG, Spans(BIG, blocks), dump=False) == "1,056 of 250,000 blocks resident"


@pytest.mark.parametrize(
    "extent", [(2**31 - 1, 1, 1), (65_535, 65_535, 1), (1, 70_000, 3), (250, 1000, 1), (5, 7, 11), (1, 1, 1)]
)
def test_lines_follow_one_another(extent: Dim3) -> None:
    for layout in layouts(extent, 64, 3):
        last = layout.lines - 1
        assert layout.span(0)[0] == 0
        assert layout.span(last)[1] == layout.total == extent[0] * extent[1] * extent[2]
        for line in {0, last // 3, last // 2, last}:
            begin, end = layout.span(line)
            assert begin < end
            assert layout.line_of(begin) == layout.line_of(end - 1) == line
            assert line == last or layout.span(line + 1)[0] == end


def test_rows_of_a_grid_begin_lines_once_they_are_seen_apart() -> None:
    layout = next(one for one in layouts((250, 1000, 1), 64, 3) if one.size < 250)
    assert layout.lines == 1000
    assert layout.span(7) == (7 * 250, 8 * 250)


def test_blocks_scattered_over_a_large_grid_are_all_counted() -> None:
    blocks = tuple(
        BlockRange(0, where, where, 1, "running")
        for number in range(0, 250_000, 500)
        for where in [delinear(number, BIG.grid_dim)]
    )
    for layout in layouts(BIG.grid_dim, 64, 1)[:4]:
        cells = whole(BIG, blocks, layout)
        assert sum(cell.held for cell in cells) == 500
        assert all(linear(cell.block, BIG.grid_dim) >= cell.first for cell in cells)
        assert all(cell.block in {block.first for block in blocks} for cell in cells if cell.held)


def test_ranges_that_overlap_are_counted_once() -> None:
    spans = Spans(BIG, (BlockRange(0, (0, 0, 0), (9, 0, 0), 10, ""), BlockRange(0, (5, 0, 0), (19, 0, 0), 15, "")))
    assert (spans.runs, spans.held) == ([(0, 20)], 20)
    assert spans.within(15, 30) == (5, 15)
    assert spans.within(20, 30) == (0, -1)


def test_a_block_that_is_not_there_is_called_nothing_else() -> None:
    blocks = (BlockRange(0, (10, 0, 0), (12, 0, 0), 3, "running"),)
    layout = layouts(BIG.grid_dim, 64, 3)[-1]
    cells = line_cells(BIG, Spans(BIG, blocks), layout, 0, None)
    assert cell_words(BIG, cells[9], dump=False) == "block (9,0,0) not resident"
    assert cell_words(BIG, cells[10], dump=False) == "block (10,0,0) resident"
    assert cell_words(BIG, cells[9], dump=True) == "block (9,0,0) not held"
    coarse = line_cells(BIG, Spans(BIG, blocks), layouts(BIG.grid_dim, 64, 3)[0], 0, None)
    assert cell_words(BIG, coarse[0], dump=False) == "(0,0,0)–(249,5,0) 3 of 1,500 resident"


def test_looked_at_closely_the_map_has_a_window() -> None:
    blocks = (BlockRange(0, (10, 0, 0), (12, 0, 0), 3, "running"),)
    debug = DebugState("cuda-gdb", run=Run.STOPPED, grid=Grid((BIG,), blocks))
    built = grid_rows(debug, width=71, view=BlockView(zoom=2, top=10, lines=4, whole=3, cursor=12 * 250))
    rows = [row.text() for row in built.rows]
    assert built.shown == 4
    assert rows[0].startswith("0,10   ·")
    assert rows[4].strip() == "(0,12,0)–(3,12,0) 0 of 4 resident · 1 cell = 4 blocks"
    assert rows[5].strip() == "lines 11–14 of 1,000"


def test_a_cluster_stands_beside_its_block() -> None:
    debug = dump((warp(7, "#" * 32),))
    debug.grid = Grid((Kernel(0, 1, 0, "k", (4, 1, 1), (256, 1, 1), "Active", cluster_dim=(2, 1, 1)),),
                      debug.grid.blocks, debug.grid.warps)  # fmt: skip
    assert debug.focus is not None
    debug.focus = Focus((("cluster", (1, 0, 0)), *debug.focus.coordinates))
    assert any("cluster (1,0,0) of 2×1×1 blocks" in row for row in texts(debug, width=90))


def test_a_block_to_wait_for_is_offered_where_the_program_can_run() -> None:
    blocks = (BlockRange(0, (10, 0, 0), (12, 0, 0), 3, "running"),)
    asked = Focus.of(kernel=0, block=(200, 3, 0), thread=(5, 0, 0))
    debug = DebugState("cuda-gdb", run=Run.STOPPED, grid=Grid((BIG,), blocks), asked=asked, reason="not there now",
                       capabilities=Capability.BREAKPOINTS | Capability.RUN_CONTROL)  # fmt: skip
    (row,) = [row for row in grid_rows(debug, width=70).rows if isinstance(row.target, UntilTarget)]
    assert row.text() == "  → run until block (200,3,0) is on the device"
    for change in (
        {"asked": Focus.of(block=(250, 3, 0))},
        {"asked": Focus.of(block=(11, 0, 0))},
        {"run": Run.DUMP},
    ):
        for name, value in change.items():
            setattr(debug, name, value)
        assert not [row for row in grid_rows(debug, width=70).rows if isinstance(row.target, UntilTarget)]


def test_a_click_on_a_shade_goes_to_a_block_that_is_held() -> None:
    blocks = (BlockRange(0, (10, 0, 0), (12, 0, 0), 3, "running"),)
    debug = DebugState("cuda-gdb", run=Run.STOPPED, grid=Grid((BIG,), blocks))
    row = grid_rows(debug, width=58).rows[0]
    assert isinstance(row.target, BlocksTarget)
    assert row.target.cells[0].block == (10, 0, 0)
    assert range_row(debug, 0).text() == "  (10,0,0) – (12,0,0)  running"


def test_asked_and_reached_are_both_told() -> None:
    debug = dump((warp(7, "........" + "#" * 24),))
    debug.asked = Focus.of(block=(3, 0, 0), thread=(100, 0, 0))
    debug.reason = "the dump does not hold thread (100,0,0)"
    other = Alternative("thread (232,0,0) of the same block", Focus.of(block=(3, 0, 0), thread=(232, 0, 0)))
    debug.alternatives = (other,)
    rows = grid_rows(debug, width=58).rows
    assert rows[0].text() == "! asked for (3,0,0) (100,0,0) · now in (3,0,0) (240,0,0)"
    assert rows[1].text() == "  the dump does not hold thread (100,0,0)"
    assert rows[2].target == AlternativeTarget(other)
    debug.asked = None
    assert texts(debug)[0] == "! the dump does not hold thread (100,0,0)"
    debug.asked, debug.reason = debug.focus, ""
    assert not texts(debug)[0].startswith("!")


def test_several_kernels_have_a_row_each() -> None:
    other = Kernel(1, 2, 0, "reduce", (1, 1, 1), (32, 1, 1), "Pending")
    debug = dump((warp(7, "#" * 32),))
    debug.grid = Grid((VADD, other), debug.grid.blocks, debug.grid.warps)
    rows = texts(debug)
    assert rows[0] == "◆ kernel 0  vadd<<<(4,1,1),(256,1,1)>>>"
    assert rows[1] == "  kernel 1  reduce<<<(1,1,1),(32,1,1)>>>"
    ends = [row.end[0].text for row in grid_rows(debug, width=58).rows[:2]]
    assert ends == ["Active", "Pending"]
    debug.grid = Grid((VADD, replace(other, device=1)), debug.grid.blocks, debug.grid.warps)
    assert grid_rows(debug, width=58).rows[1].end[0].text == "Pending on device 1"


def test_from_the_host_the_blocks_are_seen() -> None:
    blocks = (BlockRange(0, (0, 0, 0), (3, 0, 0), 4, "running"),)
    debug = DebugState("cuda-gdb", run=Run.STOPPED, focus=Focus.of(thread=1), grid=Grid((VADD,), blocks))
    assert texts(debug, width=70) == [
        "blocks ▣0 ▣1 ▣2 ▣3  4 of 4 blocks resident",
        "standing in thread 1 of the host; Enter on a block goes there",
    ]


def test_nothing_open_has_no_rows() -> None:
    assert texts(DebugState("gdb")) == []


def test_odd_states_make_rows_too() -> None:
    flat = Kernel(0, 1, 0, "[/bold]\u202e", (0, 0, 0), (0, 0, 0), "")
    debug = dump((warp(7, "#" * 32),), thread=(0, 0, 0))
    debug.grid = Grid((flat,), (BlockRange(0, (9, 9, 9), (9, 9, 9), 7, ""),), debug.grid.warps)
    assert grid_rows(debug, width=1).rows
    debug.focus = Focus.of(device=0, sm=5, warp=47, lane=99)
    assert grid_rows(debug, width=40).rows


def test_ranges_are_short() -> None:
    assert ranges_words([]) == ""
    assert ranges_words([8, 9, 10, 31]) == "8–10, 31"
    assert ranges_words([0, 2, 4]) == "0, 2, 4"
    assert ranges_words(list(range(1, 32, 2))) == "1–31 step 2"
    assert ranges_words([0, 2, 4, 6, 9, 11, 20, 22]).endswith("…")

"""Walking over a map of blocks."""

from ladder_tui.panes.block_walk import BlockWalk
from ladder_tui.panes.grid_blocks import layouts

LEVELS = layouts((250, 1000, 1), 64, 3)
ROWS = next(layout for layout in LEVELS if layout.size == 4)
"""A line for each row of the grid; its last cell holds two blocks, the others four."""


def test_sideways_no_cell_is_left_out() -> None:
    walk = BlockWalk()
    walk.block = 240
    seen = []
    for _ in range(5):
        seen.append(walk.cell(ROWS))
        walk.sideways(ROWS, 1)
    assert seen == [240, 244, 248, 250, 254]
    back = []
    for _ in range(5):
        walk.sideways(ROWS, -1)
        back.append(walk.cell(ROWS))
    assert back == [254, 250, 248, 244, 240]


def test_sideways_ends_at_the_ends() -> None:
    walk = BlockWalk()
    walk.sideways(ROWS, -1)
    assert walk.cell(ROWS) == 0
    walk.block = ROWS.total - 1
    walk.sideways(ROWS, 1)
    assert walk.cell(ROWS) == ROWS.total - 2


def test_lines_keep_the_column_where_there_is_one() -> None:
    walk = BlockWalk()
    walk.block = 250 + 100
    assert walk.by_lines(ROWS, 1)
    assert walk.block == 500 + 100
    assert walk.by_lines(ROWS, -2)
    assert walk.block == 100
    assert not walk.by_lines(ROWS, -1)
    assert walk.by_lines(ROWS, 5_000), "a page goes no farther than the end"
    assert walk.line(ROWS) == 999
    assert not walk.by_lines(ROWS, 1)


def test_a_shorter_last_line_is_stood_on_at_its_end() -> None:
    whole = LEVELS[0]
    walk = BlockWalk()
    walk.block = whole.span(1)[1] - 1
    assert walk.by_lines(whole, 1)
    assert walk.cell(whole) == whole.cell_of(whole.total - 1)


def test_a_line_that_ends_a_row_is_stood_on_at_its_end() -> None:
    walk = BlockWalk()
    walk.block = 191
    assert LEVELS[-1].span(3) == (192, 250)
    assert walk.by_lines(LEVELS[-1], 1)
    assert walk.block == 249


def test_the_block_stays_while_it_is_looked_at_closer() -> None:
    walk = BlockWalk()
    walk.block = 123_456
    for _ in range(10):
        walk.zoomed(LEVELS, 1)
        layout = LEVELS[walk.zoom]
        walk.show(layout, 10)
        assert walk.top <= walk.line(layout) < walk.top + 10
    assert (walk.zoom, walk.cell(LEVELS[-1])) == (len(LEVELS) - 1, 123_456)
    for _ in range(10):
        walk.zoomed(LEVELS, -1)
    assert walk.zoom == 0


def test_the_ends_of_a_map_that_is_scrolled() -> None:
    walk = BlockWalk()
    assert not walk.to_edge(LEVELS[0], LEVELS[0].lines, last=True), "the whole map is seen"
    assert walk.to_edge(ROWS, 10, last=True)
    assert walk.block == ROWS.total - 1
    assert not walk.to_edge(ROWS, 10, last=True)
    assert walk.to_edge(ROWS, 10, last=False)


def test_a_block_of_a_larger_grid_does_not_lead_out_of_a_smaller_one() -> None:
    walk = BlockWalk()
    walk.block = 10**9
    assert walk.cell(ROWS) == ROWS.total - 2
    assert walk.view(24, ROWS).cursor == ROWS.total - 2
    assert walk.view(0, None).lines == 1

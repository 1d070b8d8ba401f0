"""Where a bug's lanes lie, by the report alone."""

from ladder_backends.model.finding import Finding, FindingKind, Side
from ladder_backends.model.focus import Dim3
from ladder_backends.sanitizer.lane_map import LaneMap


def lanes_of(*places: tuple[Dim3, Dim3], access: str = "read") -> LaneMap:
    findings = [
        Finding(number, FindingKind.OOB, sides=(Side(access, block=block, thread=thread),))
        for number, (block, thread) in enumerate(places)
    ]
    made = LaneMap()
    assert made.take(findings, range(len(findings)), len(findings) + 1)
    return made


def picture(made: LaneMap, block: Dim3, extent: Dim3 | None = None) -> list[tuple[str, str]]:
    return [
        (row.label, "".join("." if lane is None else lane.access or "x" for lane in row.lanes))
        for row in made.rows(block, extent)
    ]


def test_one_dimension_needs_no_block_size() -> None:
    made = lanes_of(*(((3, 0, 0), (x, 0, 0)) for x in range(30, 34)))
    assert made.words() == "4 lanes of block 3"
    assert picture(made, (3, 0, 0)) == [("warp 0", "." * 30 + "RR"), ("warp 1", "RR" + "." * 30)]


def test_two_dimensions_are_laid_out_by_y_until_an_engine_tells_the_block() -> None:
    made = lanes_of(((0, 1, 0), (1, 2, 0)), ((0, 1, 0), (2, 3, 0)))
    assert made.words() == "2 lanes of block (0,1,0)"
    shown = picture(made, (0, 1, 0))
    assert [label for label, _ in shown] == ["y 2", "y 3"]
    assert [row.warp for row in made.rows((0, 1, 0))] == [None, None]
    # 16 threads a row: thread (1,2,0) is the 33rd, lane 1 of warp 1.
    assert picture(made, (0, 1, 0), (16, 16, 1)) == [("warp 1", ".R" + "." * 16 + "R" + "." * 13)]


def test_a_block_size_that_cannot_be_is_not_taken() -> None:
    made = lanes_of(((0, 0, 0), (20, 2, 0)))
    assert [row.label for row in made.rows((0, 0, 0), (16, 16, 1))] == ["y 2"]


def test_lanes_past_the_end_of_the_block_are_not_drawn() -> None:
    made = lanes_of(((0, 0, 0), (1, 1, 0)))
    assert [len(row.lanes) for row in made.rows((0, 0, 0), (5, 2, 1))] == [10]


def test_both_accesses_of_a_hazard_and_lanes_named_twice() -> None:
    findings = [
        Finding(
            number,
            FindingKind.RACE_HAZARD,
            sides=(
                Side("read", block=(0, 0, 0), thread=(one, 0, 0)),
                Side("write", block=(0, 0, 0), thread=(two, 0, 0)),
            ),
        )
        for number, (one, two) in enumerate([(0, 1), (1, 2), (0, 1)])
    ]
    made = LaneMap()
    made.take(findings, [0, 1, 2], 10)
    assert made.lanes == 3
    assert [lane.access if lane else "" for lane in made.rows((0, 0, 0))[0].lanes[:3]] == ["R", "RW", "W"]
    assert made.rows((0, 0, 0))[0].lanes[2] == (1, 1, "W")


def test_it_grows_in_parts() -> None:
    findings = [
        Finding(number, FindingKind.OOB, sides=(Side(block=(number // 32, 0, 0), thread=(number % 32, 0, 0)),))
        for number in range(100)
    ]
    made, members = LaneMap(), range(100)
    parts = 1
    while not made.take(findings, members, 30):
        parts += 1
    assert (parts, made.lanes, made.words()) == (4, 100, "100 lanes of 4 blocks")
    assert made.extent() == (4, 1, 1)
    assert made.extent((9, 1, 1)) == (9, 1, 1)
    assert made.extent((2, 1, 1)) == (4, 1, 1)


def test_findings_without_lanes_draw_nothing() -> None:
    made = LaneMap()
    assert made.take([Finding(0, FindingKind.RACE_ANALYSIS, sides=(Side("read"), Side("write")))], [0], 5)
    assert (made.lanes, made.blocks, made.words()) == (0, {}, "0 lanes")

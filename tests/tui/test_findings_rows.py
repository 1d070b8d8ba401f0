"""Findings as rows: real reports, hostile names, and 100,000 of them."""

from pathlib import Path

import pytest

from ladder_backends.model.finding import Finding, FindingGroup, FindingKind, LaneAnswer, Report, Side
from ladder_backends.sanitizer import read_report
from ladder_backends.session.finding_query import Order
from ladder_tui.panes.findings_rows import FindingsRows, FindingTarget, Here, Part
from ladder_tui.panes.findings_words import report_summary
from ladder_tui.widgets.row import Row

REPORTS = Path(__file__).parent / "reports"


def report(name: str) -> Report:
    return read_report([REPORTS / name])


def rows_of(source: Report, here: Here | None = None) -> FindingsRows:
    rows = FindingsRows()
    rows.update(source, here)
    return rows


def texts(rows: FindingsRows) -> list[str]:
    return [rows[number].text() for number in range(len(rows))]


def target(row: Row) -> FindingTarget:
    assert isinstance(row.target, FindingTarget)
    return row.target


def many(count: int, groups: int = 1) -> Report:
    """A report of `count` findings, spread evenly over `groups` bugs."""
    made = Report("memcheck", ran=True)
    for number in range(count):
        block, thread = (number // 256, 0, 0), (number % 256, 0, 0)
        group = f"g{number % groups}"
        made.findings.append(
            Finding(
                number,
                FindingKind.OOB,
                kernel="vadd(int)",
                src_file="/home/user/vadd.cu",
                line=10 + number % groups,
                block=block,
                thread=thread,
                sides=(Side("read", block=block, thread=thread),),
                lane=LaneAnswer.EXACT,
                group=group,
            )
        )
        bug = made.groups.setdefault(group, FindingGroup(group, f"read 4 B  vadd :{group}", FindingKind.OOB))
        bug.members.append(number)
    return made


def test_24_lanes_are_one_bug() -> None:
    rows = rows_of(report("memcheck-oob.log"), Here((3, 0, 0), (240, 0, 0), "vadd"))
    assert report_summary(report("memcheck-oob.log"), rows.bugs, rows.lanes) == ("1 bug · 24 lanes", "text")
    assert texts(rows) == [
        "✗ read 4 B out of bounds  vadd :10",
        "    1 B past a 4,000 B allocation at 0x7f586c800000",
        "    block 3 warp 7 ········■■■■■■■■◆■■■■■■■■■■■■■■■",
        "    (3,0,0) (232,0,0)  base+4,000",
        "    (3,0,0) (233,0,0)  base+4,004",
        "    (3,0,0) (234,0,0)  base+4,008",
        "    (3,0,0) (240,0,0)  base+4,032  ← you are here",
        "    … 20 more",
    ]
    assert rows[0].end[-1].text == "24 lanes of block 3"
    assert [target(rows[number]).finding for number in range(8)] == [0, 0, 0, 0, 1, 2, 8, 0]


def test_what_the_report_says_is_drawn_as_the_report_says_it() -> None:
    rows = rows_of(report("memcheck-oob.log"))
    assert rows[1].cells[1].style == "report"
    assert rows[1].end[0].text == "report"
    assert rows[2].end[0].text == "report"
    assert rows[3].cells[-1] == ("base+4,000", "report", None)


def test_an_access_nearer_to_another_allocation_names_that_one() -> None:
    rows = rows_of(report("memcheck-oob.log"))
    rows.toggle(target(rows[len(rows) - 1]))
    shown = texts(rows)
    assert "    (3,0,0) (243,0,0)  base+4,044" in shown
    assert "    (3,0,0) (250,0,0)  24 B before 0x…801000" in shown
    assert not any("base-" in text for text in shown)


def test_another_kernels_lane_is_not_here() -> None:
    rows = rows_of(report("memcheck-oob.log"), Here((3, 0, 0), (232, 0, 0), "other"))
    assert not any("you are here" in text for text in texts(rows))


def test_unfolding_shows_every_lane_and_folding_none() -> None:
    rows = rows_of(report("memcheck-oob.log"), Here((3, 0, 0), (240, 0, 0)))
    rows.toggle(target(rows[7]))
    assert len(rows) == 27
    assert [target(rows[number]).finding for number in range(3, 27)] == list(range(24))
    rows.toggle(target(rows[0]))
    assert texts(rows) == ["✗ read 4 B out of bounds  vadd :10"]
    assert [cell.text for cell in rows[0].end] == ["▸ ", "24 lanes of block 3"]
    rows.toggle(target(rows[0]))
    assert len(rows) == 8


def test_a_hazard_shows_both_sides_and_each_can_be_jumped_to() -> None:
    rows = rows_of(report("racecheck-hazard.log"))
    assert texts(rows)[2].startswith("    read   (2,0,0) (32,0,0)")
    assert texts(rows)[3].startswith("    write  (2,0,0) (160,0,0)")
    assert [(target(rows[number]).finding, target(rows[number]).side) for number in (2, 3, 4)] == [
        (0, 0),
        (0, 1),
        (1, 0),
    ]
    assert rows[0].end[-1].text == "20 pairs in block 2"


def test_a_finding_without_a_lane_says_why_and_what_to_do() -> None:
    rows = rows_of(report("racecheck-analysis.log"))
    shown = texts(rows)
    assert rows[0].end[-1].text == "no lane"
    assert "names no thread" in shown[1]
    assert "→ re-run racecheck with --racecheck-report hazard" in shown[2]
    sides = [text for text in shown if "shared_race.cu:" in text and text.startswith("    ")]
    assert len(sides) >= 2


def test_leaks_and_consequences() -> None:
    shown = texts(rows_of(report("memcheck-leak.log")))
    assert any(text.startswith("✗ leaked 256 B  main uninit.cu:14") for text in shown)
    made = many(3)
    made.findings.append(Finding(3, FindingKind.API_ERROR, access="cudaFree", reason="invalid", group="g0"))
    made.groups["g0"].folded.append(3)
    rows = rows_of(made)
    last = len(rows) - 1
    assert rows[last].text() == "  ↯ 1 follow-up API error folded"
    rows.toggle(target(rows[last]))
    assert texts(rows)[last:] == ["  ↯ 1 follow-up API error shown", "      cudaFree  invalid"]


def test_100_000_findings_cost_only_the_rows_that_are_seen() -> None:
    made = many(100_000)
    rows = rows_of(made)
    rows.toggle(FindingTarget(Part.MORE, "g0", 0))
    assert len(rows) == 100_002
    assert rows[100_001].text().startswith("    (390,0,0) (159,0,0)")
    assert rows.position(FindingTarget(Part.MEMBER, "g0", 77_777)) == 77_779
    assert target(rows[77_779]).finding == 77_777


def test_100_000_bugs_are_found_by_their_rows() -> None:
    rows = rows_of(many(100_000, groups=100_000))
    assert rows.bugs == 100_000
    assert len(rows) == 200_000
    for number in (0, 1, 99_999, 199_999):
        assert rows.position(target(rows[number])) == number


def test_every_row_is_where_its_target_says() -> None:
    for name in ("memcheck-oob.log", "racecheck-hazard.log", "racecheck-analysis.log", "memcheck-leak.log"):
        rows = rows_of(report(name), Here((3, 0, 0), (250, 0, 0)))
        rows.toggle(target(rows[len(rows) - 1]))
        for number in range(len(rows)):
            assert rows.position(target(rows[number])) == number, (name, number)


def test_growth_keeps_every_target() -> None:
    made = many(30, groups=3)
    rows = rows_of(made)
    before = {target(rows[number]): rows[number].text() for number in range(len(rows))}
    more = many(300, groups=30)
    made.findings[:] = more.findings
    made.groups.clear()
    made.groups.update(more.groups)
    rows.update(made)
    for kept in before:
        position = rows.position(kept)
        assert position is not None


def test_filter_by_words_of_the_bug_or_of_the_lane() -> None:
    rows = rows_of(many(1_000, groups=10))
    rows.arrange(query="vadd.cu:12")
    assert rows.group_count == 1
    rows.arrange(query="VADD (3,0,0)")
    # 232 lanes of block 3, and thread 3 of each of the blocks before it.
    assert sum(len(rows._members(bug)) for bug in rows._groups) == 235
    rows.arrange(query="240")
    # Thread 240 of each of the blocks before block 3, which ends at 231.
    assert sum(len(rows._members(bug)) for bug in rows._groups) == 3
    rows.arrange(query="nothing like it")
    assert len(rows) == 0
    assert rows.position(FindingTarget(Part.TITLE, "g0", 0)) is None
    rows.arrange(query="")
    assert rows.group_count == 10


def test_orders() -> None:
    made = many(60, groups=3)
    del made.groups["g0"].members[5:]
    rows = rows_of(made)
    rows.arrange(order=Order.LANES)
    assert target(rows[0]).group == "g1"
    rows.arrange(order=Order.LINE)
    assert target(rows[0]).group == "g0"
    assert [order.following() for order in Order] == [*list(Order)[1:], Order.ARRIVAL]


@pytest.mark.parametrize(
    ("made", "words", "style"),
    [
        (None, "no report open", "muted"),
        (Report("memcheck", reason="no kernel ran"), "memcheck did not run: no kernel ran", "fault"),
        (Report("memcheck", ran=True, complete=True), "nothing found", "ok"),
        (Report("memcheck", ran=True), "nothing found so far", "text"),
        (Report("memcheck", ran=True, reason="cut short"), "nothing found · incomplete: cut short", "warn"),
    ],
)
def test_no_findings_is_never_the_same_as_not_run(made: Report | None, words: str, style: str) -> None:
    assert report_summary(made, 0, 0) == (words, style)


def test_hostile_names_stay_text() -> None:
    made = many(1)
    bug = made.groups["g0"]
    bug.title = "[/bold][@click=quit]  \u202ekernel\x1b[2J"
    rows = rows_of(made)
    assert rows[0].text().startswith("✗ [/bold][@click=quit]")


def test_lanes_of_a_large_bug_are_counted_in_parts_by_the_row_that_shows_them() -> None:
    made = many(50_000)
    rows = rows_of(made)
    assert rows[0].end[-1].text == "50,000 lanes"
    assert not rows.insets.counting
    assert rows[1].text() == "    counting lanes: 20,000 of 50,000"
    assert rows.insets.counting
    assert rows[1].text() == "    counting lanes: 40,000 of 50,000"
    assert rows[1].text().startswith("    blocks 0–195  █")
    assert not rows.insets.counting
    assert rows[0].end[-1].text == "50,000 lanes of 196 blocks"


@pytest.mark.parametrize("query", ["(1,0,0)", "kind:oob", "block:1", "-block:0", "nothing"])
def test_a_filter_finds_the_same_in_a_report_that_grows(query: str) -> None:
    whole = many(1_000, groups=7)
    at_once = rows_of(whole)
    at_once.arrange(query=query, order=Order.LANES)
    growing = Report("memcheck", ran=True)
    rows = FindingsRows()
    rows.arrange(query=query, order=Order.LANES)
    for finding in whole.findings:
        growing.findings.append(finding)
        bug = growing.groups.setdefault(
            finding.group, FindingGroup(finding.group, whole.groups[finding.group].title, FindingKind.OOB)
        )
        bug.members.append(finding.index)
        if finding.index % 90 == 0:
            rows.update(growing)
    rows.update(growing)
    assert len(rows) == len(at_once)
    assert sorted(texts(rows)) == sorted(texts(at_once))


def test_every_height_is_that_of_its_rows_after_any_change() -> None:
    made = many(60, groups=4)
    rows = rows_of(made)
    for query in ("", "block:0", "g1", ""):
        for act in ("map", "details", "more", "fold", "brief"):
            rows.arrange(query=query)
            if len(rows):
                group = target(rows[0]).group
                if act == "map":
                    rows.toggle_map(group)
                elif act == "details":
                    rows.toggle_details(group)
                elif act == "brief":
                    rows.show_at_first(1 + len(query))
                else:
                    rows.toggle(FindingTarget(Part.MORE if act == "more" else Part.TITLE, group, 0))
            for order in Order:
                rows.arrange(order=order)
                assert rows._heights == [rows._shape(group).height for group in rows._groups]


def test_the_map_shows_the_block_that_was_looked_for() -> None:
    rows = rows_of(many(1_000))
    rows.arrange(query="block:2")
    rows.toggle_map("g0")
    assert any(text.startswith("    block 2  256 lanes") for text in texts(rows))

"""The findings pane in the workspace: keys, clicks, growth."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from ladder_backends.model.finding import Finding, FindingGroup, FindingKind, LaneAnswer, Report, Side
from ladder_backends.session.state import Change
from ladder_tui.app import LadderApp


def jumps(ladder: Any) -> list[tuple[int, int]]:
    return [(asked[1].index, asked[2]) for asked in ladder.asked if asked[0] == "jump"]


def line_with(app: LadderApp, words: str) -> int:
    strips = app.screen._compositor.render_strips()
    return next(y for y, strip in enumerate(strips) if words in strip.text)


async def settle(pilot: Pilot[Any]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def finding(number: int, group: str = "g") -> Finding:
    block, thread = (number // 256, 0, 0), (number % 256, 0, 0)
    return Finding(
        number,
        FindingKind.OOB,
        kernel="k",
        block=block,
        thread=thread,
        sides=(Side("read", block=block, thread=thread),),
        lane=LaneAnswer.EXACT,
        group=group,
    )


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_lane_and_its_map(
    gpu_dump: Any, make_app: Callable[..., LadderApp], shots: Any, size: tuple[int, int]
) -> None:
    async with make_app(gpu_dump).run_test(size=size) as pilot:
        await shots.both(pilot, f"lane-{size[0]}x{size[1]}")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (Report("memcheck", ran=True, complete=True), "the tool looked and found nothing"),
        (
            Report("memcheck", ran=True, complete=True, reason="no output of the program"),
            "no output of the program",
        ),
        (Report("memcheck", ran=True, reason="no summary"), "incomplete: no summary"),
        (Report("memcheck", reason="no kernel ran"), "no kernel ran"),
        (Report("memcheck", ran=True), ""),
    ],
)
async def test_without_findings_the_whole_reason_is_read(
    gpu_dump: Any, make_app: Callable[..., LadderApp], made: Report, words: str
) -> None:
    gpu_dump.state.report, gpu_dump.state.selected_finding = made, None
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)):
        assert app.workspace.panes["findings"].empty_text() == words


async def test_the_bug_is_in_view_above_its_first_lane(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    gpu_dump.state.selected_finding = 0
    app = make_app(gpu_dump)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert line_with(app, "read 4 B out of bounds") < line_with(app, "(232,0,0)")


async def test_a_click_on_a_lane_jumps_there(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.click(offset=(12, line_with(app, "(233,0,0)")))
        await settle(pilot)
        assert jumps(gpu_dump) == [(1, 0)]
        await pilot.click(offset=(6, line_with(app, "read 4 B out of bounds")))
        await settle(pilot)
        assert jumps(gpu_dump) == [(1, 0), (0, 0)]


async def test_enter_jumps_and_space_unfolds(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "f", "home", "down", "down", "enter")
        await settle(pilot)
        assert jumps(gpu_dump) == [(0, 0)]
        pane = app.workspace.panes["findings"]
        rows = pane.row_count
        await pilot.press("end", "space")
        assert pane.row_count > rows
        await pilot.press("home", "space")
        assert pane.row_count == 1
        await pilot.press("space")
        assert pane.row_count == rows


async def test_a_filter_is_typed_and_taken_away(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "f", "/", *"(250,0,0)", "enter")
        await settle(pilot)
        pane = app.workspace.panes["findings"]
        texts = [pane.row(number).text() for number in range(pane.row_count)]
        assert [text.split("  ")[2] for text in texts if "(3,0,0)" in text] == ["(3,0,0) (250,0,0)"]
        await pilot.press("/", *"nothing", "enter")
        await settle(pilot)
        assert pane.row_count == 0
        await pilot.press("/", "enter")
        await settle(pilot)
        assert pane.row_count > 3


async def test_the_selected_row_stays_while_the_report_grows(
    gpu_dump: Any, make_app: Callable[..., LadderApp]
) -> None:
    report = Report("memcheck", ran=True)
    gpu_dump.state.report = report
    gpu_dump.state.selected_finding = None
    gpu_dump.sessions["cuda-gdb"].state.focus = None

    def grow(count: int, group: str) -> None:
        bug = report.groups.setdefault(group, FindingGroup(group, f"bug {group}", FindingKind.OOB))
        for _ in range(count):
            bug.members.append(len(report.findings))
            report.findings.append(finding(len(report.findings), group))

    grow(3, "a")
    grow(3, "b")
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "f", "end")
        pane = app.workspace.panes["findings"]
        before = pane.row(pane.cursor).text()
        assert "(5,0,0)" in before
        grow(40, "a")
        grow(3, "c")
        gpu_dump.tell(Change.FINDINGS)
        await settle(pilot)
        assert pane.row(pane.cursor).text() == before
        assert pane.title().state[0].text == "3 bugs · 49 lanes so far"


async def test_no_report_says_how_to_get_one(empty_ladder: Any, make_app: Callable[..., LadderApp]) -> None:
    empty_ladder.state.rung = "sanitizer"
    app = make_app(empty_ladder)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        line_with(app, "no report open")
        line_with(app, "start with: ladder-tui")


async def test_hostile_titles_are_drawn_as_text(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    report = Report("memcheck", ran=True)
    report.findings.append(finding(0))
    report.groups["g"] = FindingGroup("g", "[/bold][@click=app.bell]x[/]\x1b]0;t\x07", FindingKind.OOB, [0])
    gpu_dump.state.report, gpu_dump.state.selected_finding = report, None
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        line_with(app, "[/bold][@click=app.bell]x[/]␛]0;t␇")

"""Working on findings: the map, the details, notes, marks, export, suppressions, comparison."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ladder_backends.model.finding import Finding, FindingGroup, FindingKind, LaneAnswer, Report, Side
from ladder_backends.sanitizer import TextReportReader, read_report
from ladder_backends.session.finding_remarks import Mark
from ladder_backends.session.state import Change
from ladder_tui.app import LadderApp
from ladder_tui.panes.findings_pane import FindingsPane

LOGS = Path(__file__).parents[1] / "sanitizer/reports/logs"


OOB = (Path(__file__).parent / "reports/memcheck-oob.log").read_text()


def report_of(text: str) -> Report:
    reader = TextReportReader()
    reader.feed(text.encode())
    reader.finish()
    return reader.report


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def pane_of(app: LadderApp) -> FindingsPane:
    pane = app.workspace.panes["findings"]
    assert isinstance(pane, FindingsPane)
    return pane


def texts(app: LadderApp) -> list[str]:
    pane = pane_of(app)
    return [pane.row(number).text() for number in range(pane.row_count)]


async def settle(pilot: Pilot[Any]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def press(pilot: Pilot[Any], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


def shows(ladder: Any, name: str) -> None:
    ladder.state.report, ladder.state.selected_finding = read_report([LOGS / name]), None
    ladder.sessions["cuda-gdb"].state.focus = None


def row_with(app: LadderApp, words: str) -> int:
    return next(number for number, text in enumerate(texts(app)) if words in text)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize(
    ("name", "keys"), [("racecheck-hazard.log", "t"), ("racecheck-hazard.log", "d"), ("triton-oob.log", "d")]
)
async def test_screens(
    gpu_dump: Any, make_app: Callable[..., LadderApp], shots: Any, size: tuple[int, int], name: str, keys: str
) -> None:
    shows(gpu_dump, name)
    async with make_app(gpu_dump).run_test(size=size) as pilot:
        await press(pilot, "w", "f", "z", "home", *keys)
        await settle(pilot)
        shots.text(pilot.app, f"findings-{name.split('.')[0]}-{keys}-{size[0]}")


async def test_the_map_takes_the_place_of_the_lanes_and_each_lane_can_be_clicked(
    gpu_dump: Any, make_app: Callable[..., LadderApp]
) -> None:
    shows(gpu_dump, "racecheck-hazard.log")
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "z", "home", "t")
        assert "      warp 1  RRRRR···························" in [text[:46] for text in texts(app)]
        assert not any("(2,0,0) (32,0,0)" in text for text in texts(app))
        y = row_with(app, "warp 5")
        x = texts(app)[y].index("W") + 2
        await pilot.click("#findings", offset=(x + 1, y + 1))
        await settle(pilot)
        finding, side = next(asked[1:] for asked in gpu_dump.asked if asked[0] == "jump")
        assert finding.sides[side].access == "write"
        await press(pilot, "home", "t")
        assert any("(2,0,0) (32,0,0)" in text for text in texts(app))


async def test_the_python_line_stands_first_and_opens(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    shows(gpu_dump, "triton-oob.log")
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home", "d")
        launched = row_with(app, "launched by")
        assert "triton_oob.py:7 <module>" in texts(app)[launched]
        folded = row_with(app, "17 frames: interpreter")
        count = len(texts(app))
        pane_of(app).cursor = folded
        await press(pilot, "enter")
        assert len(texts(app)) > count + 15
        assert any("_PyEval_EvalFrameDefault" in text for text in texts(app))
        pane_of(app).cursor = launched
        await press(pilot, "enter")
        assert "triton_oob.py" in pane_of(app).ladder_app.workspace.panes["source"].title().name


async def test_both_sides_of_a_hazard_open_their_lines(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    shows(gpu_dump, "racecheck-hazard.log")
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home", "d")
        sides = [texts(app)[row_with(app, f"    {word}  ")] for word in ("read ", "write")]
        assert ":8" in sides[0]
        assert ":6" in sides[1]


async def test_a_note_is_typed_shown_kept_and_taken_away(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home", "i", *"off by one", "enter")
        assert any("✎ off by one" in text for text in texts(app))
    again = make_app(gpu_dump)
    async with again.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert any("✎ off by one" in text for text in texts(again))
        await press(pilot, "w", "f", "home", "i", "ctrl+u", "enter")
        assert not any("✎" in text for text in texts(again))


@pytest.mark.parametrize("key", ["x", "m"])
async def test_a_bug_is_marked_from_any_of_its_rows(
    gpu_dump: Any, make_app: Callable[..., LadderApp], key: str
) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home")
        rows = len(texts(app))
        assert rows > 5
        for below in (1, 2, rows - 1):
            await press(pilot, "home", *["down"] * below, key)
            assert len(texts(app)) == 1
            assert pane_of(app).cursor == 0
            await press(pilot, key)
            assert len(texts(app)) == rows


async def test_what_is_ignored_keeps_its_title_only(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home", "x")
        assert texts(app) == ["– read 4 B out of bounds  vadd :10"]
        assert pane_of(app).row(0).end[0].text == "ignored  "
        await press(pilot, "space")
        assert len(texts(app)) > 3
        await press(pilot, "home", "x")
        assert pane_of(app).desk.about(next(iter(gpu_dump.state.report.groups.values()))).remark.mark is Mark.OPEN
        await press(pilot, "m")
        assert texts(app)[0].startswith("✓")
        await press(pilot, "/", *"is:open", "enter")
        assert texts(app) == []
        await press(pilot, "/", *"is:done", "enter")
        assert len(texts(app)) == 1


@pytest.mark.parametrize(
    ("name", "words"), [("a.sarif", '"2.1.0"'), ("a.md", "## memcheck"), ("a.json", '"format"')]
)
async def test_export_asks_for_a_name(
    gpu_dump: Any, make_app: Callable[..., LadderApp], tmp_path: Path, name: str, words: str
) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "ctrl+s", *name, "enter")
        await settle(pilot)
        while app.tasks:
            await pilot.pause()
    assert words in (tmp_path / name).read_text()


async def test_an_export_that_fails_is_one_line(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "ctrl+s", *"a.html", "enter")
        while app.tasks:
            await pilot.pause()
        assert "does not tell the form" in str(gpu_dump.state.notice or app.workspace.notice_line.row(0).text())


async def test_a_suppression_is_written_where_the_tool_takes_one(
    gpu_dump: Any, make_app: Callable[..., LadderApp], tmp_path: Path
) -> None:
    shows(gpu_dump, "racecheck-analysis.log")
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home")
        pane_of(app).action_suppress()
        await settle(pilot)
        await press(pilot, *"s.xml", "enter")
        while app.tasks:
            await pilot.pause()
    assert "<kind>Analysis</kind>" in (tmp_path / "s.xml").read_text()


async def test_where_the_tool_takes_none_it_says_so(
    gpu_dump: Any, make_app: Callable[..., LadderApp], tmp_path: Path
) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home")
        pane_of(app).action_suppress()
        await settle(pilot)
        assert not app.workspace.prompt.display
    assert "suppressions.xml" not in os.listdir(tmp_path)


async def test_a_run_again_says_what_is_gone_and_new(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        gpu_dump.state.report = read_report([LOGS / "memcheck-misaligned.log"])
        gpu_dump.tell(Change.FINDINGS)
        await settle(pilot)
        title = "".join(cell.text for cell in pane_of(app).title().state)
        # Another program's report is compared with nothing.
        assert "gone" not in title
        gpu_dump.state.report = report_of(OOB)
        gpu_dump.tell(Change.FINDINGS)
        await settle(pilot)
        gpu_dump.state.report = report_of(OOB.replace("read of size 4", "write of size 4"))
        gpu_dump.tell(Change.FINDINGS)
        await settle(pilot)
        title = "".join(cell.text for cell in pane_of(app).title().state)
        assert "1 gone, 1 new" in title
        assert pane_of(app).row(0).end[0].text == "new  "


async def test_an_earlier_report_is_named(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        pane_of(app).action_compare()
        await settle(pilot)
        await press(pilot, *str(LOGS / "memcheck-oob.log"), "enter")
        while app.tasks:
            await pilot.pause()
        title = "".join(cell.text for cell in pane_of(app).title().state)
        assert "1 as before" in title


def many(count: int) -> Report:
    made = Report("memcheck", ran=True, complete=True)
    bug = made.groups.setdefault("g", FindingGroup("g", "read 4 B out of bounds  k :1", FindingKind.OOB))
    for number in range(count):
        block, thread = (number // 256, 0, 0), (number % 256, 0, 0)
        side = Side("read", block=block, thread=thread)
        made.findings.append(
            Finding(
                number,
                FindingKind.OOB,
                kernel="k",
                block=block,
                thread=thread,
                sides=(side,),
                lane=LaneAnswer.EXACT,
                group="g",
            )
        )
        bug.members.append(number)
    return made


async def test_many_lanes_are_counted_in_parts(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    gpu_dump.state.report, gpu_dump.state.selected_finding = many(100_000), None
    gpu_dump.sessions["cuda-gdb"].state.focus = None
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        pane = pane_of(app)
        for _ in range(100):
            if not pane._rows.insets.counting:
                break
            await pilot.pause(0.02)
        assert texts(app)[1].startswith("    blocks 0–390")
        await press(pilot, "w", "f", "z", "home", "t")
        assert row_with(app, "block 0  256 lanes")
        await pilot.click("#findings", offset=(30, row_with(app, "  0–390") + 1))
        await settle(pilot)
        assert not any("block 0  256 lanes" in text for text in texts(app))


async def test_hostile_notes_and_names_stay_text(gpu_dump: Any, make_app: Callable[..., LadderApp]) -> None:
    report = many(5)
    report.groups["g"].title = "[@click=app.quit]x[/]  \x1b[2Jk"
    gpu_dump.state.report, gpu_dump.state.selected_finding = report, None
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home")
        pane = pane_of(app)
        pane.desk.note(report.groups["g"], "[bold]\x1b]0;t\x07\u202e")
        pane.said()
        await settle(pilot)
        strips = app.screen._compositor.render_strips()
        screen = "\n".join(strip.text for strip in strips)
        assert "\x1b" not in screen
        assert "\u202e" not in screen
        assert "[bold]" in screen


async def test_a_note_typed_in_one_go_reaches_the_line(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump, (120, 40)) as view:
        await view.press("w", "f", "home")
        await view.burst("ibox\r", **{"\r": "enter"})
        assert any("✎ box" in text for text in texts(view.app))


async def test_keys_of_a_report_without_findings_do_nothing(
    gpu_dump: Any, make_app: Callable[..., LadderApp]
) -> None:
    gpu_dump.state.report, gpu_dump.state.selected_finding = Report("memcheck", ran=True, complete=True), None
    app = make_app(gpu_dump)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "w", "f", "d", "t", "x", "m", "o", "space", "enter", "y")
        assert texts(app) == []
        assert not app.workspace.prompt.display


async def test_bugs_fold_away_and_come_back_while_the_report_is_replaced(
    gpu_dump: Any, make_app: Callable[..., LadderApp]
) -> None:
    app = make_app(gpu_dump)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "w", "f", "home", "d", "t")
        for made in (many(3), Report("memcheck", ran=True), many(40), None, many(5)):
            gpu_dump.state.report = made
            gpu_dump.tell(Change.FINDINGS)
            await settle(pilot)
            await press(pilot, "d", "t", "end", "home")
        assert texts(app)[0].startswith("✗ read 4 B")


@pytest.mark.parametrize(("keys", "seen", "below"), [("dt", "block 2", "kernel  "), ("td", "kernel  ", "block 2")])
async def test_of_map_and_details_what_was_asked_for_last_stands_first(
    gpu_dump: Any, make_app: Callable[..., LadderApp], keys: str, seen: str, below: str
) -> None:
    shows(gpu_dump, "racecheck-hazard.log")
    app = make_app(gpu_dump)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "w", "f", "home", *keys)
        assert row_with(app, seen) < row_with(app, below)


async def test_the_way_into_a_lane_is_the_first_hint(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump, (80, 24)) as view:
        await view.press("w", "f", "home")
        hints = view.app.workspace.status_bar.row(0).end
        assert "".join(cell.text for cell in hints).startswith("⏎ lane")


async def test_a_search_tells_what_can_be_searched_for_and_how_to_get_back(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump, (80, 24)) as view:
        await view.press("w", "f", "slash")
        assert "kind:race" in view.text().splitlines()[-1]
        await view.press(*"vadd", "enter")
        assert "Esc all" in view.text()
        await view.press("escape")
        assert "Esc all" not in view.text()


async def test_an_export_tells_of_its_other_forms(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump, (80, 24)) as view:
        await view.press("w", "f", "ctrl+s")
        last = view.text().splitlines()[-1]
        assert "findings.sarif" in last
        assert "name.md" in last

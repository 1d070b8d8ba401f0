from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.finding import Report
from ladder_backends.model.frame import FrameWindow, Place
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.sanitizer import headline, read_report
from ladder_backends.session.sources import SourceFinder
from ladder_backends.session.state import Change, Run
from ladder_tui.highlight import Line, can_highlight, colour_lines, highlight, safe_start
from ladder_tui.panes.findings_rows import FindingsRows
from ladder_tui.panes.findings_words import report_summary
from ladder_tui.panes.source_gutter import breakpoint_lines, finding_lines, inline_values, same_file

CODE = [
    "int other(int n) {",
    "    return n;",
    "}",
    "int main(void) {",
    "    int n = 3;",
    "    int left = n * 2;",
    "    return left + n;",
    "}",
]


def values(current: int, *variables: Variable) -> dict[int, list[str]]:
    shown = inline_values(CODE, current, variables)
    return {line: [f"{cell.text}{'?' if spare else ''}" for cell, spare in cells] for line, cells in shown.items()}


def test_the_current_line_tells_all_it_names_and_a_line_above_what_no_line_between_tells() -> None:
    n, left = Variable("n", "3"), Variable("left", "6", changed=True)
    assert values(7, n, left) == {7: ["left→6", "n=3"], 6: ["left→6", "n=3?"]}
    assert values(6, n, left) == {6: ["left→6", "n=3"], 5: ["n=3"]}
    assert values(5, n, left) == {5: ["n=3"]}


def test_the_most_telling_values_come_first() -> None:
    code = ["void f(void) {", "    c[i] = a[i] + b[n].x + gone;", "}"]
    told = inline_values(
        code,
        2,
        [
            Variable("a", "0x7f586c800000"),
            Variable("b", "0x0"),
            Variable("c", "{1, 2, 3, 4, 5, 6, 7, 8}"),
            Variable("gone", "<optimized out>"),
            Variable("i", "1000"),
            Variable("n", "1000", changed=True),
        ],
    )
    assert [cell.text[0] for cell, _ in told[2]] == ["n", "b", "i", "a", "c", "g"]


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40), (200, 60)])
async def test_the_crash_is_told_on_its_line_at_every_width(
    segfault: Any, show: Any, size: tuple[int, int]
) -> None:
    async with show(segfault, size) as view:
        line = next(line for line in view.text().splitlines() if " 5 ▶" in line)
        for word in ("data=0x0", "i→0", "total=0", "✗ SIGSEGV"):
            assert word in line


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_index_is_told_in_the_lane_that_erred(gpu_dump: Any, show: Any, size: tuple[int, int]) -> None:
    window = (*gpu_dump.active.state.variables.variables, *(Variable(name, "0x7f586c800000") for name in "abc"))
    gpu_dump.active.state.variables = VariableWindow(window)
    async with show(gpu_dump, size) as view:
        lines = view.text().splitlines()
        assert "i=1008" in next(line for line in lines if " 10 ▶" in line)
        assert "i=1008" in next(line for line in lines if " int i = block" in line)


def test_values_stop_at_the_functions_first_line() -> None:
    # `n` of main is not the `n` of the function above.
    assert values(5, Variable("other", "0")) == {}
    assert values(2, Variable("n", "1")) == {2: ["n=1"], 1: ["n=1?"]}


def test_a_value_that_cannot_be_read_says_so_and_a_long_one_is_cut() -> None:
    assert values(5, Variable("n", "", error="optimized out")) == {5: ["n=<optimized out>"]}
    [[text]] = values(5, Variable("n", "x" * 100)).values()
    assert text.endswith("…?")


@pytest.mark.parametrize(
    ("place", "names", "same"),
    [
        (Place("a.c", 1, "/src/a.c"), {"/src/a.c", "a.c"}, True),
        (Place("a.c", 1, "/other/a.c"), {"/src/a.c", "a.c"}, False),
        (Place("a.c", 1), {"/src/a.c", "a.c"}, True),
        (Place("/src/a.c", 1), {"a.c"}, True),
        (Place("b.c", 1), {"/src/a.c", "a.c"}, False),
    ],
)
def test_files_of_one_name_are_not_confused(place: Place, names: set[str], same: bool) -> None:
    assert same_file(place, frozenset(names)) is same


def test_each_state_of_a_breakpoint_has_its_own_glyph() -> None:
    place = Place("a.c", 3, "/src/a.c")
    glyphs = set()
    for state in BindingState:
        binding = BreakpointBinding(BreakpointIntent(1, "a.c:3"), state, "1", (place,))
        glyphs.add(breakpoint_lines([binding], frozenset({"/src/a.c", "a.c"}))[3].text)
    off = BreakpointBinding(BreakpointIntent(1, "a.c:3", enabled=False), BindingState.SET, "1", (place,))
    glyphs.add(breakpoint_lines([off], frozenset({"a.c"}))[3].text)
    for wish in (
        BreakpointIntent(1, "a.c:3", condition="x"),
        BreakpointIntent(1, "a.c:3", log="x"),
        BreakpointIntent(1, "a.c:3", temporary=True),
    ):
        glyphs.add(
            breakpoint_lines([BreakpointBinding(wish, BindingState.SET, "1", (place,))], frozenset({"a.c"}))[3].text
        )
    assert len(glyphs) == len(BindingState) + 4


def test_a_pending_breakpoint_is_shown_where_it_was_asked_for() -> None:
    binding = BreakpointBinding(BreakpointIntent(1, "/src/a.c:7"), BindingState.PENDING)
    assert breakpoint_lines([binding], frozenset({"/src/a.c", "a.c"}))[7].text == "◌"
    assert breakpoint_lines([binding], frozenset({"b.c"})) == {}


def test_lanes_are_counted_by_line(gpu_dump: Any) -> None:
    marks = finding_lines(gpu_dump.state.report, "vector_add_oob.cu")
    assert {line: mark.lanes for line, mark in marks.items()} == {10: 24}
    assert finding_lines(gpu_dump.state.report, "other.cu") == {}
    assert finding_lines(None, "vector_add_oob.cu") == {}


def text_of(line: Line) -> str:
    return "".join(cell.text for cell in line)


@pytest.mark.parametrize("name", ["a.cu", "a.c", "a.py", "a.ptx", "a.hpp", "A.CU"])
def test_colours_never_change_the_text(name: str) -> None:
    lines = ["/* two", "lines */ int x = 1; // end", "", '__global__ void k() { "s"; }', "@%p bra L;", "'open"]
    assert can_highlight(name)
    coloured = dict(colour_lines(name, lines, 0))
    assert [text_of(coloured[number]) for number in range(len(lines))] == lines


def test_cuda_is_coloured() -> None:
    [(_, line)] = colour_lines("a.cu", ["__global__ void k(float *a) { int i = threadIdx.x; } // c"], 0)
    styles = {cell.text.strip(): cell.style for cell in line}
    assert styles["__global__"] == "syntax.keyword"
    assert styles["float"] == "syntax.type"
    assert styles["threadIdx"] == "syntax.builtin"
    assert styles["// c"] == "syntax.comment"


def test_other_files_stay_plain() -> None:
    assert not can_highlight("notes.txt")
    assert not can_highlight("Makefile")


def test_a_lexer_starts_at_the_outermost_level() -> None:
    lines = ["int a;", "", "void f() {", "", "  x();", "}", "", "int b;"]
    assert safe_start(lines, 4) == 2
    assert safe_start(lines, 7) == 7
    assert safe_start(["  x"] * 1000, 900) == 900


async def test_what_is_visible_is_coloured_first_and_keys_are_not_kept_waiting() -> None:
    lines = ["", "int main(void) {"] + ["    call(1); /* comment */"] * 6_000 + ["}"]
    lines[5_000], lines[5_001] = "", "void g(void) {"
    sink: list[Line | None] = [None] * len(lines)
    ready: list[bool] = []
    turns = 0
    job = asyncio.create_task(
        highlight("a.c", lines, sink, range(5_010, 5_050), lambda: ready.append(sink[0] is not None))
    )
    while not job.done():
        await asyncio.sleep(0)
        turns += 1
    assert ready[0] is False
    assert all(sink[5_010:5_050])
    assert all(line is not None for line in sink)
    assert turns > 20


async def test_the_cursor_shows_only_away_from_the_current_line(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        assert "▸ " not in view.text().splitlines()[6][:10]
        await view.press("down")
        assert view.text().splitlines()[7].startswith("▸ ")
        await view.press("h")
        assert view.app.workspace.panes["source"].cursor == 4


async def test_a_stop_elsewhere_is_scrolled_to_and_a_near_one_is_not(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        source = view.app.workspace.panes["source"]
        debug = segfault.active.state
        debug.place = Place("segfault.c", 7, "/src/segfault.c")
        segfault.tell(Change.RUN | Change.SOURCE)
        await view.settle()
        assert source.top == 0
        debug.place = Place("segfault.c", 12, "/src/segfault.c")
        segfault.tell(Change.RUN | Change.SOURCE)
        await view.settle()
        assert source.top == 2


async def test_a_running_target_keeps_its_source_without_a_marker(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        debug = segfault.active.state
        debug.run, debug.place, debug.fault = Run.RUNNING, None, False
        debug.variables = VariableWindow()
        segfault.tell(Change.RUN | Change.FRAMES | Change.SOURCE | Change.VARIABLES)
        await view.settle()
        assert "total += data[i]" in view.text()
        assert "5 ▶" not in view.text()
        assert "the target runs" in view.text()


async def test_a_program_that_ended_in_a_file_that_is_not_here_shows_where_it_begins(
    segfault: Any, show: Any
) -> None:
    async with show(segfault) as view:
        debug = segfault.active.state
        debug.entry, debug.place = debug.place, Place("libc_start.h", 58)
        segfault.tell(Change.RUN | Change.FRAMES | Change.SOURCE)
        await view.settle()
        assert "libc_start.h" in view.text()
        debug.run, debug.place, debug.fault = Run.EXITED, None, False
        for _ in range(2):
            segfault.tell(Change.RUN | Change.FRAMES | Change.SOURCE)
            await view.settle()
            assert "libc_start.h" not in view.app.workspace.panes["source"].title().name
            assert "total += data[i]" in view.text()


async def test_a_frame_without_source_is_not_shown_in_another_file(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        debug, source = segfault.active.state, view.app.workspace.panes["source"]
        foreign = replace(debug.frames.frames[0], function="write", place=None, module="libc.so.6")

        async def stand(place: Place | None) -> str:
            debug.place, debug.frames = place, FrameWindow((replace(foreign, place=place),))
            segfault.tell(Change.RUN | Change.FRAMES | Change.SOURCE)
            await view.settle()
            return "".join([source.title().name, " ", *(cell.text for cell in source.title().state)])

        # The file that was read stays in view, and the title says what it is not.
        assert await stand(None) == "segfault.c write has no source"
        assert "total += data[i]" in view.text()
        assert await stand(Place("write.c", 26)) == "write.c MISSING write"
        assert await stand(None) == "Source "
        assert "write.c" not in view.text()
        assert "No line information here." in view.text()


async def test_a_report_without_source_is_not_nothing(gpu_dump: Any, show: Any) -> None:
    gpu_dump.state.report, gpu_dump.state.selected_finding = Report("memcheck", ran=True), None
    gpu_dump.sessions.clear()
    gpu_dump.state.debug.clear()
    async with show(gpu_dump) as view:
        source = view.app.workspace.panes["source"]
        assert source.empty_text() == "The report names no source file."
        gpu_dump.state.report = None
        assert "ladder-tui run PROGRAM" in source.empty_text()


async def test_an_outer_frame_has_a_marker_of_its_own(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        debug = segfault.active.state
        debug.selected_frame, debug.place = 1, debug.frames.frames[1].place
        segfault.tell(Change.FRAMES | Change.SOURCE)
        await view.settle()
        assert "10 ▷" in view.text()
        assert "✗ SIGSEGV" not in view.text().split("Console", 1)[0].splitlines()[6]


async def test_sideways_scrolling_leaves_the_gutter(segfault: Any, show: Any) -> None:
    async with show(segfault, (60, 24)) as view:
        await view.press("right")
        assert "●  10   …f(" in view.text()


async def test_the_text_is_that_of_the_program_through_edits_builds_and_deletion(
    segfault: Any, show: Any, tmp_path: Path
) -> None:
    file, program = tmp_path / "segfault.c", tmp_path / "segfault"

    def write(at: int, *lines: str) -> None:
        file.write_text("\n".join(lines))
        os.utime(file, (at, at))

    def build(at: int) -> None:
        program.touch()
        os.utime(program, (at, at))

    write(1_000, "void f(void)", "{", "  first();", "}", "")
    build(1_001)
    segfault.source = SourceFinder(built=[program]).find
    async with show(segfault) as view:

        async def stop(line: int) -> str:
            segfault.active.state.place = Place("segfault.c", line, str(file))
            segfault.active.state.since += 1
            segfault.tell(Change.RUN | Change.FRAMES | Change.SOURCE)
            await view.settle()
            return view.text()

        assert "first();" in await stop(3)
        write(2_000, "// a new line", "void f(void)", "{", "  second();", "}", "")
        shown = await stop(2)
        assert "first();" in shown
        assert "EDITED" in shown
        build(2_001)
        shown = await stop(3)
        assert "second();" in shown
        assert "first();" not in shown
        assert "EDITED" not in shown
        file.unlink()
        assert "second();" in await stop(4)


def test_pairs_of_a_hazard_are_not_counted_as_lanes() -> None:
    report = read_report([Path(__file__).parents[1] / "sanitizer/reports/logs/racecheck-hazard.log"])
    marks = finding_lines(report, "shared_race.cu")
    assert [mark.words for mark in marks.values()] == ["20 pairs"]
    assert headline(report) == "1 bug · 20 pairs of lanes"
    rows = FindingsRows()
    rows.update(report)
    assert report_summary(report, rows.bugs, rows.lanes, rows.pairs)[0] == "1 bug · 20 pairs"

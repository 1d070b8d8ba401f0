"""The breakpoints pane, its dialogs and the gutter, on a double and on a real gdb."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ladder_backends.model.breakpoint import (
    BindingState,
    BoundLocation,
    BreakpointBinding,
    BreakpointIntent,
    BreakpointKind,
)
from ladder_backends.model.frame import Place
from ladder_backends.session.state import Change
from ladder_tui.panes.breakpoint_rows import breakpoint_mark, lines_of, row_of
from ladder_tui.panes.source_gutter import breakpoint_lines
from ladder_tui.screens.breakpoint_form import check, join_commands, split_commands

PLACE = Place("segfault.c", 10, "/src/segfault.c")
OTHER = Place("segfault.c", 5, "/src/segfault.c")


def binding(intent: BreakpointIntent, number: str = "1", **told: Any) -> BreakpointBinding:
    places = told.pop("places", (PLACE,) if intent.kind is BreakpointKind.CODE else ())
    return BreakpointBinding(intent, told.pop("state", BindingState.SET), number, places, **told)


TEMPLATE = binding(
    BreakpointIntent(3, "twice"),
    "3",
    locations=(
        BoundLocation("3.1", PLACE, "twice<int>(int)", "0x1348"),
        BoundLocation("3.2", OTHER, "twice<double>(double)", "0x135e", enabled=False),
    ),
    places=(PLACE, OTHER),
    functions=("twice<int>(int)", "twice<double>(double)"),
)
EVERY = (
    binding(BreakpointIntent(1, "segfault.c:10", "n > 3", ignore=2, commands=("print n",)), hits=1_234, left=1),
    binding(BreakpointIntent(2, "segfault.c:5", log="n={n}"), "2", places=(OTHER,)),
    TEMPLATE,
    binding(BreakpointIntent(4, "total", kind=BreakpointKind.WRITE, scope="f"), "", state=BindingState.PENDING,
            why="went out of scope with frame f()"),
    binding(BreakpointIntent(5, "throw", kind=BreakpointKind.CATCH, enabled=False), "5"),
    binding(BreakpointIntent(6, "later.c:3", temporary=True), "6", state=BindingState.PENDING, places=(),
            why="no loaded module has it yet"),
    binding(BreakpointIntent(7, "wide", kind=BreakpointKind.READ), "112", why="software watch: slow"),
    binding(BreakpointIntent(8, "segfault.c:3"), "8", state=BindingState.MOVED, places=(OTHER,),
            why="moved from 3 to 5: same text"),
)  # fmt: skip


@pytest.fixture
def story(segfault: Any) -> Any:
    segfault.active.state.breakpoints = EVERY
    segfault.active.state.logged.add(2, "n=7")
    return segfault


def text_of(index: int) -> str:
    return row_of(lines_of(EVERY)[index], {2: "n=7"}, 3).text()


def test_rows_tell_number_kind_place_state_and_options() -> None:
    assert [text_of(index) for index in range(len(lines_of(EVERY)))] == [
        "  1 ◆ break  segfault.c:10  if n > 3  at hit 3, 1 left  runs print n",
        '  2 » log    segfault.c:5  "n={n}"  last: n=7',
        "  3 ● break  twice segfault.c:10 (2 places)",
        "3.1 ●   twice<int>(int)  segfault.c:10",
        "3.2 ○   twice<double>(double)  segfault.c:5  off",
        "    ◌ watch  total  pending: went out of scope with frame f()",
        "  5 ○ catch  throw  off",
        "  6 ◌ break  later.c:3  pending: no loaded module has it yet  once, then gone",
        "112 ◈ rwatch wide  software watch: slow",
        "  8 ◐ break  segfault.c:5  moved from 3 to 5: same text",
    ]


def test_files_of_one_name_are_told_apart_by_their_folders() -> None:
    def binding(number: int, *files: str) -> BreakpointBinding:
        places = tuple(Place("same.c", 6, file) for file in files)
        several = tuple(BoundLocation(f"{number}.{n}", place, f"f{n}") for n, place in enumerate(places, 1))
        intent = BreakpointIntent(number, "same.c:6")
        return BreakpointBinding(
            intent, BindingState.SET, str(number), places, locations=several if len(files) > 1 else ()
        )

    both = lines_of([binding(1, "/src/a/same.c", "/src/b/same.c"), binding(2, "/src/b/same.c")])
    assert [row_of(line, {}, 3).text().split("  ")[-1].split()[-1] for line in both[1:]] == [
        "a/same.c:6",
        "b/same.c:6",
        "b/same.c:6",
    ]
    assert row_of(both[0], {}, 3).text().endswith("same.c:6 (2 places)")
    (alone,) = lines_of([binding(2, "/src/b/same.c")])
    assert row_of(alone, {}, 3).text().endswith("break  same.c:6")


def test_glyphs_tell_kinds_and_states_apart() -> None:
    wishes = (
        BreakpointIntent(1, "a"),
        BreakpointIntent(1, "a", condition="x"),
        BreakpointIntent(1, "a", log="x"),
        BreakpointIntent(1, "a", once=True),
        BreakpointIntent(1, "a", enabled=False),
        BreakpointIntent(1, "a", kind=BreakpointKind.WRITE),
        BreakpointIntent(1, "a", kind=BreakpointKind.CATCH),
    )
    glyphs = {breakpoint_mark(binding(wish)).text for wish in wishes}
    assert len(glyphs) == len(wishes)
    assert all(len(glyph) == 1 for glyph in glyphs)


def test_a_place_that_is_off_is_off_in_the_gutter_and_one_that_is_on_covers_it() -> None:
    names = frozenset({"/src/segfault.c", "segfault.c"})
    marks = breakpoint_lines([TEMPLATE], names)
    assert {line: mark.text for line, mark in marks.items()} == {10: "●", 5: "○"}
    off = binding(BreakpointIntent(9, "segfault.c:10", enabled=False), "9")
    assert breakpoint_lines([TEMPLATE, off], names)[10].text == "●"
    watch = binding(BreakpointIntent(9, "segfault.c:7", kind=BreakpointKind.CATCH), "9", places=())
    assert breakpoint_lines([watch], names) == {}


async def test_keys_act_on_breakpoints_and_on_their_places(story: Any, show: Any) -> None:
    asked = story.active.asked
    async with show(story) as view:
        await view.press("w", "b", "space")
        assert asked.pop() == ("enable_breakpoint", EVERY[0], False)
        await view.press("down", "down", "down", "down", "space")
        assert asked.pop() == ("enable_location", "3.2", True)
        await view.press("down", "space")
        assert asked.pop() == ("enable_breakpoint", EVERY[3], True)
        await view.press("x")
        assert asked.pop() == ("remove_breakpoint", EVERY[3])
        await view.press("home", "t")
        assert asked.pop() == ("change_breakpoint", EVERY[0], replace(EVERY[0].intent, temporary=True))
        await view.press("end", "l")
        assert view.app.focused.id == "source"
        assert view.app.focused.cursor == 4


async def test_clicks_do_the_same(story: Any, show: Any) -> None:
    asked = story.active.asked
    async with show(story, (200, 60)) as view:
        pane = view.app.workspace.panes["breakpoints"]
        edge = 2 + len(pane.edge[:1])
        await view.click("#breakpoints", edge + 4, 1)
        assert asked.pop() == ("enable_breakpoint", EVERY[0], False)
        await view.click("#breakpoints", edge + 15, 2)
        assert view.app.workspace.panes["source"].cursor == 4
        await view.click("#breakpoints", edge + 6, 2)
        assert "Breakpoint 2" in view.text()


async def test_the_dialog_changes_what_was_typed_and_nothing_else(story: Any, show: Any) -> None:
    async with show(story, (80, 24)) as view:
        await view.press("w", "b", "enter")
        text = view.text()
        assert "Breakpoint 1  segfault.c:10" in text
        for words in ("n > 3", "From hit", "Log instead", "print n", "Switched on"):
            assert words in text
        await view.press("down", *["backspace"] * 5, *"n==4", "down", "backspace", "x", "enter")
        assert "a hit is a number from 1" in view.text()
        await view.press("backspace", "1", "enter")
        asked = story.active.asked.pop()
        assert asked == ("change_breakpoint", EVERY[0], replace(EVERY[0].intent, condition="n==4", ignore=0))
        await view.press("enter", "enter")
        assert not story.active.asked
        await view.press("enter", "escape")
        assert not story.active.asked


async def test_a_new_one_of_any_kind(story: Any, show: Any) -> None:
    async with show(story, (80, 24)) as view:
        await view.press("B")
        assert "/src/segfault.c:5" in view.text()
        await view.press("right", "right", "tab", *["backspace"] * 40, *"total", "tab", *"total > 3", "enter")
        assert story.active.asked.pop() == (
            "place_breakpoint",
            BreakpointIntent(0, "total", "total > 3", kind=BreakpointKind.WRITE),
        )
        await view.press("B", *["tab"] * 5, *"n={n}", "tab", *"bt", "enter")
        assert "runs no commands" in view.text()
        await view.press(*["backspace"] * 2, "enter")
        assert story.active.asked.pop() == (
            "place_breakpoint",
            BreakpointIntent(0, "/src/segfault.c:5", log="n={n}"),
        )


@pytest.mark.parametrize(
    ("typed", "location", "condition"),
    [
        ("add if n > 3", "add", "n > 3"),
        ("a.c:3 if(n == 1)", "a.c:3", "(n == 1)"),
        ("if.c:3", "if.c:3", ""),
        ("what if.c:3", "what if.c:3", ""),
        ("iffy", "iffy", ""),
    ],
)
async def test_a_condition_behind_the_place_is_one(
    story: Any, show: Any, typed: str, location: str, condition: str
) -> None:
    async with show(story, (80, 24)) as view:
        await view.press("B", "tab", "ctrl+u", *typed, "enter")
        assert story.active.asked.pop() == ("place_breakpoint", BreakpointIntent(0, location, condition))


async def test_a_watch_on_an_expression(story: Any, show: Any) -> None:
    async with show(story, (80, 24)) as view:
        await view.press("W", *"data[3]", "enter")
        assert story.active.asked.pop() == (
            "place_breakpoint",
            BreakpointIntent(0, "data[3]", kind=BreakpointKind.WRITE),
        )
        await view.press("W", *"-r n + 1", "enter")
        assert story.active.asked.pop() == (
            "place_breakpoint",
            BreakpointIntent(0, "n + 1", kind=BreakpointKind.READ),
        )
        await view.press("W", "enter")
        await view.press("W", "escape")
        assert not [asked for asked in story.active.asked if asked[0] == "place_breakpoint"]


async def test_the_gutter_asks_for_conditions_and_enter_edits(story: Any, show: Any) -> None:
    async with show(story) as view:
        source = view.app.workspace.panes["source"]
        row = 1 + 9 - source.top
        await view.pilot.click("#source", offset=(4, row), button=3)
        await view.settle()
        assert "stop at segfault.c:10 if" in view.text()
        await view.press(*["backspace"] * 5, *"n > 9", "enter")
        asked = story.active.asked.pop()
        assert asked == ("change_breakpoint", EVERY[0], replace(EVERY[0].intent, condition="n > 9"))
        await view.pilot.click("#source", offset=(4, row - 1), control=True)
        await view.settle()
        await view.press(*"n", "enter")
        assert story.active.asked.pop() == ("place_breakpoint", BreakpointIntent(0, "/src/segfault.c:9", "n"))
        source.take_focus()
        source.go_to_line(10)
        await view.press("enter")
        assert "Breakpoint 1  segfault.c:10" in view.text()


async def test_what_the_engine_refuses_is_asked_for_again(story: Any, show: Any) -> None:
    refused = BreakpointBinding(EVERY[0].intent, BindingState.FAILED, why='No symbol "q" in current context')
    answers = story.active.answers
    answers["place_breakpoint"] = answers["change_breakpoint"] = refused
    async with show(story, (80, 24)) as view:
        await view.press("B", "tab", "tab", *"q > 1", "enter")
        assert 'No symbol "q" in current context' in view.text()
        assert "q > 1" in view.text()
        await view.press("escape")
        await view.press("B", "right", "enter")
        assert "say where: a regular expression" in view.text()
        await view.press("escape", "w", "b", "enter", "down", *"q", "enter")
        assert 'No symbol "q" in current context' in view.text()
        assert "n > 3q" in view.text()
        await view.press("escape")
        source = view.app.workspace.panes["source"]
        await view.pilot.click("#source", offset=(4, 1 + 9 - source.top), button=3)
        await view.settle()
        await view.press(*"q", "enter")
        assert 'No symbol "q" in current context; if n > 3q' in view.text()
        answers.clear()
        await view.press("backspace", "enter")
        assert "if n > 3q" not in view.text()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"where": "  "}, "where"),
        ({"hit": "0"}, "hit"),
        ({"hit": "two"}, "hit"),
        ({"thread": "x"}, "thread"),
        ({"kind": "catch", "log": "x"}, "log"),
        ({"kind": "watch", "thread": "2"}, "thread"),
        ({"log": "x", "commands": "bt"}, "commands"),
        ({}, None),
        ({"hit": ""}, None),
    ],
)
def test_what_is_wrong_with_a_form_is_told(changed: dict[str, str], field: str | None) -> None:
    values: Any = {"kind": "break", "where": "main", "hit": "1", "thread": "", "log": "", "commands": "", **changed}
    complaint = check(values)
    assert (complaint[0] if complaint else None) == field


@pytest.mark.parametrize(
    "commands", [(), ("bt",), ("silent", "print x"), ("python print(1); print(2)", "echo a\\n"), ("a\\;b",)]
)
def test_commands_survive_their_line(commands: tuple[str, ...]) -> None:
    assert split_commands(join_commands(commands)) == commands


async def test_hits_told_alone_repaint_the_pane(story: Any, show: Any) -> None:
    async with show(story, (200, 60)) as view:
        debug = story.active.state
        debug.breakpoints = (replace(EVERY[0], hits=1_300), *EVERY[1:])
        story.tell(Change.BREAKPOINTS)
        await view.settle()
        assert "1,300 hits" in view.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_screens(story: Any, show: Any, shots: Any, size: tuple[int, int]) -> None:
    async with show(story, size) as view:
        await view.press("w", "b", "z")
        await shots.both(view.pilot, f"breakpoints-{size[0]}")
        await view.press("z", "enter")
        await shots.both(view.pilot, f"breakpoint-form-{size[0]}")


async def test_no_key_of_a_row_is_hinted_where_there_is_none(segfault: Any, show: Any) -> None:
    async with show(segfault, (120, 40)) as view:
        await view.press("w", "b")
        assert "x delete" in view.text().splitlines()[-1]
        segfault.active.state.breakpoints = ()
        segfault.active.tell(Change.BREAKPOINTS)
        await view.settle()
        assert "delete" not in view.text().splitlines()[-1]
        assert "next" in view.text().splitlines()[-1]

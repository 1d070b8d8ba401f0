"""Variables as trees: what keys do to them, over a debugger that is a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from textual.events import Paste

from ladder_backends.debugger.facets.values import CALLS, Form, Look, Values, Wanted
from ladder_backends.errors import CommandFailed, NotRecorded
from ladder_backends.model.variable import ChildWindow, Variable, VariableWindow
from ladder_backends.session.state import Change, Run
from ladder_tui.panes.source_gutter import inline_values
from ladder_tui.panes.value_lines import parts_of, prefill, read_range, short_value


class TableOfValues(Values):
    """What an engine would say, by expression; notes what it is asked."""

    def __init__(self, asked: list[tuple[Any, ...]]) -> None:
        self.asked = asked
        self.known: dict[str, Variable] = {}
        self.inside: dict[str, Sequence[Variable]] = {}

    async def read(self, wanted: Sequence[Wanted], frame_level: int, *, calls: bool = False) -> Sequence[Variable]:
        self.asked.append(("read", *(one.expression for one in wanted), calls))
        missing = Variable("", "", error='No symbol "x" in current context')
        read = []
        for one in wanted:
            known = self.known.get(one.expression, missing)
            if known.error == CALLS and calls:
                known = replace(known, error="", value="12")
            elif one.form == Form.HEX and known.value.isdigit():
                known = replace(known, value=hex(int(known.value)))
            read.append(known)
        return read

    async def children(
        self,
        expression: str,
        frame_level: int,
        start: int,
        count: int,
        form: str = Form.NATURAL,
        look: Look = Look.MEMBERS,
    ) -> ChildWindow:
        self.asked.append(("children", expression, start, count, str(look)))
        if expression not in self.inside:
            raise NotRecorded("not in this recording")
        all_of_it = self.inside[expression]
        shown = tuple(all_of_it[start : start + count])
        return ChildWindow(shown, start, start + count < len(all_of_it), len(all_of_it))

    async def whole(self, expression: str, frame_level: int, form: str, most: int) -> tuple[str, bool]:
        return '"' + "word " * 40 + 'END"', False

    async def assign(self, expression: str, frame_level: int, value: str) -> Variable:
        self.asked.append(("assign", expression, value))
        if value == "nonsense":
            raise CommandFailed("", 'No symbol "nonsense" in current context.')
        self.known[expression] = Variable(expression, value)
        return self.known[expression]


POINT = (
    Variable("x", "3", "int", path="here.x"),
    Variable("next", "0x7ffe10", "struct point *", path="here.next", children=True),
)


@pytest.fixture
def trees(segfault: Any) -> Any:
    """The C demo with a struct, a long array and a string."""
    session = segfault.active
    session.state.fault = False
    session.debugger.values = table = TableOfValues(session.asked)
    session.state.variables = VariableWindow(
        (
            Variable("here", "{x = 3, next = 0x7ffe10}", "struct point", children=True),
            Variable("cells", "{0, 1, 2...}", "double [100000]", children=True),
            Variable("name", '"word word"...', "const char *", children=True, kind="string"),
            Variable("count", "7", "int"),
        )
    )
    table.inside = {
        "here": POINT,
        "here.next": POINT,
        "cells": [Variable(f"[{k}]", str(k), "double", path=f"cells[{k}]") for k in range(1_000)],
    }
    table.known = {"count": Variable("count", "7", "int")}
    return segfault


def pane(view: Any) -> list[str]:
    """The lines of Variables, from its title down."""
    lines = [line.rpartition("│")[2].rstrip() for line in view.text().splitlines() if "│" in line]
    return [line for line in lines if line.strip()]


async def test_a_value_is_opened_and_closed(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "space")
        assert any("▾here" in line for line in pane(view))
        assert any("x " in line and line.endswith("int") and " 3" in line for line in pane(view))
        assert any("▸next" in line for line in pane(view))
        await view.press("down", "down", "enter")
        assert [call for call in trees.active.asked if call[0] == "children"] == [
            ("children", "here", 0, 100, "members"),
            ("children", "here.next", 0, 100, "members"),
        ]
        await view.press("home", "space")
        assert not any("▸next" in line for line in pane(view))


async def test_what_is_opened_at_the_lower_edge_comes_into_sight(trees: Any, show: Any) -> None:
    async with show(trees, (80, 24)) as view:
        variables = view.app.workspace.panes["variables"]

        def seen() -> list[str]:
            rows = range(variables.top, variables.top + variables.body_height)
            return [variables.row(index).text().split()[0] for index in rows]

        await view.press("w", "v", "space", "down", "down", "down")
        assert seen() == ["▾here", "x", "▸next", "▸cells", "▸name"]
        await view.press("space")
        assert seen() == ["▸next", "▾cells", "[0]", "[1]", "[2]"]
        assert variables.copy_text(variables.cursor) == "{0, 1, 2...}"
        # There is room for all of it now.
        await view.press("up", "space")
        assert seen() == ["▾next", "x", "▸next", "▾cells", "[0]"]


async def test_open_values_are_read_again_at_a_stop_and_the_selected_row_stays(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "space", "down", "down")
        table = trees.active.debugger.values
        table.inside["here"] = (Variable("first", "0", "int"), replace(POINT[0], value="4"), POINT[1])
        await trees.active.stop()
        await view.settle()
        assert any("•" in line and "x " in line and " 4" in line for line in pane(view))
        assert any(line.startswith("▸ ") and "next" in line for line in pane(view))


async def test_long_arrays_are_paged_and_a_range_is_chosen(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "down", "space", "end", "up", "up")
        assert any("… 900 more of 1,000" in line for line in pane(view))
        await view.press("enter")
        assert trees.active.asked[-1] == ("children", "cells", 0, 200, "members")
        await view.press("home", "down", "i", *"500..502", "enter")
        assert trees.active.asked[-1] == ("children", "cells", 500, 3, "members")
        assert any("… 500 before" in line for line in pane(view))
        assert any("[502]" in line for line in pane(view))
        await view.press("i", *"nonsense", "enter")
        assert "write elements as 500..520" in view.text()


async def test_text_is_shown_whole(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "down", "down", "space")
        assert 'END"' in view.text()


async def test_forms_go_round_and_are_named(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "end", "t")
        assert any("0x7" in line and line.endswith("hex int") for line in pane(view))
        for _ in range(7):
            await view.press("t")
        assert any("count" in line and "7" in line and "hex" not in line for line in pane(view))


async def test_a_value_is_set_over_the_old_one(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "end", "equals_sign")
        assert "count = 7" in view.text()
        await view.press("8", "enter")
        assert ("assign", "count", "8") in trees.active.asked
        assert ("look_again",) in trees.active.asked
        await trees.active.values.look_again()
        trees.active.tell(Change.VARIABLES)
        await view.settle()
        assert any("•" in line and "count" in line for line in pane(view))


async def test_an_old_value_is_kept_where_it_is_edited(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "end", "equals_sign", "home", "1", "end", "8", "enter")
        assert ("assign", "count", "178") in trees.active.asked
        # Enter alone sets what is there; what is pasted takes its place.
        await view.press("equals_sign", "enter")
        assert ("assign", "count", "7") in trees.active.asked
        await view.press("equals_sign")
        view.app.workspace.prompt.on_paste(Paste("99\n"))
        await view.press("enter")
        assert ("assign", "count", "99") in trees.active.asked


async def test_a_refusal_is_one_line(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "end", "equals_sign", "backspace", *"nonsense", "enter")
        assert 'count stays as it is: No symbol "nonsense" in current context.' in view.text()


async def test_a_dump_says_that_it_cannot_be_changed(trees: Any, show: Any) -> None:
    trees.active.state.run = Run.DUMP
    async with show(trees) as view:
        await view.press("w", "v", "end", "equals_sign")
        assert "count stays as it is: a dump cannot be changed" in view.text()
        assert not view.app.workspace.prompt.display


async def test_what_a_recording_does_not_hold_is_said_calmly(trees: Any, show: Any) -> None:
    trees.active.debugger.values.inside = {}
    async with show(trees) as view:
        await view.press("w", "v", "space")
        assert any("not in this recording" in line for line in pane(view))


async def test_a_watch_that_calls_runs_only_when_it_is_acted_on(trees: Any, show: Any) -> None:
    table = trees.active.debugger.values
    table.known["size()"] = Variable("size()", "", error=CALLS)
    async with show(trees) as view:
        await view.press("w", "v", "e", *"size()", "enter")
        assert any("=" in line and "size()" in line and "12" in line for line in pane(view))
        await trees.active.stop()
        await view.settle()
        assert any("<calls a function; ⏎ runs it>" in line for line in pane(view))
        assert trees.active.asked[-1] == ("read", "size()", False)
        await view.press("home", "enter")
        assert trees.active.asked[-1] == ("read", "size()", True)
        assert any("size()" in line and "12" in line for line in pane(view))


async def test_a_member_is_watched_copied_and_forgotten(trees: Any, show: Any) -> None:
    trees.active.debugger.values.known["here.x"] = Variable("x", "3", "int")
    async with show(trees) as view:
        copied: list[str] = []
        view.app.copy_to_clipboard = copied.append
        await view.press("w", "v", "space", "down", "y", "Y", "p")
        assert copied == ["3", "here.x"]
        assert any("=" in line and "here.x" in line for line in pane(view))
        await view.press("home", "x")
        assert not any("here.x" in line for line in pane(view))
        await view.press("x")
        assert "only expressions that were asked for can be forgotten" in view.text()


async def test_what_is_out_of_sight_is_not_asked_for(trees: Any, show: Any) -> None:
    async with show(trees) as view:
        await view.press("w", "v", "space", "w", "s", "z")
        trees.active.asked.clear()
        await trees.active.stop()
        await view.settle()
        assert not [call for call in trees.active.asked if call[0] in ("children", "read")]
        await view.press("z")
        assert ("children", "here", 0, 100, "members") in trees.active.asked


def test_what_a_new_value_is_typed_over() -> None:
    assert prefill("97 'a'") == "97"
    assert prefill("0x401136 <main+4>") == "0x401136"
    assert prefill('0x55550 "text"') == "0x55550"
    assert prefill("{1, 2}") == ""
    assert prefill("2.5") == "2.5"
    assert prefill("RED") == "RED"


def test_ranges_are_read_as_people_write_them() -> None:
    for text in ("500..520", "500-520", "[500:520]", "500, 520", " 500 520 "):
        assert read_range(text) == (500, 520)
    assert read_range("7") == (7, 106)
    for wrong in ("", "x", "1..", "9..1", "-1"):
        with pytest.raises(ValueError, match="write elements"):
            read_range(wrong)


def test_text_is_cut_behind_blanks_and_nothing_is_lost() -> None:
    for text in ("a b" * 100, "x" * 100, "  \u4e2d\u6587 " * 40, ""):
        parts = parts_of(text, 20)
        assert "".join(parts) == text


def test_a_container_is_told_by_its_size() -> None:
    for value, short in {
        "std::vector of length 2, capacity 4 = {1, 2}": "[2] {1, 2}",
        'std::map with 2 elements = {["ann"] = 30}': '[2] {["ann"] = 30}',
        'std::unordered_map with 1 element = {[1] = "one"}': '[1] {[1] = "one"}',
        "std::vector of length 0, capacity 0": "[0]",
        "std::vector<bool> of length 2, capacity 64 = {true, false}": "[2] {true, false}",
        "std::optional<int> = {[contained value] = 5}": "{[contained value] = 5}",
        "std::optional<int> [no contained value]": "[no contained value]",
        'std::variant<int, std::string> [index 1] = {"str"}': '[index 1] = {"str"}',
        "std::__cxx11::list = {[0] = 1}": "{[0] = 1}",
        "{inner = std::set with 1 element = {[0] = 4}}": "{inner = [1] {[0] = 4}}",
        '"std::vector of length"': '"std::vector of length"',
        "7": "7",
    }.items():
        assert short_value(value) == short


def test_inline_values_are_of_names_that_the_code_means() -> None:
    lines = [
        "void f() {",
        '    printf("total of value", point.total); // count here',
        "    value = shape->count + items.size() + list(2);",
    ]
    names = ("total", "value", "count", "items", "point", "list")
    variables = [Variable(name, "std::vector of length 1, capacity 1 = {7}") for name in names]
    shown = inline_values(lines, 3, variables)
    assert {line: sorted(one.cell.text for one in values) for line, values in shown.items()} == {
        3: ["items=[1] {7}", "list=[1] {7}", "value=[1] {7}"],
        2: ["point=[1] {7}"],
    }


async def test_watches_of_other_frames_push_nothing_out(trees: Any, show: Any) -> None:
    session = trees.active
    async with show(trees, (80, 24)) as view:
        variables = view.app.workspace.panes["variables"]

        def names() -> list[str]:
            return [
                variables.row(index).text().strip(" =▸▾•").split("  ")[0] for index in range(variables.row_count)
            ]

        for expression in ("other", "further", "count"):
            await view.press("e", *expression, "enter")
        await session.stop()
        await view.settle()
        assert names() == ["count", "here", "cells", "name", "count", "2 watches out of scope"]
        await view.press("w", "v", "end")
        assert any(line.endswith("▸2 watches out of scope") for line in pane(view))
        await view.press("x")
        assert "lists them" in view.text()
        await view.press("space")
        assert names()[-3:] == ["2 watches out of scope", "other", "further"]
        assert any("further" in line for line in pane(view))
        await view.press("end", "x")
        assert names()[-2:] == ["1 watch out of scope", "other"]
        await view.press("up", "enter")
        assert names()[-1] == "1 watch out of scope"

"""Values as trees on a real gdb: what is inside, by paths that work as expressions, bounded in time and bytes."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.debugger.facets.values import CALLS, TIMED_OUT, Form, Look, Wanted
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb import values as gdb_values
from ladder_backends.gdb.debugger import GdbDebugger
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import TargetStopped

SLEEPER = (
    'python import time, gdb.printing; P = type("P", (), {"__init__": lambda s, v: None, '
    '"to_string": lambda s: (time.sleep(20), "late")[1]}); '
    'c = gdb.printing.RegexpCollectionPrettyPrinter("slow"); c.add_printer("bits", "^Bits$", P); '
    "gdb.printing.register_pretty_printer(None, c)"
)


@pytest.fixture
async def stopped(watched, compiled) -> GdbDebugger:
    source = compiled.source("values").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "stop here" in text)
    await watched.debugger.open(LaunchTarget(compiled("values")))
    await watched.debugger.set_breakpoint(BreakpointIntent(1, f"values.cpp:{line}"))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    return watched.debugger


async def inside(debugger: GdbDebugger, expression: str, start: int = 0, count: int = 50, **how):
    return await debugger.values.children(expression, 0, start, count, **how)


async def names(debugger: GdbDebugger, expression: str, **how) -> dict[str, str]:
    return {each.name: each.value or each.error for each in (await inside(debugger, expression, **how)).children}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("mixed", {"tag": "1", "whole": "2", "part": "2.80259693e-45"}),
        ("bits", {"number": "1", "bits": "1065353216"}),
        ("ages", {'["ann"]': "30", '["bob"]': "40"}),
        ("names", {"[1]": '"one"'}),
        ("maybe", {"[contained value]": "5"}),
        ("none", {}),
        ("either", {"[0]": '"str"'}),
        ("hidden", {"[0]": "{h = 5}", "[1]": "{h = 5}", "[2]": "{h = 5}"}),
        ("flags", {"[0]": "true", "[1]": "false"}),
        ("chain", {"[0]": "1", "[1]": "2", "[2]": "3"}),
        ("ordered", {"[0]": "4", "[1]": "5"}),
        ("diamond", {"Top": "{top = 1}", "left": "2"}),
        ("grid", {"[0]": "{1, 2, 0, 0}", "[1]": "{3, 0, 0, 0}", "[2]": "{0, 0, 0, 0}"}),
        ("nested[0]", {"[0]": "1", "[1]": "2"}),
        ("heap", {"*": "0"}),
        ("nothing", {}),
        ("function", {}),
        ("text", {}),
        ("total", {}),
        ("first.next->next", {"value": "10", "next": None, "root": "{value = 1, next = 0x0}", "made": "3"}),
        ("drawn", {"Shape": None, "Named": '{name = "named"}', "side": "2.5"}),
        ("shape", {"Shape": None, "Named": '{name = "named"}', "side": "2.5"}),
    ],
)  # fmt: skip
async def test_what_is_inside(stopped, expression: str, expected: dict[str, str | None]) -> None:
    found = await names(stopped, expression)
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert value is None or found[name] == value


NAMED = (
    "mixed", "bits", "ages", "names", "maybe", "either", "hidden", "flags", "chain", "diamond", "grid", "nested",
    "heap", "first", "drawn", "shape", "owned", "numbers",
)  # fmt: skip


@pytest.mark.parametrize("expression", NAMED)
async def test_each_child_has_a_path_that_names_it(stopped, expression: str) -> None:
    for child in (await inside(stopped, expression, count=5)).children:
        (again,) = await stopped.values.read([Wanted(child.path)], 0)
        assert (again.error, again.value) == ("", child.value) or child.kind == "base"
        assert again.type.removesuffix(" &") == child.type


async def test_a_base_class_part_is_never_the_whole_object_again(stopped) -> None:
    for expression in ("drawn", "shape"):
        base = (await inside(stopped, expression)).children[0]
        assert (base.name, base.kind) == ("Shape", "base")
        assert "side" not in base.value
        assert [each.name for each in (await inside(stopped, base.path, look=Look.DECLARED)).children] == ["id"]


@pytest.mark.parametrize("expression", ["drawn", "shape", "static_cast<Square&>(shape)"])
async def test_members_of_the_second_base_class_are_its_own(stopped, expression: str) -> None:
    base = (await inside(stopped, expression)).children[1]
    assert (base.name, base.kind) == ("Named", "base")
    (name,) = (await inside(stopped, base.path, look=Look.DECLARED)).children
    assert (name.name, name.value) == ("name", '"named"')
    (again,) = await stopped.values.read([Wanted(name.path)], 0)
    (cast,) = await stopped.values.read([Wanted("static_cast<Named&>(square)")], 1)
    assert (again.value, cast.value) == ('"named"', '{name = "named"}')
    assert [each.value for each in (await inside(stopped, base.path)).children] == ['"named"']


async def test_types_are_short(stopped) -> None:
    read = await stopped.values.read([Wanted(name) for name in ("ages", "names", "text", "hidden", "owned")], 0)
    assert [each.type for each in read] == [
        "std::map<std::string, int>",
        "std::unordered_map<int, std::string>",
        "const std::string &",
        "std::vector<(anonymous namespace)::Hidden>",
        "std::unique_ptr<Square>",
    ]


async def test_arrays_are_read_in_slices(stopped) -> None:
    window = await inside(stopped, "cells", 99_998)
    assert [(each.name, each.value, each.path) for each in window.children] == [
        ("[99998]", "99998", "cells[99998]"),
        ("[99999]", "99999", "cells[99999]"),
    ]
    assert (window.total, window.more, window.start) == (100_000, False, 99_998)
    vector = await inside(stopped, "numbers", 500_000, 2)
    assert [each.name for each in vector.children] == ["[500000]", "[500001]"]
    assert (vector.total, vector.more) == (1_000_000, True)
    pointed = await inside(stopped, "heap", 7, 2, look=Look.ELEMENTS)
    assert [(each.name, each.value, each.path) for each in pointed.children] == [
        ("[7]", "49", "heap[7]"),
        ("[8]", "64", "heap[8]"),
    ]


async def test_raw_is_what_lies_under_a_printer(stopped) -> None:
    assert "_M_t" in await names(stopped, "ages", form=Form.RAW)
    (child,) = (await inside(stopped, "numbers", form=Form.RAW)).children
    assert child.kind == "base"


async def test_forms_of_values(stopped) -> None:
    async def written(expression: str, form: str) -> str:
        return (await stopped.values.read([Wanted(expression, form)], 0))[0].value

    assert await written("total", Form.HEX) == "0x7"
    assert await written("total", Form.BINARY) == "111"
    assert await written("total", Form.OCTAL) == "07"
    assert await written("total + 90", Form.CHAR) == "97 'a'"
    assert await written("bits.bits", Form.FLOAT) == "1"
    assert await written("colour", Form.DECIMAL) == "1"
    assert await written("-1", Form.UNSIGNED) == "4294967295"
    assert await written("ages", Form.HEX) == 'std::map with 2 elements = {["ann"] = 0x1e, ["bob"] = 0x28}'
    assert (await names(stopped, "ages", form=Form.HEX))['["ann"]'] == "0x1e"


async def test_values_are_set_and_refusals_are_the_engines(stopped) -> None:
    assert (await stopped.values.assign("first.value", 0, "0x10 + 1")).value == "17"
    ann = (await inside(stopped, "ages")).children[0]
    assert (await stopped.values.assign(ann.path, 0, "99")).value == "99"
    assert (await names(stopped, "ages"))['["ann"]'] == "99"
    assert (await stopped.values.assign("colour", 0, "RED")).value == "RED"
    for path, value in (("first.value", "nope"), ("1 + 1", "3"), ("first", "3"), ("total", "")):
        with pytest.raises(CommandFailed):
            await stopped.values.assign(path, 0, value)


async def test_reading_runs_nothing_unless_that_is_asked_for(stopped) -> None:
    read = stopped.values.read
    quiet = await read([Wanted("count_call(1)"), Wanted("calls"), Wanted("numbers[3]"), Wanted("no_such")], 0)
    assert [each.error for each in quiet] == [CALLS, "", "", 'No symbol "no_such" in current context']
    assert quiet[1].value == "0"
    assert (await read([Wanted("count_call(1)")], 0, calls=True))[0].value == "2"
    assert (await read([Wanted("calls")], 0))[0].value == "1"
    (still,) = await read([Wanted('$_gdb_setting("may-call-functions")')], 0, calls=True)
    assert still.value == "1"


INTERRUPTED_IN_SETTING = """
import gdb
whole, left = gdb.execute, [WORD]
def execute(command, *rest, **named):
    if left and command == "set may-call-functions " + left[0]:
        whole(command, *rest, **named) if left.pop() == "off" else None
        raise KeyboardInterrupt
    return whole(command, *rest, **named)
gdb.execute = execute
"""


@pytest.mark.parametrize("word", ["off", "on"])
async def test_an_interruption_leaves_the_users_calls_allowed(stopped, word) -> None:
    read = stopped.values.read
    await read([Wanted("calls")], 0)
    await stopped.cli(f"python exec({INTERRUPTED_IN_SETTING.replace('WORD', repr(word))!r})")
    with contextlib.suppress(CommandFailed):
        await read([Wanted("calls")], 0)
    (still,) = await read([Wanted('$_gdb_setting("may-call-functions")')], 0, calls=True)
    assert still.value == "1"


async def test_an_interruption_while_the_commands_are_added_costs_no_printers(stopped, monkeypatch) -> None:
    command, left = stopped.command, ["Quit"]

    async def once_interrupted(text: str, **options):
        if "ladder_" in text and left:
            raise CommandFailed(text, left.pop())
        return await command(text, **options)

    monkeypatch.setattr(stopped, "command", once_interrupted)
    assert '["ann"]' in await names(stopped, "ages")
    assert not left


async def test_a_string_is_told_whole_on_demand(stopped) -> None:
    (cut,) = await stopped.values.read([Wanted("novel")], 0)
    assert cut.kind == "string"
    assert len(cut.value) < 1_000
    text, more = await stopped.values.whole("novel", 0, Form.NATURAL, 10_000)
    assert text.endswith('xEND"')
    assert not more
    text, _ = await stopped.values.whole("words", 0, Form.NATURAL, 10_000)
    assert text.endswith('xEND"')


async def test_hostile_bytes_are_content(stopped) -> None:
    read = await stopped.values.read([Wanted("nasty"), Wanted("hostile")], 0)
    for each in read:
        assert each.value.isprintable()
        assert "\\033[2J[bold" in each.value


async def test_the_users_print_settings_change_nothing(stopped) -> None:
    before = (
        [await names(stopped, name) for name in ("first", "ages", "grid")],
        (await stopped.variables(0, 50)).variables,
    )
    for setting in ("elements 0", "pretty on", "array on", "array-indexes on", "repeats unlimited"):
        await stopped.console(f"set print {setting}")
    after = (
        [await names(stopped, name) for name in ("first", "ages", "grid")],
        (await stopped.variables(0, 50)).variables,
    )
    assert after == before


async def test_a_printer_that_sleeps_costs_its_own_row(stopped, monkeypatch) -> None:
    monkeypatch.setattr(gdb_values, "BUDGET", 0.3)
    await stopped.cli(SLEEPER)
    read = await stopped.values.read([Wanted("total"), Wanted("bits"), Wanted("first.value")], 0)
    assert [each.value or each.error for each in read] == ["7", TIMED_OUT, "10"]
    assert (await stopped.evaluate("total")).value == "7"


async def test_a_question_whose_asker_left_is_still_ended(stopped, monkeypatch) -> None:
    monkeypatch.setattr(gdb_values, "BUDGET", 0.3)
    await stopped.cli(SLEEPER)
    asking = asyncio.ensure_future(stopped.values.read([Wanted("bits")], 0))
    while not stopped.pending():  # noqa: ASYNC110
        await asyncio.sleep(0)
    asking.cancel()
    assert (await stopped.evaluate("total")).value == "7"


async def test_an_uninitialised_vector_ends_nothing(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("values"), stop_at_main=True))
    await watched.debugger.set_breakpoint(BreakpointIntent(1, "look"))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    await watched.debugger.resume(StepKind.CONTINUE)
    await watched.next(TargetStopped)
    for name in ("hidden", "ages", "names", "chain", "nested", "either", "owned"):
        window = await inside(watched.debugger, name, count=20)
        assert len(window.children) <= 20
    assert (await watched.debugger.evaluate("1 + 1")).value == "2"

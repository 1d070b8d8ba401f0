"""Values of a session over a real gdb: only what is seen is asked for, and what is open stays open."""

from __future__ import annotations

import asyncio

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.debugger.facets.values import CALLS, Form
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.frame import Place
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Change
from ladder_backends.session.value_rows import Sort, ValueRow


def stop_line(compiled, words: str = "stop here") -> str:
    source = compiled.source("values").read_text().splitlines()
    return f"values.cpp:{next(number for number, text in enumerate(source, 1) if words in text)}"


@pytest.fixture
async def stopped(start, compiled):
    told = await start(compiled("values"), stop_line(compiled))
    told.session.show_rows(frames=10, variables=100)
    told.session.values.show(0, 200)
    await told.session.select_frame(0)
    return told


def row(told, name: str, sort: Sort = Sort.VALUE) -> ValueRow:
    return next(
        each
        for each in told.session.values.rows()
        if each.sort is sort and (each.variable.name == name or each.key[-1] == name)
    )


def shown(told, name: str) -> dict[str, str]:
    """Rows directly below a value."""
    key = row(told, name).key
    found: dict[str, str] = {}
    for each in told.session.values.rows():
        if each.sort is Sort.VALUE and each.key[:-1] == key:
            found[each.variable.name] = each.variable.value or each.variable.error
        elif each.sort is not Sort.VALUE and each.key == key:
            found[each.sort.name] = each.text
    return found


def note_commands(told) -> list[str]:
    sent: list[str] = []
    command = told.session.debugger.command

    async def noted(text: str, **options):
        sent.append(text)
        return await command(text, **options)

    told.session.debugger.command = noted
    return sent


async def test_open_values_stay_open_and_changes_are_marked_at_every_level(stopped) -> None:
    values = stopped.session.values
    await values.toggle(row(stopped, "first"))
    assert shown(stopped, "first") == {
        "value": "10", "next": shown(stopped, "first")["next"], "root": "{value = 1, next = 0x0}", "made": "3",
    }  # fmt: skip
    await values.toggle(row(stopped, "next"))
    await values.toggle(row(stopped, "ages"))
    assert shown(stopped, "ages") == {'["ann"]': "30", '["bob"]': "40"}
    await stopped.go(StepKind.CONTINUE)
    await stopped.go(StepKind.CONTINUE)
    assert shown(stopped, "first")["value"] == "13"
    assert row(stopped, "value").variable.changed
    assert not row(stopped, "made").variable.changed
    assert row(stopped, '["ann"]').variable.changed
    assert not row(stopped, '["bob"]').variable.changed
    assert [each.variable.name for each in values.rows() if each.depth == 2] == ["value", "next", "root", "made"]


async def test_a_stop_with_open_values_is_one_notification(stopped) -> None:
    await stopped.session.values.toggle(row(stopped, "first"))
    await stopped.session.values.watch("total + 1")
    stopped.changes.clear()
    await stopped.go(StepKind.NEXT)
    assert [bool(change & Change.VARIABLES) for change in stopped.changes] == [True]
    assert row(stopped, "total + 1").variable.value == "8"


async def test_only_what_is_seen_is_asked_for(stopped) -> None:
    values = stopped.session.values
    await values.toggle(row(stopped, "first"))
    await values.toggle(row(stopped, "ages"))
    await values.watch("total")
    sent = note_commands(stopped)
    values.show(0, 0)
    await stopped.go(StepKind.NEXT)
    assert not [text for text in sent if "-ladder" in text]
    values.show(0, 200)
    await stopped.until(lambda: len([text for text in sent if "-ladder-children" in text]) == 2)
    sent.clear()
    values.show(0, 1)
    await stopped.go(StepKind.NEXT)
    assert [text.split()[0] for text in sent if "-ladder" in text] == ["-ladder-values"]
    sent.clear()
    await values.toggle(row(stopped, "ages"))
    values.show(0, 200)
    await stopped.go(StepKind.NEXT)
    assert not [text for text in sent if "-ladder-children" in text and "ages" in text]


async def test_another_function_has_other_open_values(stopped) -> None:
    values = stopped.session.values
    await values.toggle(row(stopped, "shape"))
    await stopped.session.select_frame(1)
    assert [each.variable.name for each in values.rows()] == ["numbers", "square"]
    await stopped.session.select_frame(0)
    assert row(stopped, "shape").opened
    assert shown(stopped, "shape")["side"] == "2.5"


async def test_long_values_are_paged_and_ranges_are_chosen(stopped) -> None:
    values = stopped.session.values
    await values.toggle(row(stopped, "numbers"))
    assert len(shown(stopped, "numbers")) == 101
    assert shown(stopped, "numbers")["MORE"] == "… 999,900 more of 1,000,000"
    await values.page(row(stopped, "numbers", Sort.MORE))
    assert len(shown(stopped, "numbers")) == 201
    await values.choose_elements(row(stopped, "numbers"), 500_000, 500_002)
    assert list(shown(stopped, "numbers")) == ["BEFORE", "[500000]", "[500001]", "[500002]", "MORE"]
    await values.choose_elements(row(stopped, "heap"), 2, 4)
    assert shown(stopped, "heap") == {"BEFORE": "… 2 before", "[2]": "4", "[3]": "9", "[4]": "16"}


async def test_text_is_told_whole(stopped) -> None:
    await stopped.session.values.toggle(row(stopped, "novel"))
    assert row(stopped, "novel", Sort.TEXT).text.endswith('xEND"')


async def test_forms_are_kept_by_path(stopped) -> None:
    values = stopped.session.values
    await values.write_as(row(stopped, "total"), Form.HEX)
    assert row(stopped, "total").variable.value == "0x7"
    await values.toggle(row(stopped, "ages"))
    await values.write_as(row(stopped, "ages"), Form.HEX)
    assert shown(stopped, "ages") == {'["ann"]': "0x1e", '["bob"]': "0x28"}
    await values.write_as(row(stopped, '["bob"]'), Form.BINARY)
    assert row(stopped, '["bob"]').variable.value == "101000"
    await stopped.go(StepKind.CONTINUE)
    assert row(stopped, "total").variable.value == "0xf"
    assert row(stopped, "total").variable.changed
    assert row(stopped, '["bob"]').variable.value == "101000"
    await values.write_as(row(stopped, "total"), Form.NATURAL)
    assert row(stopped, "total").variable.value == "15"


async def test_a_value_that_is_set_is_shown_and_marked(stopped) -> None:
    values = stopped.session.values
    await values.toggle(row(stopped, "first"))
    await values.assign(row(stopped, "value"), "77")
    await stopped.session.at_rest()
    assert row(stopped, "value").variable.value == "77"
    assert row(stopped, "value").variable.changed
    await values.assign(row(stopped, "total"), "no_such_thing")
    assert stopped.notices()[-1] == 'total stays as it is: No symbol "no_such_thing" in current context.'


async def test_watches_are_kept_for_the_program(stopped, compiled) -> None:
    await stopped.session.values.watch("total * 2")
    await stopped.session.values.watch("gone")
    stopped.session.values.forget("gone")
    other = DebugSession(GdbDebugger())
    try:
        await other.open(LaunchTarget(compiled("values")), run=False)
        assert list(other.state.values.watches) == ["total * 2"]
    finally:
        await other.close()


async def test_a_watch_runs_functions_only_when_it_is_asked_for(stopped) -> None:
    values = stopped.session.values
    await values.watch("count_call(1)")
    assert row(stopped, "count_call(1)").variable.value == "2"
    await stopped.go(StepKind.NEXT)
    assert row(stopped, "count_call(1)").variable.error == CALLS
    assert (await values.peek("calls")).value == "1"
    await values.watch("crash()")
    assert row(stopped, "crash()").variable.error
    # The place has not moved into the function that crashed.
    assert stopped.state.place is not None
    assert (await values.peek("total")).value == "7"
    assert (await values.peek("no_such")).error == "not in scope here"
    await values.watch("no_such")
    assert row(stopped, "no_such").variable.error == "not in scope here"


async def test_watches_wait_while_the_program_is_gone(stopped) -> None:
    values = stopped.session.values
    await values.watch("total")
    await values.toggle(row(stopped, "first"))
    await stopped.session.debugger.cli("kill")
    await stopped.session.at_rest()
    assert [(each.variable.name, each.variable.value) for each in values.rows()] == [("total", "")]
    await values.watch("total + 1")
    await values.write_as(row(stopped, "total"), Form.HEX)
    await values.assign(row(stopped, "total"), "1")
    assert stopped.notices()[-1] == "total stays as it is: the program has to stand"


async def test_a_place_is_never_lost_to_a_stop_that_comes_meanwhile(stopped) -> None:
    values = stopped.session.values
    await values.toggle(row(stopped, "first"))
    for _ in range(3):
        await stopped.session.resume(StepKind.NEXT)
        asking = asyncio.ensure_future(values.toggle(row(stopped, "ages")))
        await stopped.session.at_rest()
        await asking
    assert isinstance(stopped.state.place, Place)
    assert shown(stopped, "first")["value"]


async def test_watches_that_are_out_of_scope_are_one_row_the_last_one(start, compiled) -> None:
    told = await start(compiled("steps"), "add")
    values = told.session.values
    values.show(0, 40)
    await told.session.select_frame(1)
    there = next(one.name for one in told.state.variables.variables)
    await values.watch(there)
    await told.session.select_frame(0)
    here = next(one.name for one in told.state.variables.variables if one.name != there)
    await values.watch(here)
    await values.watch("no_such")
    # What was only just asked for stays where it was put, with what is wrong with it.
    assert [each.variable.name for each in values.rows()][:3] == [there, here, "no_such"]
    assert row(told, "no_such").variable.error == "not in scope here"
    await told.go(StepKind.STEP)
    rows = values.rows()
    assert (rows[0].variable.name, rows[0].watched) == (here, True)
    assert (rows[-1].sort, rows[-1].text) == (Sort.ELSEWHERE, "2 watches out of scope")
    assert sum(each.watched for each in rows) == 1
    # Only a few rows are seen: they are looked at all the same, and come back where they are in scope.
    values.show(0, 1)
    await told.session.select_frame(1)
    await told.until(lambda: values.rows()[0].variable.name == there)
    assert values.rows()[0].variable.value
    values.show(0, 40)
    values.fold_elsewhere()
    assert [each.variable.name for each in values.rows()[-2:]] == [here, "no_such"]
    values.forget(here)
    assert values.rows()[-2].text == "1 watch out of scope"
    values.fold_elsewhere()
    assert values.rows()[-1].text == "1 watch out of scope"

"""Values through variable objects, as an engine without Python gives them."""

from __future__ import annotations

import asyncio

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.debugger.facets.values import CALLS, Form, Look, Wanted
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.debugger import GdbDebugger
from ladder_backends.gdb.variable_objects import VariableObjects
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import SettingChanged, TargetStopped


@pytest.fixture
async def stopped(watched, compiled, monkeypatch) -> GdbDebugger:
    command = watched.debugger.command

    async def without_python(text: str, **options):
        if "console" in text and "python " in text:
            raise CommandFailed(text, "Python scripting is not supported in this copy of GDB.")
        return await command(text, **options)

    monkeypatch.setattr(watched.debugger, "command", without_python)
    source = compiled.source("values").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "stop here" in text)
    await watched.debugger.open(LaunchTarget(compiled("values")))
    await watched.debugger.set_breakpoint(BreakpointIntent(1, f"values.cpp:{line}"))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    await watched.debugger.values.read([Wanted("total")], 0)
    assert isinstance(watched.debugger.values._instead, VariableObjects)
    return watched.debugger


async def inside(debugger: GdbDebugger, expression: str, **how) -> dict[str, str]:
    window = await debugger.values.children(expression, 0, how.pop("start", 0), how.pop("count", 5), **how)
    return {each.name: each.value for each in window.children}


async def test_members_elements_and_their_paths(stopped) -> None:
    assert await inside(stopped, "bits") == {"number": "1", "bits": "1065353216"}
    assert await inside(stopped, "cells", start=99_998) == {"[99998]": "99998", "[99999]": "99999"}
    assert await inside(stopped, "heap", start=2, count=2, look=Look.ELEMENTS) == {"[2]": "4", "[3]": "9"}
    assert await inside(stopped, "total") == {}
    for expression in ("first", "bits", "grid", "drawn", "heap", "cells"):
        window = await stopped.values.children(expression, 0, 0, 3)
        assert window.children
        for child in window.children:
            (again,) = await stopped.values.read([Wanted(child.path)], 0)
            assert not again.error, child


async def test_a_large_array_is_never_made_as_a_whole(stopped, monkeypatch) -> None:
    sent: list[str] = []
    command = stopped.command

    async def noted(text: str, **options):
        sent.append(text)
        return await command(text, **options)

    monkeypatch.setattr(stopped, "command", noted)
    window = await stopped.values.children("cells", 0, 0, 10)
    assert (len(window.children), window.total, window.more) == (10, 100_000, True)
    assert [text for text in sent if "list-children" in text] == ["-var-list-children --all-values var2"] or all(
        "[0]@10" in text for text in sent if text.startswith("-var-create") and "@" in text
    )
    # Every object is gone again.
    made = [text for text in sent if text.startswith("-var-create")]
    assert len([text for text in sent if text.startswith("-var-delete")]) == len(made)


async def test_forms_refusals_and_calls(stopped) -> None:
    read = await stopped.values.read(
        [Wanted("total", Form.HEX), Wanted("no_such"), Wanted("count_call(1)"), Wanted("grid")], 0
    )
    assert [each.value or each.error for each in read] == [
        "0x7", 'No symbol "no_such" in current context', CALLS, "{{1, 2, 0, 0}, {3, 0, 0, 0}, {0, 0, 0, 0}}",
    ]  # fmt: skip
    assert (await stopped.values.read([Wanted("count_call(1)")], 0, calls=True))[0].value == "2"
    assert (await stopped.values.assign("total", 0, "12")).value == "12"
    text, cut = await stopped.values.whole("words", 0, Form.NATURAL, 10_000)
    assert text.endswith('END"')
    assert not cut


@pytest.mark.parametrize("chosen", ["on", "off"])
async def test_whether_functions_may_be_called_stays_as_the_user_has_chosen(stopped, watched, chosen: str) -> None:
    if chosen == "off":
        await stopped.console("set may-call-functions off")
        await watched.next(SettingChanged)

    async def setting() -> object:
        return (await stopped.command("-gdb-show may-call-functions")).results["value"]

    quiet = [Wanted("count_call(1)"), Wanted("grid"), Wanted("total")]
    (refused, *_), allowed, _, _ = await asyncio.gather(
        stopped.values.read(quiet, 0),
        # At the same time, one that may: neither takes the other's leave or gets it.
        stopped.values.read([Wanted("count_call(1)")], 0, calls=True),
        stopped.values.read(quiet, 0),
        stopped.values.children("grid", 0, 0, 3),
    )
    assert refused.error == CALLS
    assert (allowed[0].error == CALLS) is (chosen == "off")
    assert await setting() == chosen


async def test_children_do_not_call_functions(stopped) -> None:
    assert not (await stopped.values.children("count_call(1)", 0, 0, 3)).children
    (count,) = await stopped.values.read([Wanted("calls")], 0)
    assert count.value == "0"

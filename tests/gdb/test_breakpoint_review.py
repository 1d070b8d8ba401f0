"""What gdb changes of its breakpoints without a notice, and conditions that it keeps to itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb.breakpoint_review import options_of
from ladder_backends.model.breakpoint import BindingState, BreakpointIntent


@pytest.fixture
async def plugin(watched, compiled):
    """A program, not yet run, that loads a library late and unloads it."""
    library = compiled("plugin", "-g", "-O0", "-shared", "-fPIC")
    await watched.debugger.open(LaunchTarget(compiled("plugin_host"), (str(library),)))
    return watched


def line_of(compiled, name: str, words: str) -> int:
    lines = Path(compiled.source(name)).read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if words in text)


async def test_what_a_library_took_along_is_pending_again(plugin, compiled) -> None:
    await plugin.debugger.set_breakpoint(BreakpointIntent(1, "plugin.c:6"))
    after = f"plugin_host.c:{line_of(compiled, 'plugin_host', 'unloaded')}"
    await plugin.debugger.set_breakpoint(BreakpointIntent(2, after))
    assert plugin.listed[0].state is BindingState.PENDING
    await plugin.go(StepKind.RUN)
    assert (plugin.listed[0].state, plugin.listed[0].hits) == (BindingState.SET, 1)
    await plugin.debugger.enable_breakpoint(plugin.listed[0], False)
    stop = await plugin.go()
    assert stop.description == "breakpoint 2"
    await plugin.until(lambda: plugin.listed[0].state is BindingState.PENDING)
    assert plugin.listed[0].why == "no loaded module has it yet"
    assert not plugin.listed[0].intent.enabled
    assert [binding.state for binding in plugin.listed[1:]] == [BindingState.SET]


@pytest.mark.parametrize("typed", [False, True])
async def test_another_run_begins_without_libraries_and_hits(plugin, compiled, typed: bool) -> None:
    await plugin.debugger.set_breakpoint(BreakpointIntent(1, "plugin.c:6"))
    await plugin.debugger.set_breakpoint(BreakpointIntent(2, "main"))
    await plugin.go(StepKind.RUN)
    stop = await plugin.go()
    assert stop.description == "breakpoint 1"
    if typed:
        await plugin.debugger.console("run")
        stop = await plugin.next(type(stop))
    else:
        stop = await plugin.go(StepKind.RUN)
    assert stop.description == "breakpoint 2"
    await plugin.until(lambda: plugin.listed[0].state is BindingState.PENDING)
    assert [binding.hits for binding in plugin.listed] == [0, 1]


async def test_a_pending_breakpoint_that_is_typed_has_its_condition(plugin) -> None:
    console = plugin.debugger.console
    await console("break plugin_work if n > 4")
    await console("tbreak plugin.c:6 if i == 2")
    await console("break plugin.c:6")
    assert [each.intent.condition for each in plugin.listed] == ["n > 4", "i == 2", ""]
    assert {each.state for each in plugin.listed} == {BindingState.PENDING}
    # What is told of it later says nothing against the condition.
    await console("disable 1")
    await console("enable 1")
    assert (plugin.listed[0].intent.condition, plugin.listed[0].intent.enabled) == ("n > 4", True)
    await console("delete 2 3")
    stop = await plugin.go(StepKind.RUN)
    assert dict(stop.frame.arguments) == {"n": "5"}
    assert (plugin.listed[0].state, plugin.listed[0].intent.condition) == (BindingState.SET, "n > 4")


@pytest.mark.parametrize("typed", ["break plugin_work if n > 4", "break plugin_work", ""])
async def test_a_condition_can_be_changed_while_it_is_pending(plugin, typed: str) -> None:
    if typed:
        await plugin.debugger.console(typed)
    else:
        await plugin.debugger.set_breakpoint(BreakpointIntent(1, "plugin_work", condition="n > 8"))
    known = plugin.listed[0]
    await plugin.debugger.change_breakpoint(known, replace(known.intent, condition="n == 3"))
    await plugin.debugger.change_breakpoint(plugin.listed[0], replace(known.intent, condition="n == 5"))
    assert [each.intent.condition for each in plugin.listed] == ["n == 5"]
    stop = await plugin.go(StepKind.RUN)
    assert dict(stop.frame.arguments) == {"n": "5"}


def test_saved_lines_are_matched_to_numbers() -> None:
    lines = [
        "break f if n > 3",
        "tbreak late.cpp:8 thread 1 if n > 3",
        "  silent",
        'dprintf late.cpp:9,"hi %d\\n",n',
        "break f",
        "watch f",
        "break fine if x",
    ]
    asked = {"1": "f", "2": "late.cpp:8", "4": "f", "7": "nowhere"}
    assert options_of(lines, asked) == {"1": ("n > 3", ""), "2": ("n > 3", "1"), "4": ("", "")}

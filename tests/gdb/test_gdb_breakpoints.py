"""Breakpoints: what an engine makes of intents."""

from __future__ import annotations

import shutil

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb.breakpoints import BreakpointTable, binding_of
from ladder_backends.model.breakpoint import BindingState, BreakpointIntent, BreakpointKind
from ladder_backends.model.events import BreakpointsChanged, TargetStopped


async def test_set_moved_pending_and_failed(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    put = watched.debugger.set_breakpoint

    there = await put(BreakpointIntent(1, "steps.c:9"))
    assert (there.state, there.why) == (BindingState.SET, "")
    assert [place.line for place in there.places] == [9]
    assert there.functions == ("add",)

    moved = await put(BreakpointIntent(2, "steps.c:17"))
    assert moved.state is BindingState.MOVED
    assert moved.places[0].line == 18
    assert moved.why.startswith("line 17 has no code; moved to 18")

    pending = await put(BreakpointIntent(3, "nowhere.c:7"))
    assert (pending.state, pending.why) == (BindingState.PENDING, "No source file named nowhere.c")
    assert (await put(BreakpointIntent(4, "no_such_function"))).state is BindingState.PENDING

    failed = await put(BreakpointIntent(5, "steps.c:9", condition="no_such_name > 1"))
    assert failed.state is BindingState.FAILED
    assert 'No symbol "no_such_name"' in failed.why
    assert failed.number == ""

    listed = watched.all(BreakpointsChanged)[-1].bindings
    assert [binding.intent.id for binding in listed] == [1, 2, 3, 4]


async def test_conditions_temporary_and_disabled_ones_behave_so(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    put = watched.debugger.set_breakpoint
    condition = await put(BreakpointIntent(1, "add", condition="b == 3"))
    await put(BreakpointIntent(2, "steps.c:22", temporary=True))
    off = await put(BreakpointIntent(3, "steps.c:23", enabled=False))
    await watched.debugger.resume(StepKind.RUN)
    stop = await watched.next(TargetStopped)
    assert stop.frame is not None
    assert dict(stop.frame.arguments)["b"] == "3"
    await watched.debugger.enable_breakpoint(condition, False)
    assert not watched.all(BreakpointsChanged)[-1].bindings[0].intent.enabled
    await watched.debugger.resume(StepKind.CONTINUE)
    stop = await watched.next(TargetStopped)
    assert stop.frame is not None
    assert stop.frame.place is not None
    assert stop.frame.place.line == 22
    await watched.debugger.command("-gdb-show version")
    assert [binding.intent.id for binding in watched.all(BreakpointsChanged)[-1].bindings] == [1, 3]
    await watched.debugger.enable_breakpoint(off, True)
    await watched.debugger.resume(StepKind.CONTINUE)
    stop = await watched.next(TargetStopped)
    assert stop.frame is not None
    assert stop.frame.place is not None
    assert stop.frame.place.line == 23


async def test_breakpoints_typed_in_the_console_are_breakpoints(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    await watched.debugger.set_breakpoint(BreakpointIntent(7, "add"))
    await watched.debugger.console("break steps.c:22 if total > 3")
    changed = await watched.next(BreakpointsChanged, lambda event: len(event.bindings) == 2)
    typed = changed.bindings[1]
    assert typed.intent.id == 8
    assert typed.intent.location.endswith("steps.c:22")
    assert typed.intent.condition == "total > 3"
    await watched.debugger.console("disable 2")
    changed = await watched.next(BreakpointsChanged)
    assert not changed.bindings[1].intent.enabled
    await watched.debugger.console("break nosuch.c:4")
    changed = await watched.next(BreakpointsChanged)
    assert changed.bindings[2].state is BindingState.PENDING
    await watched.debugger.console("delete")
    await watched.next(BreakpointsChanged, lambda event: not event.bindings)


async def test_watchpoints_are_listed_with_what_they_watch(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps"), stop_at_main=True))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    await watched.debugger.console("watch total")
    changed = await watched.next(BreakpointsChanged, lambda event: bool(event.bindings))
    watch = changed.bindings[0].intent
    assert (watch.kind, watch.location, watch.scope) == (BreakpointKind.WRITE, "total", "main")
    await watched.debugger.resume(StepKind.CONTINUE)
    stop = await watched.next(TargetStopped)
    if "→" not in stop.description:
        await watched.debugger.resume(StepKind.CONTINUE)
        stop = await watched.next(TargetStopped)
    assert stop.reason == "watchpoint-trigger"
    assert stop.description.startswith("total: ")


async def test_python_half_typed_in_the_console_swallows_no_step(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps"), stop_at_main=True))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    await watched.debugger.console("python")
    await watched.debugger.resume(StepKind.NEXT)
    assert (await watched.next(TargetStopped)).reason == "end-stepping-range"
    await watched.debugger.console("print('fine')")
    await watched.debugger.console("end")
    assert "fine" in await watched.until_console("fine\n")


async def test_commands_half_typed_in_the_console_swallow_no_step(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    await watched.debugger.set_breakpoint(BreakpointIntent(1, "add"))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    await watched.debugger.console("commands 1")
    await watched.debugger.resume(StepKind.NEXT)
    stop = await watched.next(TargetStopped)
    assert stop.reason == "end-stepping-range"
    await watched.debugger.console("end")
    answer = await watched.debugger.command("-break-info 1")
    assert "script" not in str(answer.results)


async def test_a_breakpoint_in_a_file_with_spaces_and_quotes(watched, compiled, tmp_path) -> None:
    source = tmp_path / 'a file\'s "name".c'
    shutil.copy(compiled.source("steps"), source)
    program = tmp_path / "odd program"
    compiled.build(source, program)
    await watched.debugger.open(LaunchTarget(program))
    binding = await watched.debugger.set_breakpoint(BreakpointIntent(1, f"{source}:9"))
    assert binding.state is BindingState.SET
    await watched.debugger.resume(StepKind.RUN)
    assert (await watched.next(TargetStopped)).reason == "breakpoint-hit"


def test_every_location_of_a_template_is_a_place() -> None:
    locations = [
        {"number": f"1.{n}", "enabled": "y", "func": f"twice<{kind}>(...)", "file": "t.cpp", "line": "4"}
        for n, kind in enumerate(("int", "long", "char"), 1)
    ]
    row = {"number": "1", "addr": "<MULTIPLE>", "times": "2", "locations": locations}
    binding = binding_of(BreakpointIntent(1, "twice"), row)
    assert (binding.state, binding.hits, len(binding.functions)) == (BindingState.SET, 2, 3)
    assert [place.line for place in binding.places] == [4]


def test_locations_alone_and_empty_records_change_nothing() -> None:
    table = BreakpointTable()
    assert not table.update({"number": "1.2", "enabled": "n"})
    assert not table.update({})
    assert not table.remove("4")
    assert table.bindings == ()


def test_a_bare_number_typed_becomes_a_place() -> None:
    table = BreakpointTable()
    table.update(
        {"number": "1", "original-location": "-line 12", "file": "a.c", "fullname": "/x/a.c", "line": "12"}
    )
    assert table.bindings[0].intent.location == "/x/a.c:12"


async def test_a_breakpoint_for_a_lane_waits_for_an_engine_that_sees_it(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    kept = await watched.debugger.set_breakpoint(BreakpointIntent(1, "steps.c:9", block=(3, 0, 0)))
    assert (kept.state, kept.number) == (BindingState.PENDING, "")
    assert "lane of a GPU" in kept.why
    assert [binding.intent.block for binding in watched.listed] == [(3, 0, 0)]

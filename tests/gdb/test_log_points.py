"""Log points on a real gdb: messages with values, without a stop."""

from __future__ import annotations

from dataclasses import replace

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.model.breakpoint import BindingState, BreakpointIntent, BreakpointKind
from ladder_backends.model.events import LogWritten, TargetExited, TargetStopped

CATCH = BreakpointKind.CATCH


async def test_log_points_write_and_never_stop(breaks) -> None:
    message = 'i={i} total={total:%04d} name={name} lost={*nothing} none={no_such} {{kept}} 100% "q"'
    binding = await breaks.debugger.set_breakpoint(
        BreakpointIntent(5, "breaks.cpp:23", log=message, condition="i > 0", enabled=True)
    )
    assert (binding.state, binding.intent.log, binding.intent.condition) == (BindingState.SET, message, "i > 0")
    await breaks.debugger.resume(StepKind.RUN)
    ended = await breaks.next(TargetExited)
    assert ended.code == 0
    written = breaks.all(LogWritten)
    assert [event.intent for event in written] == [5] * 5
    assert written[0].text.startswith('i=1 total=0000 name="hello \\"you\\"" lost=<')
    assert "Cannot access memory at address 0x0" in written[0].text
    assert "none=<No symbol" in written[0].text
    assert written[0].text.endswith('{kept} 100% "q"')
    assert written[0].text in breaks.console
    assert not breaks.all(TargetStopped)
    assert breaks.listed[0].hits == 5


async def test_a_log_message_that_cannot_be_read_is_refused_and_one_that_is_changed_is_new(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    assert "not closed" in (await put(BreakpointIntent(1, "compute", log="a {b"))).why
    assert "nothing is between" in (await put(BreakpointIntent(1, "compute", log="a {}"))).why
    first = await put(BreakpointIntent(1, "compute", log="n {n}"))
    changed = await breaks.debugger.change_breakpoint(first, replace(first.intent, log="m {n}"))
    assert changed.intent.log == "m {n}"
    assert [binding.intent.log for binding in breaks.listed] == ["m {n}"]
    stops = await breaks.debugger.change_breakpoint(changed, replace(changed.intent, log=""))
    assert stops.intent.log == ""
    assert (await breaks.go(StepKind.RUN)).frame.function == "compute"


async def test_without_python_the_engine_writes_log_points_itself(breaks) -> None:
    breaks.debugger.setting._logs._python, breaks.debugger.setting._logs._values = False, "%ld"
    await breaks.debugger.set_breakpoint(BreakpointIntent(1, "compute", log='100% "{n}" {name:%s} {n + 1}'))
    await breaks.debugger.resume(StepKind.RUN)
    await breaks.next(TargetExited)
    assert '100% "4" hello "you" 5\n100% "3" again 4\n' in breaks.console


async def test_dprintf_typed_in_the_console_is_a_log_point(breaks) -> None:
    await breaks.debugger.console('dprintf breaks.cpp:23,"at %d of {%s}\\n", i, name')
    await breaks.until(lambda: bool(breaks.listed))
    (binding,) = breaks.listed
    assert binding.intent.location == "breaks.cpp:23"
    assert binding.intent.log == "at {i:%d} of {{{name:%s}}}"


async def test_an_engine_that_logs_tells_of_no_hit(breaks) -> None:
    binding = await breaks.debugger.set_breakpoint(BreakpointIntent(5, "breaks.cpp:23", log="i={i}"))
    await breaks.debugger.resume(StepKind.RUN)
    await breaks.next(TargetExited)
    table = breaks.debugger.events.breakpoints
    told, logged = table.notices, len(breaks.all(LogWritten))
    await breaks.debugger.resume(StepKind.RUN)
    await breaks.next(TargetExited)
    assert len(breaks.all(LogWritten)) == 2 * logged == 14
    # Where it is put is told of, its hits are not; those counted are of the second run.
    assert table.notices - told < logged
    assert (breaks.listed[0].hits, breaks.listed[0].intent) == (7, binding.intent)


async def test_the_last_message_of_a_program_that_runs_on_is_told(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("reader")))
    for intent, location in ((3, "main"), (4, "reader.c:7")):
        await watched.debugger.set_breakpoint(BreakpointIntent(intent, location, log="passed"))
    await watched.debugger.resume(StepKind.RUN)
    await watched.until(lambda: len(watched.all(LogWritten)) == 2)
    assert watched.debugger.events.running


async def test_hits_that_are_passed_over_or_end_a_log_point_are_the_engines(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    passing = await put(BreakpointIntent(1, "breaks.cpp:23", log="i={i}", ignore=5))
    assert passing.intent.ignore == 5
    await breaks.debugger.resume(StepKind.RUN)
    await breaks.next(TargetExited)
    assert [event.text for event in breaks.all(LogWritten)] == ["i=1", "i=2"]
    assert breaks.listed[0].hits == 7
    # Without it the condition writes again, and with it no longer.
    plain = await breaks.debugger.change_breakpoint(breaks.listed[0], replace(passing.intent, ignore=0))
    assert (plain.intent.condition, await _writes(breaks)) == ("", True)
    some = await breaks.debugger.change_breakpoint(plain, replace(plain.intent, condition="i > 2"))
    assert (some.intent.condition, await _writes(breaks)) == ("i > 2", True)
    again = await breaks.debugger.change_breakpoint(some, replace(some.intent, ignore=1, condition=""))
    assert (again.intent.condition, await _writes(breaks)) == ("", False)


async def _writes(breaks) -> bool:
    """Whether the engine has the message in the condition."""
    told = await breaks.debugger.cli_text("info breakpoints")
    return any("stop only if" in line and "$_ladder_log(1)" in line for line in told.splitlines())


async def test_a_condition_typed_over_that_of_a_log_point_leaves_it_one(breaks) -> None:
    await breaks.debugger.set_breakpoint(BreakpointIntent(1, "breaks.cpp:23", log="i={i}", condition="i > 0"))
    await breaks.debugger.console("condition 1 i == 3")
    await breaks.until(lambda: breaks.listed[0].intent.condition == "i == 3")
    await breaks.debugger.resume(StepKind.RUN)
    await breaks.next(TargetExited)
    assert [event.text for event in breaks.all(LogWritten)] == ["i=3"]
    assert breaks.listed[0].hits == 1

"""Breakpoints of every kind on a real gdb, and the console in step with them."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb.breakpoint_rows import binding_of, gathered, intent_of, row_in
from ladder_backends.gdb.breakpoints import BreakpointTable
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.breakpoint import BindingState, BreakpointIntent, BreakpointKind
from ladder_backends.model.events import BreakpointsChanged, EngineNotice, TargetStopped

CATCH = BreakpointKind.CATCH


async def test_every_location_of_a_template_can_be_switched(breaks) -> None:
    binding = await breaks.debugger.set_breakpoint(BreakpointIntent(1, "twice", commands=("print value", "silent")))
    assert [each.number for each in binding.locations] == ["1.1", "1.2", "1.3"]
    assert {each.function for each in binding.locations} == {
        "twice<int>(int)",
        "twice<double>(double)",
        "twice<long>(long)",
    }
    assert binding.intent.commands == ("print value", "silent")
    double = next(each.number for each in binding.locations if "double" in each.function)
    await breaks.debugger.enable_location(double, False)
    assert [each.enabled for each in breaks.listed[0].locations if each.number == double] == [False]
    await breaks.debugger.change_breakpoint(breaks.listed[0], replace(breaks.listed[0].intent, commands=()))
    stop = await breaks.go(StepKind.RUN)
    assert stop.frame.function == "twice<int>"
    stop = await breaks.go()
    assert stop.frame.function == "twice<long>"
    # The same from the console.
    await breaks.debugger.console(f"enable {double}")
    await breaks.until(lambda: all(each.enabled for each in breaks.listed[0].locations))
    await breaks.debugger.console("disable 1.1")
    await breaks.until(lambda: not breaks.listed[0].locations[0].enabled)
    # A watchpoint beside them breaks nothing.
    watch = await breaks.debugger.set_breakpoint(BreakpointIntent(2, "counter", kind=BreakpointKind.WRITE))
    assert (watch.state, watch.intent.location) == (BindingState.SET, "counter")


async def test_a_breakpoint_stops_at_its_third_hit_in_each_run(breaks) -> None:
    binding = await breaks.debugger.set_breakpoint(BreakpointIntent(1, "twice", ignore=2))
    assert binding.left == 2
    for _ in range(2):
        stop = await breaks.go(StepKind.RUN)
        assert stop.frame.function == "twice<long>"
        assert (breaks.listed[0].intent.ignore, breaks.listed[0].hits) == (2, 3)
    await breaks.debugger.console("ignore 1 1")
    await breaks.until(lambda: breaks.listed[0].intent.ignore == 1)


async def test_catchpoints_tell_what_they_caught(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    caught = ("throw", "catch", "signal SIGALRM", "fork", "load libresolv", "unload libresolv", "syscall getppid")
    for number, location in enumerate(caught, 1):
        binding = await put(BreakpointIntent(number, location, kind=CATCH))
        assert (binding.state, binding.intent.location) == (BindingState.SET, location), binding
    assert [binding.intent.id for binding in breaks.listed] == list(range(1, 8))
    told = []
    stop = await breaks.go(StepKind.RUN)
    while isinstance(stop, TargetStopped):
        told.append(stop.description)
        assert not stop.fault
        stop = await breaks.go()
    told = [words.split(": process")[0] for words in told if "libstdc++" not in words]
    assert told[-8:] == [
        "exception thrown",
        "exception caught",
        "signal SIGALRM caught",
        "fork",
        "library loaded libresolv.so.2",
        "library unloaded libresolv.so.2",
        "system call getppid",
        "system call getppid returned",
    ]


async def test_a_catch_with_options_and_one_that_is_none(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    one = await put(BreakpointIntent(1, "throw runtime_error", kind=CATCH, temporary=True, ignore=1, enabled=False))
    assert (one.intent.temporary, one.intent.ignore, one.intent.enabled) == (True, 1, False)
    bad = await put(BreakpointIntent(2, "nonsense", kind=CATCH))
    assert bad.state is BindingState.FAILED
    assert bad.why
    assert (await put(BreakpointIntent(2, "signal NOSUCH", kind=CATCH))).state is BindingState.FAILED
    for typed, location in (
        ("tcatch throw", "throw"),
        ("catch signal all", "signal all"),
        ("catch syscall", "syscall"),
        ("catch syscall write read", "syscall write read"),
        ("catch load", "load"),
    ):
        before = len(breaks.listed)
        await breaks.debugger.console(typed)
        await breaks.until(lambda before=before: len(breaks.listed) > before)
        found = breaks.listed[-1].intent
        assert (found.kind, sorted(found.location.split())) == (CATCH, sorted(location.split()))
        assert found.temporary == typed.startswith("t")


async def test_a_regular_expression_is_one_breakpoint_of_many_functions(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    binding = await put(
        BreakpointIntent(1, "breaks.cpp:^compute\\|^thrower", kind=BreakpointKind.REGEX, condition="1 == 1")
    )
    assert binding.state is BindingState.SET
    assert sorted(function.split("(")[0] for function in binding.functions) == ["compute", "thrower"]
    assert len(breaks.listed) == 1
    assert binding.intent.condition == "1 == 1"
    assert (await breaks.go(StepKind.RUN)).frame.function == "compute"
    await breaks.debugger.enable_location(breaks.listed[0].locations[0].number, False)
    assert (await breaks.go()).frame.function in ("compute", "thrower")
    await breaks.debugger.enable_breakpoint(breaks.listed[0], False)
    assert not breaks.listed[0].intent.enabled
    await breaks.debugger.remove_breakpoint(breaks.listed[0])
    assert breaks.listed == ()
    answer = await breaks.debugger.command("-break-list")
    assert "bkpt" not in str(answer.results)
    nothing = await put(BreakpointIntent(2, "^no_such_function_at_all$", kind=BreakpointKind.REGEX))
    assert nothing.state is BindingState.PENDING


async def test_rbreak_typed_in_the_console_is_one_breakpoint(breaks) -> None:
    await breaks.debugger.console("rbreak breaks.cpp:^compute\\|^thrower")
    await breaks.until(lambda: bool(breaks.listed) and len(breaks.listed[0].locations) == 2)
    (binding,) = breaks.listed
    assert (binding.intent.kind, binding.intent.location) == (
        BreakpointKind.REGEX,
        "breaks.cpp:^compute\\|^thrower",
    )
    first, second = (each.number for each in binding.locations)
    await breaks.debugger.console(f"delete {first}")
    await breaks.until(lambda: [each.number for each in breaks.listed[0].locations] == [second])
    await breaks.debugger.console("break main")
    await breaks.until(lambda: len(breaks.listed) == 2)
    await breaks.debugger.console(f"delete {second}")
    await breaks.until(lambda: [each.intent.location for each in breaks.listed] == ["main"])


async def test_what_is_typed_in_the_console_is_mirrored(breaks) -> None:
    async def typed(line: str, so) -> None:
        await breaks.debugger.console(line)
        await breaks.until(lambda: bool(breaks.listed) and so(breaks.listed[-1].intent))

    await breaks.debugger.console("tbreak compute")
    await breaks.until(lambda: bool(breaks.listed))
    assert breaks.listed[-1].intent.temporary
    await typed("break breaks.cpp:25 if total > 2", lambda intent: intent.condition == "total > 2")
    await typed("condition 2 total > 5", lambda intent: intent.condition == "total > 5")
    await typed("condition 2", lambda intent: not intent.condition)
    await typed("ignore 2 4", lambda intent: intent.ignore == 4)
    await typed("enable once 2", lambda intent: intent.once)
    await typed("enable delete 2", lambda intent: intent.temporary and not intent.once)
    await typed("disable 2", lambda intent: not intent.enabled)
    await typed("enable 2", lambda intent: intent.enabled)
    for line in ("commands 2", "silent", "print total"):
        await breaks.debugger.console(line)
    await typed("end", lambda intent: intent.commands == ("silent", "print total"))
    await typed("rwatch counter", lambda intent: intent.kind is BreakpointKind.READ)
    await typed("awatch counter", lambda intent: intent.kind is BreakpointKind.ACCESS)
    await breaks.debugger.console("delete")
    await breaks.until(lambda: not breaks.listed)


async def test_a_change_that_is_refused_changes_nothing(breaks) -> None:
    binding = await breaks.debugger.set_breakpoint(BreakpointIntent(1, "compute", condition="n == 3"))
    wish = replace(binding.intent, condition="no_such == 1", ignore=4)
    failed = await breaks.debugger.change_breakpoint(binding, wish)
    assert failed.state is BindingState.FAILED
    assert 'No symbol "no_such"' in failed.why
    assert breaks.listed[0].intent == binding.intent
    wish = replace(
        binding.intent, condition="name[0] == 'a' && *name != \"b\"[0]", once=True, commands=("print n",)
    )
    changed = await breaks.debugger.change_breakpoint(binding, wish)
    assert changed.intent == wish
    stop = await breaks.go(StepKind.RUN)
    assert dict(stop.frame.arguments)["n"] == "3"
    await breaks.until(lambda: not breaks.listed[0].intent.enabled)


async def test_a_breakpoint_of_a_thread_that_has_gone_waits(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    none = await put(BreakpointIntent(1, "compute", thread=7))
    assert (none.state, none.why) == (BindingState.PENDING, "there is no thread 7 now")
    await put(BreakpointIntent(2, "main"))
    await breaks.go(StepKind.RUN)
    one = await put(BreakpointIntent(1, "compute", thread=1))
    assert (one.state, one.intent.thread) == (BindingState.SET, 1)
    assert len(breaks.listed) == 2
    assert (await breaks.go()).frame.function == "compute"


async def test_breakpoints_are_set_while_the_target_runs(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("spin")))
    await watched.debugger.resume(StepKind.RUN)
    source = compiled.source("spin").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "++" in text or "+=" in text)
    log = await watched.debugger.set_breakpoint(BreakpointIntent(2, f"spin.c:{line}", log="here", enabled=False))
    assert log.state is BindingState.SET
    binding = await watched.debugger.set_breakpoint(BreakpointIntent(1, f"spin.c:{line}"))
    assert binding.state is BindingState.SET
    stop = await watched.next(TargetStopped)
    assert stop.reason == "breakpoint-hit"
    assert stop.frame.place.line == line
    assert watched.all(BreakpointsChanged)


@pytest.mark.parametrize("interpreter", ["mi2", "mi3", "mi4"])
def test_every_version_of_the_interface_tells_the_same_of_a_template(gdb, compiled, interpreter) -> None:
    asked = (
        "-break-insert -f twice",
        '-break-commands 1 "silent" "print value"',
        "-break-list",
        "-break-watch counter",
    )
    told = subprocess.run(
        [gdb, "-nx", "-q", f"--interpreter={interpreter}", compiled("breaks")],
        input="\n".join((*asked, "-gdb-exit", "")).encode(),
        capture_output=True,
        timeout=30,
        check=False,
    ).stdout.splitlines()
    records = [parse(line) for line in told if line.startswith((b"^done,bkpt", b"^done,BreakpointTable"))]
    if not records:
        pytest.skip(f"this gdb has no {interpreter}")
    made, listed = records
    assert isinstance(made, ResultRecord)
    assert isinstance(listed, ResultRecord)
    binding = binding_of(BreakpointIntent(1, "twice"), row_in(made.results))
    assert [each.number for each in binding.locations] == ["1.1", "1.2", "1.3"]
    row = gathered(list(listed.results["BreakpointTable"]["body"]))
    binding = binding_of(intent_of(BreakpointIntent(1, "twice"), row, binding), row)
    assert len(binding.locations) == 3
    assert binding.intent.commands == ("silent", "print value")
    assert any(line.startswith(b"^done,wpt={") for line in told)


async def test_commands_are_set_while_the_console_asks_for_others(breaks) -> None:
    binding = await breaks.debugger.set_breakpoint(BreakpointIntent(1, "compute"))
    await breaks.debugger.console("commands 1")
    await breaks.debugger.change_breakpoint(binding, replace(binding.intent, commands=("print n", "print n + 1")))
    other = await breaks.debugger.set_breakpoint(BreakpointIntent(2, "thrower", commands=("bt",)))
    assert other.intent.commands == ("bt",)
    await breaks.debugger.console("print total")
    assert breaks.listed[0].intent.commands == ("print n", "print n + 1")
    await breaks.debugger.console("end")
    await breaks.until(lambda: breaks.listed[0].intent.commands == ("print total",))


async def test_processes_held_after_a_fork_have_places_of_their_own(breaks) -> None:
    await breaks.debugger.set_breakpoint(BreakpointIntent(1, "main"))
    await breaks.debugger.cli("set detach-on-fork off")
    await breaks.debugger.set_breakpoint(BreakpointIntent(2, "fork", kind=CATCH))
    await breaks.go(StepKind.RUN)
    assert (await breaks.go()).reason == "fork"
    await breaks.debugger.resume(StepKind.NEXT)
    await breaks.until(lambda: len(breaks.listed[0].locations) == 2)
    first, second = breaks.listed[0].locations
    assert {first.process, second.process} == {"i1", "i2"}
    await breaks.debugger.enable_location(second.number, False)
    assert [each.enabled for each in breaks.listed[0].locations] == [True, False]


async def test_a_breakpoint_is_set_while_a_line_is_stepped_over_for_long(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("one_line"), stop_at_main=True))
    await watched.debugger.resume(StepKind.RUN)
    stop = await watched.next(TargetStopped)
    source = compiled.source("one_line").read_text().splitlines()
    while "for" not in source[stop.frame.place.line - 1]:
        await watched.debugger.resume(StepKind.NEXT)
        stop = await watched.next(TargetStopped)
    await watched.debugger.resume(StepKind.NEXT)
    binding = await watched.debugger.set_breakpoint(BreakpointIntent(1, f"one_line.c:{stop.frame.place.line + 1}"))
    assert binding.state is BindingState.SET
    await watched.debugger.interrupt()
    assert (await watched.next(TargetStopped)).description == "interrupted"


def test_functions_that_match_but_cannot_be_found_are_pending() -> None:
    table = BreakpointTable()
    table.begin_pattern(BreakpointIntent(1, "r::add", kind=BreakpointKind.REGEX))
    row = {"number": "3", "type": "breakpoint", "addr": "<PENDING>", "pending": "r.rs:'r::add'", "enabled": "y"}
    table.update(row)
    binding = table.end_pattern()
    assert (binding.state, binding.why) == (BindingState.PENDING, "no loaded module has it yet")
    found = {"number": "3", "type": "breakpoint", "addr": "0x12", "enabled": "y", "file": "r.rs", "line": "3"}
    table.update({**found, "func": "r::add", "times": "2"})
    (binding,) = table.bindings
    assert (binding.state, binding.why, binding.hits) == (BindingState.SET, "", 2)


async def test_a_stop_at_several_things_tells_where(breaks) -> None:
    await breaks.debugger.set_breakpoint(BreakpointIntent(1, "compute"))
    await breaks.debugger.console("watch no_such")
    await breaks.debugger.console("watch counter thread 99")
    await breaks.until_console("nknown thread 99")
    assert len(breaks.listed) == 1
    stop = await breaks.go(StepKind.RUN)
    assert stop.description == "breakpoint 1"


async def test_a_condition_that_only_one_of_many_functions_takes_is_taken_by_none(breaks) -> None:
    wish = BreakpointIntent(1, "breaks.cpp:^compute\\|^thrower", kind=BreakpointKind.REGEX)
    binding = await breaks.debugger.set_breakpoint(wish)
    failed = await breaks.debugger.change_breakpoint(binding, replace(binding.intent, condition="n == 3"))
    assert failed.state is BindingState.FAILED
    answer = await breaks.debugger.command("-break-list")
    assert "cond" not in str(answer.results)
    assert breaks.listed[0].intent.condition == ""


async def test_a_breakpoint_where_no_memory_is_says_so(breaks) -> None:
    await breaks.debugger.set_breakpoint(BreakpointIntent(1, "main"))
    await breaks.go(StepKind.RUN)
    await breaks.debugger.set_breakpoint(BreakpointIntent(2, "*0x10"))
    stop = await breaks.go()
    assert stop.description == "breakpoint 2 cannot be inserted"
    assert "there is no memory at 0x10" in breaks.all(EngineNotice)[-1].text

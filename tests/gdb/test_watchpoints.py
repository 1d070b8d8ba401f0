"""Watchpoints on a real gdb: kinds, scopes, and the limits of the processor."""

from __future__ import annotations

from ladder_backends.debugger import StepKind
from ladder_backends.model.breakpoint import BindingState, BreakpointIntent, BreakpointKind
from ladder_backends.model.events import EngineNotice, TargetExited

CATCH = BreakpointKind.CATCH


async def test_a_watch_tells_old_and_new_leaves_its_scope_and_comes_back(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    early = await put(BreakpointIntent(1, "total", kind=BreakpointKind.WRITE, scope="compute"))
    assert early.state is BindingState.PENDING
    assert early.why == 'not in scope here: No symbol "total"; set when it stops in compute()'
    await put(BreakpointIntent(2, "breaks.cpp:22"))
    await breaks.go(StepKind.RUN)
    watch = await put(early.intent)
    assert (watch.state, watch.why) == (BindingState.SET, "")
    assert len(breaks.listed) == 2
    stop = await breaks.go()
    assert stop.description == "total: 0 → 1"
    await breaks.go()
    stop = await breaks.go()
    assert stop.description == "total: 3 → 6"
    stop = await breaks.go()
    assert stop.reason == "watchpoint-scope"
    assert stop.description == "watchpoint 2 went out of scope with frame compute(): kept as pending"
    await breaks.until(lambda: breaks.listed[-1].state is BindingState.PENDING)
    assert breaks.listed[-1].why == "went out of scope with frame compute()"
    await breaks.go()
    again = await put(breaks.listed[-1].intent)
    assert (again.state, again.number) == (BindingState.SET, "3")
    # The end of the process takes the frame away as well.
    await breaks.debugger.cli("kill")
    await breaks.until(lambda: breaks.listed[-1].state is BindingState.PENDING)
    assert breaks.listed[-1].why == "its frame compute() has ended"
    await breaks.debugger.remove_breakpoint(breaks.listed[-1])
    assert [binding.intent.id for binding in breaks.listed] == [2]


async def test_a_watch_deleted_in_the_console_is_gone(breaks) -> None:
    await breaks.debugger.set_breakpoint(BreakpointIntent(1, "compute"))
    await breaks.go(StepKind.RUN)
    await breaks.debugger.console("watch total")
    await breaks.until(lambda: len(breaks.listed) == 2)
    assert breaks.listed[1].intent.scope == "compute"
    await breaks.debugger.console("delete 2")
    await breaks.until(lambda: len(breaks.listed) == 1)


async def test_read_and_access_watches_with_options(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    read = await put(
        BreakpointIntent(1, "counter", kind=BreakpointKind.READ, condition="counter == 3", ignore=1, enabled=False)
    )
    intent = read.intent
    assert (intent.kind, intent.condition, intent.ignore, intent.enabled) == (
        BreakpointKind.READ,
        "counter == 3",
        1,
        False,
    )
    access = await put(BreakpointIntent(2, "counter", kind=BreakpointKind.ACCESS, temporary=True))
    assert (access.intent.kind, access.intent.temporary) == (BreakpointKind.ACCESS, True)
    refused = await put(BreakpointIntent(3, "counter", kind=BreakpointKind.WRITE, condition="no_such > 1"))
    assert refused.state is BindingState.FAILED
    assert [binding.intent.id for binding in breaks.listed] == [1, 2]
    stop = await breaks.go(StepKind.RUN)
    assert stop.reason == "access-watchpoint-trigger"
    await breaks.until(lambda: len(breaks.listed) == 1)


async def test_limits_of_the_hardware_are_one_line(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    constant = await put(BreakpointIntent(2, "5", kind=BreakpointKind.WRITE))
    assert constant.state is BindingState.FAILED
    assert "constant" in constant.why
    await put(BreakpointIntent(2, "main"))
    await breaks.go(StepKind.RUN)
    wide = await put(BreakpointIntent(9, "wide", kind=BreakpointKind.READ))
    assert wide.state is BindingState.FAILED
    slow = await put(BreakpointIntent(1, "wide", kind=BreakpointKind.WRITE, enabled=False))
    assert slow.state is BindingState.SET
    assert "software watch" in slow.why
    assert wide.why == "wide is too wide for the processor to watch: watch a part of it"
    for number in range(5):
        await put(BreakpointIntent(3 + number, f"wide.bytes[{number * 8}]", kind=BreakpointKind.WRITE))
    stop = await breaks.go()
    assert stop.reason == "error"
    assert stop.description.startswith("no hardware left for watchpoint ")
    told = breaks.all(EngineNotice)[-1]
    assert told.text.startswith(stop.description)
    assert told.text.endswith("switch one off or watch something smaller")
    last = stop.description.split()[5]
    binding = next(each for each in breaks.listed if each.number == last)
    await breaks.debugger.enable_breakpoint(binding, False)
    assert isinstance(await breaks.go(), TargetExited)


async def test_a_place_is_watched_whatever_frame_it_was_named_in(breaks) -> None:
    put = breaks.debugger.set_breakpoint
    await put(BreakpointIntent(1, "breaks.cpp:23", temporary=True))
    await breaks.go(StepKind.RUN)
    watch = await put(BreakpointIntent(2, "-location counter", kind=BreakpointKind.WRITE, condition="counter > 2"))
    assert (watch.state, watch.intent.id, watch.intent.location) == (BindingState.SET, 2, "-location counter")
    assert (await breaks.go()).description == "-location counter: 2 → 3"
    bad = await put(BreakpointIntent(3, "-location no_such", kind=BreakpointKind.WRITE))
    assert bad.state is BindingState.PENDING


async def test_a_watch_deleted_after_the_end_is_gone(breaks) -> None:
    await breaks.debugger.set_breakpoint(BreakpointIntent(1, "counter", kind=BreakpointKind.WRITE, enabled=False))
    await breaks.debugger.resume(StepKind.RUN)
    await breaks.next(TargetExited)
    assert breaks.listed[0].number == "1"
    await breaks.debugger.console("delete 1")
    await breaks.until(lambda: not breaks.listed)

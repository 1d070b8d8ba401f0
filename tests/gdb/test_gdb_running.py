"""Run control on real programs."""

from __future__ import annotations

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import (
    BreakpointsChanged,
    EngineNotice,
    TargetExited,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.focus import Focus


async def stop_at(watched, program, location, **options):
    await watched.debugger.open(LaunchTarget(program, **options))
    await watched.debugger.set_breakpoint(BreakpointIntent(1, location))
    await watched.debugger.resume(StepKind.RUN)
    return await watched.next(TargetStopped)


async def test_a_crash_is_told_with_signal_place_and_values(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("segfault")))
    await watched.debugger.resume(StepKind.RUN)
    stop = await watched.next(TargetStopped)
    assert (stop.reason, stop.description, stop.fault) == ("signal-received", "SIGSEGV, Segmentation fault", True)
    assert stop.frame is not None
    assert stop.frame.function == "compute_total"
    assert stop.frame.arguments[0] == ("data", "0x0")
    window = await watched.debugger.frames(0, 10)
    assert [frame.function for frame in window.frames] == ["compute_total", "main"]
    assert [frame.arguments for frame in window.frames] == [(("data", "0x0"), ("n", "8")), ()]
    assert not window.more
    variables = await watched.debugger.variables(0, 10)
    data = next(each for each in variables.variables if each.name == "data")
    assert (data.value, data.type, data.is_argument) == ("0x0", "const int *", True)
    await watched.debugger.resume(StepKind.CONTINUE)
    ended = await watched.next(TargetExited, lambda event: bool(event.signal))
    assert ended.signal == "SIGSEGV"


async def test_steps_go_where_they_should(watched, compiled) -> None:
    stop = await stop_at(watched, compiled("steps"), "steps.c:19")
    assert stop.description == "breakpoint 1"

    async def go(kind: StepKind, location: str = "") -> TargetStopped:
        await watched.debugger.resume(kind, location)
        return await watched.next(TargetStopped)

    inside = await go(StepKind.STEP)
    assert inside.frame is not None
    assert (inside.frame.function, inside.reason) == ("add", "end-stepping-range")
    assert inside.frame.arguments == (("a", "0"), ("b", "1"))
    back = await go(StepKind.FINISH)
    assert back.reason == "function-finished"
    assert back.description == "returned 1"
    await watched.debugger.remove_breakpoint(watched.debugger.events.breakpoints.bindings[0])
    after = await go(StepKind.UNTIL, "steps.c:21")
    assert after.frame is not None
    assert after.frame.place is not None
    assert (after.frame.function, after.frame.place.line) == ("main", 21)
    over = await go(StepKind.NEXT)
    assert over.frame is not None
    assert over.frame.place is not None
    assert over.frame.place.line == 22
    one = await go(StepKind.NEXT_INSTRUCTION)
    assert one.frame is not None
    assert one.frame.address != over.frame.address
    await watched.debugger.resume(StepKind.CONTINUE)
    assert (await watched.next(TargetExited)).code == 3


async def test_finish_in_the_outermost_frame_is_refused_and_nothing_breaks(watched, compiled) -> None:
    await stop_at(watched, compiled("steps"), "main")
    await watched.debugger.resume(StepKind.UNTIL, "steps.c:22")
    await watched.next(TargetStopped)
    depth = len((await watched.debugger.frames(0, 20)).frames)
    await watched.debugger.select_frame(depth - 1)
    with pytest.raises(CommandFailed, match="outermost"):
        await watched.debugger.resume(StepKind.FINISH)
    assert (await watched.debugger.evaluate("total")).value == "10"


async def test_the_frame_that_is_selected_is_the_one_that_is_finished(watched, compiled) -> None:
    await stop_at(watched, compiled("segfault", "-g", "-O0"), "compute_total")
    await watched.debugger.select_frame(1)
    # Above main there may be frames of the C library, or none to finish into.
    window = await watched.debugger.frames(0, 10)
    if len(window.frames) == 2:
        with pytest.raises(CommandFailed, match="outermost"):
            await watched.debugger.resume(StepKind.FINISH)


async def test_a_long_step_runs_and_can_be_interrupted(watched, compiled) -> None:
    await stop_at(watched, compiled("one_line"), "one_line.c:5")
    await watched.debugger.resume(StepKind.NEXT)
    assert watched.debugger.events.running
    await watched.debugger.interrupt()
    stop = await watched.next(TargetStopped)
    assert (stop.description, stop.fault) == ("interrupted", False)


async def test_a_running_program_is_interrupted_and_goes_on(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("spin")))
    await watched.debugger.resume(StepKind.RUN)
    await watched.until_program(b"spinning")
    for _ in range(2):
        await watched.debugger.interrupt()
        stop = await watched.next(TargetStopped)
        assert not stop.fault
        await watched.debugger.resume(StepKind.CONTINUE)
        await watched.next(TargetRunning)


async def test_interrupts_while_nothing_runs_do_nothing(watched, compiled) -> None:
    await stop_at(watched, compiled("steps"), "main")
    await watched.debugger.interrupt()
    watched.debugger.interrupt_engine()
    await watched.debugger.interrupt()
    assert (await watched.debugger.evaluate("1 + 1")).value == "2"


async def test_an_interrupt_in_the_instant_of_a_breakpoint_confuses_nobody(watched, compiled) -> None:
    await stop_at(watched, compiled("spin"), "turn")
    for _ in range(20):
        await watched.debugger.resume(StepKind.CONTINUE)
        await watched.debugger.interrupt()
        await watched.next(TargetStopped)
        # The signal may be reported after the breakpoint; then the program goes on into it.
    assert (await watched.debugger.evaluate("turns >= 0")).value == "1"


async def test_stepping_off_the_end_ends_the_program(watched, compiled) -> None:
    await stop_at(watched, compiled("steps"), "steps.c:23")
    for _ in range(20):
        try:
            await watched.debugger.resume(StepKind.NEXT)
        except CommandFailed as refused:
            # Behind main lies the C library, and without its symbols there is no line to step to.
            assert "Cannot find bounds of current function" in refused.what  # noqa: PT017
            await watched.debugger.resume(StepKind.CONTINUE)
        event = await watched.next((TargetStopped, TargetExited))  # type: ignore[arg-type]
        if isinstance(event, TargetExited):
            break
    assert watched.all(TargetExited)[0].code == 3
    with pytest.raises(CommandFailed, match="not being run"):
        await watched.debugger.resume(StepKind.NEXT)
    await watched.debugger.resume(StepKind.RUN)
    assert (await watched.next(TargetStopped)).reason == "breakpoint-hit"


async def test_the_program_can_stop_at_main(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps"), stop_at_main=True))
    await watched.debugger.resume(StepKind.RUN)
    stop = await watched.next(TargetStopped)
    assert stop.frame is not None
    assert (stop.frame.function, stop.description) == ("main", "breakpoint")
    assert all(not event.bindings for event in watched.all(BreakpointsChanged))


async def test_a_stripped_program_stops_before_main(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps", "-O0", "-s"), stop_at_main=True))
    for kind in (StepKind.RUN, StepKind.START):
        await watched.debugger.resume(kind)
        stop = await watched.next(TargetStopped)
        assert stop.frame is not None
        assert stop.frame.function.startswith("__libc_start_main")
        assert (stop.reason, stop.description) == ("breakpoint-hit", "breakpoint")
        assert not watched.listed
    assert "it stops in __libc_start_main instead" in " ".join(each.text for each in watched.all(EngineNotice))
    await watched.debugger.resume(StepKind.CONTINUE)
    assert (await watched.next(TargetExited)).code == 3
    # One that exports the name has it.
    await watched.debugger.open(LaunchTarget(compiled("steps", "-O0", "-s", "-rdynamic"), stop_at_main=True))
    await watched.debugger.resume(StepKind.RUN)
    stop = await watched.next(TargetStopped)
    assert stop.frame is not None
    assert stop.frame.function == "main"


async def test_a_program_is_started_over_and_stops_at_main(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    for _ in range(2):
        await watched.debugger.resume(StepKind.START)
        stop = await watched.next(TargetStopped)
        assert stop.frame is not None
        assert stop.frame.function == "main"
        await watched.debugger.resume(StepKind.NEXT)
        await watched.next(TargetStopped)
    assert all(not event.bindings for event in watched.all(BreakpointsChanged))


async def test_programs_can_be_run_from_the_console_too(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("spin")))
    await watched.debugger.console("run")
    await watched.until_program(b"spinning")
    assert (await watched.debugger.command("-gdb-show version")) is not None
    await watched.debugger.interrupt()
    await watched.next(TargetStopped)
    await watched.debugger.console("kill")
    await watched.next(TargetExited)


async def test_another_threads_breakpoint_during_a_step_is_a_change_of_focus(watched, compiled) -> None:
    stop = await stop_at(watched, compiled("threads"), "meet")
    assert stop.focus == Focus.of(thread=1)
    await watched.debugger.set_breakpoint(BreakpointIntent(2, "threads.c:13"))
    await watched.debugger.resume(StepKind.FINISH)
    await watched.next(TargetStopped)
    for _ in range(10):
        await watched.debugger.resume(StepKind.NEXT)
        stop = await watched.next(TargetStopped)
        if stop.reason == "breakpoint-hit":
            break
    assert stop.reason == "breakpoint-hit"
    assert stop.focus is not None
    assert stop.focus.index("thread") != 1
    assert watched.debugger.events.threads >= 400


async def test_what_was_typed_and_is_not_done_is_pending_and_can_be_interrupted(watched, compiled) -> None:
    await stop_at(watched, compiled("steps"), "main")
    for endless in ("while 1", "python import time; time.sleep(600)"):
        await watched.debugger.console(endless)
        if endless == "while 1":
            # It asks for more lines: it waits for the user, not the user for it.
            assert watched.debugger.pending() == []
            await watched.debugger.console("set $n = 1")
            endless = "end"
            await watched.debugger.console(endless)
        [(text, age)] = watched.debugger.pending()
        assert text == endless
        assert age > 0
        await watched.debugger.interrupt()
        await watched.until(lambda: not watched.debugger.pending())
    # An interrupt in the middle of a flood may be lost in the engine: one is enough all the same.
    for line in ("while 1", "print 1", "end"):
        await watched.debugger.console(line)
    await watched.debugger.interrupt()
    await watched.until(lambda: not watched.debugger.pending())
    await watched.debugger.console("commands 1")
    await watched.debugger.interrupt()
    await watched.until_console("Quit")
    await watched.debugger.console("print 6 * 7")
    assert "= 42" in await watched.until_console("= 42")
    assert watched.debugger.pending() == []

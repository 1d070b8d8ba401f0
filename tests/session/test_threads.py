"""Threads of real programs: groups, announced moves of the focus, all-stop, non-stop, and threads that end."""

from __future__ import annotations

import asyncio

from ladder_backends.debugger import AttachTarget, CoreTarget, LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.focus import Focus
from ladder_backends.model.thread import Locking, ThreadState
from ladder_backends.session import thread_reading
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.own_frames import own_frame
from ladder_backends.session.state import Change, Run


async def read(told) -> None:
    """Look at the list, as a pane does that is on screen."""
    told.session.subscribe(lambda change: told.session.threads.wanted() if change & Change.THREADS else None)
    told.session.threads.wanted()
    await told.until(lambda: told.state.threads.current)


async def test_five_hundred_threads_are_few_groups_the_small_ones_first(start, compiled) -> None:
    told = await start(compiled("threads"), "meet")
    assert told.state.threads.count == 501
    assert not told.state.threads.groups
    await read(told)
    groups = told.state.threads.groups
    here = next(group for group in groups if group.threads[0].id == 1)
    assert [frame.function for frame in here.frames] == ["meet", "main"]
    sizes = [len(group.threads) for group in groups]
    assert sum(sizes) == 501
    assert sizes == sorted(sizes)
    # On a busy machine some of them are still on their way from the barrier to the door.
    assert len(groups) < 40
    assert "wait_at_door" in [frame.function for frame in groups[-1].frames]
    assert told.state.threads.whole


async def test_more_threads_than_are_walked_are_told_by_their_innermost_frame(start, compiled, monkeypatch) -> None:
    monkeypatch.setattr(thread_reading, "MOST", 100)
    told = await start(compiled("threads"), "meet")
    asked: list[str] = []
    command = told.session.debugger.command

    async def noted(text, **named):
        asked.append(text)
        return await command(text, **named)

    told.session.debugger.command = noted
    await read(told)
    assert not told.state.threads.whole
    assert len([text for text in asked if text.startswith("-stack-list-frames")]) == 100
    assert sum(len(group.threads) for group in told.state.threads.groups) == 501


async def test_a_step_asks_nothing_about_threads_nobody_looks_at(start, compiled) -> None:
    told = await start(compiled("threads"), "meet")
    asked: list[str] = []
    command = told.session.debugger.command

    async def noted(text, **named):
        asked.append(text)
        return await command(text, **named)

    told.session.debugger.command = noted
    await told.go(StepKind.NEXT)
    assert not [text for text in asked if text.startswith("-thread")]
    assert not [text for text in asked if "--thread" in text and "--thread 1" not in text]


async def test_a_next_that_ends_in_another_thread_says_so(start, compiled) -> None:
    told = await start(compiled("relay"), "main")
    await told.session.set_breakpoint("take")
    await told.go(StepKind.NEXT)
    assert told.state.place is not None
    while told.state.focus == Focus.of(thread=1):
        await told.go(StepKind.NEXT)
    assert told.state.focus == Focus.of(thread=2)
    await told.until(lambda: bool(told.notices()))
    assert told.notices()[-1] == "now in thread 2 (runner): breakpoint 2; was in thread 1"


async def test_a_thread_is_chosen_and_announced(start, compiled) -> None:
    told = await start(compiled("burst"), "work")
    await read(told)
    here = told.state.focus["thread"]
    other = next(number for number in told.state.threads.processes_of if number not in (1, here))
    await told.session.threads.focus(other)
    await told.session.at_rest()
    assert told.state.focus == Focus.of(thread=other)
    assert told.state.asked is None
    assert told.notices()[-1].startswith(f"now in thread {other} (worker-{other - 2}); was in thread {here}")
    assert told.state.stopped_elsewhere == here
    await told.session.threads.focus(here)
    assert told.state.stopped_elsewhere is None


async def test_only_the_focused_thread_runs_until_it_ends(start, compiled) -> None:
    told = await start(compiled("burst"), "work")
    gone = told.state.focus["thread"]
    await told.session.threads.run_alone()
    assert told.state.threads.alone
    assert told.state.threads.locking is Locking.ON
    await told.go(StepKind.CONTINUE)
    assert told.state.run is Run.STOPPED
    assert told.state.focus["thread"] != gone
    await told.until(lambda: any("has ended" in text for text in told.notices()))
    assert f"thread {gone}" in told.notices()[-1]
    assert "now in thread" in told.notices()[-1]
    await told.session.threads.run_alone()
    assert not told.state.threads.alone


async def test_locking_typed_in_the_console_is_seen(start, compiled) -> None:
    told = await start(compiled("burst"), "work")
    await told.session.console("set scheduler-locking on")
    await told.until(lambda: told.state.threads.alone)


async def test_one_thread_cannot_be_frozen_where_all_stop_together(start, compiled) -> None:
    told = await start(compiled("burst"), "work")
    await told.session.threads.freeze(1)
    assert "non-stop" in told.notices()[-1]
    assert not told.state.threads.frozen
    await told.session.threads.set_non_stop(True)
    assert "before the program runs" in told.notices()[-1]
    assert not told.state.threads.non_stop


async def non_stop(told, program, *locations: str):
    await told.session.open(LaunchTarget(program, non_stop=True), run=False)
    assert told.state.threads.non_stop
    for location in locations:
        await told.session.set_breakpoint(location)
    await told.go(StepKind.RUN)
    return told


async def test_eight_threads_that_stop_at_once_leave_the_focus_alone(told, compiled) -> None:
    await non_stop(told, compiled("burst"), "work")
    first = told.state.focus["thread"]
    assert told.state.run is Run.STOPPED
    await told.until(lambda: len(told.state.threads.news) == 7)
    await told.until(lambda: any("and 3 more" in text for text in told.notices()))
    assert told.state.focus["thread"] == first
    assert [text for text in told.notices() if "have stopped: breakpoint 1; the focus stays" in text]
    assert len([text for text in told.notices() if "stopped" in text]) <= 3
    await read(told)
    states = {thread.id: thread.state for group in told.state.threads.groups for thread in group.threads}
    assert states[1] is ThreadState.RUNNING
    assert states[first] is ThreadState.STOPPED


async def test_in_non_stop_keys_act_on_the_focused_thread(told, compiled) -> None:
    await non_stop(told, compiled("burst"), "work")
    await told.until(lambda: len(told.state.threads.news) == 7)
    first = told.state.focus["thread"]
    await told.go(StepKind.FINISH)
    assert told.state.focus["thread"] == first
    assert len(told.state.threads.news) == 7
    other = next(iter(told.state.threads.news))
    await told.session.threads.focus(other)
    await told.session.at_rest()
    assert told.state.focus == Focus.of(thread=other)
    assert told.state.frames.frames[0].function == "work"
    assert told.state.run_detail == "breakpoint 1"
    assert other not in told.state.threads.news


async def test_a_thread_is_stood_in_at_the_frame_that_was_chosen(start, compiled) -> None:
    told = await start(compiled("threads"), "meet")
    await read(told)
    group = next(group for group in told.state.threads.groups if len(group.threads) > 1)
    own = own_frame(group.frames)
    assert own is not None
    assert own.level > 0
    chosen = group.threads[0].id
    await told.session.threads.focus(chosen, own.level)
    await told.session.at_rest()
    assert told.state.focus == Focus.of(thread=chosen)
    assert told.state.selected_frame == own.level
    assert told.state.place == own.place
    assert told.state.variables.frame_level == own.level
    # The command line stands there too.
    await told.session.console("frame")
    await told.until(lambda: any(line.startswith(f"#{own.level} ") for line in told.state.console))


async def test_in_non_stop_too(told, compiled) -> None:
    await non_stop(told, compiled("burst"), "work")
    await told.until(lambda: len(told.state.threads.news) == 7)
    other = next(iter(told.state.threads.news))
    await told.session.threads.focus(other, 1)
    await told.session.at_rest()
    assert (told.state.focus, told.state.selected_frame) == (Focus.of(thread=other), 1)
    assert told.state.variables.frame_level == 1


async def test_in_non_stop_a_running_thread_can_have_the_focus_and_be_stopped(told, compiled) -> None:
    await non_stop(told, compiled("burst"), "work")
    await told.session.threads.focus(1)
    assert told.state.run is Run.RUNNING
    assert not told.state.frames.frames
    await told.session.interrupt()
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    assert told.state.focus == Focus.of(thread=1)
    assert "main" in [frame.function for frame in told.state.frames.frames]


async def test_threads_that_were_asked_to_stop_are_no_news(told, compiled) -> None:
    await non_stop(told, compiled("idle_threads"), "idle")
    await told.until(lambda: len(told.state.threads.processes_of) == 4)
    await told.until(lambda: len(told.state.threads.news) == 2)
    await told.session.threads.all_go_on()
    await told.until(lambda: told.state.run is Run.RUNNING)
    assert not told.state.threads.news
    await told.session.threads.all_hold()
    await told.session.at_rest()
    await told.until(lambda: not told.session.threads.any_runs())
    assert not told.state.threads.news
    assert not [text for text in told.notices() if "interrupted" in text]


async def test_a_frozen_thread_is_held_when_all_others_go_on(told, compiled) -> None:
    await non_stop(told, compiled("burst"), "work")
    await told.until(lambda: len(told.state.threads.news) == 7)
    held = told.state.focus["thread"]
    await told.session.threads.freeze(held)
    await told.session.resume(StepKind.CONTINUE)
    assert "is frozen" in told.notices()[-1]
    await told.session.threads.all_go_on()
    await told.until(lambda: set(told.state.threads.processes_of) == {1, held})
    await read(told)
    states = {thread.id: thread.state for group in told.state.threads.groups for thread in group.threads}
    assert states == {1: ThreadState.RUNNING, held: ThreadState.FROZEN}
    await told.session.threads.freeze(held)
    await told.session.resume(StepKind.CONTINUE)
    await told.until(lambda: told.state.run is Run.EXITED)
    assert not told.state.threads.frozen
    assert len([text for text in told.notices() if "has ended" in text]) <= 1


async def test_a_focused_thread_that_ends_in_non_stop_gives_the_focus_to_one_that_stands(told, compiled) -> None:
    await non_stop(told, compiled("burst"), "work")
    await told.until(lambda: len(told.state.threads.news) == 7)
    gone = told.state.focus["thread"]
    await told.session.resume(StepKind.CONTINUE)
    await told.until(lambda: any("has ended" in text for text in told.notices()))
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    now = told.state.focus["thread"]
    assert now not in (gone, 1)
    assert told.state.frames.frames[0].function == "work"
    await told.session.console("thread")
    assert f"Current thread is {now}" in "\n".join(told.state.console)


async def test_the_mode_is_chosen_before_the_program_runs(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("burst")), run=False)
    await told.session.threads.set_non_stop(True)
    assert told.state.threads.non_stop
    await told.session.set_breakpoint("work")
    await told.go(StepKind.RUN)
    await told.until(lambda: len(told.state.threads.news) == 7)
    await told.session.threads.all_go_on()
    await told.until(lambda: told.state.run is Run.EXITED)
    assert told.state.threads.non_stop
    await told.session.threads.set_non_stop(False)
    assert not told.state.threads.non_stop


async def test_a_thread_typed_in_the_console_is_followed_in_non_stop(told, compiled) -> None:
    await non_stop(told, compiled("burst"), "work")
    await told.until(lambda: len(told.state.threads.news) == 7)
    other = next(iter(told.state.threads.news))
    await told.session.console(f"thread {other}")
    await told.until(lambda: told.state.focus == Focus.of(thread=other))
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    await told.session.console("thread 1")
    await told.until(lambda: told.state.run is Run.RUNNING)


async def test_two_processes_are_told_apart(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("forks")), run=False)
    await told.session.console("set detach-on-fork off")
    await told.session.console("catch fork")
    await told.go(StepKind.RUN)
    await told.go(StepKind.NEXT)
    await told.until(lambda: len(set(told.state.threads.processes_of.values())) == 2)
    await read(told)
    seen = told.state.threads
    assert len(seen.groups) == 2
    assert set(seen.processes) == {"i1", "i2"}
    assert all(words.startswith("forks · ") for words in seen.processes.values())
    assert {thread.process for group in seen.groups for thread in group.threads} == {"i1", "i2"}
    await told.session.threads.focus(2)
    await told.session.at_rest()
    assert told.state.focus == Focus.of(thread=2)


async def test_threads_of_a_core_are_listed(told, compiled, tmp_path) -> None:
    await told.session.open(LaunchTarget(compiled("burst")), run=False)
    await told.session.set_breakpoint("work")
    await told.go(StepKind.RUN)
    core = tmp_path / "core.burst"
    await told.session.console(f"generate-core-file {core}")
    await told.until(lambda: core.exists() and "Saved corefile" in "\n".join(told.state.console))
    other = DebugSession(GdbDebugger())
    try:
        await other.open(CoreTarget(core, compiled("burst")))
        read_all = asyncio.Event()
        other.subscribe(lambda change: read_all.set() if other.state.threads.current else None)
        other.threads.wanted()
        await read_all.wait()
        assert other.state.threads.count == 9
        assert sum(len(group.threads) for group in other.state.threads.groups) == 9
        assert all(thread.system_id for group in other.state.threads.groups for thread in group.threads)
        await other.threads.focus(9)
        await other.at_rest()
        assert other.state.focus == Focus.of(thread=9)
    finally:
        await other.close()


async def test_interrupts_while_it_stands_and_at_a_stop_confuse_nothing(start, compiled) -> None:
    told = await start(compiled("burst"), "work")
    await told.session.interrupt()
    await told.session.interrupt()
    await told.session.resume(StepKind.CONTINUE)
    await told.session.interrupt()
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    assert told.state.frames.frames
    assert (await told.session.evaluate("1 + 1")).value == "2"
    await told.go(StepKind.NEXT)
    assert (await told.session.evaluate("2 + 2")).value == "4"


async def test_a_finish_that_fails_leaves_the_frame_to_be_asked(start, compiled) -> None:
    told = await start(compiled("steps"), "main")
    await told.session.resume(StepKind.FINISH)
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    assert (await told.session.evaluate("1 + 2")).value == "3"
    assert told.state.frames.frames[0].function == "main"


async def test_an_engine_that_dies_takes_its_threads_along(told, compiled) -> None:
    await told.session.open(LaunchTarget(compiled("burst")), run=False)
    await told.session.threads.set_non_stop(True)
    await told.session.set_breakpoint("work")
    await told.go(StepKind.RUN)
    await told.until(lambda: len(told.state.threads.news) == 7)
    told.session.threads.wanted()
    await told.session.console("kill")
    await told.until(lambda: told.state.run is Run.EXITED)
    await told.session.console("quit")
    await told.until(lambda: told.state.run is Run.DEAD)
    assert told.state.threads.count == 0
    await told.session.resume(StepKind.CONTINUE)
    await told.session.at_rest()
    assert told.state.threads.non_stop
    await told.until(lambda: len(told.state.threads.news) == 7)


async def test_threads_of_a_process_are_there_when_it_is_attached_and_left_running(told, compiled) -> None:
    process = await asyncio.create_subprocess_exec(compiled("idle_threads"), stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        await told.session.open(AttachTarget(process.pid))
        await told.session.at_rest()
        assert told.state.threads.count == 4
        await read(told)
        groups = told.state.threads.groups
        assert [len(group.threads) for group in groups] == [1, 3]
        assert {thread.name for thread in groups[1].threads} == {"idle-0", "idle-1", "idle-2"}
        await told.session.threads.focus(3)
        await told.session.close()
        assert process.returncode is None
    finally:
        process.kill()
        await process.wait()


async def test_a_thread_that_is_gone_is_not_gone_to(start, compiled) -> None:
    told = await start(compiled("burst"), "work")
    before = told.state.focus
    await told.session.threads.focus(77)
    assert told.state.focus == before
    assert "not reached" in told.notices()[-1]


async def test_a_thread_typed_in_the_console_is_followed(start, compiled) -> None:
    told = await start(compiled("burst"), "work")
    here = told.state.focus["thread"]
    await told.session.console("thread 1")
    await told.until(lambda: told.state.focus == Focus.of(thread=1))
    await told.session.at_rest()
    assert "main" in [frame.function for frame in told.state.frames.frames]
    level = next(frame.level for frame in told.state.frames.frames if frame.function == "main")
    await told.session.console(f"frame {level}")
    await told.until(lambda: told.state.selected_frame == level)
    assert told.state.place is not None
    assert told.state.place.file.endswith("burst.c")
    # A stop where it stood before the person looked elsewhere is a move that has to be told.
    await told.session.console(f"thread {here}")
    await told.until(lambda: told.state.focus == Focus.of(thread=here))
    await told.go(StepKind.NEXT)
    assert not [text for text in told.notices() if "was in thread 1" in text and told.state.focus["thread"] == here]

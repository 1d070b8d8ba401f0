"""The list of threads: groups, the focus, searching, freezing, and how it says what it cannot show."""

from __future__ import annotations

from typing import Any

import pytest

from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, Place
from ladder_backends.model.thread import Locking, Thread, ThreadGroup, ThreadState
from ladder_backends.session.state import Change, Run
from ladder_backends.session.thread_list import ThreadList

OWN = Frame(1, "wait_at_door", Place("threads.c", 13, "/src/threads.c"), "0x401200")
LOCK = Frame(0, "___pthread_mutex_lock", Place("./nptl/pthread_mutex_lock.c", 93, "./nptl/./nptl/x.c"), "0x7f01")
MAIN = Frame(0, "main", Place("threads.c", 28, "/src/threads.c"), "0x401250")


def many(count: int) -> ThreadList:
    waiting = tuple(Thread(number, 5000 + number, f"worker-{number}", frame=LOCK) for number in range(2, count + 1))
    main = Thread(1, 5001, "threads", frame=MAIN)
    return ThreadList(
        processes_of=dict.fromkeys(range(1, count + 1), "i1"),
        groups=(ThreadGroup((main,), (MAIN,)), ThreadGroup(waiting, (LOCK, OWN), deeper=True)),
        current=True,
        whole=True,
    )


@pytest.fixture
async def view(segfault, show):
    segfault.active.state.threads = many(500)
    async with show(segfault) as view:
        await view.press("w", "h")
        yield view


def rows(view: Any) -> list[str]:
    pane = view.app.workspace.panes["threads"]
    return [pane.row(index).text().rstrip() for index in range(pane.row_count)]


async def test_five_hundred_threads_are_two_rows_and_the_focus_is_marked(view) -> None:
    assert rows(view) == [
        "◆   1   threads  main",
        "  + 499×  wait_at_door in ___pthread_mutex_lock",
    ]
    assert "500 in 2" in view.text()
    assert "thread 1 · 500 threads" in view.text()


async def test_a_group_unfolds_and_enter_goes_to_a_thread(view, segfault) -> None:
    await view.press("down", "enter")
    assert len(rows(view)) == 501
    assert rows(view)[2].split() == ["2", "worker-2", "___pthread_mutex_lock"]
    await view.press("down", "enter")
    assert ("focus", 2, 0) in segfault.active.asked
    await view.press("up", "enter")
    assert len(rows(view)) == 2


async def test_enter_stands_in_the_frame_that_the_row_names(view, segfault) -> None:
    await view.press("slash", *"worker-77", "enter", "enter")
    assert rows(view) == ["    77  worker-77  wait_at_door in ___pthread_mutex_lock"]
    assert segfault.active.asked[-1] == ("focus", 77, OWN.level)


async def test_a_thread_is_typed_at_go_to(view, segfault) -> None:
    await view.press("g", *"thread", "space", *"77", "enter")
    assert ("focus", 77) in segfault.active.asked


async def test_a_search_leaves_names_numbers_and_functions(view) -> None:
    await view.press("slash", *"worker-77", "enter")
    assert rows(view) == ["    77  worker-77  wait_at_door in ___pthread_mutex_lock"]
    await view.press("slash", *"5042", "enter")
    assert rows(view)[0].split()[0] == "42"
    await view.press("slash", *"main", "enter")
    assert len(rows(view)) == 1
    await view.press("slash", *"nowhere", "enter")
    assert "no thread has nowhere" in view.text()
    await view.press("escape")
    assert len(rows(view)) == 2


async def test_space_freezes_a_thread_or_a_group(view, segfault) -> None:
    await view.press("space")
    assert ("freeze", 1) in segfault.active.asked
    await view.press("down", "space")
    assert ("freeze", *range(2, 501)) in segfault.active.asked


async def test_m_and_l_choose_how_threads_run(view, segfault) -> None:
    await view.press("m", "L")
    assert ("set_non_stop", True) in segfault.active.asked
    assert ("run_alone",) in segfault.active.asked


async def test_what_runs_is_told_in_title_and_status(view, segfault) -> None:
    debug = segfault.active.state
    debug.threads.locking = Locking.ON
    segfault.active.tell(Change.THREADS)
    await view.settle()
    text = view.text().splitlines()
    assert "Threads 500 in 2 · alone" in text[1]
    assert "only this thread runs" in text[-1]
    debug.threads.locking, debug.threads.non_stop = None, True
    debug.run = Run.RUNNING
    debug.threads.news[7] = "breakpoint 2"
    segfault.active.tell(Change.THREADS | Change.RUN)
    await view.settle()
    text = view.text()
    assert "non-stop" in text
    assert "• breakpoint 2" in text


async def test_a_fault_is_told_of_the_thread_it_came_from(view, segfault) -> None:
    debug = segfault.active.state
    debug.fault, debug.run_detail = True, "SIGSEGV, Segmentation fault"
    debug.stopped_in = debug.focus
    segfault.active.tell(Change.RUN | Change.FOCUS | Change.FRAMES)
    await view.settle()
    assert "SIGSEGV  thread 1 · 500 threads" in view.text().splitlines()[-1].replace(", Segmentation fault", "")
    assert "✗ SIGSEGV" in view.text()
    debug.focus = Focus.of(thread=2)
    segfault.active.tell(Change.RUN | Change.FOCUS | Change.FRAMES)
    await view.settle()
    assert "SIGSEGV in thread 1  thread 2 · 500 threads" in view.text().splitlines()[-1].replace(
        ", Segmentation fault", ""
    )
    assert "✗ SIGSEGV" not in view.text()


async def test_the_cursor_stays_on_its_thread_when_groups_change(view, segfault) -> None:
    pane = view.app.workspace.panes["threads"]
    await view.press("down", "enter", "down", "down")
    assert pane.row(pane.cursor).target.id == 3
    seen = segfault.active.state.threads
    first, second = seen.groups
    apart = ThreadGroup(second.threads[:1], (MAIN,))
    segfault.active.state.threads = ThreadList(
        processes_of=seen.processes_of,
        groups=(first, apart, ThreadGroup(second.threads[1:], second.frames, deeper=True)),
        current=True,
    )
    segfault.active.tell(Change.THREADS)
    await view.settle()
    assert pane.row(pane.cursor).target.id == 3


async def test_the_cursor_follows_the_focus(view, segfault) -> None:
    await view.press("down", "enter")
    segfault.active.state.focus = Focus.of(thread=40)
    segfault.active.tell(Change.FOCUS)
    await view.settle()
    pane = view.app.workspace.panes["threads"]
    assert pane.row(pane.cursor).target.id == 40
    assert rows(view)[pane.cursor].startswith("◆")


async def test_states_are_words(view, segfault) -> None:
    frozen = Thread(1, 5001, "threads", ThreadState.FROZEN, MAIN)
    running = Thread(2, 5002, "worker", ThreadState.RUNNING)
    segfault.active.state.threads = ThreadList(
        groups=(ThreadGroup((frozen,), (MAIN,)), ThreadGroup((running,))), current=True, non_stop=True
    )
    segfault.active.tell(Change.THREADS)
    await view.settle()
    assert [line.split()[-2:] for line in rows(view)] == [["frozen", "main"], ["worker", "runs"]]


async def test_without_a_list_it_says_why(view, segfault) -> None:
    segfault.active.state.threads = ThreadList(current=True, note="the threads are not in this recording")
    segfault.active.tell(Change.THREADS)
    await view.settle()
    assert "the threads are not in this recording" in view.text()
    segfault.active.threads.available = False
    segfault.active.tell(Change.THREADS)
    await view.settle()
    assert "does not tell of threads" in view.text()
    segfault.active.state.run = Run.RUNNING
    segfault.active.tell(Change.RUN)
    await view.settle()
    assert "the target runs" in view.text()


async def test_how_threads_will_stop_is_told_before_the_program_runs(view, segfault) -> None:
    segfault.active.state.run = Run.EXITED
    segfault.active.tell(Change.RUN)
    await view.settle()
    assert "threads will stop all together (all-stop); m" in view.text()


async def test_nobody_is_asked_while_it_is_not_on_screen(segfault, show) -> None:
    async with show(segfault) as view:
        assert segfault.active.threads.looked == 0
        await view.press("w", "h")
        assert segfault.active.threads.looked > 0


async def test_a_group_is_copied_with_its_stack(view) -> None:
    pane = view.app.workspace.panes["threads"]
    text = pane.copy_text(1).splitlines()
    assert text[0] == "thread 2 (LWP 5002) worker-2"
    assert text[-2:] == ["#1   0x401200 wait_at_door () at /src/threads.c:13", "…"]


async def test_hostile_names_are_only_text(view, segfault) -> None:
    name = "[red]漢[/]"
    segfault.active.state.threads = ThreadList(
        groups=(ThreadGroup((Thread(1, 1, name, frame=MAIN),), (MAIN,)),), current=True
    )
    segfault.active.tell(Change.THREADS)
    await view.settle()
    assert name in view.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_how_it_looks(segfault, show, shots, size) -> None:
    seen = many(500)
    waiting, rest = seen.groups[1].threads[:4], seen.groups[1].threads[4:]
    work = Frame(0, "work", Place("threads.c", 17, "/src/threads.c"), "0x401280")
    frozen = Thread(502, 5502, "reader", ThreadState.FROZEN, MAIN)
    running = tuple(Thread(number, 5000 + number, "pump", ThreadState.RUNNING) for number in (503, 504))
    seen.groups = (
        ThreadGroup((frozen,), (MAIN,)),
        seen.groups[0],
        ThreadGroup(running),
        ThreadGroup(waiting, (work, MAIN)),
        ThreadGroup(rest, (LOCK, OWN), deeper=True),
    )
    seen.processes_of.update({502: "i1", 503: "i1", 504: "i1"})
    seen.non_stop, seen.frozen, seen.news, seen.ended = True, frozenset({502}), {3: "breakpoint 2"}, 12
    segfault.active.state.threads = seen
    async with show(segfault, size) as view:
        await view.press("w", "h", "down", "down", "enter", "z")
        await shots.both(view.pilot, f"threads-{size[0]}x{size[1]}")

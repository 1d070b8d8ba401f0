"""The stack: library frames, folding, searching beyond what is held, copying, and what moves the cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.session.stack_walk import StackWalk
from ladder_backends.session.state import Change

OWN = Place("work.c", 7, "/src/work.c")
STACK = FrameWindow(
    (
        Frame(0, "__pthread_kill", None, "0x7f01", "/lib/x86_64-linux-gnu/libc.so.6"),
        Frame(1, "__GI_abort", Place("./stdlib/abort.c", 79, "./stdlib/./stdlib/abort.c"), "0x7f02"),
        Frame(2, "on_signal", OWN, "0x401100"),
        Frame(3, "<signal handler called>"),
        Frame(4, "work", OWN, "0x401200", arguments=(("n", "3"),)),
        Frame(5, "??", None, "0x7f10", "/opt/lib/libclosed.so"),
        Frame(6, "main", OWN, "0x401300"),
    ),
    more=True,
)


@pytest.fixture
async def view(segfault, show):
    segfault.active.state.frames = STACK
    async with show(segfault) as view:
        await view.press("w", "t")
        yield view


def rows(view: Any) -> list[str]:
    pane = view.app.workspace.panes["stack"]
    return [pane.row(index).text().strip() for index in range(pane.row_count)]


def styles(view: Any) -> list[str]:
    pane = view.app.workspace.panes["stack"]
    return [pane.row(index).cells[1].style for index in range(7)]


async def test_frames_of_libraries_and_handlers_are_dim(view) -> None:
    assert styles(view) == ["muted", "muted", "function", "muted", "function", "muted", "function"]


async def test_frames_of_libraries_fold_and_unfold(view) -> None:
    await view.press("space")
    assert rows(view) == [
        "▸ 2 library frames  __GI_abort",
        "#2 on_signal",
        "▸ 1 library frame  <signal handler called>",
        "#4 work(n=3)",
        "▸ 1 library frame  ??",
        "#6 main",
        "… more",
    ]
    await view.press("down", "space")
    assert len(rows(view)) == 7
    await view.press("up", "enter")
    assert len(rows(view)) == 8


async def test_a_search_goes_on_where_the_window_ends(view, segfault) -> None:
    pane = view.app.workspace.panes["stack"]
    await view.press("slash", *"work(", "enter")
    assert pane.cursor == 4
    await view.press("slash", *"nowhere", "enter")
    assert ("find", "nowhere") in segfault.active.asked
    await view.press("escape")
    assert ("cancel",) in segfault.active.asked


async def test_a_way_through_the_stack_is_in_the_title(view, segfault) -> None:
    segfault.active.state.walk = StackWalk("main", 12_000)
    segfault.tell(Change.FRAMES)
    await view.settle()
    assert "Stack 12,000 … Esc ends /main" in view.text()
    segfault.active.state.walk = None
    segfault.active.state.frames = replace(
        STACK, frames=tuple(replace(frame, level=frame.level + 49_000) for frame in STACK.frames), start=49_000
    )
    segfault.tell(Change.FRAMES)
    await view.settle()
    assert "#49,000–49,006+" in view.text()


async def test_both_ends_of_the_window_bring_more(view, segfault) -> None:
    pane = view.app.workspace.panes["stack"]
    segfault.active.state.frames = replace(
        STACK, frames=tuple(replace(frame, level=frame.level + 100) for frame in STACK.frames), start=100
    )
    segfault.tell(Change.FRAMES)
    await view.settle()
    await view.press("down", "up")
    assert ("nearer",) in segfault.active.asked
    pane.move_cursor(3)
    segfault.active.state.frames = STACK
    segfault.tell(Change.FRAMES)
    await view.settle()
    await view.press("home")
    assert ("innermost",) not in segfault.active.asked


async def test_the_backtrace_is_copied_as_far_as_it_is_known(view, monkeypatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr(view.app, "copy_to_clipboard", copied.append)
    view.app.workspace.panes["stack"].action_copy_all()
    lines = copied[0].splitlines()
    assert len(lines) == 8
    assert lines[4] == "#4 work(n=3) work.c:7"
    assert lines[-1] == "…"


async def test_frames_that_there_is_room_for_are_loaded_without_a_key(segfault, show) -> None:
    """The stack of another thread is read while its pane is not seen, or while it has fewer rows."""
    debug = segfault.active.state
    debug.frames = replace(STACK, frames=STACK.frames[:1])
    async with show(segfault, (80, 24)) as view:
        assert segfault.active.asked == [("further",)]
        # Where nothing comes of it, that is all.
        segfault.tell(Change.FRAMES)
        await view.settle()
        assert segfault.active.asked == [("further",)]
        debug.frames = STACK
        segfault.tell(Change.FRAMES)
        await view.settle()
        assert segfault.active.asked == [("further",)]
        await view.press("w", "t", "z")
        assert segfault.active.asked == [("further",), ("further",)]


async def test_a_recorded_stack_is_asked_for_no_more(segfault, show) -> None:
    debug = segfault.active.state
    debug.frames = replace(STACK, frames=STACK.frames[:1])
    debug.capabilities &= ~Capability.RUN_CONTROL
    async with show(segfault, (80, 24)):
        assert segfault.active.asked == []

"""What the workspace tells in each state of the target, and which keys it offers there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger.contract import Capability, StepKind
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.sanitizer import read_report
from ladder_backends.session.state import NOT_STARTED, Change, DebugState, Run


@pytest.mark.parametrize(
    ("pane", "typed", "asked"),
    [
        ("source", "Ddb", ("toggle_breakpoint", "/src/segfault.c:7")),
        ("source", "DdUb", ("toggle_breakpoint", "/src/segfault.c:6")),
        ("stack", "D\rc", ("select_frame", 1)),
        ("breakpoints", "xc", ("remove_breakpoint",)),
        ("variables", "enc1\r", ("evaluate", "nc1")),
        ("program", "icn1", ("type_to_program", b"c")),
    ],
)
async def test_keys_of_one_packet_act_in_their_order(
    segfault: Any, show: Any, pane: str, typed: str, asked: tuple[object, ...]
) -> None:
    async with show(segfault) as view:
        view.app.workspace.show_pane(pane)
        await view.settle()
        segfault.active.asked.clear()
        await view.burst(typed, D="down", d="down", U="up", **{"\r": "enter"})
        assert segfault.active.asked[0][: len(asked)] == asked
        assert segfault.state.rung == "gdb"


async def test_a_running_target_is_timed(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        debug = segfault.active.state
        debug.run, debug.run_detail, debug.since, debug.fault = Run.RUNNING, "", 99.8, False
        segfault.tell(Change.RUN)
        await view.settle()
        status = view.text().splitlines()[-1]
        assert "▶ running 3 s" in status
        assert "Ctrl-C interrupt" in status
        # Nothing of the stop before is told as if it were so now, and no key is offered that would be refused.
        for word in ("thread", " ms", "c continue", "n next"):
            assert word not in status
        await view.press("c")
        assert "the target runs already; Ctrl-C stops it" in view.text()
        assert segfault.active.asked == []


async def test_only_keys_that_are_no_text_are_offered_where_text_is_typed(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("colon")
        end = view.app.workspace.status_bar.row(0).end
        assert [cell.text.strip() for cell in end[::2]][:4] == ["Esc", "F10", "F11", "Shift-F11"]
        assert view.app.focused.id == "console"
        await view.press("n", "f10")
        assert segfault.active.asked == [("resume", StepKind.NEXT)]
        await view.click("#status-bar", view.text().splitlines()[-1].index("leave"), 0)
        assert view.app.focused.id == "source"
        assert view.text().splitlines()[-1].count("n next") == 1


@pytest.mark.parametrize("width", [200, 80, 44])
async def test_the_remedy_of_a_long_notice_can_be_read(segfault: Any, show: Any, width: int) -> None:
    async with show(segfault, (width, 24)) as view:
        view.app.say(
            "the engine could not be started: its file is not executable — chmod +x /opt/gdb/bin/gdb", "error"
        )
        await view.settle()
        shown = " ".join(line.strip() for line in view.text().splitlines()[-5:])
        assert "chmod +x /opt/gdb/bin/gdb" in shown
        await view.resize(60, 24)
        assert "chmod +x" in view.text()
        await view.press("n")
        assert "chmod" not in view.text()


@pytest.mark.parametrize(
    ("run", "detail", "words"),
    [
        (Run.RUNNING, "", "the target runs"),
        (Run.EXITED, "exited normally", "the program has ended; c runs it again"),
        (Run.EXITED, NOT_STARTED, "the program does not run yet; c runs it"),
        (Run.DEAD, "gdb died", "the engine is gone; c starts it again"),
        (Run.NOTHING, "", "nothing is open on this rung"),
    ],
)
async def test_panes_say_why_they_are_empty(segfault: Any, show: Any, run: Run, detail: str, words: str) -> None:
    bare = DebugState("gdb", title="segfault", run=run, run_detail=detail, capabilities=~Capability.NONE)
    segfault.active.state = segfault.state.debug["gdb"] = bare
    # A report is open, too: its lanes are on another rung.
    segfault.state.report = read_report([Path(__file__).parent / "reports/memcheck-oob.log"])
    async with show(segfault, (200, 60)) as view:
        panes = view.app.workspace.panes
        assert [panes[name].empty_text() for name in ("stack", "variables", "disassembly")] == [words] * 3


async def test_hints_are_of_the_pane_that_has_the_keys(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        for _ in range(3):
            await view.press("w", "p")
            assert "i type" in view.text().splitlines()[-1]
            await view.press("w", "c")
            assert "Esc leave" in view.text().splitlines()[-1]
            await view.press("escape", "w", "b")
            assert "x delete" in view.text().splitlines()[-1]


async def test_the_stack_stays_where_one_went_while_more_of_it_is_loaded(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        debug = segfault.active.state
        place = debug.place

        def load(count: int) -> None:
            frames = tuple(Frame(level, "dive", place, "0x1") for level in range(count))
            debug.frames = FrameWindow(frames, more=True)
            segfault.tell(Change.FRAMES)

        load(6)
        await view.press("w", "t", "end")
        stack = view.app.workspace.panes["stack"]
        assert segfault.active.asked[-1][0] == "outermost"
        at = stack.cursor
        load(70)
        await view.settle()
        assert stack.cursor == at
        assert f"▸ #{at}" in view.text()
        debug.since += 1
        load(6)
        await view.settle()
        assert stack.cursor == 0


async def test_the_cost_of_a_stop_is_measured_once(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        debug = segfault.active.state
        debug.since, debug.stop_to_paint = 102.75, None
        segfault.tell(Change.RUN | Change.FRAMES)
        await view.settle()
        assert debug.stop_to_paint == pytest.approx(0.25)
        view.app.clock = lambda: 110.0
        # A frame is selected, a value read again: the target has not moved.
        segfault.tell(Change.RUN | Change.FRAMES)
        await view.settle()
        assert debug.stop_to_paint == pytest.approx(0.25)


@pytest.mark.parametrize("pane", ["source", "stack", "variables", "breakpoints"])
async def test_nothing_is_scrolled_sideways_further_than_it_is_cut(segfault: Any, show: Any, pane: str) -> None:
    segfault.sources["segfault.c"] = replace(
        segfault.sources["segfault.c"], lines=("int " + "x" * 150 + "; // END",)
    )
    async with show(segfault, (120, 40)) as view:
        view.app.workspace.show_pane(pane)
        await view.settle()
        before = view.text()
        await view.press(*["right"] * 30)
        if pane == "source":
            assert "; // END" in view.text()
            assert "…" in view.text()
        else:
            assert view.text() == before
        await view.press(*["left"] * 30)
        assert view.text() == before


async def test_what_is_pending_is_shown_with_its_age(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.waiting = [("-exec-next", 4.2), ("-stack-list-frames", 1.0)]
        segfault.tell(Change.RUN)
        await view.settle()
        assert "waits 4 s for -exec-next +1" in view.text()
        segfault.active.waiting = []
        segfault.tell(Change.RUN)


async def test_asked_and_reached_are_told_apart(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        assert "asked = reached" in view.text()
        gpu_dump.active.state.asked = Focus.of(block=(1, 0, 0), thread=(0, 0, 0))
        gpu_dump.tell(Change.FOCUS)
        await view.settle()
        assert "≠ asked block (1,0,0) thread (0,0,0)" in view.text()


async def test_a_dead_engine_is_a_state(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        dead = DebugState("gdb", title="segfault", run=Run.DEAD, run_detail="gdb died (signal 11)")
        segfault.active.state = segfault.state.debug["gdb"] = dead
        segfault.tell(~Change.NONE)
        await view.settle()
        assert "✗ gdb died (signal 11)" in view.text()
        assert "c restart" in view.text().splitlines()[-1]
        await view.press("n")
        assert "next: the engine is gone; c starts it again" in view.text()
        await view.press("c")
        assert segfault.active.asked == [("resume", StepKind.CONTINUE)]


async def test_a_request_that_waits_is_noticed_without_any_change(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        answered = asyncio.Event()
        segfault.active.waiting = [("-var-evaluate", 0.6)]
        view.app.work(answered.wait())
        async with asyncio.timeout(20):
            while "waits 1 s for -var-evaluate" not in view.text():
                await view.pilot.pause(0.1)
        answered.set()
        segfault.active.waiting = []


@pytest.mark.parametrize(
    ("run", "last", "waiting", "interrupts"),
    [
        (Run.RUNNING, "", [], True),
        (Run.STOPPED, "(gdb) ", [], False),
        (Run.STOPPED, "", [], False),
        (Run.STOPPED, "(gdb) ", [("-var-update", 0.1)], True),
        # Half a `commands`, and a question: the engine waits in the middle of a command.
        (Run.STOPPED, ">", [], True),
        (Run.STOPPED, "Delete all breakpoints? (y or n) ", [], True),
        (Run.DUMP, "(cuda-gdb) ", [], False),
        (Run.DEAD, ">", [], False),
    ],
)
async def test_ctrl_c_ends_whatever_is_under_way(
    segfault: Any, show: Any, run: Run, last: str, waiting: list[tuple[str, float]], interrupts: bool
) -> None:
    async with show(segfault) as view:
        debug = segfault.active.state
        debug.run, segfault.active.waiting = run, waiting
        debug.console.append(last)
        await view.press("ctrl+c")
        assert segfault.active.asked == ([("interrupt",)] if interrupts else [])
        assert ("nothing runs" in view.text()) is not interrupts
        segfault.active.waiting = []

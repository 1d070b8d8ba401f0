from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger.contract import Capability, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.sanitizer import read_report
from ladder_backends.session.state import NOT_STARTED, Change, DebugState, Notice, Run
from ladder_tui.actions import ACTIONS
from ladder_tui.screens.choice import ChoiceScreen
from ladder_tui.screens.commands import read_place
from ladder_tui.screens.help import HelpScreen

SIZES = [(120, 40), (80, 24), (200, 60)]


@pytest.mark.parametrize(
    ("key", "kind"),
    [("n", "next"), ("f10", "next"), ("s", "step"), ("f11", "step"), ("f", "finish"), ("shift+f11", "finish"),
     ("c", "continue"), ("f5", "continue")],
)  # fmt: skip
async def test_run_control_reaches_the_session(segfault: Any, show: Any, key: str, kind: str) -> None:
    async with show(segfault) as view:
        await view.press(key)
        assert segfault.active.asked == [("resume", StepKind(kind))]


@pytest.mark.parametrize("pane", ["s", "t", "v", "b"])
async def test_run_control_works_in_every_view(segfault: Any, show: Any, pane: str) -> None:
    async with show(segfault) as view:
        await view.press("w", pane, "n")
        assert segfault.active.asked == [("resume", StepKind.NEXT)]


async def test_letters_are_text_where_text_is_typed(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("slash", *"next")
        assert " / next" in view.text()
        assert segfault.active.asked == []
        await view.press("f10")
        assert segfault.active.asked == [("resume", StepKind.NEXT)]


async def test_keys_typed_ahead_of_the_prompt_are_its_text(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        # One burst, as a paste or a fast typist sends it: 1 must not change the rung.
        await view.pilot.press("g", "1", "0", "enter")
        await view.settle()
        assert view.app.focused.id == "source"
        assert view.app.focused.cursor == 9
        assert segfault.state.rung == "gdb"


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


async def test_w_and_a_letter_go_to_a_pane(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("w")
        assert "v vars" in view.text()
        await view.press("b")
        assert view.app.focused.id == "breakpoints"
        assert "◌ pending    later.c:3" in view.text()
        await view.press("w", "escape")
        assert view.app.focused.id == "breakpoints"


async def test_zoom_gives_a_pane_everything_and_gives_it_back(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        before = view.text()
        await view.press("z")
        assert list(view.app.workspace.area.regions) == ["source"]
        await view.press("z")
        assert view.text() == before


async def test_tab_goes_round(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        seen = []
        for _ in range(3):
            seen.append(view.app.focused.id)
            await view.press("tab")
        assert seen == ["source", "stack", "variables"]
        await view.press("shift+tab")


async def test_a_refused_action_says_why(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.state.run = Run.RUNNING
        segfault.tell(Change.RUN)
        await view.press("n")
        assert "next: the target runs; Ctrl-C stops it" in view.text()
        assert segfault.active.asked == []
        await view.press("up")
        assert "next: the target runs" not in view.text()


async def test_an_error_is_one_line_and_ends_nothing(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.answers["resume"] = CommandFailed("-exec-next", "Cannot find bounds of current function")
        await view.press("n")
        assert "✗ Cannot find bounds of current function" in view.text()


async def test_even_a_fault_of_ours_is_one_line(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.answers["resume"] = ZeroDivisionError("half of nothing")
        await view.press("n")
        assert "ZeroDivisionError: half of nothing" in view.text()


async def test_a_notice_of_the_session_is_shown(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.state.notice = Notice("the log is cut — run it again", "warning")
        segfault.tell(Change.NOTICE)
        await view.settle()
        assert "! the log is cut — run it again" in view.text()


async def test_b_and_a_click_in_the_gutter_toggle(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("up", "up", "b")
        assert segfault.active.asked.pop() == ("toggle_breakpoint", "/src/segfault.c:3")
        await view.click("#source", 3, 10)
        assert segfault.active.asked.pop() == ("toggle_breakpoint", "/src/segfault.c:10")
        await view.click("#source", 30, 4)
        assert segfault.active.asked == []
        await view.press("u")
        assert segfault.active.asked == [("resume", StepKind.UNTIL, "/src/segfault.c:4")]


async def test_a_frame_is_selected_by_enter_and_by_click(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("w", "t", "down", "enter")
        await view.click("#stack", 10, 1)
        assert segfault.active.asked == [("select_frame", 1), ("select_frame", 0)]


async def test_search_goes_round_and_repeats(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        source = view.app.workspace.panes["source"]
        await view.press("slash", *"TOTAL", "enter")
        assert source.cursor == 5
        await view.press("slash", "enter")
        assert source.cursor == 9
        await view.press("slash", *"nowhere", "enter")
        assert "not found: nowhere" in view.text()


async def test_y_copies_the_row(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("y")
        assert "total += data[i]" in view.app.clipboard
        await view.press("w", "v", "down", "y")
        assert view.app.clipboard == "8"


async def test_goto_takes_a_line_or_a_lane(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("g", *"3,0,0 255,0,0", "enter")
        assert gpu_dump.asked[-1] == ("jump_to", Focus.of(block=(3, 0, 0), thread=(255, 0, 0)))
        await view.press("g", *"nonsense", "enter")
        assert "write a line, or block and thread: 3,0,0 240,0,0" in view.text()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12", 12),
        ("3,0,0 240,0,0", Focus.of(block=(3, 0, 0), thread=(240, 0, 0))),
        ("(3,0,0) (240,0,0)", Focus.of(block=(3, 0, 0), thread=(240, 0, 0))),
        ("block (3,0,0) thread (240,0,0)", Focus.of(block=(3, 0, 0), thread=(240, 0, 0))),
        ("thread 240", Focus.of(thread=(240, 0, 0))),
        ("7,0,0", Focus.of(thread=(7, 0, 0))),
    ],
)
def test_places_are_read(text: str, place: object) -> None:
    assert read_place(text) == place


@pytest.mark.parametrize("text", ["", "x", "block", "1,2 3,4 5,6", "warp 3", "-4", "1,2,3,4"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        read_place(text)


async def test_ctrl_c_interrupts_and_twice_offers_more(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.state.run = Run.RUNNING
        await view.press("ctrl+c")
        assert segfault.active.asked == [("interrupt",)]
        await view.press("ctrl+c")
        assert isinstance(view.app.screen, ChoiceScreen)
        await view.press("e")
        assert segfault.active.asked[-1] == ("close",)


async def test_q_asks_before_it_ends_something(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("q")
        assert "Launched programs end with the console" in view.text()
        await view.press("escape")
        assert view.app.is_running
        await view.press("q", "q")
        assert not view.app.is_running
    assert segfault.asked[-1] == ("close",)


async def test_q_does_not_ask_where_nothing_would_end(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("q")
        assert not view.app.is_running


async def test_digits_and_clicks_change_the_rung(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("3")
        assert gpu_dump.state.rung == "cuda-gdb"
        await view.click("#rung-bar", 32, 0)
        assert gpu_dump.state.rung == "sanitizer"
        await view.press("4")
        assert gpu_dump.state.rung == "sanitizer"
        assert "rocgdb rung is not built yet" in view.text()


async def test_every_hint_of_the_status_bar_works(segfault: Any, show: Any) -> None:
    by_label = {(action.key_label, action.hint): action for action in ACTIONS}
    async with show(segfault, (200, 60)) as view:
        for pane in ("source", "stack", "variables", "breakpoints"):
            view.app.workspace.show_pane(pane)
            await view.settle()
            end = view.app.workspace.status_bar.row(0).end
            labels = [(key.text.strip(), hint.text.strip()) for key, hint in zip(end[::2], end[1::2], strict=True)]
            assert labels
            for label in labels:
                action = by_label[label]
                assert action.scope in ("workspace", pane)
                assert view.app.active_bindings[action.keys[0]].enabled


async def test_a_click_on_a_hint_does_it(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        text = view.text().splitlines()[-1]
        await view.click("#status-bar", text.index("next"), 0)
        assert segfault.active.asked == [("resume", StepKind.NEXT)]


async def test_help_shows_every_key(segfault: Any, show: Any) -> None:
    async with show(segfault, (120, 120)) as view:
        await view.press("question_mark")
        assert isinstance(view.app.screen, HelpScreen)
        shown = view.text()
        for action in ACTIONS:
            assert action.description in shown
        await view.press("escape")
        assert view.app.screen is view.app.workspace


async def test_the_palette_finds_an_action_and_does_it(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.pilot.press("ctrl+p")
        await view.pilot.pause()
        await view.pilot.press(*"next line of this")
        await view.pilot.pause(0.3)
        await view.pilot.press("enter")
        await view.settle()
        assert segfault.active.asked == [("resume", StepKind.NEXT)]


async def test_users_keys_are_taken(segfault: Any, show: Any) -> None:
    async with show(segfault, keys={"run.next": "m"}) as view:
        await view.press("m")
        await view.press("n")
        assert segfault.active.asked == [("resume", StepKind.NEXT)]


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (39, 10), (40, 9)])
async def test_too_small_says_so_and_survives(segfault: Any, show: Any, size: tuple[int, int]) -> None:
    async with show(segfault, size) as view:
        if size[0] >= 20:
            assert f"({size[0]}x{size[1]})" in view.text()
            assert "needs 40x10" in " ".join(view.text().split())
        await view.resize(120, 40)
        assert "compute_total" in view.text()


async def test_any_size_can_follow_any_other(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        for size in [(40, 10), (200, 60), (1, 1), (80, 24), (61, 17), (300, 12), (45, 90), (120, 40)]:
            await view.resize(*size)
            lines = view.text().splitlines()
            assert len(lines) == size[1]
            assert max(map(len, lines)) <= size[0]


@pytest.mark.parametrize("size", SIZES)
async def test_nothing_open_is_a_state(empty_ladder: Any, show: Any, size: tuple[int, int]) -> None:
    async with show(empty_ladder, size) as view:
        assert "○ nothing open" in view.text()
        await view.press("n", "b", "enter", "y", "slash", "x", "enter", "up", "down", "g", "3", "enter")
        assert view.app.is_running


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
        assert segfault.active.asked[-1][0] == "load_frames"
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

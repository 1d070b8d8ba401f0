from __future__ import annotations

from typing import Any

import pytest

from ladder_backends.debugger.contract import StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.model.focus import Focus
from ladder_backends.session.state import Change, Notice, Run
from ladder_tui.actions import ACTIONS
from ladder_tui.panes import PANES
from ladder_tui.screens.choice import ChoiceScreen
from ladder_tui.screens.coordinates import read_place
from ladder_tui.screens.help import HelpScreen
from ladder_tui.widgets.row import width_of

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


async def test_w_and_a_letter_go_to_a_pane(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("w")
        assert "v vars" in view.text()
        await view.press("b")
        assert view.app.focused.id == "breakpoints"
        assert "◌ break  later.c:3" in view.text()
        await view.press("w", "escape")
        assert view.app.focused.id == "breakpoints"


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (220, 50)])
async def test_w_tells_the_letter_of_every_pane_at_any_size(
    segfault: Any, show: Any, size: tuple[int, int]
) -> None:
    async with show(segfault, size) as view:
        await view.press("w")
        text = view.text()
        narrow = size[0] < 100
        for pane_id, entry in PANES.items():
            name = entry.short if narrow and entry.short else entry.name.lower()
            # The machine and a job have rungs of their own.
            of_this = pane_id not in ("topology", "matrix", "ranks", "verdict")
            assert (f"{entry.letter} {name}" in text) is of_this
        await view.press("e")
        assert view.app.focused.id == "environment"
        assert "l libraries" not in view.text()


async def test_changes_that_come_while_the_widgets_go_are_no_fault(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.app.workspace.status_bar.remove()
        view.app.ladder.tell(Change.RUN)


async def test_panes_are_gone_to_and_zoomed_from_where_text_is_typed(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("w", "c", "f12")
        assert list(view.app.workspace.area.regions) == ["console"]
        await view.press("f12", "f6", "s")
        assert view.app.focused.id == "source"
        assert len(view.app.workspace.area.regions) > 1


@pytest.mark.parametrize("size", [(50, 16), (80, 24), (200, 60)])
async def test_no_description_of_a_key_is_cut(segfault: Any, show: Any, size: tuple[int, int]) -> None:
    async with show(segfault, size) as view:
        await view.press("question_mark")
        keys = view.app.screen.query_one("#key-list")
        rows = [keys.row(index) for index in range(keys.row_count)]
        assert max(width_of(row.cells) for row in rows) <= size[0]
        told = " ".join(" ".join(row.text() for row in rows).split())
        if size[0] <= 80:
            assert [one.description for one in ACTIONS if one.description not in told] == []


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


async def test_even_a_fault_of_ours_is_one_line(segfault: Any, show: Any, faults: list[BaseException]) -> None:
    async with show(segfault) as view:
        segfault.active.answers["resume"] = ZeroDivisionError("half of nothing")
        await view.press("n")
        assert "ZeroDivisionError: half of nothing" in view.text()
    assert [type(fault) for fault in faults] == [ZeroDivisionError]
    faults.clear()


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
        assert "total += data[i]" in view.text().partition("copied: ")[2]
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


@pytest.mark.parametrize("text", ["", "x", "block", "1,2 3,4 5,6", "warp", "-4", "1,2,3,4"])
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


async def test_ctrl_c_of_a_target_that_runs_anew_interrupts_it(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        debug = segfault.active.state
        debug.run, debug.since = Run.RUNNING, 1.0
        await view.press("ctrl+c")
        debug.run, debug.since = Run.STOPPED, 2.0
        debug.run, debug.since = Run.RUNNING, 3.0
        await view.press("ctrl+c")
        assert segfault.active.asked == [("interrupt",), ("interrupt",)]
        await view.press("ctrl+c")
        assert isinstance(view.app.screen, ChoiceScreen)


async def test_ctrl_c_twice_offers_nothing_that_cannot_be_done(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        gpu_dump.active.state.run = Run.DEAD
        await view.press("ctrl+c", "ctrl+c")
        assert "leave" in view.text()
        assert "interrupt again" not in view.text()
        assert "end the engine" not in view.text()


async def test_a_click_takes_what_was_said_away_as_a_key_does(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        view.app.say("what was said before")
        await view.settle()
        assert "what was said before" in view.text()
        await view.click("#findings", 5, 3)
        assert "what was said before" not in view.text()


async def test_what_was_said_last_is_shown_whoever_said_it(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        gpu_dump.state.notice = Notice("the ladder said this")
        gpu_dump.tell(Change.NOTICE)
        await view.settle()
        assert "the ladder said this" in view.text()
        gpu_dump.active.state.notice = Notice("cuda-gdb died", "error")
        gpu_dump.tell(Change.NOTICE)
        await view.settle()
        assert "cuda-gdb died" in view.text()
        assert "the ladder said this" not in view.text()


async def test_a_rung_with_nothing_open_says_how_to_open_something(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("1")
        assert "start with: ladder-tui run PROGRAM" in view.text()
        await view.press("3")
        assert "start with:" not in view.text()


async def test_q_asks_before_it_ends_something(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("q")
        assert "Launched programs end with the console" in view.text()
        await view.press("escape")
        assert view.app.is_running
        await view.press("q", "q")
        assert not view.app.is_running
    assert segfault.asked[-1] == ("close",)


async def test_y_answers_the_question_to_leave_too(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("q", "y")
        assert not view.app.is_running


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
    async with show(segfault, (200, 240)) as view:
        await view.press("question_mark")
        assert isinstance(view.app.screen, HelpScreen)
        shown = view.text()
        for action in ACTIONS:
            assert action.description in shown
        await view.press("escape")
        assert view.app.screen is view.app.workspace


async def test_typing_searches_the_keys(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("question_mark", *"scope q")
        assert "no key and no command has: scope q" in view.text()
        await view.press("escape", *"finish", "space", *"until")
        shown = view.text()
        assert "Run until this function returns" in shown
        assert "Show every key" not in shown
        await view.press("escape", "escape")
        assert view.app.screen is view.app.workspace


async def test_the_keys_of_the_view_in_focus_come_first(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("w", "v", "question_mark")
        assert view.text().splitlines()[1].strip() == "Variables"


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


async def test_users_keys_are_named_wherever_keys_are(segfault: Any, show: Any) -> None:
    async with show(segfault, keys={"run.next": "m,F7", "run.interrupt": "Ctrl-X", "run.continue": "v"}) as view:
        assert "m next" in view.text()
        assert "v continue" in view.text()
        segfault.active.state.run = Run.RUNNING
        segfault.tell(Change.RUN)
        await view.press("m")
        assert "next: the target runs; Ctrl-X stops it" in view.text()
        await view.press("f1")
        assert "m  F7" in view.text()
    async with show(segfault) as view:
        await view.press("n")
        assert "next: the target runs; Ctrl-C stops it" in view.text()


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


async def test_what_is_typed_into_keeps_the_keys_in_every_size(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("colon", "p", "r")
        for size in ((40, 10), (80, 24), (20, 5), (120, 40), (40, 10), (200, 50)):
            await view.resize(*size)
            await view.settle()
        await view.press("i", "n", "t")
        assert "(gdb) print" in view.text()
        await view.press("escape", "w", "t")
        await view.resize(40, 10)
        await view.settle()
        assert view.app.focused.id == "stack"
        assert "compute_total" in view.text()


@pytest.mark.parametrize("size", SIZES)
async def test_nothing_open_is_a_state(empty_ladder: Any, show: Any, size: tuple[int, int]) -> None:
    async with show(empty_ladder, size) as view:
        assert "○ nothing open" in view.text()
        await view.press("n", "b", "enter", "y", "slash", "x", "enter", "up", "down", "g", "3", "enter")
        assert view.app.is_running


async def test_the_palette_knows_commands_by_their_short_names(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("ctrl+p", *"quit")
        await view.pilot.app.workers.wait_for_complete()
        await view.pilot.pause()
        assert "Leave; asks before it ends something" in view.text()
        assert "No matches found" not in view.text()

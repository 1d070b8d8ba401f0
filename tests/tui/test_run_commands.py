"""Keys for what a run does beyond steps: asked where it cannot be undone, one call to the session each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger.contract import Capability, StepKind
from ladder_backends.debugger.target import AttachTarget, LaunchTarget
from ladder_backends.model.frame import FrameWindow
from ladder_backends.model.launch import AVOID_UNRECORDABLE, ForkMode, LaunchSettings
from ladder_backends.model.variable import VariableWindow
from ladder_backends.session.state import Change, Run
from ladder_tui.screens.run_settings import SettingInvalid, run_settings_form, settings_of


class ControlDouble:
    """Stands where a `RunControl` stands, and notes what it is asked."""

    def __init__(self, session: Any) -> None:
        self.state = session.state.control
        self.asked: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        async def ask(*arguments: Any) -> None:
            self.asked.append((name, *arguments))

        return ask


@pytest.fixture
def control(segfault: Any) -> ControlDouble:
    session = segfault.active
    session.target = LaunchTarget(Path("/bin/segfault"))
    session.control = ControlDouble(session)
    return session.control


async def test_advance_runs_to_the_cursors_line(segfault: Any, control: ControlDouble, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("down", "a")
        assert segfault.active.asked[-1] == ("resume", StepKind.ADVANCE, "/src/segfault.c:6")


async def test_a_key_typed_right_behind_a_line_is_a_command(
    segfault: Any, control: ControlDouble, show: Any
) -> None:
    async with show(segfault) as view:
        await view.burst("g2⏎an", **{"⏎": "enter"})
        assert segfault.active.asked == [
            ("resume", StepKind.ADVANCE, "/src/segfault.c:2"),
            ("resume", StepKind.NEXT),
        ]


async def test_jump_asks_first(segfault: Any, control: ControlDouble, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("down", "J")
        assert "Jump to segfault.c:6?" in view.text()
        await view.press("escape")
        assert control.asked == []
        await view.press("J", "j")
        assert control.asked == [("jump", "/src/segfault.c:6")]


async def test_return_asks_for_a_value(segfault: Any, control: ControlDouble, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("R")
        assert "Return from compute_total now?" in view.text()
        await view.press("escape", "R", "4", "2", "enter")
        assert control.asked == [("return_now", "42")]
        await view.press("R", "enter")
        assert control.asked[-1] == ("return_now", "")


async def test_call_asks_for_a_line(segfault: Any, control: ControlDouble, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("X", *"f(1)", "enter")
        assert control.asked == [("call", "f(1)")]
        await view.press("X", "enter", "X", "escape")
        assert len(control.asked) == 1


@pytest.mark.parametrize(("key", "word"), [("k", "kill"), ("D", "detach")])
async def test_ends_ask_first(segfault: Any, control: ControlDouble, show: Any, key: str, word: str) -> None:
    async with show(segfault) as view:
        await view.press(key)
        assert f"{word.capitalize()}{' from' if word == 'detach' else ''} segfault?" in view.text()
        await view.press("n")
        assert control.asked == []
        await view.press(key, "enter")
        assert control.asked == [(word,)]
        segfault.active.state.run = Run.EXITED
        segfault.tell(Change.RUN)
        await view.press(key)
        assert f"{word}: no program runs" in view.text()


async def test_a_dump_has_no_process(gpu_dump: Any, show: Any) -> None:
    gpu_dump.state.rung = "cuda-gdb"
    async with show(gpu_dump) as view:
        for key, word in (("k", "kill"), ("E", "settings"), ("left_square_bracket", "backwards"), ("a", "advance")):
            # Esc: keys right behind one that opens nothing are no commands.
            await view.press("escape", key)
            assert f"{word}: " in view.text()
            assert view.app.screen is view.app.workspace


async def test_backwards_is_shown_where_it_runs(segfault: Any, control: ControlDouble, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("left_square_bracket")
        assert control.asked == [("toggle_backwards",)]
        control.state.recording = "full"
        segfault.tell(Change.RUN)
        await view.settle()
        assert "● recording" in view.text().splitlines()[-1]
        control.state.backwards = True
        segfault.tell(Change.RUN)
        await view.settle()
        assert "◀ backwards" in view.text().splitlines()[-1]
        control.state.processes = {"i1": 10, "i2": 11}
        segfault.tell(Change.RUN)
        await view.settle()
        assert "2 processes" in view.text().splitlines()[-1]


async def test_settings_are_shown_changed_and_given(
    segfault: Any, control: ControlDouble, show: Any, tmp_path: Path
) -> None:
    control.state.settings = LaunchSettings(("-n", "two words"), {"A": "1", **AVOID_UNRECORDABLE}, tmp_path)
    async with show(segfault, (80, 24)) as view:
        await view.press("E")
        text = view.text()
        assert "How to start segfault" in text
        assert "-n 'two words'" in text
        assert "[x] on" in text
        assert "GLIBC_TUNABLES" not in text
        await view.press(
            "end", *" x", "tab", *" B=2", "tab", "ctrl+u", "tab", *"/dev/null", "tab", "right", "enter"
        )
        assert control.asked == [
            (
                "configure",
                LaunchSettings(
                    ("-n", "two words", "x"), {"A": "1", "B": "2", **AVOID_UNRECORDABLE}, None, Path("/dev/null")
                ),
                ForkMode.CHILD,
            )
        ]


async def test_what_is_wrong_stays_in_the_form(segfault: Any, control: ControlDouble, show: Any) -> None:
    async with show(segfault, (40, 10)) as view:
        await view.press("E", *"'a", "enter")
        assert "no closing quotation" in view.text()
        await view.press("'", "tab", *"A", "enter")
        assert "neither NAME=value" in view.text()
        await view.press("ctrl+u", "tab", *"/no such", "enter")
        assert "no such folder" in view.text()
        await view.press("ctrl+u", "tab", *"/tmp", "enter")
        assert "/tmp is a folder" in view.text()
        assert control.asked == []
        await view.press("ctrl+u", "enter")
        assert control.asked == [("configure", LaunchSettings(("a",)), ForkMode.PARENT)]


async def test_the_last_time_is_offered(segfault: Any, control: ControlDouble, show: Any) -> None:
    control.state.last_used = LaunchSettings(("-n", "3"))
    async with show(segfault, (80, 24)) as view:
        await view.press("E")
        assert "As it was started the last time" in view.text()
        await view.press("enter")
        assert control.asked == [("configure", LaunchSettings(("-n", "3")), ForkMode.PARENT)]


async def test_of_a_process_that_was_attached_to_only_forks_are_asked(
    segfault: Any, control: ControlDouble, show: Any
) -> None:
    segfault.active.target = AttachTarget(4711)
    async with show(segfault, (80, 24)) as view:
        await view.press("E")
        assert "At a fork of segfault" in view.text()
        await view.press("left", "enter")
        assert control.asked == [("follow_at_fork", ForkMode.BOTH)]


async def test_what_was_let_go_is_not_said_to_have_ended(segfault: Any, control: ControlDouble, show: Any) -> None:
    """Neither its panes nor its keys promise to run a process again that was only attached to."""
    debug = segfault.active.state
    debug.control.startable = False
    debug.run, debug.run_detail = Run.EXITED, "detached from process 4711"
    debug.frames, debug.variables = FrameWindow(), VariableWindow()
    async with show(segfault, (80, 24)) as view:
        assert "has ended" not in view.text()
        assert "attaches to a" in view.text()
        assert "c run" not in view.text()
        await view.press("c")
        assert "detached from process 4711; A attaches to a process" in view.text()
        await view.press("r")
        assert segfault.active.asked == []


async def test_a_process_that_was_attached_to_is_not_offered_to_be_started_again(
    segfault: Any, control: ControlDouble, show: Any
) -> None:
    segfault.active.state.control.startable = False
    async with show(segfault, (80, 24)) as view:
        assert "c continue" in view.text()
        await view.press("r")
        assert "Start again?" not in view.text()
        assert "only a program that was started here" in view.text()


def test_settings_with_hostile_values_survive_the_form(segfault: Any) -> None:
    from ladder_tui.theming import Palette, load_theme

    control = segfault.active.state.control
    control.settings = LaunchSettings(
        ("\x1b[2J", "a\nb", "", "'\"$x`"), {"L": "1\n2", "G": None}, Path("/tmp"), Path("/dev/null")
    )
    form = run_settings_form(control, "x\x1b[0m", Palette(load_theme("dark")), launched=True)
    assert settings_of(form.values()) == control.settings
    with pytest.raises(SettingInvalid):
        settings_of({**form.values(), "directory": "/no such"})


async def test_a_second_ctrl_c_offers_to_stop_it_hard(segfault: Any, control: ControlDouble, show: Any) -> None:
    segfault.active.state.run = Run.RUNNING
    async with show(segfault) as view:
        await view.press("ctrl+c", "ctrl+c")
        assert "stop it hard" in view.text()
        await view.press("s")
        assert control.asked == [("stop_hard",)]
        segfault.active.state.capabilities &= ~Capability.PROCESS
        await view.press("ctrl+c", "ctrl+c")
        assert "stop it hard" not in view.text()


async def test_a_third_ctrl_c_interrupts_again_and_keeps_the_offer(
    segfault: Any, control: ControlDouble, show: Any
) -> None:
    segfault.active.state.run = Run.RUNNING
    async with show(segfault) as view:
        await view.press("ctrl+c", "ctrl+c", "ctrl+c")
        assert "stop it hard" in view.text()
        assert segfault.active.asked.count(("interrupt",)) == 2

"""Text of programs reaches the screen as content: no markup, no escape, no change of direction."""

from __future__ import annotations

from typing import Any

import pytest

from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.model.grid import Instruction
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.sources import SourceFile, SourceState
from ladder_backends.session.state import Change, Notice, Run
from ladder_tui.panes import PANES

HOSTILE = [
    "[/bold]",
    "[bold]x",
    "[@click=app.quit]go[/]",
    "[link=file:///etc/passwd]x[/link]",
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x9b31mred",
    "a\rb\x08\x0c",
    "\u202eevil\u2066",
    "\u200b\ufeff",
    "e" + "\u0301" * 40,
    "名" * 60,
    "👩‍👩‍👧‍👦" * 20,
    "x" * 5_000,
    "",
    " ",
    "\ud800",
]


def put_everywhere(ladder: Any, text: str) -> None:
    """Let a text stand wherever a program or a tool can put one."""
    debug = ladder.active.state
    place = Place(text, 2, text)
    debug.title = debug.run_detail = debug.reason = text
    debug.place, debug.run = place, Run.STOPPED
    frames = tuple(Frame(level, text, place, text, text, ((text, text),)) for level in range(3))
    debug.frames = FrameWindow(frames, more=True)
    debug.variables = VariableWindow(
        (
            Variable(text, text, text, changed=True, cut=True),
            Variable("e", "", error=text),
            Variable("n", text, text),
        ),
        note=text,
        more=True,
    )
    intent = BreakpointIntent(1, text, condition=text)
    debug.breakpoints = (
        BreakpointBinding(intent, BindingState.FAILED, text, (), why=text),
        BreakpointBinding(intent, BindingState.SET, text, (place,)),
    )
    debug.disassembly = (Instruction(text, text, text), Instruction("0x1", text))
    debug.focus = Focus(((text, 1),))
    debug.console.extend([text, text])
    debug.program.append(text.encode("utf-8", "surrogatepass"))
    debug.notice = Notice(text, "error")
    ladder.state.case_title = text
    source = SourceFile(text, SourceState.EDITED, lines=(text, text, f"int {text};"), note=text)
    ladder.sources = {text: source, text.rsplit("/", 1)[-1]: source}


def assert_content(shown: str, text: str) -> None:
    for line in shown.splitlines():
        assert line.isprintable(), ascii(line)
    if text.startswith("["):
        assert text[:5] in shown


async def test_the_whole_screen_shows_hostile_text_as_text(segfault: Any, show: Any) -> None:
    async with show(segfault, (200, 60)) as view:
        for text in HOSTILE:
            put_everywhere(segfault, text)
            segfault.tell(~Change.NONE)
            await view.settle()
            assert_content(view.text(), text)
        segfault.active.state.run = Run.EXITED
        segfault.tell(~Change.NONE)
        await view.settle()
        assert view.app.is_running


@pytest.mark.parametrize("pane", PANES)
async def test_each_pane_alone_does(segfault: Any, show: Any, pane: str) -> None:
    async with show(segfault, (60, 16)) as view:
        view.app.workspace.show_pane(pane)
        view.app.workspace.action_zoom()
        for text in HOSTILE:
            put_everywhere(segfault, text)
            segfault.tell(~Change.NONE)
            await view.settle()
            assert_content(view.text(), "")
        await view.press("down", "up", "right")
        assert_content(view.text(), "")

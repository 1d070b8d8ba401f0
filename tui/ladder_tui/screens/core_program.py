"""A core without its program: ask for it, and compare what is named before it is opened."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import CoreTarget
from ladder_backends.paths import typed_path
from ladder_backends.text import clean_line
from ladder_tui.opening import Opening

if TYPE_CHECKING:
    from ladder_tui.screens.workspace import Workspace


def ask_for_program(home: Workspace, *, initial: str = "") -> None:
    """Ask for the program of the core on screen, where it was not found; Esc leaves the core as it is."""
    session = home.ladder.active
    missing = session.debugger.missing_program if session is not None else ""
    target = session.target if session is not None else None
    if not missing or not isinstance(target, CoreTarget):
        return
    core = target.core

    def named(text: str) -> None:
        if text.strip():
            program = typed_path(text)
            home.ladder_app.work(_compare_and_open(home, core, program, text))

    home.prompt.ask("program", named, initial=initial, placeholder=f"path of {missing}; Esc: addresses only")


async def _compare_and_open(home: Workspace, core: Path, program: Path, text: str) -> None:
    from ladder_backends.gdb.core_program import difference

    if not await asyncio.to_thread(program.is_file):
        home.ladder_app.say(f"there is no program {text}", "warning")
        ask_for_program(home, initial=text)
        return
    opening = Opening(target=CoreTarget(core, program))
    differs = await asyncio.to_thread(difference, core, program)
    if not differs:
        await opening.open_and_remember(home.ladder)
        return
    from ladder_tui.screens.choice import ChoiceScreen, Option

    def answered(answer: str | None) -> None:
        if answer == "open":
            home.ladder_app.work(opening.open_and_remember(home.ladder))
        elif answer == "another":
            ask_for_program(home, initial=text)

    options = (
        Option("n", "name another", "another"),
        Option("o", "open it all the same", "open", "what is shown may be wrong"),
        Option("l", "leave it", "", "addresses only"),
    )
    home.app.push_screen(
        ChoiceScreen(f"{clean_line(program.name)} may not match the core", options, home.palette, why=differs),
        answered,
    )

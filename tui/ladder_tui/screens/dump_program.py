"""A GPU core dump with a program that did not make it: ask for the one that did, without leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ladder_backends.errors import WrongProgram
from ladder_backends.paths import typed_path
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_tui.screens.workspace import Workspace


def ask_for_dump_program(home: Workspace, then: Callable[[], None], *, initial: str = "") -> None:
    """Ask for the program of the dump at hand; an empty line opens the dump without one.

    Args:
        home: The main screen.
        then: Called once the dump has its program.
        initial: Text to start from.
    """
    if home.ladder.jumps.dump is None:
        return

    def named(text: str) -> None:
        home.ladder_app.work(_take(home, then, text))

    home.prompt.ask("program", named, initial=initial, placeholder="path of the program; ⏎ alone: without one")


async def _take(home: Workspace, then: Callable[[], None], text: str) -> None:
    program = typed_path(text) if text.strip() else None
    if program is not None and not await asyncio.to_thread(program.is_file):
        home.ladder_app.say(f"there is no program {clean_line(text)}", "warning")
        ask_for_dump_program(home, then, initial=text)
        return
    home.ladder.jumps.name_program(program)
    then()


def ask_and_open(home: Workspace) -> None:
    """Ask for the program of a dump that could not be opened with the one that was named, and open it then."""

    async def reopen() -> None:
        dump = home.ladder.jumps.dump
        try:
            if dump is not None:
                await home.ladder.open_target(dump)
        except WrongProgram as error:
            home.ladder_app.say(error.line(), "error")
            ask_and_open(home)

    ask_for_dump_program(home, lambda: home.ladder_app.work(reopen()))

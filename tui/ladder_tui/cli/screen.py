"""Open the screen: the only module of the command line that leads to Textual."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ladder_backends.errors import LadderError, SettingInvalid
from ladder_backends.paths import config_file
from ladder_backends.text import clean_line
from ladder_tui.opening import Opening

if TYPE_CHECKING:
    from types import FrameType

    from textual.app import App

    from ladder_tui.app import LadderApp
    from ladder_tui.config import Settings


def show(opening: Opening, *, theme: str | None = None) -> int:
    """Run the console on what is to be opened; returns the exit code.

    Raises:
        LadderError: There is no terminal to show it on, or a setting cannot be taken.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LadderError("the screen cannot be shown", "this is no terminal", "leave --tui away, or add --json")
    # What is imported from here on stays: looking through it for garbage would be a tenth of the start. The app
    # collects again once its first screen is painted.
    gc.disable()
    from ladder_tui.cli.headless import apply_settings

    return asyncio.run(_run(opening, apply_settings(theme)))


async def _run(opening: Opening, settings: Settings) -> int:
    from ladder_backends.session.ladder import Ladder

    ladder = Ladder(source_roots=settings.source_roots, record=opening.record)
    ladder.non_stop, ladder.at_fork = settings.non_stop, settings.at_fork
    try:
        module = import_module("ladder_tui.app")
        _check_keys(settings)
        # The first frame comes first: what drives engines is imported once there is something to look at.
        opens = None if opening.empty else opening.open_and_remember
        app = module.LadderApp(
            ladder, settings, opening=opens, start=opening.empty, picks_process=opening.picks_process
        )
        _leave_on_signals(app)
        asyncio.get_running_loop().set_exception_handler(lambda _, what: _take_unexpected(app, what))
        import_module("ladder_tui._textual_compat").keep_escapes()
        answer = await app.run_async()
    finally:
        await ladder.close()
    if app.failure is not None:
        raise app.failure
    return int(answer or 0)


def _take_unexpected(app: LadderApp, what: dict[str, Any]) -> None:
    """A fault that no one waits for would be written over the screen, or lost with it."""
    app.unexpected(what.get("exception") or RuntimeError(str(what.get("message"))))


def _leave_on_signals(app: App[int]) -> None:
    """Leave in order, with the terminal restored and engines closed; a second signal ends the process at once."""
    loop = asyncio.get_running_loop()

    def leave(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        app.exit(128 + number)

    def hang_up(number: int, _: FrameType | None) -> None:
        # SIGCONT comes right behind: Textual would take the lost terminal up again, and wait for it for ever.
        signal.signal(signal.SIGCONT, lambda *_: None)
        signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(leave, signal.SIGHUP)

    loop.add_signal_handler(signal.SIGTERM, leave, signal.SIGTERM)
    # A handler of the loop would run too late, after that of SIGCONT.
    signal.signal(signal.SIGHUP, hang_up)


def _check_keys(settings: Settings) -> None:
    """Refuse keys for actions that do not exist: a key that does nothing looks like a bug."""
    from ladder_tui.actions import ACTIONS

    known = {action.id for action in ACTIONS}
    for name in settings.keys:
        if name not in known:
            raise SettingInvalid(
                f"{clean_line(str(config_file()))}: keys.{clean_line(name)} is no action",
                f"actions are called like {ACTIONS[0].id}",
                "the key table of the README and ? show them all",
            )

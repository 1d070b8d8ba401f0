"""Open the screen: the only module of the command line that leads to Textual."""

from __future__ import annotations

import sys

from ladder_backends.errors import LadderError
from ladder_tui.opening import Opening


def show(opening: Opening, *, theme: str | None = None) -> int:
    """Run the console on what is to be opened; returns the exit code.

    Raises:
        LadderError: There is no terminal to show it on, or a setting cannot be taken.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LadderError("the screen cannot be shown", "this is no terminal", "leave --tui away, or add --json")
    from ladder_tui.cli.headless import apply_settings

    settings = apply_settings(theme)

    from ladder_backends.session.ladder import Ladder
    from ladder_tui.app import LadderApp

    ladder = Ladder(source_roots=settings.source_roots, record=opening.record)
    return LadderApp(ladder, settings, opening=None if opening.empty else opening.open).run() or 0

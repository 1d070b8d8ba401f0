"""The command line. A new command is a row in `commands.py` and a module of its own beside this one."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

GARBAGE_AFTER = (100_000, 20, 20)
"""Objects, and rounds of the younger ones, after which garbage is looked for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; returns the exit code: 0 fine, 1 something was found, 2 could not run.

    Args:
        arguments: Words after the program's name; those of this process where None.
    """
    # What is imported stays: looking through it for garbage again and again takes a while.
    gc.set_threshold(*GARBAGE_AFTER)
    from ladder_tui.cli.dispatch import dispatch
    from ladder_tui.cli.failure import guarded

    return guarded(dispatch, list(sys.argv[1:] if arguments is None else arguments))

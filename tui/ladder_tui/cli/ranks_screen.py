"""`ranks --tui`: the screen on a job's ranks."""

from __future__ import annotations

from argparse import Namespace


def show_ranks(arguments: Namespace) -> int:
    """Open the screen on the job that the arguments name, or on the list of jobs.

    Raises:
        LadderError: There is no such screen.
    """
    from ladder_backends.errors import LadderError

    raise LadderError("ranks have no screen in this version", "", "leave --tui out: it prints the same")

"""`ranks --tui`: the screen on a job's ranks."""

from __future__ import annotations

from argparse import Namespace


def show_ranks(arguments: Namespace) -> int:
    """Open the screen on the job that the arguments name, or on the list of jobs.

    Raises:
        LadderError: There is no such job, or no terminal.
    """
    from ladder_tui.cli.ranks import find
    from ladder_tui.cli.screen import show
    from ladder_tui.opening import Opening

    named = arguments.pid or arguments.job or arguments.pids or arguments.mesh
    return show(Opening(ranks=True, job=find(arguments) if named else None), theme=arguments.theme)

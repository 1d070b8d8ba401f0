"""`ranks --tui`: the screen on a job's ranks."""

from __future__ import annotations

from argparse import Namespace


def show_ranks(arguments: Namespace) -> int:
    """Open the screen on the job that the arguments name; without one, on this host's, or on the list of them."""
    from ladder_tui.cli.ranks import find
    from ladder_tui.cli.screen import show
    from ladder_tui.opening import Opening

    names_one = any(each is not None for each in (arguments.pid, arguments.job, arguments.pids, arguments.mesh))
    return show(Opening(ranks=True, job=find(arguments) if names_one else None), theme=arguments.theme)

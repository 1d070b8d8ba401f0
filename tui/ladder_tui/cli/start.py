"""No command: the start screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_tui.cli.parser import add_screen

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Options before anything else."""
    add_screen(parser)


def run(arguments: Namespace) -> int:
    """Show the start screen, or the overview where there is no terminal to show it on."""
    from ladder_tui.cli.output import headless

    if headless(json_wanted=False):
        from ladder_tui.cli.dispatch import dispatch

        return dispatch(["--help"])
    from ladder_tui.cli.screen import show
    from ladder_tui.opening import Opening

    return show(Opening(), theme=arguments.theme)

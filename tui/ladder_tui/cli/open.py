"""`open`: a case, or any combination of report, dump, program, recording and sources."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ladder_tui.cli.output import headless
from ladder_tui.cli.parser import add_json, add_record, add_screen


def configure(parser: ArgumentParser) -> None:
    """Arguments of `open`."""
    parser.add_argument("files", nargs="+", help="told apart by content, in any order")
    add_json(parser)
    add_record(parser)
    add_screen(parser)


def run(arguments: Namespace) -> int:
    """Open the screen on the files, or print what they hold."""
    paths = tuple(Path(name) for name in arguments.files)
    if not headless(json_wanted=arguments.json):
        from ladder_backends.case import refuse_unknown
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        refuse_unknown(paths)
        return show(Opening(files=paths, record=arguments.record), theme=arguments.theme)
    from ladder_tui.cli.opened_text import print_opened

    return print_opened(paths, json_wanted=arguments.json, record=arguments.record)

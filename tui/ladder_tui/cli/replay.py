"""`replay`: play a recording back through the same code, with no engine."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ladder_tui.cli.output import headless
from ladder_tui.cli.parser import add_json, add_screen


def configure(parser: ArgumentParser) -> None:
    """Arguments of `replay`."""
    parser.add_argument("file", help="a recording, or a case that holds one")
    add_json(parser)
    add_screen(parser)


def run(arguments: Namespace) -> int:
    """Open the screen on the recording, or print where it ends."""
    from ladder_backends.case import FileKind, classify, open_files
    from ladder_backends.errors import RecordingInvalid
    from ladder_backends.text import clean_line

    file = Path(arguments.file)
    one = classify(file)
    shown = clean_line(arguments.file)
    if one.kind is FileKind.CASE:
        recordings = open_files([file]).recordings
        if not recordings:
            raise RecordingInvalid(f"{shown} cannot be replayed", "the case holds no recording", "use open instead")
        file = recordings[0]
    elif one.kind is not FileKind.RECORDING:
        why = f"it {one.why}" if one.kind is FileKind.UNKNOWN else f"it is {one.kind.phrase}"
        raise RecordingInvalid(f"{shown} cannot be replayed", why)
    if not headless(json_wanted=arguments.json):
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        return show(Opening(files=(file,)), theme=arguments.theme)
    from ladder_tui.cli.session_run import replay_and_show, show_json, show_text

    return replay_and_show(file, show_json if arguments.json else show_text)

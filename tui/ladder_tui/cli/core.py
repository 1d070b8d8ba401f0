"""`core`: open a host core file or a GPU core dump."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ladder_tui.cli.output import headless
from ladder_tui.cli.parser import add_json, add_record, add_screen


def configure(parser: ArgumentParser) -> None:
    """Arguments of `core`."""
    parser.add_argument("file", help="host core file or GPU core dump; a dump may be packed as .xz")
    parser.add_argument("exe", nargs="?", help="the program it is of")
    add_json(parser)
    add_record(parser)
    add_screen(parser)


def run(arguments: Namespace) -> int:
    """Open it on the screen, or print where it stands."""
    from ladder_backends.case import FileKind, classify, plain_file
    from ladder_backends.debugger.target import CoreTarget, GpuDumpTarget, Target
    from ladder_backends.errors import TargetInvalid
    from ladder_backends.text import clean_line

    one = classify(Path(arguments.file))
    executable = Path(arguments.exe).absolute() if arguments.exe else None
    target: Target
    if one.kind is FileKind.GPU_DUMP:
        target = GpuDumpTarget(plain_file(one).absolute(), executable)
    elif one.kind is FileKind.CORE:
        target = CoreTarget(plain_file(one).absolute(), executable)
    else:
        why = f"it {one.why}" if one.kind is FileKind.UNKNOWN else f"it is {one.kind.phrase}"
        raise TargetInvalid(f"{clean_line(arguments.file)} cannot be opened as a core", why)
    if not headless(json_wanted=arguments.json):
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        return show(Opening(target=target, record=arguments.record), theme=arguments.theme)
    from ladder_tui.cli.session_run import open_and_show, show_json, show_text

    return open_and_show(target, show_json if arguments.json else show_text, record=arguments.record)

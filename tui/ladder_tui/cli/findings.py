"""`findings`: read sanitizer reports and list what they say."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from glob import glob
from pathlib import Path

from ladder_backends.errors import ReportInvalid
from ladder_backends.text import clean_line
from ladder_tui.cli.output import print_json, print_lines
from ladder_tui.cli.parser import add_json, add_tui


def configure(parser: ArgumentParser) -> None:
    """Arguments of `findings`."""
    parser.add_argument("log", nargs="+", help="text log or XML of compute-sanitizer; %%p stands for any number")
    add_json(parser)
    add_tui(parser)


def run(arguments: Namespace) -> int:
    """Print the findings, or open the screen on them."""
    paths = [path for name in arguments.log for path in _matching(name)]
    if arguments.tui:
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        return show(Opening(files=tuple(paths)), theme=arguments.theme)

    from ladder_backends.sanitizer import exit_code, read_report, report_json

    report = read_report(*paths)
    if arguments.json:
        print_json(report_json(report))
    else:
        from ladder_tui.cli.findings_text import report_lines

        print_lines(report_lines(report))
    return exit_code(report)


def _matching(name: str) -> list[Path]:
    """The files a name stands for: itself, or what the tool made of a `%p` in it."""
    if "%p" not in name or Path(name).exists():
        return [Path(name)]
    # Only the tool's own placeholder is a pattern; brackets and stars of the path itself are not.
    escaped = "[0-9]*".join(_literal(piece) for piece in name.split("%p"))
    found = sorted(glob(escaped))
    if not found:
        raise ReportInvalid(f"no report {clean_line(name)}", "no file has a number in place of %p")
    return [Path(one) for one in found]


def _literal(text: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)

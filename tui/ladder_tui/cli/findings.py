"""`findings`: read sanitizer reports and list what they say."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import add_json, add_tui


def configure(parser: ArgumentParser) -> None:
    """Arguments of `findings`."""
    parser.add_argument(
        "log",
        nargs="+",
        help="text log or XML of compute-sanitizer; %%p stands for any number, - for standard input",
    )
    add_json(parser)
    add_tui(parser)


def run(arguments: Namespace) -> int:
    """Print the findings, or open the screen on them."""
    from ladder_backends.sanitizer import PROVES_NOTHING, exit_code, expand, headline, read_report, report_json

    paths = expand(arguments.log)
    if arguments.tui:
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        return show(Opening(files=tuple(paths)), theme=arguments.theme)
    report = read_report(paths)
    if arguments.json:
        print_json(report_json(report))
    else:
        from ladder_tui.cli.findings_text import report_lines

        print_lines(report_lines(report, str(paths[0]) if len(paths) == 1 and str(paths[0]) != "-" else "LOG"))
    code = exit_code(report)
    if code == PROVES_NOTHING:
        say(headline(report))
    return code

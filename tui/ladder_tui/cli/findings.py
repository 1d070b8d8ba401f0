"""`findings`: read sanitizer reports, list what they say, compare them, and write them for others."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.text import clean_line
from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import add_json, add_tui

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ladder_backends.model.finding import Report
    from ladder_backends.sanitizer.comparison import Comparison

FORMS = ("json", "markdown", "sarif")


def configure(parser: ArgumentParser) -> None:
    """Arguments of `findings`."""
    parser.add_argument(
        "log",
        nargs="+",
        help="log or XML of compute-sanitizer, or a case with one; %%p stands for any number, - for standard input",
    )
    parser.add_argument(
        "--against",
        metavar="OLD",
        action="append",
        help="an earlier report: say which bugs are new, and which are gone",
    )
    parser.add_argument(
        "--export", choices=FORMS, help="write JSON, Markdown for a bug report, or SARIF for code review"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where --export writes, instead of standard output")
    parser.add_argument("--force", action="store_true", help="let -o replace a file that is there")
    add_json(parser)
    add_tui(parser)


def run(arguments: Namespace) -> int:
    """Print the findings, or open the screen on them."""
    from ladder_backends.sanitizer import PROVES_NOTHING, exit_code, expand, headline, read_report, report_json

    if arguments.output and not arguments.export:
        arguments.export = _form_of(arguments.output)
    paths = expand(arguments.log)
    if arguments.tui:
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        return show(Opening(files=tuple(paths)), theme=arguments.theme)
    report = read_report(_reports(paths))
    against = None
    if arguments.against:
        from ladder_backends.sanitizer.comparison import compare_reports, comparison_json

        against = compare_reports(read_report(_reports(expand(arguments.against))), report)
    if arguments.export:
        _export(arguments, report, against)
    elif arguments.json:
        document = report_json(report)
        if against is not None:
            document["against"] = comparison_json(against)
        print_json(document)
    else:
        from ladder_tui.cli.findings_text import comparison_lines, report_lines

        log = str(paths[0]) if len(paths) == 1 and str(paths[0]) != "-" else "LOG"
        print_lines(report_lines(report, log, new=against.new if against is not None else ()))
        if against is not None:
            print_lines(comparison_lines(report, against))
    code = exit_code(report)
    if code == PROVES_NOTHING:
        say(headline(report))
    return code


def _reports(paths: Iterable[Path]) -> list[Path]:
    """The reports that are named; of a case, or of the folder of a run, those in it.

    Raises:
        ReportInvalid: A case holds none.
    """
    from ladder_backends.case import FileKind, classify, open_files
    from ladder_backends.errors import ReportInvalid

    found: list[Path] = []
    for path in paths:
        if not (path.is_dir() or (path.is_file() and classify(path).kind is FileKind.CASE)):
            found.append(path)
            continue
        inside = open_files([path]).reports
        if not inside:
            shown = clean_line(str(path))
            raise ReportInvalid(f"{shown} holds no sanitizer report", "", f"ladder-tui open {shown} shows the rest")
        found += inside
    return found


def _form_of(name: str) -> str:
    from ladder_backends.sanitizer.exporting import format_of

    return format_of(Path(name))


def _export(arguments: Namespace, report: Report, against: Comparison | None) -> None:
    from ladder_backends.paths import typed_path
    from ladder_backends.sanitizer.exporting import export_file, exported
    from ladder_tui import __version__

    def pieces() -> Iterator[str]:
        return exported(report, arguments.export, version=__version__, against=against)

    if arguments.output and arguments.output != "-":
        file = typed_path(arguments.output)
        say(export_file(file, pieces, overwrite=arguments.force, remedy="choose another name, or give --force"))
        return
    _print(pieces)


def _print(pieces: Callable[[], Iterator[str]]) -> None:
    """Write text in pieces as UTF-8, which JSON and SARIF are, whatever the terminal's own encoding."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    for piece in pieces():
        if buffer is not None:
            buffer.write(piece.encode("utf-8", "backslashreplace"))
        else:
            sys.stdout.write(piece)
    if buffer is not None:
        buffer.flush()

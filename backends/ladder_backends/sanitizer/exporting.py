"""A report as a file for others: JSON for programs, Markdown for a bug report, SARIF for code review."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.model.finding import Report
from ladder_backends.sanitizer.comparison import Comparison, comparison_json
from ladder_backends.sanitizer.export_markdown import markdown
from ladder_backends.sanitizer.export_sarif import sarif
from ladder_backends.sanitizer.report_json import report_json
from ladder_backends.text import clean_line
from ladder_backends.whole_file import writing_whole

FORMATS = ("json", "markdown", "sarif")
"""Forms by name."""

_ENDINGS = {".json": "json", ".md": "markdown", ".markdown": "markdown", ".sarif": "sarif"}


def format_of(file: Path) -> str:
    """The form that a file's name asks for.

    Raises:
        LadderError: Its ending tells none.
    """
    name = file.name.lower()
    for ending, form in _ENDINGS.items():
        if name.endswith(f".sarif{ending}"):
            return "sarif"
        if name.endswith(ending):
            return form
    raise LadderError(
        f"{clean_line(file.name)} does not tell the form", "", "end the name with .json, .md or .sarif"
    )


def exported(
    report: Report,
    form: str,
    *,
    version: str = "",
    notes: Mapping[str, str] | None = None,
    against: Comparison | None = None,
) -> Iterator[str]:
    """The report in a form, as text in pieces.

    Args:
        report: What was read.
        form: One of `FORMATS`.
        version: Of this program.
        notes: A person's words on bugs, by group id.
        against: How the report differs from an earlier one.
    """
    if form == "markdown":
        yield from (f"{line}\n" for line in markdown(report, notes=notes, against=against))
        return
    document = sarif(report, version=version) if form == "sarif" else report_json(report)
    if form == "json" and against is not None:
        document["against"] = comparison_json(against)
    if form == "json" and notes:
        document["notes_of_groups"] = dict(notes)
    # Piece by piece: a large report would else be held twice.
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1)
    yield from encoder.iterencode(document)
    yield "\n"


def export_file(
    file: Path,
    pieces: Callable[[], Iterator[str]],
    *,
    overwrite: bool = False,
    remedy: str = "choose another name",
) -> str:
    """Write a report to a file, whole or not at all; returns what to tell the user.

    Args:
        file: Where.
        pieces: The text in parts.
        overwrite: Replace a file that is there.
        remedy: What to do where one is there and stays.

    Raises:
        LadderError: It is there already, or cannot be written.
    """
    shown = clean_line(str(file))
    with contextlib.suppress(OSError, ValueError):
        if file.exists() and not overwrite:
            raise LadderError(f"{shown} is there already", "", remedy)
    size = 0
    try:
        with writing_whole(file, mode=0o644) as stream:
            for piece in pieces():
                size += stream.write(piece.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LadderError(f"cannot write {shown}", why, "choose another file") from error
    return f"{size:,} bytes written to {shown}"

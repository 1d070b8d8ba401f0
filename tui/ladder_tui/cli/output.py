"""What headless commands print."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from ladder_backends.text import clean


def headless(*, json_wanted: bool) -> bool:
    """Whether a command that opens the screen prints instead: for a machine, or without a terminal."""
    return json_wanted or not _is_terminal()


def _is_terminal() -> bool:
    try:
        return sys.stdout.isatty() and sys.stdin.isatty()
    except (OSError, ValueError, AttributeError):
        return False


def print_json(document: Mapping[str, object]) -> None:
    """Print one strict JSON document; non-ASCII is escaped where the terminal's encoding could not hold it."""
    # Commands that open the screen print none.
    import json

    wide = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    encode = json.JSONEncoder(ensure_ascii=not wide, allow_nan=False).encode
    # A key a line, and a row of a table a line: for diff, grep and the eye.
    entries = []
    for key, value in document.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            rows = ",\n".join(f"  {encode(row)}" for row in value)
            entries.append(f" {encode(key)}: [\n{rows}\n ]")
        else:
            entries.append(f" {encode(key)}: {encode(value)}")
    sys.stdout.write("{\n" + ",\n".join(entries) + "\n}\n")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for a person; each is cleaned once more, because the terminal acts on what it gets."""
    for line in lines:
        sys.stdout.write(clean(line).replace("\n", " ") + "\n")


def say(line: str) -> None:
    """One line on standard error that is no failure: what was left out, what stands in for what."""
    sys.stdout.flush()
    sys.stderr.write(f"ladder-tui: {clean(line)}\n")


def unicode_output() -> bool:
    """Whether standard output can show more than ASCII."""
    try:
        "█·→".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

"""Output of commands that a person has run as root, from a file."""

from __future__ import annotations

from ladder_backends.errors import LadderError
from ladder_backends.paths import typed_path
from ladder_backends.text import clean_line

MOST = 8_000_000
"""Characters that are read."""


def read_supplied(name: str) -> str:
    """The text of a file.

    Raises:
        LadderError: It cannot be read.
    """
    path = typed_path(name)
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST)
    except OSError as error:
        raise LadderError(
            f"{clean_line(name)} cannot be read", error.strerror or "", "name the file that holds the output"
        ) from None

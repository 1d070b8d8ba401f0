"""Quoting for the machine interface: C strings, of one line or of several."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"\*0x[0-9a-fA-F]+")
_LINE_ENDS = re.compile(r"[\r\n]+")


def mi_string(text: str) -> str:
    """`text` as an MI C string; newlines become spaces, since a command is one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _LINE_ENDS.sub(" ", escaped) + '"'


def mi_lines(text: str) -> str:
    """`text` as an MI C string that keeps its line ends; only commands with arguments of their own read those."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'


def location_word(location: str) -> str:
    """A place in the code for a command that is handed to the engine's command line as it is.

    That one takes quotes round a file's name, but not round an address.
    """
    return location if _ADDRESS.fullmatch(location) else mi_string(location)

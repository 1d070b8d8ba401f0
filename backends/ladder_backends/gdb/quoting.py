"""Quoting for the two languages an engine is spoken to in: MI's C strings and the shell that starts the program."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

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


def shell_words(arguments: Iterable[str]) -> str:
    """Arguments as one line of POSIX shell that yields exactly them again.

    Raises:
        ValueError: An argument ends in a newline or holds a NUL, which no single line of shell can carry.
    """
    return " ".join(_shell_word(argument) for argument in arguments)


def _shell_word(argument: str) -> str:
    if "\0" in argument:
        raise ValueError("an argument holds a NUL byte")
    if "\n" not in argument and "\r" not in argument:
        return shlex.quote(argument)
    if argument.endswith("\n"):
        raise ValueError("an argument ends in a newline")
    # The engine takes one line, so line ends travel as escapes of printf; the substitution would strip a last one.
    escaped = argument.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("%", "%%")
    return f'"$(printf {shlex.quote(escaped)})"'

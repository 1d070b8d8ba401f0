"""Commands that must not be sent over the machine interface."""

from __future__ import annotations

import re

from ladder_backends.errors import CommandFailed

_CONSOLE = re.compile(
    r'-interpreter-exec\s+"?console"?\s+"?\s*(?P<word>[A-Za-z-]+)\s*(?P<rest>.*?)"?\s*\Z', re.DOTALL
)
# Each with its shortest abbreviation.
_READ_A_BODY = {"commands": 4, "define": 3, "document": 3, "if": 2, "while": 2}
_READ_A_BODY_WITHOUT_ARGUMENT = {"python": 2, "python-interactive": 7, "pi": 2, "guile": 2, "gr": 2}


def checked(command: str) -> bytes:
    """The bytes of a command, if it can be sent without harm to the session.

    Raises:
        CommandFailed: It holds a line break, is no MI command, or makes the engine read what follows as its body.
    """
    if "\n" in command or "\r" in command or "\0" in command:
        raise CommandFailed(command, "a command must be one line")
    if not command.startswith("-"):
        raise CommandFailed(command, "only MI commands go to the machine interface; type others in the console")
    match = _CONSOLE.match(command) if command.startswith("-interpreter-exec") else None
    if match is not None:
        word, rest = match["word"], match["rest"].strip()
        if _abbreviates(word, _READ_A_BODY) or (not rest and _abbreviates(word, _READ_A_BODY_WITHOUT_ARGUMENT)):
            raise CommandFailed(command, f"`{word}` reads more lines; type it in the console")
    try:
        return command.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise CommandFailed(command, "the command holds characters that are no text") from None


def _abbreviates(word: str, names: dict[str, int]) -> bool:
    return any(name.startswith(word) and len(word) >= shortest for name, shortest in names.items())

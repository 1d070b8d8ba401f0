"""Log points: messages with values instead of stops.

A message is written by the engine's `dprintf`, which never stops the target, unless one of its values cannot be
computed: then the engine loses its way and the target stands without a word. So the values are computed within the
engine, by Python of `inside/log_points.py`, where nothing that fails gets out. An engine without Python writes them
by its own `printf`: as the format of `{expression:%f}` says, else by `%V` where it knows that, or as whole numbers.

An engine tells of each hit with the whole breakpoint, at several times the cost of the message. So the function
that writes it is the last part of the breakpoint's condition, and never true: no hit, no notice; hits are counted
by messages. The `dprintf` itself writes only where that condition was replaced in the command line, or where hits
have to be the engine's: to be passed over, or to end the breakpoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ladder_backends.errors import CommandFailed, LadderError
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.model.breakpoint import BreakpointIntent

INSIDE = Path(__file__).parent / "inside" / "log_points.py"
FUNCTION = "$_ladder_log"
PARAMETER = "ladder-log"
"""Setting by which the engine tells what log points wrote: `SERIAL ID MESSAGE`, and more of `ID MESSAGE`."""

SEPARATOR = "\x1f"
"""Stands between messages that are told together."""

_OURS = re.compile(r'printf "%\.0d", *\$_ladder_log *\((?P<id>\d+)\)')
_WRITES = re.compile(r"(?:\((?P<condition>.*)\) && )?\$_ladder_log\(\d+\)", re.DOTALL)
_PRINTF = re.compile(r'd?printf "(?P<format>(?:\\.|[^"\\])*)"(?P<arguments>.*)$')
_CONVERSION = re.compile(
    r"%(?:%|[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l|L|z|t|j|DD|D|H)?[diouxXeEfFgGaAcspV](?:\[[^\]]*\])?)"
)
_ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\", "\\a": "", "\\r": "", "\\e": ""}


class MessageInvalid(LadderError):
    """A message whose braces do not close, or hold nothing."""


class Piece(NamedTuple):
    """A part of a message.

    Attributes:
        text: Plain text, or an expression.
        value: It is an expression.
        format: The `printf` conversion asked for, or an empty string.
    """

    text: str
    value: bool = False
    format: str = ""


def pieces_of(message: str) -> list[Piece]:
    """Take a message apart; `{{` and `}}` are braces.

    Raises:
        MessageInvalid: A brace is not closed, or nothing is in it.
    """
    pieces: list[Piece] = []
    text = ""
    position = 0
    while position < len(message):
        character = message[position]
        if message[position : position + 2] in ("{{", "}}"):
            text += character
            position += 2
        elif character == "{":
            end = _closing(message, position)
            expression, format = _asked(message[position + 1 : end].strip())
            if text:
                pieces.append(Piece(text))
            pieces.append(Piece(expression, True, format))
            text, position = "", end + 1
        else:
            text += character
            position += 1
    return [*pieces, Piece(text)] if text else pieces


def _closing(message: str, start: int) -> int:
    depth = 0
    for position in range(start, len(message)):
        depth += {"{": 1, "}": -1}.get(message[position], 0)
        if not depth:
            if not message[start + 1 : position].strip():
                raise MessageInvalid("nothing is between braces of the log message", "", "write {expression}")
            return position
    raise MessageInvalid("a brace of the log message is not closed", message[start:], "write {expression}, or {{")


def _asked(inside: str) -> tuple[str, str]:
    expression, colon, format = inside.rpartition(":")
    if colon and _CONVERSION.fullmatch(format):
        return expression.strip(), format
    return inside, ""


def message_of_script(script: Sequence[str], known: str) -> str:
    """The message of a `dprintf`; what was set here is known, what was typed is read from its command."""
    line = script[0] if script else ""
    if _OURS.match(line) or not line:
        return known
    match = _PRINTF.match(line)
    if match is None:
        return known or line
    arguments = iter(split_top(match["arguments"].lstrip(" ,"), ","))
    out = ""
    position = 0
    pattern = match["format"]
    for conversion in _CONVERSION.finditer(pattern):
        out += _literal(pattern[position : conversion.start()])
        position = conversion.end()
        out += "%" if conversion.group() == "%%" else f"{{{next(arguments, '?')}:{conversion.group()}}}"
    return (out + _literal(pattern[position:])).rstrip("\n").replace("\n", " ")


def condition_of(told: str) -> str:
    """The user's part of a breakpoint's condition."""
    match = _WRITES.fullmatch(told)
    return (match["condition"] or "") if match is not None else told


def writes(told: str) -> bool:
    """Whether a breakpoint's condition writes its message, so that the engine counts no hits."""
    return _WRITES.fullmatch(told) is not None


def _literal(text: str) -> str:
    plain = re.sub(r"\\.", lambda match: _ESCAPES.get(match.group(), match.group()), text)
    return plain.replace("{", "{{").replace("}", "}}")


def split_top(text: str, separator: str) -> list[str]:
    """The parts of `text` between separators outside quotes and brackets, trimmed, without empty ones."""
    parts = [""]
    depth = 0
    quote = ""
    escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(0, depth - 1)
        elif character == separator and not depth:
            parts.append("")
            continue
        parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


class LogPoints:
    """Prepares an engine for log points, and knows which message is whose."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._python: bool | None = None
        self._values = ""
        self._writing: set[int] = set()

    def condition(self, intent: BreakpointIntent) -> str:
        """The condition that the engine is to have for an intent."""
        hits_count = intent.ignore or intent.temporary or intent.once
        if intent.id not in self._writing or not intent.log or hits_count:
            return intent.condition
        return (
            f"({intent.condition}) && {FUNCTION}({intent.id})" if intent.condition else f"{FUNCTION}({intent.id})"
        )

    def keep_plain(self, intent: BreakpointIntent) -> None:
        """Have the `dprintf` of an intent write, as where its language knows no `&&`."""
        self._writing.discard(intent.id)

    async def arguments(self, number: int, message: str) -> str:
        """Format and arguments for `-dprintf-insert`.

        Args:
            number: Names the log point when it tells of itself.
            message: As the user wrote it.

        Raises:
            MessageInvalid: It cannot be understood.
        """
        pieces = pieces_of(message)
        if await self._has_python():
            asked = ", ".join(_python(piece) for piece in pieces)
            await self._engine.command(
                f"-interpreter-exec console {mi_string(f'python ladder_log.messages[{number}] = [{asked}]')}"
            )
            self._writing.add(number)
            return f'"%.0d" {FUNCTION}({number})'
        format = "".join(self._conversion(piece) for piece in pieces)
        values = [mi_string(piece.text) if " " in piece.text else piece.text for piece in self._cast(pieces)]
        return " ".join((f'{mi_string(format)[:-1]}\\n"', *values))

    async def _has_python(self) -> bool:
        if self._python is None:
            try:
                await self._engine.command(f"-interpreter-exec console {mi_string(f'source {INSIDE}')}")
                await self._engine.command('-interpreter-exec console "python ladder_log.messages"')
                self._python = True
            except CommandFailed:
                self._python = False
                self._values = "%V" if await self._knows_values() else "%ld"
            # Another style would call functions of the target.
            await self._engine.command("-gdb-set dprintf-style gdb")
        return self._python

    async def _knows_values(self) -> bool:
        try:
            await self._engine.command("-interpreter-exec console " + mi_string('printf "%V", 1'))
        except CommandFailed:
            return False
        return True

    def _conversion(self, piece: Piece) -> str:
        if piece.value:
            return piece.format or self._values
        return piece.text.replace("%", "%%")

    def _cast(self, pieces: Iterable[Piece]) -> Iterable[Piece]:
        for piece in pieces:
            if piece.value:
                whole = self._values == "%ld" and not piece.format
                yield Piece(f"(long)({piece.text})", True) if whole else piece


def _python(piece: Piece) -> str:
    return f"({piece.text!a}, {piece.value}, {piece.format!a})"

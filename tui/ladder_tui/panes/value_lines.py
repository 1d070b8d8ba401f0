"""Rows of values as lines of a view: where each stands, and what `=` starts from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import set_cell_size

from ladder_backends.session.value_rows import Sort, ValueRow
from ladder_tui.widgets.row import Cell, size_of, skip_cells, width_of

NAME_ROOM = 24
_STEP = 2
_DEEP = 12
"""Levels that are moved in; deeper ones stand below one another."""

_SYMBOL = re.compile(r"(\(.*\) )?(?P<address>0x[0-9a-f]+) [<\"'L{].*", re.DOTALL)
_CHARACTER = re.compile(r"(?P<code>-?\d+) [LuU]?'.*'")


_CONTAINER = re.compile(
    r"std::(?:__\w+::)?\w+(?:<[^={]*>)? (?:of length|with) (?P<count>\d+)(?:, capacity \d+| elements?)?(?: = )?"
)
_WRAPPER = re.compile(r"std::(?:__\w+::)?\w+(?:<[^={]*>)? (?:= (?=\{)|(?=\[))")


def short_value(text: str) -> str:
    """A value without the name of its container, which its type tells: `[2] {1, 2}` for a vector of two."""
    if "std::" not in text:
        return text
    return _WRAPPER.sub("", _CONTAINER.sub(r"[\g<count>] ", text)).rstrip()


class ValueLine(NamedTuple):
    """One line.

    Attributes:
        row: What it shows, or shows a part of.
        text: The part of a long text that stands on this line.
        name_width: Columns of the names it stands among.
    """

    row: ValueRow
    text: str = ""
    name_width: int = 1

    @property
    def indent(self) -> int:
        """Columns before its name."""
        return _STEP * min(self.row.depth, _DEEP)


def lines_of(rows: Sequence[ValueRow], width: int) -> list[ValueLine]:
    """The lines of all rows in a view of `width` columns; a long text takes several."""
    widths: dict[tuple[str, ...], int] = {}
    for row in rows:
        if row.sort is Sort.VALUE:
            among = row.key[:-1] if row.depth else ()
            widths[among] = max(widths.get(among, 1), width_of([Cell(row.variable.name)]))
    lines: list[ValueLine] = []
    for row in rows:
        if row.sort is Sort.TEXT:
            room = max(16, width - 4 - _STEP * min(row.depth, _DEEP))
            lines += [ValueLine(row, part) for part in parts_of(row.text, room)]
        else:
            among = row.key[:-1] if row.depth else ()
            lines.append(ValueLine(row, row.text, min(NAME_ROOM, widths.get(among, 1))))
    return lines


def parts_of(text: str, room: int) -> list[str]:
    """Text in pieces of at most `room` columns, cut behind a blank where there is one: blanks are part of it."""
    parts: list[str] = []
    plain = text.isascii()
    while size_of(text) > room:
        part = text[:room] if plain else set_cell_size(text, room)
        blank = part.rfind(" ", room // 2)
        if blank >= 0:
            part = part[: blank + 1]
        parts.append(part)
        text = text[len(part) :] if plain else skip_cells(text, size_of(part))
    return [*parts, text]


def prefill(value: str) -> str:
    """What a new value is typed over: the old one as far as the engine would read it again."""
    if "{" in value[:1] or len(value) > 200 or value.startswith(("std::", '"', "'")):
        return ""
    symbol = _SYMBOL.fullmatch(value)
    if symbol is not None:
        return symbol["address"]
    character = _CHARACTER.fullmatch(value)
    return character["code"] if character is not None else value


def read_range(text: str) -> tuple[int, int]:
    """First and last element of what was typed: `500..520`, `500-520`, `500:520`, or `500` for a page from there.

    Raises:
        ValueError: It is none of these.
    """
    words = re.fullmatch(r"\[?\s*(\d{1,18})\s*(?:(?:\.\.|-|:|,|\s)\s*(\d{1,18}))?\s*\]?", text.strip())
    if words is None:
        raise ValueError("write elements as 500..520")
    first = int(words[1])
    last = int(words[2]) if words[2] is not None else first + 99
    if last < first:
        raise ValueError(f"write elements as {last}..{first}")
    return first, last

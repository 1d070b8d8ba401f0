"""The parser of the machine interface's records: fast, tolerant, linear.

Grammar: GDB manual, "GDB/MI Output Syntax". A record is cut at its quotes: every second piece is a string, the
pieces between are structure (`,name=`, `},{name=`). There are few distinct structure pieces, so each is
understood once and its meaning kept; what is left per value is one look-up and one store. The work can be done
in slices, so that a record of many megabytes does not hold the event loop.

Tolerated beyond the grammar, because engines send it: an unnamed value where a result is due (kept under `""`),
a tuple of mere values (becomes a list), a repeated name (its values are kept in a `Repeated`), an unknown
escape (kept as written), raw bytes of any encoding, a newline inside a string, a carriage return at the end.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import TypeAlias

from ladder_backends.errors import MalformedRecord
from ladder_backends.mi.records import (
    AsyncRecord,
    PromptRecord,
    Record,
    Repeated,
    ResultRecord,
    StreamRecord,
    UnknownRecord,
    Value,
    all_values,
)
from ladder_backends.mi.strings import unescape

SLICE = 1 << 16
"""Bytes of a record that are parsed in one go; a few milliseconds of work."""

_HEAD = re.compile(rb"(\d{0,30})([\^*+=])([A-Za-z][A-Za-z0-9_-]*)")
_PROMPT = re.compile(rb"\(gdb\)[ \r]*\Z")
_MARK = re.compile(r'[\[{\]},]|[^\[{\]},="]+=')

_Container: TypeAlias = "list[Value] | dict[str, Value]"
# What a piece of structure says: marks to act on (closing ones, and opening ones with the name they come
# under), then the name of the string that follows. An empty name is no name.
_Meaning: TypeAlias = "tuple[tuple[tuple[str, str], ...], str]"

# An engine has some hundred distinct pieces; hostile ones are not worth keeping.
_KEPT_PIECES = 4096
_KEPT_LENGTH = 160
# Structure between two strings, in characters; more of it is no record of an engine.
_STRUCTURE_LIMIT = 1 << 16
# Levels of nesting; engines use about ten. Whoever walks a value may do so recursively.
_DEPTH_LIMIT = 200
_names: dict[str, str] = {}
_meanings: dict[str, _Meaning] = {}


class UnfinishedString(MalformedRecord):
    """A record that ends inside a string: cut off, or a string that holds a raw newline."""


def parse(line: bytes) -> Record:
    """Parse one line, given without its newline.

    A line that does not begin like a record is no error but an `UnknownRecord`.

    Raises:
        MalformedRecord: The line begins like a record and is none.
    """
    for record in parse_in_slices(line):
        if record is not None:
            return record
    raise AssertionError("a parse ends with a record")


def parse_in_slices(line: bytes) -> Iterator[Record | None]:
    """Parse one line in steps: None after each slice of the work, the record at the end.

    Raises:
        MalformedRecord: As `parse`, from any step.
    """
    head = _HEAD.match(line)
    if head is None:
        yield _other(line)
        return
    end = len(line) - 1 if line.endswith(b"\r") else len(line)
    results: dict[str, Value] = {}
    if head.end() < end:
        builder = _Builder(line, head.end(), end)
        while not builder.advance():
            yield None
        results = builder.results
    number, kind, cls = head.groups()
    token = int(number) if number else None
    if kind == b"^":
        yield ResultRecord(token, cls.decode("ascii"), results)
    else:
        yield AsyncRecord(kind.decode("ascii"), cls.decode("ascii"), results, token)


def _other(line: bytes) -> Record:
    """Streams, prompts, and what is not MI."""
    if line[:2] in (b'~"', b'@"', b'&"'):
        text = line[2:].removesuffix(b"\r").decode("latin-1").replace("\\\\", "\\134").replace('\\"', "\\042")
        inner, quote, rest = text.partition('"')
        if not quote:
            raise UnfinishedString("a string does not end", line)
        if rest:
            raise MalformedRecord("text after a string", line)
        return StreamRecord(chr(line[0]), unescape(inner))
    if _PROMPT.match(line):
        return PromptRecord()
    return UnknownRecord(line, "not a record" if line.strip() else "an empty line")


class _Builder:
    """Builds the results of one record, slice by slice."""

    def __init__(self, line: bytes, start: int, end: int) -> None:
        self.results: dict[str, Value] = {}
        self._line = line
        self._position = start
        self._end = end
        self._escaped = False
        self._current: _Container = self.results
        # Enclosing containers, each with the name under which the next one was put.
        self._enclosing: list[tuple[_Container, str]] = []
        # What a slice leaves to the next one: structure, and the parts of a begun string behind it.
        self._structure = ""
        self._string: list[str] | None = None

    def advance(self) -> bool:
        """Parse the next slice; True when the record is complete."""
        text, last = self._next_slice()
        if self._string is None:
            pieces = (self._structure + text).split('"')
        else:
            inner, quote, text = text.partition('"')
            self._string.append(inner)
            if not quote:
                if last:
                    raise UnfinishedString("a string does not end", self._line)
                return False
            pieces = [self._structure, "".join(self._string), *text.split('"')]
            self._string = None
        if len(pieces) % 2 == 0:
            if last:
                raise UnfinishedString("a string does not end", self._line)
            self._string = [pieces.pop()]
        self._structure = pieces.pop()
        if len(self._structure) > _STRUCTURE_LIMIT:
            raise MalformedRecord("structure without values", self._line)
        strings = pieces[1::2]
        if self._escaped:
            strings = [s if s.isascii() and "\\" not in s else unescape(s) for s in strings]
        self._build(pieces[::2], strings)
        if last:
            if self._structure:
                self._follow(_understand(self._structure, False, self._line)[0])
            if self._enclosing:
                raise MalformedRecord("a list or tuple does not end", self._line)
        return last

    def _next_slice(self) -> tuple[str, bool]:
        """Text of the next slice without escaped quotes, and whether it is the last one."""
        line, stop = self._line, min(self._position + SLICE, self._end)
        # Never between a backslash and what it escapes: runs of backslashes are taken whole, with what follows.
        if stop < self._end and line[stop - 1] == 0x5C:
            while stop < self._end and line[stop] == 0x5C:
                stop += 1
            stop = min(stop + 1, self._end)
        text = line[self._position : stop].decode("latin-1")
        self._position = stop
        if "\\" in text:
            # The record is cut at quotes, so those inside strings take their other form.
            text = text.replace("\\\\", "\\134").replace('\\"', "\\042")
            self._escaped = True
        elif not text.isascii():
            self._escaped = True
        return text, stop == self._end

    def _build(self, structure: list[str], strings: list[str]) -> None:
        """Store strings under what the pieces of structure before them say."""
        names, current = _names, self._current
        named = type(current) is dict
        for piece, string in zip(structure, strings, strict=True):
            name = names.get(piece)
            if name is None:
                marks, name = _understand(piece, True, self._line)
                if marks:
                    self._follow(marks)
                    current = self._current
                    named = type(current) is dict
            if not named:
                current.append(string)  # type: ignore[union-attr]
            elif name in current:
                _repeat(current, name, string)  # type: ignore[arg-type]
            else:
                current[name] = string  # type: ignore[call-overload]
        self._current = current

    def _follow(self, marks: tuple[tuple[str, str], ...]) -> None:
        """Open and close containers."""
        current, enclosing = self._current, self._enclosing
        for mark, name in marks:
            if mark in "{[":
                opened: _Container = {} if mark == "{" else []
                if isinstance(current, list):
                    current.append(opened)
                elif name in current:
                    _repeat(current, name, opened)
                else:
                    current[name] = opened
                enclosing.append((current, name))
                if len(enclosing) > _DEPTH_LIMIT:
                    raise MalformedRecord("nested too deeply", self._line)
                current = opened
            else:
                if not enclosing or isinstance(current, dict) is not (mark == "}"):
                    raise MalformedRecord(f"{mark} closes nothing", self._line)
                closed = current
                current, name = enclosing.pop()
                if isinstance(closed, dict) and "" in closed and len(closed) == 1:
                    _replace_last(current, name, all_values(closed, ""))
        self._current = current


def _repeat(container: dict[str, Value], name: str, value: Value) -> None:
    earlier = container[name]
    if isinstance(earlier, Repeated):
        earlier.append(value)
    else:
        container[name] = Repeated((earlier, value))


def _replace_last(container: _Container, name: str, value: Value) -> None:
    """Put `value` where the latest value of that name is."""
    if isinstance(container, list):
        container[-1] = value
    elif isinstance(earlier := container[name], Repeated):
        earlier[-1] = value
    else:
        container[name] = value


def _understand(piece: str, before_string: bool, line: bytes) -> _Meaning:
    """What a piece of structure says."""
    meaning = _meanings.get(piece) if before_string else None
    if meaning is None:
        meaning = _read_piece(piece, before_string, line)
        if before_string and len(piece) <= _KEPT_LENGTH and len(_meanings) < _KEPT_PIECES:
            _meanings[piece] = meaning
            if not meaning[0]:
                _names[piece] = meaning[1]
    return meaning


class _Expect(enum.Enum):
    """Where a record stands between two marks."""

    AFTER_VALUE = enum.auto()
    ITEM = enum.auto()
    VALUE = enum.auto()
    ITEM_OR_END = enum.auto()


def _read_piece(piece: str, before_string: bool, line: bytes) -> _Meaning:
    marks: list[tuple[str, str]] = []
    name = ""
    expect = _Expect.AFTER_VALUE
    position = 0
    while position < len(piece):
        match = _MARK.match(piece, position)
        if match is None:
            raise MalformedRecord(f"a value that is neither string, list nor tuple: {piece[position:][:40]}", line)
        position = match.end()
        mark = match.group()
        if mark == "," and expect is _Expect.AFTER_VALUE:
            name, expect = "", _Expect.ITEM
        elif mark in "}]" and expect in (_Expect.AFTER_VALUE, _Expect.ITEM_OR_END):
            marks.append((mark, ""))
            name, expect = "", _Expect.AFTER_VALUE
        elif mark in "{[" and expect is not _Expect.AFTER_VALUE:
            marks.append((mark, name))
            name, expect = "", _Expect.ITEM_OR_END
        elif len(mark) > 1 and expect in (_Expect.ITEM, _Expect.ITEM_OR_END):
            name, expect = mark[:-1].strip(), _Expect.VALUE
        else:
            raise MalformedRecord(f"unexpected {mark}", line)
    if before_string is (expect is _Expect.AFTER_VALUE):
        raise MalformedRecord("a comma is missing" if before_string else "a value is missing", line)
    return tuple(marks), name

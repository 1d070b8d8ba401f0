"""The grammar of process sets, from text to a tree.

```
set      = product { ("+" | "-") product }      union, difference; from left to right
product  = factor { "&" factor }                intersection, binds tighter
factor   = "~" factor | "(" set ")" | atom      complement within the job
atom     = "$" name [ "{" [ item { "," item } ] "}" ]
item     = rank | rank ".." rank [ ":" step ]   ranks; "0-7" as lists are printed is taken too
         | "*"                                  all ranks
         | word                                 a state: stopped, running, ...
         | ("class" | "host" | "exe" | "state") ":" value
         | axis "=" ( "*" | places | "(" places { "," places } ")" )
```

Items of an atom are united, but axes, which narrow each other down: `$a{tp=0,pp=1}`. The two do not mix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from ladder_backends.ranks.rank_list import MOST_RANKS
from ladder_backends.ranks.sets.set_invalid import SetInvalid

KEYS = ("class", "host", "exe", "state")
_LONGEST = 20_000
_DEEPEST = 64
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"\d+")
_VALUE = re.compile(r'"(?P<quoted>[^"]*)"|(?P<plain>[^,}\s]+)')
_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Span:
    """Numbers from `first` to `last` with a step, and where they are written."""

    first: int
    last: int
    step: int
    column: int
    width: int

    @property
    def numbers(self) -> range:
        """The numbers themselves."""
        return range(self.first, self.last + 1, self.step)


@dataclass(frozen=True, slots=True)
class Everything:
    """`*`: all ranks of the job."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """`class:2`, `host:n3`, `exe:solver`; a lone word is a `state`."""

    key: str
    value: str
    column: int
    width: int


@dataclass(frozen=True, slots=True)
class AlongAxis:
    """`tp=0`; no spans stand for all places."""

    axis: str
    spans: tuple[Span, ...] | None
    column: int
    width: int


Item: TypeAlias = Span | Everything | Keyed | AlongAxis


@dataclass(frozen=True, slots=True)
class Atom:
    """`$name` whole, or what of it is between braces; `items` is None without braces."""

    name: str
    items: tuple[Item, ...] | None
    column: int
    width: int


@dataclass(frozen=True, slots=True)
class Complement:
    """Everything else of the job."""

    of: Node
    column: int


@dataclass(frozen=True, slots=True)
class Joined:
    """Two sets and the sign between them, which stands at `column`."""

    sign: str
    left: Node
    right: Node
    column: int


Node: TypeAlias = Atom | Complement | Joined


def read_set(text: str) -> Node:
    """The tree of a whole text.

    Raises:
        SetInvalid: It is no set; the fault is pointed at.
    """
    reader = _Reader(text)
    node = reader.whole()
    reader.blanks()
    if reader.at < len(text):
        raise reader.wrong(_after_set(text[reader.at]))
    return node


def read_leading_set(text: str, start: int = 0) -> tuple[Node, int]:
    """The tree of the set with which a text goes on at `start`, and where it ends: `bt $a{0..7} full`.

    Raises:
        SetInvalid: No set stands there.
    """
    reader = _Reader(text, start)
    node = reader.whole()
    return node, reader.at


def _after_set(character: str) -> str:
    if character == "}":
        return "a brace is closed that was not opened"
    if character == ")":
        return "a parenthesis is closed that was not opened"
    return "+, - or & is expected between sets"


class _Reader:
    def __init__(self, text: str, start: int = 0) -> None:
        if len(text) > _LONGEST:
            raise SetInvalid(text[:80], 0, f"it is longer than {_LONGEST} characters")
        self._text = text
        self._deep = 0
        self.at = start

    def wrong(self, why: str, column: int | None = None, remedy: str = "", width: int = 1) -> SetInvalid:
        return SetInvalid(self._text, self.at if column is None else column, why, remedy, width)

    def blanks(self) -> None:
        while self.at < len(self._text) and self._text[self.at].isspace():
            self.at += 1

    def whole(self) -> Node:
        node = self._product()
        while (sign := self._sign("+-")) is not None:
            node = Joined(sign[0], node, self._product(), sign[1])
        return node

    def _product(self) -> Node:
        node = self._factor()
        while (sign := self._sign("&")) is not None:
            node = Joined(sign[0], node, self._factor(), sign[1])
        return node

    def _sign(self, signs: str) -> tuple[str, int] | None:
        back = self.at
        self.blanks()
        if self._peek() and self._peek() in signs:
            self.at += 1
            return self._text[self.at - 1], self.at - 1
        self.at = back
        return None

    def _factor(self) -> Node:
        self.blanks()
        column = self.at
        if self._deep >= _DEEPEST:
            raise self.wrong("it is nested too deeply")
        if self._took("~"):
            self._deep += 1
            node: Node = Complement(self._factor(), column)
            self._deep -= 1
            return node
        if self._took("("):
            self._deep += 1
            node = self.whole()
            self._deep -= 1
            self.blanks()
            if not self._took(")"):
                raise self.wrong(f"the parenthesis of column {column + 1} is not closed")
            return node
        return self._atom()

    def _atom(self) -> Atom:
        column = self.at
        if not self._took("$"):
            raise self.wrong("a set is expected", remedy="write it as $a or $a{0..7,12}")
        match = _NAME.match(self._text, self.at)
        if match is None:
            raise self.wrong("a name is expected after $")
        self.at = match.end()
        if not self._took("{"):
            return Atom(match[0], None, column, self.at - column)
        brace = self.at - 1
        items: list[Item] = []
        self.blanks()
        if self._took("}"):
            return Atom(match[0], (), column, self.at - column)
        while True:
            items.append(self._item(items))
            self.blanks()
            if self._took("}"):
                return Atom(match[0], tuple(items), column, self.at - column)
            if self.at >= len(self._text):
                raise self.wrong(f"the brace of column {brace + 1} is not closed")
            if not self._took(","):
                raise self.wrong("a comma or } is expected")

    def _item(self, before: list[Item]) -> Item:
        self.blanks()
        column = self.at
        item = self._one_item()
        if before and isinstance(item, AlongAxis) != isinstance(before[0], AlongAxis):
            raise self.wrong(
                "axes do not mix with other selections",
                column,
                "join two sets: $a{tp=0} + $a{7}",
                self.at - column,
            )
        if isinstance(item, AlongAxis) and any(
            isinstance(each, AlongAxis) and each.axis == item.axis for each in before
        ):
            raise self.wrong(
                f"axis {item.axis} stands here twice", column, f"write {item.axis}=(0,2)", len(item.axis)
            )
        return item

    def _one_item(self) -> Item:
        column = self.at
        if self._took("*"):
            return Everything()
        if self._peek().isdigit():
            return self._span()
        match = _NAME.match(self._text, self.at)
        if match is None:
            raise self.wrong("a rank, a state, or axis=place is expected")
        self.at = match.end()
        if self._took("="):
            return AlongAxis(match[0], self._places(), column, self.at - column)
        if not self._took(":"):
            return Keyed("state", match[0], column, self.at - column)
        if match[0] not in KEYS:
            raise self.wrong(f"{match[0]} is none of {', '.join(KEYS)}", column, width=len(match[0]))
        value = _VALUE.match(self._text, self.at)
        if value is None:
            raise self.wrong(f"a value is expected after {match[0]}:")
        self.at = value.end()
        return Keyed(match[0], value["quoted"] or value["plain"] or "", column, self.at - column)

    def _places(self) -> tuple[Span, ...] | None:
        self.blanks()
        if self._took("*"):
            return None
        if not self._took("("):
            return (self._span("place"),)
        spans = [self._span("place")]
        while True:
            self.blanks()
            if self._took(")"):
                return tuple(spans)
            if not self._took(","):
                raise self.wrong("a comma or ) is expected")
            spans.append(self._span("place"))

    def _span(self, of: str = "rank") -> Span:
        self.blanks()
        column = self.at
        first = self._number(f"a {of} is expected")
        last, step = first, 1
        if self._took("..") or self._took("-"):
            self.blanks()
            at = self.at
            last = self._number(f"the last {of} is expected")
            if last < first:
                raise self.wrong(f"{last} is less than {first}", at, width=self.at - at)
            if self._took(":"):
                at = self.at
                step = self._number("a step is expected")
                if step == 0:
                    raise self.wrong("a step of 0", at, width=self.at - at)
        if (last - first) // step >= MOST_RANKS:
            raise self.wrong(f"more than {MOST_RANKS} {of}s", column, width=self.at - column)
        return Span(first, last, step, column, self.at - column)

    def _number(self, expected: str) -> int:
        match = _NUMBER.match(self._text, self.at)
        if match is None:
            raise self.wrong(expected)
        if len(match[0]) > _MOST_DIGITS:
            raise self.wrong("the number is too large", width=len(match[0]))
        self.at = match.end()
        return int(match[0])

    def _peek(self) -> str:
        return self._text[self.at] if self.at < len(self._text) else ""

    def _took(self, what: str) -> bool:
        if self._text.startswith(what, self.at):
            self.at += len(what)
            return True
        return False

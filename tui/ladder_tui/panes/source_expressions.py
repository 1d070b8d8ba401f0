"""Expressions in a line of source whose values can be shown without running anything.

Names, members (`a->b.c`, `self.x`, `ns::x`) and elements (`a[i + 1]`); never calls, assignments or increments. Read
without knowing the language: what C, C++, CUDA and Rust have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SKIPPED = re.compile(
    r"""//.* | /\*.*?(?:\*/|$) | (?:\b[LuUbr]{1,2})?"(?:\\.|[^"\\])*(?:"|$) | '(?:\\.[^']*|[^'\\])'
    | (?<![\w\])]\.)\b\d[\w.']*""",
    re.VERBOSE,
)
_NAME = re.compile(r"~?[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*")
_MEMBER = re.compile(r"\s*(?:->|\.)\s*(?:[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|\d+\b)")
_INDEX = re.compile(r"[\w\s+\-*/%.>:\[\]]+\Z")
_CHANGES = re.compile(r"\+\+|--|=")
_CALLED = re.compile(r"\s*(?:(?:::)?<[^;(){}]*>\s*)?(?:\(|!\s*[\[({])")
_LABEL = re.compile(r"\s*:(?!:)\s*$")
_DECLARES = re.compile(r"\s+[A-Za-z_]|\s*[*&]+\s*[A-Za-z_]\w*\s*(?:[=;,)\[]|$)|\s*<")
_LONGEST = 1_000

_WORDS = frozenset(
    """
    alignas alignof as asm async auto await bool break case catch char class co_await co_return co_yield concept
    const consteval constexpr constinit const_cast continue crate decltype default delete do double dyn dynamic_cast
    else enum explicit export extern false float fn for friend goto if impl in inline int let long loop match mod
    move mut mutable namespace new noexcept nullptr operator private protected pub public ref register
    reinterpret_cast requires return Self short signed sizeof static static_assert static_cast struct super switch
    template throw trait true try type typedef typeid typename union unsigned unsafe use using virtual void volatile
    wchar_t where while yield NULL i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 usize isize f32 f64 str size_t
    __global__ __device__ __host__ __shared__ __constant__ __restrict__
    """.split()  # noqa: SIM905
)


class Chain(NamedTuple):
    """One expression, and the shorter ones that it begins with.

    Attributes:
        start: Column of its first character.
        ends: Columns behind each of its parts: of `a->b[i]` behind `a`, `b` and `]`.
    """

    start: int
    ends: tuple[int, ...]

    @property
    def end(self) -> int:
        """The column behind it."""
        return self.ends[-1]


def without_text(line: str) -> str:
    """The line with blanks in place of its strings, comments and numbers."""
    return _SKIPPED.sub(lambda match: " " * len(match.group()), line)


def chains_of(line: str) -> list[Chain]:
    """The expressions of a line, in order; those within an index come after what is indexed."""
    if line.lstrip().startswith("#") or len(line) > _LONGEST:
        return []
    blank = without_text(line)
    return sorted(_chains(blank, 0, len(blank)))


def _chains(text: str, start: int, end: int) -> Iterator[Chain]:
    position = start
    while position < end:
        match = _NAME.search(text, position, end)
        if match is None:
            return
        position = match.end()
        if match.group() in _WORDS:
            continue
        ends = [position]
        while True:
            member = _MEMBER.match(text, position, end)
            if member is not None:
                position = member.end()
                ends.append(position)
                continue
            closing = _closing(text, position, end)
            if closing is None:
                break
            inside = text[position + 1 : closing]
            if not _INDEX.match(inside) or _CHANGES.search(inside):
                break
            yield from _chains(text, position + 1, closing)
            position = closing + 1
            ends.append(position)
        if _CALLED.match(text, position, end):
            # What is called is no value; what it is called on is one.
            ends.pop()
        elif len(ends) == 1 and (_DECLARES.match(text, position, end) or _LABEL.match(text, position, end)):
            continue
        if ends:
            yield Chain(match.start(), tuple(ends))


def _closing(text: str, position: int, end: int) -> int | None:
    """Where the bracket at `position` is closed, or None where none opens there or it stays open."""
    if position >= end or text[position] != "[":
        return None
    depth = 0
    for index in range(position, end):
        depth += (text[index] == "[") - (text[index] == "]")
        if depth == 0:
            return index
    return None


def expression_at(line: str, column: int) -> tuple[int, str] | None:
    """The expression that ends with the name or index at a column, and where it starts; else None."""
    best: tuple[int, int] | None = None
    for chain in chains_of(line):
        if chain.start <= column < chain.end:
            end = next(end for end in chain.ends if column < end)
            if best is None or chain.start > best[0]:
                best = (chain.start, end)
    return (best[0], line[best[0] : best[1]]) if best is not None else None


def expressions_on(line: str) -> list[tuple[int, str]]:
    """Each expression of a line once, with where it starts: whole ones, then what they begin with.

    Of an element that only a function of the program could tell, what it is an element of can be shown.
    """
    found: dict[str, int] = {}
    chains = chains_of(line)
    for chain in chains:
        found.setdefault(line[chain.start : chain.end], chain.start)
    for chain in chains:
        for end in reversed(chain.ends[:-1]):
            found.setdefault(line[chain.start : end], chain.start)
    return [(start, text) for text, start in found.items()]

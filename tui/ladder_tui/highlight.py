"""Colours for source text: Pygments in slices of a few milliseconds, so that keys never wait for it."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ladder_tui.widgets.row import Cell

SLICE = 0.002
"""Seconds of highlighting between two looks at the keys."""
MAX_LINES = 20_000
"""Beyond this many lines only the surroundings of the view are coloured."""
TAB = 4

_LEXERS: dict[str, tuple[str, str]] = {
    ".cu": ("c_cpp", "CppLexer"),
    ".c": ("c_cpp", "CLexer"),
    ".py": ("python", "PythonLexer"),
    ".ptx": ("asm", "GasLexer"),
    ".s": ("asm", "GasLexer"),
    ".asm": ("asm", "NasmLexer"),
}
for _suffix in (".cuh", ".h", ".hh", ".hpp", ".hxx", ".cc", ".cpp", ".cxx", ".hip", ".inl", ".inc", ".c++"):
    _LEXERS[_suffix] = ("c_cpp", "CppLexer")
_LEXERS[".cu"] = _LEXERS[".cuh"] = ("c_like", "CudaLexer")

_STYLES: tuple[tuple[str, str], ...] = (
    ("Token.Comment.Preproc", "syntax.preprocessor"),
    ("Token.Comment", "syntax.comment"),
    ("Token.Keyword.Type", "syntax.type"),
    ("Token.Keyword", "syntax.keyword"),
    ("Token.Name.Function", "syntax.function"),
    ("Token.Name.Class", "syntax.type"),
    ("Token.Name.Builtin", "syntax.builtin"),
    ("Token.Name.Decorator", "syntax.preprocessor"),
    ("Token.Name", "syntax.name"),
    ("Token.Literal.String", "syntax.string"),
    ("Token.Literal.Number", "syntax.number"),
    ("Token.Operator", "syntax.operator"),
)

Line = tuple[Cell, ...]


def expand(line: str) -> str:
    """A source line with its tabs as spaces."""
    return line.expandtabs(TAB)


def can_highlight(name: str) -> bool:
    """Whether there are colours for a file of this name."""
    return _suffix_of(name) in _LEXERS


def _suffix_of(name: str) -> str:
    return "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""


def _style_of(token: object, known: dict[object, str]) -> str:
    style = known.get(token)
    if style is None:
        text = str(token)
        style = next((style for prefix, style in _STYLES if text.startswith(prefix)), "text")
        known[token] = style
    return style


def _lexer(name: str) -> Any:
    module, lexer = _LEXERS[_suffix_of(name)]
    return getattr(importlib.import_module(f"pygments.lexers.{module}"), lexer)()


def colour_lines(name: str, lines: Sequence[str], start: int) -> Iterator[tuple[int, Line]]:
    """Yield each line from `start` on with its cells, as the lexer comes to it."""
    known: dict[object, str] = {}
    number = start
    cells: list[Cell] = []
    for _, token, value in _lexer(name).get_tokens_unprocessed("\n".join([*lines[start:], ""])):
        style = _style_of(token, known)
        first, *others = value.split("\n")
        if first:
            _append(cells, first, style)
        for other in others:
            if number < len(lines):
                yield number, tuple(cells)
            number += 1
            cells = [Cell(other, style)] if other else []
    # The last line ends like any other: a comment there is one only with its end of line.


def _append(cells: list[Cell], text: str, style: str) -> None:
    if cells and (cells[-1].style == style or text.isspace()):
        cells[-1] = Cell(cells[-1].text + text, cells[-1].style)
    else:
        cells.append(Cell(text, style))


def safe_start(lines: Sequence[str], line: int, reach: int = 400) -> int:
    """A line at or above `line` where a lexer can start: the outermost level, after a blank line."""
    for number in range(line, max(0, line - reach), -1):
        here = lines[number] if number < len(lines) else ""
        if number and not lines[number - 1].strip() and here[:1] not in ("", " ", "\t", "*", "}"):
            return number
    return 0 if line <= reach else line


async def highlight(
    name: str, lines: Sequence[str], sink: list[Line | None], view: range, ready: Callable[[], None]
) -> None:
    """Colour a file: what is visible first, then the whole file from its start.

    Args:
        name: File name; its suffix chooses the language.
        lines: The text, tabs expanded.
        sink: One entry a line; set as lines are done.
        view: Visible lines, 0-based.
        ready: Called when the visible lines are done, and again at the end.
    """
    await asyncio.to_thread(importlib.import_module, f"pygments.lexers.{_LEXERS[_suffix_of(name)][0]}")
    start = safe_start(lines, view.start)
    passes = [start, 0] if start else [0]
    if len(lines) > MAX_LINES:
        passes = [start]
    for number, begin in enumerate(passes):
        slice_end = time.perf_counter() + SLICE
        told = False
        for line, cells in colour_lines(name, lines, begin):
            sink[line] = cells
            if not told and line >= view.stop:
                ready()
                told = True
                if number + 1 < len(passes):
                    break
            if len(lines) > MAX_LINES and line > begin + 2_000:
                break
            if time.perf_counter() > slice_end:
                await asyncio.sleep(0)
                slice_end = time.perf_counter() + SLICE
    ready()

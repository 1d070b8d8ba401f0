"""What stands beside a source line: breakpoints and findings at the left, values and lane counts at the right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ladder_backends.model.breakpoint import BindingState, BreakpointBinding
from ladder_backends.model.finding import Report
from ladder_backends.model.frame import Place
from ladder_backends.model.variable import Variable
from ladder_tui.widgets.row import Cell

_WORD = re.compile(r"[A-Za-z_]\w*")
_VALUE_ROOM = 24
_LINES_BACK = 8
"""How far above the current line values are still shown."""


class FindingMark(NamedTuple):
    """Findings on one line of source: all their lanes, and the index of the first of them."""

    lanes: int
    finding: int


def basename(path: str) -> str:
    """The last part of a path as a tool wrote it."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def same_file(place: Place, names: frozenset[str]) -> bool:
    """Whether a place is in the file that goes by any of these names (whole paths and one basename)."""
    whole = {name for name in names if "/" in name}
    told = {name for name in (place.fullname, place.file) if "/" in name}
    if whole and told:
        return bool(whole & told) or (not place.fullname and basename(place.file) in names)
    return basename(place.fullname or place.file) in names


def breakpoint_mark(binding: BreakpointBinding) -> Cell:
    """One glyph for a breakpoint: each state has its own."""
    if not binding.intent.enabled:
        return Cell("○", "breakpoint-off")
    return {
        BindingState.SET: Cell("●", "breakpoint"),
        BindingState.PENDING: Cell("◌", "warn"),
        BindingState.MOVED: Cell("◐", "breakpoint"),
        BindingState.UNSUPPORTED: Cell("⊘", "breakpoint-off"),
        BindingState.FAILED: Cell("✗", "fault"),
    }[binding.state]


def breakpoint_lines(bindings: Sequence[BreakpointBinding], names: frozenset[str]) -> dict[int, Cell]:
    """Marks by 1-based line for one file."""
    marks: dict[int, Cell] = {}
    for binding in bindings:
        for place in binding.places:
            if same_file(place, names):
                marks[place.line] = breakpoint_mark(binding)
        file, _, line = binding.intent.location.rpartition(":")
        if not binding.places and line.isdecimal() and (file in names or basename(file) in names):
            marks[int(line)] = breakpoint_mark(binding)
    return marks


def finding_lines(report: Report | None, name: str) -> dict[int, FindingMark]:
    """Lanes by 1-based line for the file of this basename; one bug is one look, however many lanes it has."""
    marks: dict[int, FindingMark] = {}
    if report is None:
        return marks
    for group in report.groups.values():
        if not group.members:
            continue
        first = report.findings[group.members[0]]
        if first.line is None or basename(first.src_file) != name:
            continue
        lanes = len(group.members) if first.sides or first.thread is not None else 0
        known = marks.get(first.line, FindingMark(0, first.index))
        marks[first.line] = FindingMark(lanes + known.lanes, known.finding)
    return marks


def inline_values(lines: Sequence[str], current: int, variables: Sequence[Variable]) -> dict[int, tuple[Cell, ...]]:
    """Values of the variables that a line names, each once, nearest to the current line; lines are 1-based.

    Only the current line and those above it in the same block of text are looked at: what is below has not run, and
    what is above an outermost line belongs to another function.
    """
    waiting = {variable.name: variable for variable in variables if variable.value or variable.error}
    shown: dict[int, tuple[Cell, ...]] = {}
    for line in range(current, max(0, current - _LINES_BACK), -1):
        if not waiting or line > len(lines):
            break
        text = lines[line - 1]
        named = [name for name in dict.fromkeys(_WORD.findall(text)) if name in waiting]
        if named:
            shown[line] = tuple(_value_cells(waiting.pop(name) for name in named))
        if text[:1] not in ("", " ", "\t", "#") and line != current:
            break
    return shown


def _value_cells(variables: Iterator[Variable]) -> Iterator[Cell]:
    for variable in variables:
        value = variable.value or f"<{variable.error}>"
        value = value if len(value) <= _VALUE_ROOM else value[: _VALUE_ROOM - 1] + "…"
        sign, style = ("→", "changed") if variable.changed else ("=", "inline")
        yield Cell(f"{variable.name}{sign}{value}", style)

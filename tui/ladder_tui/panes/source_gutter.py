"""What stands beside a source line: breakpoints and findings at the left, values and lane counts at the right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ladder_backends.model.frame import Place, file_name
from ladder_tui.widgets.row import Cell

if TYPE_CHECKING:
    from ladder_backends.model.breakpoint import BreakpointBinding
    from ladder_backends.model.finding import Report
    from ladder_backends.model.focus import Focus
    from ladder_backends.model.variable import Variable
    from ladder_backends.session.grid_state import LinesOfLanes

_WORD = re.compile(r"(?<!->)(?<![.\w])[A-Za-z_]\w*")
"""A name that is no member's."""
_SET = re.compile(r"([A-Za-z_]\w*)\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)")
"""Names that a line gives a value to."""
_VALUE_ROOM = 24
_LONGEST = 1_000
"""Characters of a line that are looked at."""
_LINES_BACK = 8
"""How far above the current line values are still shown."""


class FindingMark(NamedTuple):
    """Findings on one line of source: all their lanes and pairs of lanes, and the index of the first of them."""

    lanes: int
    pairs: int
    finding: int

    @property
    def words(self) -> str:
        """`24 lanes`, `20 pairs`; a hazard's lanes take part in several pairs. Empty where no lane is named."""
        from ladder_tui.panes.findings_words import plural

        told = [plural(self.lanes, "lane")] if self.lanes else []
        return " + ".join([*told, *([plural(self.pairs, "pair")] if self.pairs else [])])


def same_file(place: Place, names: frozenset[str]) -> bool:
    """Whether a place is in the file that goes by any of these names (whole paths and one basename)."""
    whole = {name for name in names if "/" in name}
    told = {name for name in (place.fullname, place.file) if "/" in name}
    if whole and told:
        return bool(whole & told) or (not place.fullname and file_name(place.file) in names)
    return file_name(place.fullname or place.file) in names


def breakpoint_lines(bindings: Sequence[BreakpointBinding], names: frozenset[str]) -> dict[int, Cell]:
    """Marks by 1-based line for one file; of several on one line, one that is on counts."""
    marks: dict[int, Cell] = {}
    if not bindings:
        return marks
    from ladder_tui.panes.breakpoint_rows import breakpoint_mark

    for binding in bindings:
        for line, on in _lines_of(binding, names):
            mark = breakpoint_mark(binding, on=on)
            if line not in marks or mark.style != "breakpoint-off":
                marks[line] = mark
    return marks


def breakpoint_on(
    bindings: Sequence[BreakpointBinding], names: frozenset[str], line: int
) -> BreakpointBinding | None:
    """The breakpoint on a 1-based line of a file, or None."""
    return next((binding for binding in bindings if line in dict(_lines_of(binding, names))), None)


def _lines_of(binding: BreakpointBinding, names: frozenset[str]) -> Iterator[tuple[int, bool]]:
    """The lines of a file that a breakpoint is on, and whether it is switched on there."""
    from ladder_backends.model.breakpoint import BreakpointKind

    for place in binding.places:
        if same_file(place, names):
            there = [each.enabled for each in binding.locations if each.place == place]
            yield place.line, any(there) or not there
    file, _, line = binding.intent.location.rpartition(":")
    code = binding.intent.kind is BreakpointKind.CODE
    if code and not binding.places and line.isdecimal() and (file in names or file_name(file) in names):
        yield int(line), True


def lane_lines(told: LinesOfLanes, focus: Focus | None, names: frozenset[str]) -> dict[int, int]:
    """How many lanes of the focused block stand on each 1-based line of one file, as the engine told it."""
    lines: dict[int, int] = {}
    if focus is None or told.block != focus.dim3("block") or told.kernel != focus.index("kernel"):
        return lines
    for place, count in told.lanes:
        if same_file(place, names):
            lines[place.line] = lines.get(place.line, 0) + count
    return lines


def finding_lines(report: Report | None, name: str) -> dict[int, FindingMark]:
    """Lanes and pairs by 1-based line for the file of this basename; a bug is one look, whatever its lanes."""
    marks: dict[int, FindingMark] = {}
    if report is None:
        return marks
    from ladder_backends.model.finding import LaneAnswer
    from ladder_tui.panes.findings_words import has_lane

    for group in report.groups.values():
        if not group.members:
            continue
        first = report.findings[group.members[0]]
        if first.line is None or file_name(first.src_file) != name:
            continue
        known = marks.get(first.line, FindingMark(0, 0, first.index))
        if first.lane is LaneAnswer.TWO:
            known = known._replace(pairs=known.pairs + len(group.members))
        elif has_lane(first):
            known = known._replace(lanes=known.lanes + len(group.members))
        marks[first.line] = known
    return marks


class InlineValue(NamedTuple):
    """A value at the end of a line.

    Attributes:
        spare: Shown only where code leaves room: the current line tells it too and this one does not set it, or it
            is so long that only its beginning could be shown.
    """

    cell: Cell
    spare: bool = False


@lru_cache(maxsize=512)
def _named_on(text: str) -> tuple[str, ...]:
    """Names on a line of code, each once."""
    from ladder_tui.panes.source_expressions import without_text

    return tuple(dict.fromkeys(_WORD.findall(without_text(text[:_LONGEST]))))


def inline_values(
    lines: Sequence[str], current: int, variables: Sequence[Variable]
) -> dict[int, tuple[InlineValue, ...]]:
    """Values of the variables that a line names, the most telling first; lines are 1-based.

    The current line tells all it names; a line above tells what no line between the two names. Only lines in the
    same block of text are looked at: what is below has not run, and what is above an outermost line belongs to
    another function.
    """
    from ladder_tui.panes.value_lines import short_value

    known = {variable.name: variable for variable in variables if variable.value or variable.error}
    here = set(_named_on(lines[current - 1])) if 0 < current <= len(lines) else set()
    told: set[str] = set()
    shown: dict[int, tuple[InlineValue, ...]] = {}
    for line in range(current, max(0, current - _LINES_BACK), -1):
        if line > len(lines):
            break
        text = lines[line - 1]
        named = [known[name] for name in _named_on(text) if name in known and name not in told]
        if named:
            again = here - set(_SET.findall(text)) if line != current else set()
            named.sort(key=lambda variable: (variable.name in again, _dullness(variable)))
            shown[line] = tuple(
                InlineValue(
                    _value_cell(variable, short_value(variable.value)),
                    variable.name in again or len(variable.value) > _VALUE_ROOM,
                )
                for variable in named
            )
        if line != current:
            told.update(variable.name for variable in named)
        if text[:1] not in ("", " ", "\t", "#") and line != current:
            break
    return shown


def _dullness(variable: Variable) -> tuple[int, ...]:
    """What comes later: changed values and null pointers are looked for first, long ones have room last."""
    value = variable.value
    return not variable.changed, value != "0x0", not value or value.startswith("<"), len(value)


def _value_cell(variable: Variable, value: str) -> Cell:
    value = value or f"<{variable.error}>"
    value = value if len(value) <= _VALUE_ROOM else value[: _VALUE_ROOM - 1] + "…"
    sign, style = ("→", "changed") if variable.changed else ("=", "inline")
    return Cell(f"{variable.name}{sign}{value}", style)

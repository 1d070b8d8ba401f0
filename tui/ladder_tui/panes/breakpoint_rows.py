"""Breakpoints as rows: one each, and one for each of their places where there are several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ladder_backends.model.breakpoint import (
    BindingState,
    BoundLocation,
    BreakpointBinding,
    BreakpointIntent,
    BreakpointKind,
)
from ladder_backends.model.focus import format_coordinate
from ladder_backends.model.frame import Place, file_name
from ladder_tui.widgets.row import Cell, Row, size_of

_KIND_WORDS = {
    BreakpointKind.CODE: "break",
    BreakpointKind.REGEX: "regex",
    BreakpointKind.WRITE: "watch",
    BreakpointKind.READ: "rwatch",
    BreakpointKind.ACCESS: "awatch",
    BreakpointKind.CATCH: "catch",
}
_WORD_ROOM = 6
_MOST_LOG = 60


class BreakpointLine(NamedTuple):
    """What a row is about: a breakpoint, or one of its places.

    Attributes:
        binding: The breakpoint.
        location: The place, where the row is about one.
        namesakes: Names of files that breakpoints of the list are in, each in several folders.
    """

    binding: BreakpointBinding
    location: BoundLocation | None = None
    namesakes: frozenset[str] = frozenset()


class Act(NamedTuple):
    """What a click on a part of a row does: `switch`, `show` or `edit`."""

    what: str
    line: BreakpointLine


def lines_of(bindings: Sequence[BreakpointBinding]) -> list[BreakpointLine]:
    """The rows in order."""
    lines: list[BreakpointLine] = []
    namesakes = _namesakes(bindings)
    for binding in bindings:
        lines.append(BreakpointLine(binding, None, namesakes))
        if len(binding.locations) > 1:
            lines += [BreakpointLine(binding, location, namesakes) for location in binding.locations]
    return lines


def _namesakes(bindings: Sequence[BreakpointBinding]) -> frozenset[str]:
    files = {place.fullname or place.file for binding in bindings for place in binding.places}
    names = Counter(map(file_name, files))
    return frozenset(name for name, count in names.items() if count > 1)


def _place_text(place: Place, namesakes: frozenset[str]) -> str:
    """File and line; the folder as well, where another file has the same name."""
    name = file_name(place.file)
    if name not in namesakes:
        return str(place)
    return f"{file_name((place.fullname or place.file)[: -len(name) - 1])}/{place}"


def breakpoint_mark(binding: BreakpointBinding, *, on: bool = True) -> Cell:
    """One glyph for a breakpoint: what became of it where that is not well, else what it is and does.

    Args:
        binding: The breakpoint.
        on: The place that the glyph stands at is not switched off.
    """
    intent = binding.intent
    if binding.state is BindingState.FAILED:
        return Cell("✗", "fault")
    if binding.state is BindingState.UNSUPPORTED:
        return Cell("⊘", "breakpoint-off")
    if not intent.enabled or not on:
        return Cell("○", "breakpoint-off")
    if binding.state is BindingState.PENDING:
        return Cell("◌", "warn")
    if binding.state is BindingState.MOVED:
        return Cell("◐", "breakpoint")
    if intent.log:
        return Cell("»", "breakpoint")
    if intent.kind.watches:
        return Cell("◈", "breakpoint")
    if intent.kind is BreakpointKind.CATCH:
        return Cell("⚑", "breakpoint")
    if intent.temporary or intent.once:
        return Cell("◉", "breakpoint")
    return Cell("◆" if intent.condition or intent.ignore or _for_one(intent) else "●", "breakpoint")


def _for_one(intent: BreakpointIntent) -> bool:
    """Whether it is for one thread, block or lane only."""
    return any(one is not None for one in (intent.thread, intent.block, intent.lane))


def state_word(binding: BreakpointBinding) -> str:
    """What became of a breakpoint, in a word; empty where all is well."""
    if not binding.intent.enabled and binding.state in (BindingState.SET, BindingState.MOVED):
        return "off"
    return "" if binding.state is BindingState.SET else str(binding.state)


def row_of(line: BreakpointLine, said: Mapping[int, str], digits: int) -> Row:
    """The row of a breakpoint or of one of its places.

    Args:
        line: Which.
        said: The last message of each log point, by the id of its intent.
        digits: Columns for the engine's numbers.
    """
    if line.location is not None:
        return _location_row(line, line.location, digits)
    binding = line.binding
    intent, mark = binding.intent, breakpoint_mark(binding)
    number = binding.number.rjust(digits) if binding.number else " " * digits
    word = "log" if intent.log else _KIND_WORDS[intent.kind]
    cells = [
        Cell(f"{number} ", "number", Act("switch", line)),
        Cell(f"{mark.text} ", mark.style, Act("switch", line)),
        Cell(f"{word:<{_WORD_ROOM}} ", "muted"),
        Cell(place_words(binding, line.namesakes), "text", Act("show", line) if binding.places else None),
    ]
    state = state_word(binding)
    if state:
        style = "breakpoint-off" if state == "off" else "fault" if binding.state is BindingState.FAILED else "warn"
        told = binding.why if binding.why.startswith(state) else f"{state}: {binding.why}"
        cells.append(Cell(f"  {told if binding.why and state != 'off' else state}", style))
    elif binding.why:
        cells.append(Cell(f"  {binding.why}", "warn"))
    cells += [Cell(f"  {text}", "muted") for text in options_of(binding)]
    last = said.get(intent.id, "") if intent.log else ""
    if last:
        cells.append(Cell(f"  last: {last[:_MOST_LOG]}", "value"))
    hits = f"{binding.hits:,} hit{'s' if binding.hits != 1 else ''}" if binding.hits else ""
    return Row(tuple(cells), (Cell(hits, "number"),) if hits else (), target=Act("edit", line))


def _location_row(line: BreakpointLine, location: BoundLocation, digits: int) -> Row:
    mark = breakpoint_mark(line.binding, on=location.enabled)
    number = location.number.rjust(digits)
    place = location.place
    where = location.address if place is None else _place_text(place, line.namesakes)
    cells = [
        Cell(f"{number} ", "number", Act("switch", line)),
        Cell(f"{mark.text} ", mark.style, Act("switch", line)),
        Cell("  "),
        Cell(location.function or location.address, "text", Act("show", line)),
        Cell(f"  {where}", "muted"),
    ]
    if len({each.process for each in line.binding.locations}) > 1:
        cells.append(Cell(f"  process {location.process}", "muted"))
    if not location.enabled:
        cells.append(Cell("  off", "breakpoint-off"))
    return Row(tuple(cells), target=Act("edit", line))


def place_words(binding: BreakpointBinding, namesakes: frozenset[str] = frozenset()) -> str:
    """Where a breakpoint is, or what it waits for."""
    intent = binding.intent
    if intent.kind is not BreakpointKind.CODE:
        return intent.location
    if not binding.places:
        file, colon, line = intent.location.rpartition(":")
        return f"{file_name(file)}{colon}{line}" if colon and line.isdecimal() else intent.location
    count = len(binding.locations) or len(binding.places)
    several = len({place.fullname or place.file for place in binding.places}) > 1
    where = str(binding.places[0]) if several else _place_text(binding.places[0], namesakes)
    named = intent.location if not intent.location.rpartition(":")[2].isdecimal() else ""
    if named and not named.startswith("*"):
        where = f"{named} {where}"
    return f"{where} ({count} places)" if count > 1 else where


def options_of(binding: BreakpointBinding) -> list[str]:
    """What is asked of a breakpoint besides its place, a few words each, the most telling first."""
    intent = binding.intent
    told: list[str] = []
    if intent.condition:
        told.append(f"if {intent.condition}")
    if intent.log:
        told.append(f'"{intent.log}"')
    if intent.ignore:
        left = f", {binding.left} left" if binding.left and binding.left != intent.ignore else ""
        told.append(f"at hit {intent.ignore + 1}{left}")
    if intent.thread is not None:
        told.append(f"thread {intent.thread}")
    if intent.block is not None:
        told.append(f"block {format_coordinate(intent.block)}")
    if intent.lane is not None:
        told.append(f"thread {format_coordinate(intent.lane)}")
    if intent.temporary:
        told.append("once, then gone")
    elif intent.once:
        told.append("once, then off")
    if intent.commands:
        told.append(f"runs {'; '.join(intent.commands)}")
    return told


def number_room(bindings: Sequence[BreakpointBinding]) -> int:
    """Columns that the engine's numbers take, however many there are."""
    numbers = [binding.number for binding in bindings]
    numbers += [location.number for binding in bindings for location in binding.locations]
    return max((size_of(number) for number in numbers), default=1)

"""A warp's lanes as glyphs: state by shape, program counter by letter and colour."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ladder_backends.model.frame import Place
from ladder_backends.model.grid import Lane, LaneState, Warp
from ladder_tui.widgets.row import Cell

_ACTIVE = "■"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_OTHER = "+"
_UNKNOWN = "?"
_GROUP_STYLES = ("lane-active", "heat-5", "heat-3", "heat-7", "heat-2", "heat-6", "heat-1", "heat-4")
_FOCUS = "◆"
_STATE_GLYPHS = {
    LaneState.FAULTING: ("✗", "lane-faulting"),
    LaneState.EXITED: ("◦", "lane-exited"),
    LaneState.ABSENT: ("·", "lane-absent"),
}
_STATE_WORDS = {
    LaneState.EXITED: "exited",
    LaneState.FAULTING: "faulting",
    LaneState.DIVERGENT: "waiting",
}
_STAND = (LaneState.ACTIVE, LaneState.DIVERGENT, LaneState.FAULTING)


class Counters(NamedTuple):
    """The different program counters of lanes, and what is known of each.

    Attributes:
        group: Number of each, by how many lanes stand there; the counter that is not known is the last one.
        lanes: How many lanes stand at each.
        places: The source lines of those of which they were told.
    """

    group: Mapping[str, int] = {}
    lanes: Mapping[str, int] = {}
    places: Mapping[str, Place] = {}

    def where(self, pc: str) -> str:
        """The line of a program counter, with its end where others share the line; the counter without a line."""
        place = self.places.get(pc)
        if place is None:
            return where_words(pc)
        shared = sum(other == place for other in self.places.values()) > 1
        return f":{place.line} …{pc[-4:]}" if shared else f":{place.line}"

    @property
    def diverge(self) -> bool:
        """There is more than one: lanes are drawn as letters."""
        return len(self.group) > 1


def program_counters(warps: Sequence[Warp]) -> Counters:
    """Where the lanes stand that the engine holds and that have not ended."""
    counts: dict[str, int] = {}
    places: dict[str, Place] = {}
    for warp in warps:
        for lane in warp.lanes:
            if lane.state in _STAND:
                counts[lane.pc] = counts.get(lane.pc, 0) + 1
                if lane.place is not None and lane.pc:
                    places[lane.pc] = lane.place
    ranked = sorted(counts, key=lambda pc: (not pc, -counts[pc], pc))
    return Counters({pc: number for number, pc in enumerate(ranked)}, counts, places)


class LaneLook(NamedTuple):
    """Glyph and style of a lane."""

    glyph: str
    style: str


def letter_of(pc: str, counters: Counters) -> str:
    """The letter of a program counter: `a` where most lanes stand."""
    if not pc:
        return _UNKNOWN
    group = counters.group.get(pc, len(_LETTERS))
    return _LETTERS[group] if group < len(_LETTERS) else _OTHER


def look_of(lane: Lane, counters: Counters) -> LaneLook:
    """How a lane is drawn, apart from focus and cursor: capitals execute, small letters wait for them."""
    fixed = _STATE_GLYPHS.get(lane.state)
    if fixed is not None:
        return LaneLook(*fixed)
    if not lane.pc and lane.state is LaneState.DIVERGENT:
        return LaneLook(_UNKNOWN, "lane-divergent")
    style = _GROUP_STYLES[counters.group.get(lane.pc, 0) % len(_GROUP_STYLES)]
    if not counters.diverge:
        return LaneLook(_ACTIVE if lane.state is LaneState.ACTIVE else letter_of(lane.pc, counters), style)
    letter = letter_of(lane.pc, counters)
    return LaneLook(letter.upper() if lane.state is LaneState.ACTIVE else letter, style)


def lane_cells(warp: Warp, counters: Counters, focus: int | None, cursor: int | None) -> list[Cell]:
    """The warp's lanes, neighbours that look alike joined.

    Args:
        warp: What to draw.
        counters: From `program_counters`, over all warps on screen.
        focus: Lane the engine stands in, or None.
        cursor: Lane under the keyboard's cursor, or None.
    """
    looks: list[LaneLook] = [look_of(lane, counters) for lane in warp.lanes]
    if focus is not None and 0 <= focus < len(looks):
        looks[focus] = LaneLook(_FOCUS, "focus")
    if cursor is not None and 0 <= cursor < len(looks):
        looks[cursor] = LaneLook(looks[cursor].glyph, "lane-focus")
    cells: list[Cell] = []
    for glyph, style in looks:
        if cells and cells[-1].style == style:
            cells[-1] = Cell(cells[-1].text + glyph, style)
        else:
            cells.append(Cell(glyph, style))
    return cells


def ranges_words(numbers: Sequence[int]) -> str:
    """`8–31`, `0, 2, 4–7`, `1–31 step 2`; other long lists end in `…`."""
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    if len(numbers) > 3 and len(steps) == 1 and 1 not in steps:
        return f"{numbers[0]}–{numbers[-1]} step {steps.pop()}"
    pieces: list[str] = []
    start = previous = None
    for number in [*numbers, None]:
        if previous is not None and number == previous + 1:
            previous = number
            continue
        if start is not None and previous is not None:
            pieces.append(str(start) if start == previous else f"{start}–{previous}")
        start = previous = number
    return ", ".join(pieces) if len(pieces) <= 6 else ", ".join([*pieces[:6], "…"])


def where_words(pc: str) -> str:
    """A program counter without its leading zeros."""
    digits = pc.removeprefix("0x").lstrip("0")
    return f"0x{digits}" if digits else pc


def counters_line(counters: Counters, room: int) -> list[Cell]:
    """`a :28 14 lanes  b :31 18 lanes`: all program counters of a block in one line; as many as have room."""
    cells: list[Cell] = []
    used = 0
    ranked = sorted(counters.group, key=lambda pc: counters.group[pc])
    for number, pc in enumerate(ranked):
        count = counters.lanes.get(pc, 0)
        where = f" {counters.where(pc)}" if pc else " elsewhere"
        words = f"{where} {count} lane{'' if count == 1 else 's'}"
        more = f"  … {len(ranked) - number} more"
        last = number == len(ranked) - 1
        if used + len(words) + 3 + (0 if last else len(more)) > room and number:
            cells.append(Cell(more, "muted"))
            break
        style = "lane-divergent" if not pc else _GROUP_STYLES[number % len(_GROUP_STYLES)]
        cells += [Cell("  ") if number else Cell(""), Cell(letter_of(pc, counters), style), Cell(words, "text")]
        used += len(words) + 3
    return [cell for cell in cells if cell.text]


def legend(warp: Warp, counters: Counters, focus_pc: str, focus_line: str, absent: str) -> list[list[Cell]]:
    """What the glyphs of a warp mean, one line for each group of lanes.

    Args:
        warp: The warp under the cursor.
        counters: From `program_counters`.
        focus_pc: Program counter of the lane the engine stands in, or an empty string.
        focus_line: The source line there, `:10`, as the engine told it for that lane only.
        absent: What to say of lanes that the engine does not list.
    """
    groups: dict[tuple[LaneState, str], list[Lane]] = {}
    for lane in warp.lanes:
        groups.setdefault((lane.state, lane.pc), []).append(lane)
    lines: list[list[Cell]] = []
    order = list(LaneState)
    for (state, pc), lanes in sorted(groups.items(), key=lambda item: (order.index(item[0][0]), item[1][0].number)):
        glyph, style = look_of(lanes[0], counters)
        numbers = ranges_words([lane.number for lane in lanes])
        words = f" lane{'' if len(lanes) == 1 else 's'} {numbers}"
        if pc and pc in counters.places:
            words += f" at {counters.where(pc)}"
        elif pc and pc == focus_pc and focus_line:
            words += f" at {focus_line}"
        elif pc:
            words += f" at {pc}"
        if state is LaneState.ABSENT:
            words += f" {absent}"
        elif state in _STATE_WORDS:
            words += f" {_STATE_WORDS[state]}"
        exception = next((lane.exception for lane in lanes if lane.exception), "")
        cells = [Cell(glyph, style), Cell(words, "text" if state is not LaneState.ABSENT else "muted")]
        if exception:
            cells.append(Cell(f"  {exception}", "fault"))
        lines.append(cells)
    return lines

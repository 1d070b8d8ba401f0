"""A warp's lanes as glyphs: state by shape, program counter by colour and shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ladder_backends.model.grid import Lane, LaneState, Warp
from ladder_tui.widgets.row import Cell

_ACTIVE = "■"
_GROUP_GLYPHS = "▤▥▦▧▨▩"
_GROUP_STYLES = ("heat-3", "heat-5", "heat-1", "heat-7", "heat-2", "heat-6")
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


def program_counters(warps: Sequence[Warp]) -> dict[str, int]:
    """The different program counters of the lanes that run, numbered by how many lanes stand there."""
    counts: dict[str, int] = {}
    for warp in warps:
        for lane in warp.lanes:
            if lane.state in (LaneState.ACTIVE, LaneState.DIVERGENT, LaneState.FAULTING):
                counts[lane.pc] = counts.get(lane.pc, 0) + 1
    ranked = sorted(counts, key=lambda pc: (not pc, -counts[pc], pc))
    return {pc: number for number, pc in enumerate(ranked)}


class LaneLook(NamedTuple):
    """Glyph and style of a lane."""

    glyph: str
    style: str


def look_of(lane: Lane, counters: dict[str, int]) -> LaneLook:
    """How a lane is drawn, apart from focus and cursor."""
    fixed = _STATE_GLYPHS.get(lane.state)
    if fixed is not None:
        return LaneLook(*fixed)
    group = counters.get(lane.pc, 0)
    if lane.state is LaneState.ACTIVE and group == 0:
        return LaneLook(_ACTIVE, "lane-active")
    style = "lane-divergent" if lane.state is LaneState.DIVERGENT and not lane.pc else _GROUP_STYLES[group % 6]
    glyph = _ACTIVE if lane.state is LaneState.ACTIVE else _GROUP_GLYPHS[group % 6]
    return LaneLook(glyph, style)


def lane_cells(warp: Warp, counters: dict[str, int], focus: int | None, cursor: int | None) -> list[Cell]:
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
    """`8–31`, `0, 2, 4–7`; long lists end in `…`."""
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


def legend(warp: Warp, counters: dict[str, int], focus_pc: str, focus_line: str, absent: str) -> list[list[Cell]]:
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
        if pc and pc == focus_pc and focus_line:
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

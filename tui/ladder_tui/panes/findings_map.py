"""A bug's lanes drawn as a map of the grid: one line, or blocks and the warps of one of them.

The map holds what the report names; that a lane is not named does not mean that it did nothing wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ladder_backends.model.focus import Dim3
from ladder_backends.model.grid import volume
from ladder_backends.sanitizer.lane_map import LaneMap, LaneRow, NamedLane
from ladder_tui.panes.findings_targets import Act, BlockTarget, Extents, Here, InsetRow, LaneTarget
from ladder_tui.panes.findings_words import plural
from ladder_tui.widgets.row import Cell

_NAMED, _ABSENT, _FOCUS, _BOTH = "■", "·", "◆", "X"
_SHADES = "░▒▓█"
_MOST_WARPS = 32
_MOST_BLOCK_ROWS = 8
_LABEL = 24
_TAG = 16
_INDENT = Cell("    ")


def _lane_cell(lane: NamedLane | None, here: bool) -> Cell:
    if lane is None:
        return Cell(_ABSENT, "lane-absent")
    target = LaneTarget(lane.finding, lane.side)
    if here:
        return Cell(_FOCUS, "focus", target)
    letters = lane.access
    glyph = _NAMED if not letters else letters if len(letters) == 1 else _BOTH
    return Cell(glyph, "lane-faulting", target)


def _lane_cells(row: LaneRow, standing: NamedLane | None, *, letters: bool) -> list[Cell]:
    lanes = (
        row.lanes
        if letters
        else tuple(lane._replace(access="") if lane is not None else None for lane in row.lanes)
    )
    return [
        _lane_cell(lane, standing is not None and one is standing)
        for lane, one in zip(lanes, row.lanes, strict=True)
    ]


def _shade(part: int, whole: int) -> str:
    """A glyph for a share; any at all is seen."""
    return _SHADES[min(3, part * 4 // max(1, whole))] if part else _ABSENT


def _standing(lanes: LaneMap, here: Here | None) -> NamedLane | None:
    return lanes.blocks.get(here.block, {}).get(here.thread) if here is not None else None


def _first_of(lanes: Sequence[NamedLane | None]) -> Act:
    return next((LaneTarget(lane.finding, lane.side) for lane in lanes if lane is not None), None)


def _span(end: int) -> str:
    return f"0–{end - 1}" if end > 1 else "0"


def strip_row(
    lanes: LaneMap, here: Here | None, width: int, *, extents: Extents | None = None, letters: bool = False
) -> InsetRow:
    """The whole map in one line.

    Args:
        lanes: Where the bug's lanes lie.
        here: Where the engine stands.
        width: Columns that there are.
        extents: How large grid and block are, where an engine has told.
        letters: Draw what was done in a lane: `R`, `W`, `X` for both.
    """
    end: tuple[Cell, ...] = (Cell("report", "muted"),)
    room = max(8, min(64, width - _LABEL - 12))
    if len(lanes.blocks) == 1:
        block = next(iter(lanes.blocks))
        rows = lanes.rows(block, extents.block if extents is not None else None)
        name = f"block {lanes.block_name(block)}"
        if len(rows) == 1:
            cells = _lane_cells(rows[0], _standing(lanes, here), letters=letters)
            if len(name) + len(rows[0].label) + len(cells) + _TAG > width:
                # All lanes are worth more than the word of where they are from, which the row above says.
                end = ()
            return InsetRow(
                (_INDENT, Cell(f"{name} {rows[0].label} ", "muted"), *cells), end, _first_of(rows[0].lanes)
            )
        cells = list(_warp_shades(rows, room))
        what = f"warps {_span(len(cells))}" if rows[0].warp is not None else f"{len(rows)} rows of threads"
        return InsetRow((_INDENT, Cell(f"{name} {what}  ", "muted"), *cells), end, _first_of(rows[0].lanes))
    extent = lanes.extent(extents.grid if extents is not None else None)
    cells = list(_block_cells(lanes, extent, room, "", None))
    more = f" y {_span(extent[1])}" if extent[1] > 1 else ""
    more += f" z {_span(extent[2])}" if extent[2] > 1 else ""
    axis = "x " if more else ""
    label = f"blocks {axis}{_span(extent[0])}{more}  "
    first = next(iter(next(iter(lanes.blocks.values()), {}).values()), None)
    return InsetRow((_INDENT, Cell(label, "muted"), *cells), end, _first_of((first,)))


def _warp_shades(rows: Sequence[LaneRow], room: int) -> Iterator[Cell]:
    """A cell for each warp, or for each row where threads form no known warps; those past the room are left out."""
    by_warp = {row.warp if row.warp is not None else number: row for number, row in enumerate(rows)}
    for number in range(min(room, max(by_warp) + 1)):
        row = by_warp.get(number)
        named = [lane for lane in row.lanes if lane is not None] if row is not None else []
        style = "lane-faulting" if named else "lane-absent"
        yield Cell(_shade(len(named), len(row.lanes) if row is not None else 1), style, _first_of(named))


def _block_cells(
    lanes: LaneMap, extent: Dim3, room: int, group: str, y: tuple[int, int, int] | None
) -> Iterator[Cell]:
    """Blocks along x, several in a cell where there are many.

    Args:
        lanes: The map.
        extent: How far blocks go.
        room: Cells at most.
        group: The bug, for cells that open a block; empty for cells that jump.
        y: From and up to which y, and which z; all of them for None.
    """
    each = -(-extent[0] // room)
    counts: list[int] = [0] * -(-extent[0] // each)
    firsts: list[Dim3 | None] = [None] * len(counts)
    for block, threads in lanes.blocks.items():
        if y is not None and not (y[0] <= block[1] < y[1] and block[2] == y[2]):
            continue
        place = block[0] // each
        counts[place] += len(threads)
        if firsts[place] is None:
            firsts[place] = block
    most = max(counts, default=1)
    for count, first in zip(counts, firsts, strict=True):
        act: Act = None
        if first is not None:
            act = BlockTarget(group, first) if group else _first_of(tuple(lanes.blocks[first].values())[:1])
        yield Cell(_shade(count, most), "lane-faulting" if count else "lane-absent", act)


def map_rows(
    group: str,
    lanes: LaneMap,
    here: Here | None,
    width: int,
    *,
    block: Dim3 | None = None,
    extents: Extents | None = None,
    letters: bool = False,
) -> list[InsetRow]:
    """The map at its full size: all blocks, then the lanes of one.

    Args:
        group: The bug.
        lanes: Where its lanes lie.
        here: Where the engine stands.
        width: Columns that there are.
        block: Whose lanes; the first block that is named for None.
        extents: How large grid and block are, where an engine has told.
        letters: Draw what was done in a lane.
    """
    if not lanes.blocks:
        return []
    rows: list[InsetRow] = []
    if len(lanes.blocks) > 1:
        rows.extend(_blocks(group, lanes, width, extents))
    chosen = block if block in lanes.blocks else here.block if here and here.block in lanes.blocks else None
    chosen = chosen or next(iter(lanes.blocks))
    threads = lanes.blocks[chosen]
    rows.append(
        InsetRow(
            (
                _INDENT,
                Cell(f"block {lanes.block_name(chosen)}", "number"),
                Cell(f"  {plural(len(threads), 'lane')}", "muted"),
            ),
            act=_first_of(tuple(threads.values())[:1]),
        )
    )
    known = lanes.rows(chosen, extents.block if extents is not None else None)
    label = max(len(row.label) for row in known)
    standing = _standing(lanes, here) if here is not None and here.block == chosen else None
    for row in known[:_MOST_WARPS]:
        cells = _lane_cells(row, standing, letters=letters)
        named = sum(lane is not None for lane in row.lanes)
        rows.append(
            InsetRow(
                (_INDENT, Cell(f"  {row.label:<{label}}  ", "muted"), *cells),
                (Cell(str(named), "number"),),
                _first_of(row.lanes),
            )
        )
    if len(known) > _MOST_WARPS:
        rows.append(InsetRow((_INDENT, Cell(f"  … {len(known) - _MOST_WARPS:,} more rows of lanes", "muted"))))
    rows.append(InsetRow((_INDENT, Cell(_legend(letters, extents, known), "muted"))))
    return rows


def _legend(letters: bool, extents: Extents | None, rows: Sequence[LaneRow]) -> str:
    named = "R read W write X both" if letters else f"{_NAMED} named"
    words = f"{named}, {_ABSENT} not named by the report, {_FOCUS} here"
    if extents is not None:
        return f"{words} · sizes from cuda-gdb"
    if rows and rows[0].warp is None:
        return f"{words} · by y: the report tells no warps"
    return words


def _blocks(group: str, lanes: LaneMap, width: int, extents: Extents | None) -> Iterator[InsetRow]:
    room = max(8, min(100, width - _LABEL))
    extent = lanes.extent(extents.grid if extents is not None else None)
    each = -(-extent[0] // room)
    note = f"  {each:,} to a cell" if each > 1 else ""
    whole = f" of {volume(extents.grid):,}" if extents is not None else ""
    yield InsetRow(
        (_INDENT, Cell(f"blocks{note}", "muted")),
        (Cell(f"{len(lanes.blocks):,}{whole}", "number"),),
    )
    if extent[1] == 1 and extent[2] == 1:
        label = f"  {_span(extent[0])}  "
        yield InsetRow((_INDENT, Cell(label, "muted"), *_block_cells(lanes, extent, room, group, None)))
        return
    used = {block[2] for block in lanes.blocks}
    for z in sorted(used)[:_MOST_BLOCK_ROWS]:
        step = -(-extent[1] // _MOST_BLOCK_ROWS)
        for y in range(0, extent[1], step):
            end = min(extent[1], y + step)
            span = f"{y}–{end - 1}" if end - y > 1 else str(y)
            label = f"  {f'z {z} ' if extent[2] > 1 else ''}y {span:<7}  "
            cells = _block_cells(lanes, extent, room, group, (y, end, z))
            yield InsetRow((_INDENT, Cell(label, "muted"), *cells))

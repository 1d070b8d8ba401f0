"""A bug in full: both sides, callers on the device, the host stack with what nobody reads folded."""

from __future__ import annotations

from collections.abc import Iterator

from ladder_backends.model.finding import CodeLocation, Finding, FindingKind
from ladder_backends.model.focus import format_coordinate
from ladder_backends.sanitizer.host_stack import frame_line, stack_rows
from ladder_tui.panes.findings_targets import FrameTarget, InsetRow, LaneTarget, StackTarget
from ladder_tui.panes.findings_words import lane_words, place_words
from ladder_tui.widgets.row import Cell

_INDENT = Cell("    ")
_MOST_SIDES = 16
_MOST_FRAMES = 200
_STACK = {
    FindingKind.LEAK: "allocated by",
    FindingKind.UNUSED_MEMORY: "allocated by",
    FindingKind.API_ERROR: "called by",
    FindingKind.UNINIT_API: "copied by",
    FindingKind.STREAM_RACE: "called by",
}


def detail_rows(group: str, first: Finding, *, whole_stack: bool = False) -> list[InsetRow]:
    """Everything that the report says of a bug's first finding, in a person's order.

    Args:
        group: The bug.
        first: Its first finding.
        whole_stack: List every frame of the host stack.
    """
    return [*_facts(first), *_sides(first), *_device(first), *_host(group, first, whole=whole_stack)]


def _facts(finding: Finding) -> Iterator[InsetRow]:
    if finding.kernel:
        yield _line("kernel", Cell(finding.kernel, "function"))
    if finding.address:
        words = f"{finding.address}{f', {finding.size:,} B' if finding.size is not None else ''}"
        yield _line("address", Cell(words, "report"))
    if finding.tool:
        origin = (
            f"{finding.tool}, {finding.kind}, {finding.severity}{f', {finding.origin}' if finding.origin else ''}"
        )
        yield _line("from", Cell(origin, "muted"))


def _line(label: str, *cells: Cell, frame: CodeLocation | None = None) -> InsetRow:
    act = FrameTarget(frame) if frame is not None and frame.file and frame.line is not None else None
    return InsetRow((_INDENT, Cell(f"{label:<12} ", "muted"), *cells), act=act)


def _frame_cells(frame: CodeLocation) -> tuple[Cell, ...]:
    if not frame.file:
        return (Cell(frame_line(frame), "text"),)
    place, _, function = frame_line(frame).partition(" ")
    return Cell(place, "file"), Cell(f" {function}" if function else "", "function")


def _sides(finding: Finding) -> Iterator[InsetRow]:
    for number, side in enumerate(finding.sides[:_MOST_SIDES]):
        cells = [Cell(place_words(side.location) or "the report names no place", "file")]
        block, thread = lane_words(side)
        if block or thread:
            words = f"  {block} {thread}".rstrip()
            rank = f" rank {side.block_rank}" if side.block_rank is not None else ""
            cells.append(Cell(words + rank, "number", LaneTarget(finding.index, number)))
        yield _line(side.access or "at", *cells, frame=side.location)
    if not finding.sides and finding.block is not None:
        yield _line("block", Cell(format_coordinate(finding.block), "number"))


def _device(finding: Finding) -> Iterator[InsetRow]:
    for number, frame in enumerate(finding.device_frames[:_MOST_FRAMES]):
        yield _line("" if number else "called from", *_frame_cells(frame), frame=frame)


def _host(group: str, finding: Finding, *, whole: bool) -> Iterator[InsetRow]:
    label = _STACK.get(finding.kind, "launched by")
    shown = 0
    for row in stack_rows(finding.host_frames, finding.kernel):
        frames = row.folded if row.frame is None else ()
        if row.frame is not None or whole:
            for frame in frames or ((row.frame,) if row.frame is not None else ()):
                if shown >= _MOST_FRAMES:
                    return
                yield _line("" if shown else label, *_frame_cells(frame), frame=frame)
                shown += 1
            continue
        words = f"… {len(frames):,} frames: {row.why}"
        yield InsetRow(
            (_INDENT, Cell(f"{'' if shown else label:<12} ", "muted"), Cell(words, "muted")), act=StackTarget(group)
        )
        shown += 1
    where = finding.allocation.where if finding.allocation is not None else None
    if where is not None and finding.kind not in _STACK:
        yield _line("allocated by", *_frame_cells(where), frame=where)

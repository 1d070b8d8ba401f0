"""Rows of a bug: its title, its lanes, what followed from it."""

from __future__ import annotations

from collections.abc import Sequence

from ladder_backends.model.finding import Finding, FindingGroup, FindingKind, LaneAnswer
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer import offset_words
from ladder_backends.session.finding_query import About
from ladder_backends.session.finding_remarks import Mark
from ladder_tui.panes.findings_targets import FindingTarget, Here, Part
from ladder_tui.panes.findings_words import has_lane, host_words, lane_words, place_words, plural, side_of
from ladder_tui.widgets.row import Cell, Row

_SAMPLE = 64
_GLYPHS = {"error": ("✗", "fault"), "warning": ("!", "warn"), "info": ("i", "muted")}
_MARKED = {Mark.DONE: "✓", Mark.IGNORED: "–"}


def title_row(
    group: FindingGroup, first: Finding, count: int, about: About, *, folded: bool = False, lanes: str = ""
) -> Row:
    """`✗ read 4 B out of bounds  vadd :10          24 lanes of block 3`.

    Args:
        group: The bug.
        first: Its first finding that is listed.
        count: How many are.
        about: What is said of it.
        folded: Nothing else of it is shown.
        lanes: How many lanes there are, and where, if that is known.
    """
    glyph, style = _GLYPHS.get(first.severity, _GLYPHS["error"])
    what, gap, where = group.title.partition("  ")
    mark = about.remark.mark
    if mark is not Mark.OPEN:
        glyph, style = _MARKED[mark], "muted"
    strong, function = ("strong", "function") if mark is Mark.OPEN else ("muted", "muted")
    cells = (Cell(f"{glyph} ", style), Cell(what, strong), Cell(gap + where, function))
    if first.lane is LaneAnswer.TWO:
        end = lanes or plural(count, "pair")
    elif has_lane(first):
        end = lanes or plural(count, "lane")
    else:
        end = "no lane" if count == 1 else f"{count:,} times, no lane"
    marks = [Cell("new  ", "focus")] if about.new else []
    if mark is not Mark.OPEN:
        marks.append(Cell(f"{mark}  ", "muted"))
    if folded:
        marks.append(Cell("▸ ", "muted"))
    return Row(cells, (*marks, Cell(end, "number")), FindingTarget(Part.TITLE, group.id, first.index))


def member_row(
    group: FindingGroup,
    bug: Finding,
    finding: Finding,
    side: int,
    sides: int,
    widths: tuple[int, int],
    here: Here | None,
) -> Row:
    """A lane of a bug, or one side of it.

    Args:
        group: The bug.
        bug: Its first finding: that whose allocation offsets are relative to.
        finding: The one that is drawn.
        side: Which side of it.
        sides: Rows of each finding of the bug.
        widths: Of the block and thread columns.
        here: Where the engine stands.
    """
    target = FindingTarget(Part.MEMBER, group.id, finding.index, side)
    where = side_of(finding, side)
    cells = [Cell("    ")]
    if where is None:
        cells.append(Cell(host_words(finding) or finding.access or "the report names no place", "muted"))
        return Row(tuple(cells), target=target)
    if sides > 1:
        cells.append(Cell(f"{where.access or '?':<6} ", "text"))
    blocks, threads = widths
    if blocks or threads:
        block, thread = lane_words(where)
        cells.append(Cell(f"{block:<{blocks}} {thread:<{threads}}  ", "number"))
    if sides > 1:
        cells.append(Cell(place_words(where.location), "file"))
    else:
        cells.append(Cell(offset_words(finding, told=bug.allocation), "report"))
    if where.block_rank is not None:
        cells.append(Cell(f"  cluster rank {where.block_rank}", "muted"))
    if here is not None and here.holds(finding, side):
        cells.append(Cell("  ← you are here", "focus"))
    if finding.origin:
        # Of several reports: the same lane of another rank is another lane.
        cells.append(Cell(f"  {file_name(finding.origin)}", "muted"))
    return Row(tuple(cells), target=target)


def column_widths(findings: Sequence[Finding], members: Sequence[int], sides: int) -> tuple[int, int]:
    """Widths of the block and thread columns, from the first members and the last."""
    sample = [*members[:_SAMPLE], members[-1]]
    blocks = threads = 0
    for number in sample:
        for side in range(sides):
            where = side_of(findings[number], side)
            if where is not None:
                block, thread = lane_words(where)
                blocks, threads = max(blocks, len(block)), max(threads, len(thread))
    return blocks, threads


def fold_row(group: FindingGroup, first: int, findings: Sequence[Finding], *, shown: bool) -> Row:
    """`↯ 1 follow-up API error folded`."""
    api = all(findings[number].kind is FindingKind.API_ERROR for number in group.folded[:_SAMPLE])
    words = f"↯ {plural(len(group.folded), 'follow-up API error' if api else 'consequence')} "
    cells = (Cell("  "), Cell(words + ("shown" if shown else "folded"), "muted"))
    return Row(cells, target=FindingTarget(Part.FOLD, group.id, first))


def consequence_row(group: FindingGroup, finding: Finding) -> Row:
    """A call that failed because of the bug."""
    cells = [Cell("      "), Cell(finding.access or finding.kind.value, "function")]
    host = host_words(finding)
    if host:
        cells += [Cell("  "), Cell(host, "file")]
    if finding.reason:
        cells += [Cell("  "), Cell(finding.reason, "report")]
    return Row(tuple(cells), target=FindingTarget(Part.CONSEQUENCE, group.id, finding.index))

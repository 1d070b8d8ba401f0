"""Distances as a matrix, and the way between the two GPUs that are chosen in it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ladder_backends.model.fact import Concern
from ladder_tui.panes.topology_rows import PairTarget
from ladder_tui.widgets.row import EMPTY, Cell, Row, size_of

if TYPE_CHECKING:
    from ladder_backends.model.topology import Machine, Pair

_FACTS = (
    "nccl",
    "pcie.narrowest",
    "acs.redirect",
    "iommu.translated",
    "claim.read",
    "claim.write",
    "claim.nvlink",
    "claim.atomics",
    "claim.pci",
)
_NEAR = ("PIX", "X")
_FAR = ("PHB", "NODE", "SYS")


def cell_width(machine: Machine, width: int) -> int:
    """Columns of a cell of the matrix: all GPUs fit where that is possible."""
    count = max(1, len(machine.gpus))
    return max(5, min(8, (width - 6) // count))


def heading_row(machine: Machine, width: int) -> Row:
    """Names of the columns."""
    size = cell_width(machine, width)
    return Row((Cell(" " * 6), *(Cell(f"{gpu.label:<{size}}", "strong") for gpu in machine.gpus)), pinned=1)


def matrix_rows(machine: Machine, column: int, cursor: int, width: int) -> list[Row]:
    """One row a GPU, then the way of the chosen pair.

    Args:
        machine: As it was read.
        column: The chosen column.
        cursor: The chosen row.
        width: Columns of a row.
    """
    size = cell_width(machine, width)
    rows = []
    for gpu in machine.gpus:
        cells = [Cell(f"{gpu.label:<6}", "strong")]
        for other in machine.gpus:
            chosen = gpu.index == cursor and other.index == column
            cells += _cell(machine, gpu.index, other.index, size, chosen=chosen)
        rows.append(Row(tuple(cells), target=PairTarget(gpu.index, column), pinned=1))
    pair = machine.pair(min(cursor, len(machine.gpus) - 1), column) if cursor != column else None
    return [*rows, EMPTY, *way_rows(machine, pair, cursor, column, width)]


def _cell(machine: Machine, one: int, other: int, size: int, *, chosen: bool) -> Iterator[Cell]:
    pair = machine.pair(one, other)
    text = "·" if one == other else pair.distance if pair is not None and pair.distance else "?"
    wrong = pair is not None and any(fact.concern is Concern.WRONG for fact in pair.facts.values())
    style = (
        "fault"
        if wrong
        else "ok"
        if text.startswith("NV") or text in _NEAR
        else "warn"
        if text in _FAR
        else "muted"
    )
    if wrong:
        text += "✗"
    target = PairTarget(one, other)
    if chosen:
        shown = f"[{text}]"
        yield Cell(shown, "focus", target)
        yield Cell(" " * max(0, size - len(shown)), "text", target)
    else:
        yield Cell(f"{text:<{size}}", style, target)


def way_rows(machine: Machine, pair: Pair | None, one: int, other: int, width: int) -> Iterator[Row]:
    """The ports between two GPUs in order, and what is known of the way."""
    if pair is None:
        yield Row((Cell("←→ choose another GPU: the way between the two is told here", "muted"),))
        return
    distance = pair.facts["distance"]
    yield Row(
        (
            Cell(f"GPU{pair.a} – GPU{pair.b}  ", "strong"),
            Cell(distance.text),
            Cell(f"  {distance.says}" if distance.says else "", "muted"),
        ),
        target=PairTarget(pair.a, pair.b),
    )
    target = PairTarget(pair.a, pair.b)
    for line in _in_lines(list(_way_cells(machine, pair)), width - 4):
        yield Row((Cell("  "), *line), target=target)
    label = max(len(pair.facts[name].label) for name in _FACTS)
    for name in _FACTS:
        fact = pair.facts[name]
        style = {Concern.WRONG: "fault", Concern.NOTE: "warn"}.get(fact.concern, "text" if fact.known else "muted")
        for number, text in enumerate(textwrap.wrap(fact.text, max(20, width - label - 4)) or [""]):
            name_of = fact.label if not number else ""
            yield Row((Cell(f"  {name_of:<{label}}  ", "muted"), Cell(text, style)), target=target)


def _in_lines(cells: list[Cell], width: int) -> Iterator[list[Cell]]:
    """Cells over as many lines as they need; a port is never cut."""
    line: list[Cell] = []
    for cell in cells:
        if line and sum(size_of(one.text) for one in line) + size_of(cell.text) > width:
            yield line
            line = [Cell(" ")]
        line.append(cell)
    yield line


def _way_cells(machine: Machine, pair: Pair) -> Iterator[Cell]:
    """`GPU0 → 40:01.1 → pci0000:40 → 80:01.1 → GPU1`, with what redirects marked."""
    one, other = machine.gpus[pair.a], machine.gpus[pair.b]
    if not pair.ancestor:
        yield Cell("the PCIe path between them is not shown here", "muted")
        return
    yield Cell(one.label, "strong")
    roots = pair.ancestor.split(" | ")
    ancestor_told = pair.ancestor in machine.ports
    for bdf in pair.ports:
        if not ancestor_told and bdf not in one.above:
            yield Cell(f" → {' ⇢ '.join(roots)}", "value")
            ancestor_told = True
        redirects = bdf != pair.ancestor and machine.ports[bdf].facts["acs.control"].concern is Concern.NOTE
        yield Cell(f" → {bdf.removeprefix('0000:')}{' ACS↑' if redirects else ''}", "warn" if redirects else "name")
    if not ancestor_told:
        yield Cell(f" → {' ⇢ '.join(roots)}", "value")
    yield Cell(f" → {other.label}", "strong")

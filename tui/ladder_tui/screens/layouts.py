"""Where panes go, by what is being debugged and how large the terminal is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from textual.geometry import Region

from ladder_backends.late_dataclass import dataclass
from ladder_backends.rungs import Layout, rung_named

MINIMUM = (40, 10)
"""Columns and rows below which there is only a line that says so."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one of several panes.

    Attributes:
        panes: Ids; the first is shown until another is asked for.
        share: Part of the room that is left, relative to its neighbours.
        fixed: Lines or columns, instead of a share.
    """

    panes: tuple[str, ...]
    share: int = 1
    fixed: int = 0


@dataclass(frozen=True, slots=True)
class Split:
    """Slots beside each other (`across`) or one above the other."""

    across: bool
    parts: tuple[Part, ...]
    share: int = 1
    fixed: int = 0


Part: TypeAlias = Slot | Split


class Placed(NamedTuple):
    """A slot and where it goes."""

    slot: Slot
    region: Region


def _rows(*parts: Part, share: int = 1, fixed: int = 0) -> Split:
    return Split(False, parts, share, fixed)


def _columns(*parts: Part, share: int = 1, fixed: int = 0) -> Split:
    return Split(True, parts, share, fixed)


_TELL = ("console", "program", "breakpoints")

_MACHINE = ("signals", "libraries", "environment")

HOST: dict[str, Part] = {
    "tiny": Slot(
        ("source", "stack", "variables", "console", "program", "breakpoints", "threads", "disassembly", "registers",
         "memory", "output", *_MACHINE, "findings", "grid", "lanes")
    ),
    "compact": _rows(
        Slot(("source", "disassembly", "memory"), share=10),
        _columns(Slot(("stack", "threads", "breakpoints")), Slot(("variables", "registers")), share=6),
        Slot(("console", "program", "output", *_MACHINE, "findings", "grid", "lanes"), share=4),
    ),
    "normal": _rows(
        _columns(
            Slot(("source", "disassembly", "memory"), share=3),
            _rows(Slot(("stack", "threads"), share=2), Slot(("variables", "registers"), share=3), share=2),
            share=5,
        ),
        Slot((*_TELL, "output", *_MACHINE, "findings", "grid", "lanes"), share=2),
    ),
    "wide": _rows(
        _columns(
            Slot(("source",), share=4),
            Slot(("disassembly", "memory"), share=3),
            _rows(Slot(("stack", "threads"), share=2), Slot(("variables", "registers"), share=3), share=3),
            share=3,
        ),
        _columns(
            Slot(("console",), share=4),
            Slot(("program", "output", *_MACHINE, "findings", "grid", "lanes"), share=3),
            Slot(("breakpoints",), share=3),
        ),
    ),
}  # fmt: skip
"""Layouts of a host debugger by size class."""

DEVICE: dict[str, Part] = {
    "tiny": Slot(
        (
            "findings",
            "source",
            "variables",
            "grid",
            "lanes",
            "stack",
            "console",
            "program",
            "output",
            "breakpoints",
            "threads",
            "disassembly",
            "registers",
            "memory",
            *_MACHINE,
        )
    ),
    "compact": _rows(
        Slot(("findings", "breakpoints"), share=6),
        Slot(("source", "disassembly", "memory"), share=6),
        _columns(Slot(("variables", "stack", "threads", "registers")), Slot(("grid", "lanes")), share=6),
        Slot(("console", "program", "output", *_MACHINE), share=3),
    ),
    "normal": _rows(
        _columns(
            _rows(Slot(("findings",)), Slot(("grid", "lanes")), share=5),
            _rows(
                Slot(("source", "disassembly", "memory")),
                _columns(Slot(("stack", "threads")), Slot(("variables", "registers"))),
                share=6,
            ),
            share=4,
        ),
        Slot((*_TELL, "output", *_MACHINE)),
    ),
    "wide": _rows(
        _columns(
            _rows(Slot(("findings",), share=3), Slot(("grid", "lanes"), share=2), share=3),
            _rows(Slot(("source",)), Slot(("disassembly", "memory")), share=4),
            _rows(Slot(("stack", "threads"), share=2), Slot(("variables", "registers"), share=3), share=3),
            share=3,
        ),
        _columns(
            Slot(("breakpoints",), share=3),
            Slot(("console",), share=4),
            Slot(("program", "output", *_MACHINE), share=3),
        ),
    ),
}
"""Layouts of the sanitizer and GPU rungs by size class."""


HARDWARE: dict[str, Part] = {
    "tiny": Slot(("topology", "matrix")),
    "compact": Slot(("topology", "matrix")),
    "normal": _rows(Slot(("topology",)), Slot(("matrix",))),
    "wide": _columns(Slot(("topology",)), Slot(("matrix",))),
}
"""Layouts of the hardware rung by size class."""


RANKS: dict[str, Part] = {
    "tiny": Slot(("ranks", "verdict")),
    "compact": _rows(Slot(("ranks",)), Slot(("verdict",))),
    "normal": _rows(Slot(("ranks",), share=3), Slot(("verdict",), share=2)),
    "wide": _rows(Slot(("ranks",), share=2), Slot(("verdict",))),
}
"""Layouts of the ranks rung by size class."""


def size_class(width: int, height: int) -> str:
    """`tiny`, `compact`, `normal` or `wide`."""
    if width < 60 or height < 16:
        return "tiny"
    if width >= 160 and height >= 45:
        return "wide"
    return "normal" if width >= 100 and height >= 30 else "compact"


def layout_for(rung: str, width: int, height: int) -> Part:
    """The layout of a rung at a size."""
    of_layout = {Layout.DEVICE: DEVICE, Layout.HARDWARE: HARDWARE, Layout.RANKS: RANKS}
    layouts = of_layout.get(rung_named(rung).layout, HOST)
    return layouts[size_class(width, height)]


def place(part: Part, region: Region) -> list[Placed]:
    """Divide a region among the slots of a layout; every cell belongs to one slot."""
    if isinstance(part, Slot):
        return [Placed(part, region)]
    length = region.width if part.across else region.height
    rest = length - sum(inner.fixed for inner in part.parts)
    shares = sum(inner.share for inner in part.parts if not inner.fixed)
    placed: list[Placed] = []
    start = 0
    for inner in part.parts:
        size = inner.fixed or rest * inner.share // max(1, shares)
        if inner is part.parts[-1]:
            size = length - start
        where = (
            Region(region.x + start, region.y, size, region.height)
            if part.across
            else Region(region.x, region.y + start, region.width, size)
        )
        placed += place(inner, where)
        start += size
    return placed


def without_idle(part: Part, idle: Collection[str], active: Mapping[tuple[str, ...], str]) -> Part:
    """A layout in which panes with nothing to show keep their title line only, and leave their room to the others.

    Args:
        part: The layout.
        idle: Ids of panes with nothing to show.
        active: The pane shown in each slot that was changed, by the slot's panes.
    """
    if isinstance(part, Slot):
        return replace(part, fixed=1) if active.get(part.panes, part.panes[0]) in idle else part
    parts = tuple(
        inner if part.across and isinstance(inner, Slot) else without_idle(inner, idle, active)
        for inner in part.parts
    )
    # Where none is left that could take the room, all keep theirs.
    return part if all(inner.fixed for inner in parts) else replace(part, parts=parts)


def slots_of(part: Part) -> list[Slot]:
    """Every slot of a layout, in reading order."""
    if isinstance(part, Slot):
        return [part]
    return [slot for inner in part.parts for slot in slots_of(inner)]


def edges(region: Region, others: list[Region]) -> tuple[str, tuple[int, ...]]:
    """The separators of a pane at `region` among `others`.

    Returns:
        The glyphs down its left side (empty at the screen's left edge), and the columns of its title line in which
        a separator from above ends.
    """
    joins = tuple(
        other.x - region.x for other in others if other.bottom == region.y and region.x < other.x < region.right
    )
    left_edge = min((other.x for other in [*others, region]), default=0)
    if region.x == left_edge:
        return "", joins
    left_titles = {other.y for other in others if other.right == region.x}
    above = any(other.x == region.x and other.bottom == region.y for other in others)
    corner = {(True, True): "┼", (True, False): "├", (False, True): "┬", (False, False): "┌"}[
        above, region.y in left_titles
    ]
    body = "".join("┤" if y in left_titles else "│" for y in range(region.y + 1, region.bottom))
    return corner + body, joins

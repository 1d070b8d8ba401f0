"""Where in the grid the lanes of a bug lie, by the report alone.

A report names lanes; it tells neither how large the grid and the block are nor how threads form warps. With one
dimension that needs no telling: warp n holds the threads from 32 n on. With more it takes the extent of the block,
which only an engine knows; without it the threads are laid out as they are named, a row for each y.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ladder_backends.model.finding import Finding
from ladder_backends.model.focus import Dim3, format_coordinate
from ladder_backends.model.grid import LANES, linear, volume

_MOST_NAMED = 3


class NamedLane(NamedTuple):
    """A lane that findings name.

    Attributes:
        finding: Index of the first finding that names it.
        side: Which side of that finding.
        access: First letters of what was done there, `RW` where both; empty where the report does not tell.
    """

    finding: int
    side: int
    access: str


class LaneRow(NamedTuple):
    """Lanes beside one another: a warp, or a stretch of threads of one y and z.

    Attributes:
        label: `warp 7`, `y 3`, `y 3 x 32`.
        lanes: What is known of each, None where the report names none.
        warp: Number of the warp in its block, or None where threads form no known warps.
    """

    label: str
    lanes: tuple[NamedLane | None, ...]
    warp: int | None = None


class LaneMap:
    """Lanes of one bug by block; grows with the report.

    Attributes:
        blocks: Lanes of each block by thread, in the order of the report.
        taken: How many of the bug's findings are in.
        lanes: Lanes that are named; one that is named twice is counted once.
    """

    def __init__(self) -> None:
        self.blocks: dict[Dim3, dict[Dim3, NamedLane]] = {}
        self.taken = 0
        self.lanes = 0
        self._flat = True
        self._wide_grid = False

    def take(self, findings: Sequence[Finding], members: Sequence[int], most: int) -> bool:
        """Take in at most `most` further findings; returns whether all are in."""
        end = min(len(members), self.taken + most)
        for place in range(self.taken, end):
            finding = findings[members[place]]
            for number, side in enumerate(finding.sides):
                if side.block is None or side.thread is None:
                    continue
                self._add(side.block, side.thread, NamedLane(finding.index, number, side.access[:1].upper()))
        self.taken = end
        return end == len(members)

    def _add(self, block: Dim3, thread: Dim3, lane: NamedLane) -> None:
        threads = self.blocks.get(block)
        if threads is None:
            threads = self.blocks[block] = {}
            self._wide_grid = self._wide_grid or bool(block[1] or block[2])
        known = threads.get(thread)
        if known is None:
            threads[thread] = lane
            self.lanes += 1
            self._flat = self._flat and not (thread[1] or thread[2])
        elif lane.access not in known.access:
            threads[thread] = known._replace(access="".join(sorted(known.access + lane.access)))

    @property
    def flat(self) -> bool:
        """All threads differ in x only."""
        return self._flat

    def block_name(self, block: Dim3) -> str:
        """`3` where all blocks differ in x only, else `(3,1,0)`."""
        return format_coordinate(block) if self._wide_grid else str(block[0])

    def words(self) -> str:
        """`24 lanes of block 3`, `24 lanes of blocks 3, 4`, `5,000 lanes of 20 blocks`."""
        lanes = f"{self.lanes:,} {'lane' if self.lanes == 1 else 'lanes'}"
        return f"{lanes} of {self.where()}" if self.blocks else lanes

    def where(self) -> str:
        """`block 3`, `blocks 3, 4`, `20 blocks`."""
        names = [self.block_name(block) for block in islice(self.blocks, _MOST_NAMED + 1)]
        if len(names) > _MOST_NAMED:
            return f"{len(self.blocks):,} blocks"
        return f"block{'s' if len(names) > 1 else ''} {', '.join(names)}".rstrip()

    def extent(self, grid: Dim3 | None = None) -> Dim3:
        """How far the blocks go that are named, or the whole grid where an engine has told it."""
        if grid is not None and all(all(a < b for a, b in zip(block, grid, strict=True)) for block in self.blocks):
            return grid
        return tuple(1 + max((block[axis] for block in self.blocks), default=0) for axis in range(3))  # type: ignore[return-value]

    def rows(self, block: Dim3, extent: Dim3 | None = None) -> list[LaneRow]:
        """The lanes of a block, the rows that hold any.

        Args:
            block: Which block.
            extent: Its extent in threads where an engine has told it; without it threads of two dimensions are
                laid out by their coordinates, and not by warps.
        """
        threads = self.blocks.get(block, {})
        known = extent is not None and all(
            all(a < b for a, b in zip(thread, extent, strict=True)) for thread in threads
        )
        if self._flat or (known and extent is not None):
            return _warps(threads, extent if known and extent is not None and not self._flat else None)
        return _stretches(threads)


def _warps(threads: dict[Dim3, NamedLane], extent: Dim3 | None) -> list[LaneRow]:
    size = volume(extent) if extent is not None else 0
    warps: dict[int, list[NamedLane | None]] = {}
    for thread, lane in threads.items():
        number = linear(thread, extent) if extent is not None else thread[0]
        row = warps.get(number // LANES)
        if row is None:
            row = warps[number // LANES] = [None] * LANES
        row[number % LANES] = lane
    rows = []
    for warp, lanes in sorted(warps.items()):
        end = min(LANES, size - warp * LANES) if size else LANES
        rows.append(LaneRow(f"warp {warp}", tuple(lanes[:end]), warp))
    return rows


def _stretches(threads: dict[Dim3, NamedLane]) -> list[LaneRow]:
    parts: dict[tuple[int, int, int], list[NamedLane | None]] = {}
    deep = any(thread[2] for thread in threads)
    wide = any(thread[0] >= LANES for thread in threads)
    for (x, y, z), lane in threads.items():
        row = parts.get((z, y, x // LANES))
        if row is None:
            row = parts[(z, y, x // LANES)] = [None] * LANES
        row[x % LANES] = lane
    return [
        LaneRow(f"{f'z {z} ' if deep else ''}y {y}{f' x {part * LANES}' if wide else ''}", tuple(lanes))
        for (z, y, part), lanes in sorted(parts.items())
    ]

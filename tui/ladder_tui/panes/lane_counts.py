"""How many lanes stand at an instruction: of the focused warp, and of its block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ladder_backends.model.grid import LaneState

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState

_STAND = (LaneState.ACTIVE, LaneState.DIVERGENT, LaneState.FAULTING)


@dataclass(frozen=True, slots=True)
class LaneCounts:
    """Lanes by the address of the instruction where they stand, as far as the engine told.

    Attributes:
        warp: Those of the focused warp.
        block: Those of its block.
    """

    warp: Mapping[int, int] = field(default_factory=dict)
    block: Mapping[int, int] = field(default_factory=dict)

    @property
    def places(self) -> int:
        """Instructions where lanes of the warp stand."""
        return len(self.warp)

    def words(self, address: int, *, raised: bool = False) -> tuple[tuple[str, str], ...]:
        """`24 lanes · 56 of the block`, each part with its style; nothing where nobody stands."""
        told: list[tuple[str, str]] = [("raised it here", "fault")] if raised else []
        mine, block = self.warp.get(address, 0), self.block.get(address, 0)
        if mine:
            told.append((f"{mine} lane{'' if mine == 1 else 's'}", "focus"))
        if block > mine:
            told.append((f"{block} of the block", "muted"))
        spaced: list[tuple[str, str]] = []
        for number, part in enumerate(told):
            spaced += [(" · ", "muted"), part] if number else [part]
        return tuple(spaced)


def lane_counts(debug: DebugState) -> LaneCounts:
    """Where the lanes of the focused warp and block stand."""
    focus, told = debug.focus, debug.lane_lines
    if focus is None:
        return LaneCounts()
    slot, sm = focus.index("warp"), focus.index("sm")
    warp: Counter[int] = Counter()
    for one in debug.grid.warps:
        if (one.number, one.sm) == (slot, sm):
            warp.update(_address(lane.pc) for lane in one.lanes if lane.state in _STAND and lane.pc)
    block: Counter[int] = Counter()
    if told.block == focus.dim3("block") and told.kernel in (focus.index("kernel"), None):
        for run in told.runs:
            if run.pc:
                block[_address(run.pc)] += run.count
    return LaneCounts(warp, block)


def _address(pc: str) -> int:
    try:
        return int(pc, 16)
    except ValueError:
        return -1

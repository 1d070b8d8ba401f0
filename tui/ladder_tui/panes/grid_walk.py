"""Walking over the hardware: devices, SMs, warp slots and lanes, by keys and by mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import LANES
from ladder_tui.panes.grid_hardware import DeviceTarget, HardwareRows, SlotTarget, SmsTarget, SmTarget

if TYPE_CHECKING:
    from ladder_tui.panes.grid_pane import GridPane
    from ladder_tui.widgets.line_view import Hit


class HardwareWalk:
    """Where the cursor stands in the hardware, and which part of it is wished for.

    Attributes:
        device: The device that was chosen, or None for the engine's.
        sm: The SM under the cursor.
        wanted_sm: The SM whose warps were asked for, or None for the engine's.
        slot: The warp slot under the cursor, or None.
        lane: The lane under the cursor.
        on_map: The cursor is on the map of SMs.
        moved: A key or the mouse has put the cursor where it is.
    """

    def __init__(self, pane: GridPane) -> None:
        self._pane = pane
        debug = pane.debug
        focus = debug.focus if debug is not None else None
        self.device: int | None = None
        self.sm = (focus.index("sm") if focus is not None else None) or 0
        self.wanted_sm: int | None = None
        self.slot: int | None = None
        self.lane = (focus.index("lane") if focus is not None else None) or 0
        self.on_map = self.moved = False

    def stands_on(self, target: object) -> None:
        """The cursor came to a row."""
        self.moved = True
        self.on_map = isinstance(target, SmsTarget)
        self.slot = target.warp if isinstance(target, SlotTarget) else None
        if isinstance(target, SmsTarget) and not target.first <= self.sm < target.first + target.size:
            # The same column of the other line.
            self.sm = target.first + min(self.sm % max(1, target.size), target.size - 1)

    def first_row(self, built: HardwareRows) -> int | None:
        """Where the cursor stands before it was moved: on the engine's warp, or None where that is not shown."""
        debug = self._pane.debug
        focus = debug.focus if debug is not None else None
        slot = focus.index("warp") if focus is not None else None
        row = built.slot_rows.get(slot) if slot is not None and not self.moved else None
        if row is not None:
            self.slot = slot
        return row

    def sideways(self, step: int, target: object) -> None:
        """Move over the SMs of a line, or over the lanes of a warp."""
        if isinstance(target, SmsTarget):
            self.sm = max(target.first, min(self.sm + step, target.first + target.size - 1))
        elif isinstance(target, SlotTarget):
            self.lane = max(0, min(self.lane + step, LANES - 1))

    def activate(self, hit: Hit, built: HardwareRows) -> None:
        """Look at a device or an SM; stand in a lane of a warp."""
        match hit.target:
            case DeviceTarget(device=device):
                self.device, self.wanted_sm = device, None
            case SmTarget(sm=sm):
                self._choose(sm)
                self.on_map = True
            case SmsTarget() if hit.column is None:
                self._choose(self.sm)
            case SlotTarget(device=device, sm=sm, warp=warp, lane=first):
                if hit.column is not None:
                    lane = hit.column - built.lane_start
                    self.lane = lane if 0 <= lane < LANES else first or 0
                self.slot = warp
                self._pane.go(Focus.of(device=device, sm=sm, warp=warp, lane=self.lane))

    def _choose(self, sm: int) -> None:
        """Look at an SM of the device that is shown, wherever the engine goes meanwhile."""
        debug = self._pane.debug
        self.sm = self.wanted_sm = sm
        self.device = debug.hardware.device if debug is not None else None

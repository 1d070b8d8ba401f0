"""The grid map: kernels, blocks, and the focused block's warps lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Place
from ladder_backends.model.grid import LANES
from ladder_backends.model.provenance import Provenance
from ladder_backends.rungs import dump_rung
from ladder_backends.session.alternatives import Alternative
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for
from ladder_tui.panes.grid_blocks import BlockCell
from ladder_tui.panes.grid_rows import (
    AlternativeTarget,
    BlocksTarget,
    GridRows,
    KernelTarget,
    RangeTarget,
    WarpTarget,
    focused_kernel,
    focused_lane,
    grid_rows,
    invocation,
    range_row,
    thread_at,
)
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.source_pane import SourcePane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import EMPTY, Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette


class GridPane(Pane):
    """A map one can walk on: arrow keys move over lanes and blocks, Enter or a click goes there."""

    INTEREST = Change.GRID | Change.FOCUS | Change.FRAMES | Change.RUN | Change.RUNG
    BINDINGS = bindings_for("grid")
    CURSOR_LIT: ClassVar[bool] = False

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._warp: int | None = None
        self._lane = 0
        self._block = 0
        self._stood: Focus | None = None
        self._base = self._walked = GridRows()
        self._base_for: tuple[object, ...] = ()
        self._walked_for: tuple[object, ...] = ()
        self._turn = 0

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Rows of the map, then one for each run of blocks where there are several."""
        debug = self.debug
        if debug is None:
            return 0
        runs = len(debug.grid.blocks)
        return len(self._map().rows) + (runs if runs > 1 else 0)

    def row(self, index: int) -> Row:
        """A kernel, the blocks, a warp, a line of the legend, or a run of blocks."""
        rows = self._map().rows
        debug = self.debug
        if index < len(rows):
            return rows[index]
        return range_row(debug, index - len(rows)) if debug is not None else EMPTY

    def _map(self) -> GridRows:
        """The map as it is to be drawn; built once for each change of state, size or cursor."""
        debug = self.debug
        if debug is None:
            return GridRows()
        base = (self._turn, id(debug), self.body_width)
        if base != self._base_for:
            self._base, self._base_for = grid_rows(debug, width=self.body_width), base
        if not self.has_focus:
            return self._base
        walk = (*base, self.cursor, self._lane, self._block)
        if walk != self._walked_for:
            target = self._base.rows[self.cursor].target if self.cursor < len(self._base.rows) else None
            self._walked = grid_rows(
                debug,
                width=self.body_width,
                cursor_warp=target.warp if isinstance(target, WarpTarget) else None,
                cursor_lane=self._lane,
                cursor_block=self._block if isinstance(target, BlocksTarget) else None,
            )
            self._walked_for = walk
        return self._walked

    def title(self) -> Title:
        """`Grid vadd<<<(4,1,1),(256,1,1)>>>  kernel 0`."""
        debug = self.debug
        kernel = focused_kernel(debug) if debug is not None else None
        if debug is None or kernel is None:
            return super().title()
        state = [Cell(invocation(kernel), "function"), Cell(f"  kernel {kernel.number}", "muted")]
        if kernel.provenance is Provenance.RECORDING:
            state.append(Cell("  recording", "recording"))
        return Title(self.pane_name, tuple(state), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is no map."""
        debug = self.debug
        if debug is None:
            return "no GPU program is open on this rung"
        if debug.run in (Run.NOTHING, Run.DEAD):
            return self.not_standing()
        if not debug.capabilities & Capability.DEVICE_FOCUS:
            rung = dump_rung()
            return f"this engine knows no lanes; {rung.name}, on {rung.place}, does"
        return "no kernel is on the device"

    # Changes ---------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Draw what changed; the cursor follows the engine's focus when that moves."""
        self._turn += 1
        debug = self.debug
        if debug is not None and debug.focus != self._stood and debug.grid.warps:
            self._stood = debug.focus
            self._follow()
        self._stay()
        self.update()

    def _follow(self) -> None:
        debug = self.debug
        if debug is None:
            return
        where = focused_lane(debug)
        if where.warp is not None and where.lane is not None:
            self._warp, self._lane = where.warp, where.lane
            self._follow_cursor = True

    def _stay(self) -> None:
        """Keep the cursor on its warp, on whatever row that is by now."""
        row = self._map().warp_rows.get(self._warp) if self._warp is not None else None
        if row is not None:
            self.cursor = row

    def on_resize(self, event: events.Resize) -> None:
        """Another width may need another number of rows."""
        self._stay()
        self.update()

    # Walking ---------------------------------------------------------------------------------------------------

    def cursor_moved(self) -> None:
        """The cursor stays on a warp while rows come and go above it."""
        target = self.row(self.cursor).target if self.row_count else None
        self._warp = target.warp if isinstance(target, WarpTarget) else None

    def action_sideways(self, columns: int) -> None:
        """Move over the lanes of a warp or over the blocks."""
        step = 1 if columns > 0 else -1
        target = self.row(self.cursor).target if self.row_count else None
        if isinstance(target, WarpTarget):
            self._lane = min(max(self._lane + step, 0), LANES - 1)
        elif isinstance(target, BlocksTarget):
            self._block = min(max(self._block + step, 0), len(target.cells) - 1)
        self.update()

    def activate(self, hit: Hit) -> None:
        """Go where the row, or the lane or block under the mouse, is."""
        debug = self.debug
        if debug is None:
            return
        kernel = focused_kernel(debug)
        number = kernel.number if kernel is not None else None
        match hit.target:
            case WarpTarget(warp=warp):
                if hit.column is not None:
                    lane = hit.column - self._map().lane_start
                    if not 0 <= lane < LANES:
                        return
                    self._lane = lane
                thread = thread_at(kernel, warp, self._lane)
                where = focused_lane(debug)
                if thread is None or where.block is None:
                    self.ladder_app.say(
                        f"warp {warp} has no lane {self._lane}: the block ends before it", "warning"
                    )
                    self.update()
                    return
                self._go(Focus.of(kernel=number, block=where.block, thread=thread))
            case BlocksTarget(cells=cells) if cells and hit.column is None:
                self._go(Focus.of(kernel=number, block=cells[min(self._block, len(cells) - 1)].block))
            case BlockCell(block=block) | RangeTarget(block=block):
                self._go(Focus.of(kernel=number, block=block))
            case KernelTarget(kernel=other):
                self._go(Focus.of(kernel=other))
            case AlternativeTarget(alternative=other_place):
                self._go_instead(other_place)

    def _go(self, asked: Focus) -> None:
        session = self.session
        if session is None:
            return
        # In a dump a jump also tells what is near, where the lane is not held.
        in_dump = session.state.run is Run.DUMP and "block" in asked
        self.work(self.ladder.jump_to(asked) if in_dump else session.switch(asked))
        self.update()

    def _go_instead(self, other: Alternative) -> None:
        if other.focus is not None:
            self._go(other.focus)
        elif other.file and other.line is not None:
            source = self.ladder_app.workspace.show_pane("source")
            if isinstance(source, SourcePane):
                source.look_at(Place(other.file, other.line))

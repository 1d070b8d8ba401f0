"""The grid map: kernels, blocks, and the focused block's warps lane by lane; or the hardware below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Place
from ladder_backends.model.grid import LANES, Kernel, Warp, linear
from ladder_backends.model.provenance import Provenance
from ladder_backends.rungs import dump_rung
from ladder_backends.session.alternatives import Act, Alternative
from ladder_backends.session.device_view import with_places
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.lane_words import device_to_name
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.block_walk import BlockWalk
from ladder_tui.panes.grid_blocks import BlockCell, Layout, Spans
from ladder_tui.panes.grid_hardware import HardwareRows, hardware_rows
from ladder_tui.panes.grid_rows import (
    AlternativeTarget,
    BlocksTarget,
    GridRows,
    KernelTarget,
    RangeTarget,
    UntilTarget,
    WarpTarget,
    focused_kernel,
    focused_lane,
    grid_rows,
    invocation,
    range_row,
    thread_at,
)
from ladder_tui.panes.grid_walk import HardwareWalk
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.source_pane import SourcePane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import EMPTY, Cell, Row

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState
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
        self._blocks = BlockWalk()
        self._stood: Focus | None = None
        self._base = self._walked = GridRows()
        self._base_for: tuple[object, ...] = ()
        self._walked_for: tuple[object, ...] = ()
        self._spans: Spans | None = None
        self._spans_of: tuple[object, ...] = ()
        self._placed: tuple[Warp, ...] = ()
        self._placed_of: tuple[object, ...] = ()
        self._turn = 0
        self._asked_for: tuple[object, ...] = ()
        self._refusal: tuple[object, str] | None = None
        self._hardware: HardwareWalk | None = None
        self._machine = HardwareRows()
        self._machine_for: tuple[object, ...] = ()

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Rows of the map, then one for each run of blocks where there are several."""
        debug = self.debug
        if debug is None:
            return 0
        if self._hardware is not None:
            return len(self._hardware_map().rows)
        runs = len(debug.grid.blocks)
        return len(self._map().rows) + (runs if runs > 1 else 0)

    def row(self, index: int) -> Row:
        """A kernel, a line of blocks, a warp, a line of the legend, or a run of blocks; or a piece of hardware."""
        debug = self.debug
        rows = self._map().rows if self._hardware is None else self._hardware_map().rows
        if index < len(rows):
            return rows[index]
        return range_row(debug, index - len(rows)) if debug is not None and self._hardware is None else EMPTY

    def _map(self) -> GridRows:
        """The map as it is to be drawn; built once for each change of state, size or cursor."""
        debug = self.debug
        if debug is None:
            return GridRows()
        kernel = focused_kernel(debug)
        base = (self._turn, id(debug), self.body_width, self.body_height, self._blocks.zoom, self._blocks.top)
        if base != self._base_for:
            self._base = grid_rows(
                debug,
                width=self.body_width,
                view=self._blocks.view(self.body_height, None),
                spans=self._held(debug, kernel),
                warps=self._warps(debug, kernel),
            )
            self._base_for = base
        if not self.has_focus:
            return self._base
        walk = (*base, self.cursor, self._lane, self._blocks.block)
        if walk != self._walked_for:
            target = self._base.rows[self.cursor].target if self.cursor < len(self._base.rows) else None
            layout = self._base.layout
            on_map = isinstance(target, BlocksTarget)
            self._walked = grid_rows(
                debug,
                width=self.body_width,
                view=self._blocks.view(self.body_height, layout if on_map else None),
                spans=self._held(debug, kernel),
                warps=self._warps(debug, kernel),
                cursor_warp=target.warp if isinstance(target, WarpTarget) else None,
                cursor_lane=self._lane,
            )
            self._walked_for = walk
        return self._walked

    def _held(self, debug: DebugState, kernel: Kernel | None) -> Spans | None:
        if kernel is None:
            return None
        key = (kernel, debug.grid.blocks)
        if key != self._spans_of:
            self._spans, self._spans_of = Spans(kernel, debug.grid.blocks), key
        return self._spans

    def _warps(self, debug: DebugState, kernel: Kernel | None) -> tuple[Warp, ...]:
        """The block's warps, with the lines of their lanes where these were told."""
        told = debug.lane_lines
        if kernel is None or told.block is None:
            return debug.grid.warps
        key = (id(debug.grid.warps), id(told), kernel.number)
        if key != self._placed_of:
            block = debug.grid.warps[0].block if debug.grid.warps else None
            self._placed = with_places(debug.grid.warps, told, kernel.number, block, kernel.block_dim)
            self._placed_of = key
        return self._placed

    def _hardware_map(self) -> HardwareRows:
        debug, walk = self.debug, self._hardware
        if debug is None or walk is None:
            return HardwareRows()
        key = (self._turn, id(debug), self.body_width, self.has_focus, self.cursor, walk.sm, walk.slot, walk.lane)
        if key != self._machine_for:
            on_map = self.has_focus and walk.on_map
            self._machine = hardware_rows(
                debug,
                width=self.body_width,
                cursor_sm=walk.sm if on_map else None,
                cursor_slot=walk.slot if self.has_focus and not walk.on_map else None,
                cursor_lane=walk.lane,
            )
            self._machine_for = key
        return self._machine

    def title(self) -> Title:
        """`Grid vadd<<<(4,1,1),(256,1,1)>>>  kernel 0`."""
        debug = self.debug
        kernel = focused_kernel(debug) if debug is not None else None
        if self._hardware is not None and debug is not None:
            where = debug.focus.describe("device", "sm", "warp", "lane") if debug.focus is not None else ""
            return Title(
                self.pane_name, (Cell("hardware", "function"), Cell(f"  {where}", "muted")), self.tab_cells()
            )
        if debug is None or kernel is None:
            return super().title()
        device = device_to_name(debug)
        where = f"  kernel {kernel.number}" + (f" dev {device}" if device is not None else "")
        state = [Cell(invocation(kernel), "function"), Cell(where, "muted")]
        if kernel.provenance is Provenance.RECORDING:
            state.append(Cell("  recording", "recording"))
        if debug.run is Run.RUNNING:
            state.insert(0, Cell("as of the last stop  ", "warn"))
        return Title(self.pane_name, tuple(state), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is no map."""
        debug = self.debug
        if debug is None and self.ladder.state.report is None:
            return "no GPU program is open on this rung"
        if debug is None or debug.run in (Run.NOTHING, Run.DEAD):
            return self.not_standing()
        if not debug.capabilities & Capability.DEVICE_FOCUS:
            rung = dump_rung()
            return f"this engine knows no lanes; {rung.name}, on {rung.place}, does"
        if debug.run is Run.RUNNING:
            return f"the target runs; {key_of('run.interrupt')} stops it"
        return "no kernel is on the device"

    # Changes ---------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Draw what changed; the cursor follows the engine's focus when that moves."""
        self._turn += 1
        debug = self.debug
        if debug is not None and debug.focus != self._stood and debug.grid.warps:
            self._stood = debug.focus
            self._follow()
        self._ask()
        self._stay()
        refusal = (debug.asked, debug.reason) if debug is not None and debug.reason else None
        if refusal != self._refusal:
            self._refusal = refusal
            if refusal is not None:
                # Why, and where else to go, stands above the map.
                self.top, self._follow_cursor = 0, False
        self.update()

    def _ask(self) -> None:
        """Ask for what this view shows and is not known of this stop; never for what it does not show."""
        debug, session = self.debug, self.session
        if debug is None or session is None or debug.run not in (Run.STOPPED, Run.DUMP):
            return
        if not debug.capabilities & Capability.DEVICE_FOCUS:
            return
        device, focus = session.machine.device, debug.focus
        if self._hardware is not None:
            self.work(device.look(self._hardware.device, self._hardware.wanted_sm))
            return
        block = focus.dim3("block") if focus is not None else None
        wanted = (debug.place_name, debug.since, focus.get("kernel") if focus is not None else None, block)
        if wanted != self._asked_for:
            self._asked_for = wanted
            self.work(device.look_lines() if block is not None else device.look_kernels())

    def _follow(self) -> None:
        debug = self.debug
        if debug is None:
            return
        where = focused_lane(debug)
        if where.warp is not None and where.lane is not None:
            self._warp, self._lane = where.warp, where.lane
            self._follow_cursor = True
        kernel = focused_kernel(debug)
        if kernel is not None and where.block is not None and all(kernel.grid_dim):
            self._blocks.block = linear(where.block, kernel.grid_dim)
            built = self._map()
            if built.layout is not None:
                self._blocks.show(built.layout, built.shown)

    def _stay(self) -> None:
        """Keep the cursor on its warp, on whatever row that is by now."""
        if self._hardware is not None:
            first = self._hardware.first_row(self._hardware_map())
            self.cursor = self.cursor if first is None else first
            return
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
        if self._hardware is not None:
            self._hardware.stands_on(target)
            return
        self._warp = target.warp if isinstance(target, WarpTarget) else None

    def action_sideways(self, columns: int) -> None:
        """Move over the lanes of a warp, over the blocks, or over SMs."""
        step = 1 if columns > 0 else -1
        target = self.row(self.cursor).target if self.row_count else None
        if self._hardware is not None:
            self._hardware.sideways(step, target)
        elif isinstance(target, WarpTarget):
            self._lane = min(max(self._lane + step, 0), LANES - 1)
        elif isinstance(target, BlocksTarget) and (layout := self._map().layout) is not None:
            self._blocks.sideways(layout, step)
            self._to_block_row()
        self.update()

    def action_move(self, rows: int) -> None:
        """Move by rows; inside the map of blocks by its lines, which scroll in their window."""
        layout = self._map_under_cursor()
        if layout is not None and self._blocks.by_lines(layout, rows):
            self._to_block_row()
            return
        super().action_move(rows)
        layout = self._map_under_cursor()
        if layout is not None:
            # Coming to a line of the map from outside, the cursor stands on a block of that line.
            target = self.row(self.cursor).target
            if isinstance(target, BlocksTarget) and self._blocks.line(layout) != target.line:
                self._blocks.block = layout.span(target.line)[0]
                self.update()

    def action_edge(self, which: str) -> None:
        """Go to the first or the last row; in a map that is scrolled, to its first or last block first."""
        layout = self._map_under_cursor()
        if layout is not None and self._blocks.to_edge(layout, self._map().shown, last=which == "last"):
            self._to_block_row()
            return
        if self._hardware is None and which == "first":
            self._blocks.block = self._blocks.top = 0
        super().action_edge(which)

    def _map_under_cursor(self) -> Layout | None:
        """The map of blocks, where the cursor is on it."""
        if self._hardware is not None or not self.row_count:
            return None
        return self._map().layout if isinstance(self.row(self.cursor).target, BlocksTarget) else None

    def _to_block_row(self) -> None:
        built = self._map()
        if built.layout is not None:
            self._blocks.show(built.layout, built.shown)
            self.move_cursor(self._map().map_row + self._blocks.line(built.layout) - self._blocks.top)

    def action_zoom_map(self, closer: int) -> None:
        """Look closer at the map of blocks, or from farther away."""
        if self._hardware is not None:
            self.ladder_app.say("the map of SMs has one size")
            return
        built = self._map()
        if built.layout is None or len(built.levels) < 2:
            self.ladder_app.say("each cell is one block already" if built.layout else "there is no map of blocks")
            return
        self._blocks.zoomed(built.levels, closer)
        self._to_block_row()

    # The hardware ----------------------------------------------------------------------------------------------

    @property
    def looks_at_hardware(self) -> bool:
        """Blocks and lanes are not shown: a stop need not ask for them."""
        return self._hardware is not None

    def action_hardware(self) -> None:
        """Show devices, SMs and their warps, or the kernel's blocks and lanes again."""
        debug = self.debug
        if self._hardware is None:
            if debug is None or debug.run not in (Run.STOPPED, Run.DUMP):
                self.ladder_app.say(self.not_standing() or "nothing stands on a device", "warning")
                return
            self._hardware = HardwareWalk(self)
        else:
            self._hardware = None
        self._turn += 1
        self.ladder_app.workspace.ask_for_visible_rows()
        self.cursor = self.top = 0
        self._ask()
        self._stay()
        self.update()

    # Going -----------------------------------------------------------------------------------------------------

    def activate(self, hit: Hit) -> None:
        """Go where the row, or the lane or block under the mouse, is."""
        debug = self.debug
        if debug is None:
            return
        if self._hardware is not None:
            self._hardware.activate(hit, self._hardware_map())
            self._turn += 1
            self._ask()
            self.update()
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
                self.go(Focus.of(kernel=number, block=where.block, thread=thread))
            case BlocksTarget(cells=cells) if cells and hit.column is None:
                layout = self._map().layout
                at = self._blocks.cell(layout) if layout is not None else 0
                self.go(
                    Focus.of(kernel=number, block=next((c.block for c in cells if c.first == at), cells[0].block))
                )
            case BlockCell(first=first, block=block):
                self._blocks.block = first
                self.go(Focus.of(kernel=number, block=block))
            case RangeTarget(block=block):
                self.go(Focus.of(kernel=number, block=block))
            case KernelTarget(kernel=other):
                self.go(Focus.of(kernel=other))
            case AlternativeTarget(alternative=other_place):
                self._go_instead(other_place)
            case UntilTarget(asked=asked):
                self._run_until(asked)

    def go(self, asked: Focus) -> None:
        """Stand there, or learn why not."""
        session = self.session
        if session is None:
            return
        # In a dump a jump also tells what is near, where the lane is not held.
        in_dump = session.state.run is Run.DUMP and "block" in asked
        self.work(self.ladder.jump_to(asked) if in_dump else session.switch(asked))
        self.update()

    def action_until_block(self) -> None:
        """Run until the block that was asked for last is on the device."""
        asked = self.debug.asked if self.debug is not None else None
        if asked is None:
            self.ladder_app.say("go to a block that is not on the device first", "warning")
        else:
            self._run_until(asked)

    def _run_until(self, asked: Focus) -> None:
        from ladder_backends.session.until_resident import run_until_resident

        if (session := self.session) is not None:
            self.work(run_until_resident(session, asked))

    def _go_instead(self, other: Alternative) -> None:
        if other.act is not Act.GO:
            self.ladder_app.workspace.take_alternative(other)
        elif other.focus is not None:
            self.go(other.focus)
        elif other.file and other.line is not None:
            source = self.ladder_app.workspace.show_pane("source")
            if isinstance(source, SourcePane):
                source.look_at(Place(other.file, other.line))

    def action_details(self) -> None:
        """Show how the focused kernel was launched, and what the lane's exception means."""
        self.work(self.ladder_app.workspace.show_kernel(self))

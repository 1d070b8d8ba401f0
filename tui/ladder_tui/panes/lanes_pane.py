"""An expression over the lanes of a warp, a block, or all resident blocks: a heat map and what the values share."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ladder_backends.model.provenance import Provenance
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, LadderState, Run
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.lanes_rows import ClassTarget, LaneRows, UnitTarget, title_words, unit_words
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import EMPTY, Cell, Row

if TYPE_CHECKING:
    from ladder_backends.session.lane_values import SessionLaneValues
    from ladder_backends.session.lane_values_state import LaneValuesState
    from ladder_tui.theming import Palette


_NARROW = 48
"""Columns below which the title names no other panes while this one has the keys."""


class LanesPane(Pane):
    """A map of values one can walk on; what is seen is asked for again at each stop."""

    INTEREST = Change.LANES | Change.RUN | Change.FOCUS | Change.FRAMES | Change.RUNG
    BINDINGS: ClassVar = bindings_for("lanes")
    CURSOR_LIT: ClassVar[bool] = False

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._column = 0
        self._built: LaneRows | None = None
        self._built_for: tuple[object, ...] = ()
        self._walked_to: object = None
        self._map_row: int | None = None

    @property
    def _values(self) -> SessionLaneValues | None:
        session = self.session
        return session.lane_values if session is not None else None

    @property
    def _state(self) -> LaneValuesState | None:
        debug = self.debug
        return debug.lane_values if debug is not None else None

    # Rows ------------------------------------------------------------------------------------------------------

    def _rows(self) -> LaneRows | None:
        debug, state = self.debug, self._state
        if debug is None or state is None or not state.expression:
            return None
        wanted = (id(state), state.turn, state.old, self.body_width, debug.focus)
        if wanted != self._built_for or self._built is None:
            self._built, self._built_for = LaneRows(state, self.body_width, debug.focus), wanted
        return self._built

    @property
    def row_count(self) -> int:
        """What the values share, the map, its legend, equal values."""
        rows = self._rows()
        return rows.count if rows is not None else 0

    def row(self, index: int) -> Row:
        """One of them."""
        rows = self._rows()
        if rows is None:
            return EMPTY
        return rows.row(index, self._column if index == self.cursor and self.has_focus else None)

    def title(self) -> Title:
        """`Lanes i · warp  lane 16 = 1008  (240,0,0)  24 lanes · 12 ms`."""
        state, rows = self._state, self._rows()
        if state is None or rows is None:
            return super().title()
        cells = [Cell(state.expression, "function"), Cell(f" · {state.span}", "muted")]
        row = rows.map_row(self.cursor)
        rest = title_words(state)
        if row is not None and self.has_focus:
            place = row * state.layout.width + self._column
            cells += [Cell("  "), *rows.value_cells(place)]
            rest = f"{unit_words(state.layout, place)}  {rest}".lstrip()
        if state.layout.rows and state.provenance is Provenance.RECORDING:
            cells.append(Cell("  recording", "recording"))
        cells.append(Cell(f"  {rest}", "muted"))
        # Where there is no room for both, the value under the cursor is worth more than the neighbour's name.
        narrow = self.has_focus and self.size.width < _NARROW
        return Title(self.pane_name, tuple(cells), () if narrow else self.tab_cells())

    def empty_text(self) -> str:
        """How values come here."""
        debug, values = self.debug, self._values
        if debug is None or debug.run in (Run.NOTHING, Run.DEAD):
            return self.not_standing()
        if values is None or not values.spans:
            return "this engine knows no lanes"
        return f"{key_of('lanes.evaluate')} asks an expression of all lanes of the warp, block or grid"

    # Changes ---------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Ask again where what is seen is of another stop or place; draw what there is."""
        values = self._values
        if values is not None and change & ~Change.LANES:
            values.look()
        self._stand()
        self.update()

    def _stand(self) -> None:
        """The cursor begins on the focused lane, once for each layout; then it stays on its row of the map."""
        state, rows = self._state, self._rows()
        if state is None or rows is None or not state.layout.rows:
            return
        if state.layout.rows[0] is not self._walked_to:
            # One that has grown has begun with the same row.
            self._walked_to = state.layout.rows[0]
            place = rows.focus if rows.focus is not None else 0
            self._map_row, self._column = divmod(place, state.layout.width)
            self._follow_cursor = True
        if self._map_row is not None:
            self.cursor = rows.first + self._map_row

    def sized(self) -> None:
        """Another width may need another number of rows above the map."""
        self._stand()

    def cursor_moved(self) -> None:
        """Remember which row of the map it is, while rows come and go above it."""
        rows = self._rows()
        self._map_row = rows.map_row(self.cursor) if rows is not None else None

    # Acting ----------------------------------------------------------------------------------------------------

    def action_sideways(self, columns: int) -> None:
        """Move over the lanes of a warp; elsewhere scroll."""
        state, rows = self._state, self._rows()
        if state is None or rows is None or rows.map_row(self.cursor) is None:
            super().action_sideways(columns)
            return
        self._column = min(max(self._column + (1 if columns > 0 else -1), 0), state.layout.width - 1)
        self.update()

    def activate(self, hit: Hit) -> None:
        """Stand in the lane under the cursor or the mouse, or in the first one with a value."""
        state, rows = self._state, self._rows()
        if state is None or rows is None:
            return
        match hit.target:
            case UnitTarget(row=row):
                if hit.column is not None:
                    column = hit.column - rows.label
                    if not 0 <= column < state.layout.width:
                        return
                    self._column = column
                self._go(row * state.layout.width + self._column)
            case ClassTarget(place=place):
                self._go(place)

    def _go(self, place: int) -> None:
        session, state = self.session, self._state
        if session is None or state is None:
            return
        unit = state.layout.unit_at(place)
        self.update()
        if unit is None:
            self.ladder_app.say(f"{state.layout.unit} {place % state.layout.width} is not held", "warning")
        elif session.state.run is Run.DUMP:
            self.work(self.ladder.jump_to(unit))
        else:
            self.work(session.switch(unit))

    def action_span(self) -> None:
        """Ask the warp, the block, all resident blocks."""
        if self._values is not None:
            self._values.next_span()

    def action_more(self) -> None:
        """Go on with those that have not answered."""
        if self._values is not None:
            self._values.go_on()

    def action_cancel(self) -> None:
        """Ask no more; what has come stays."""
        if self._values is not None:
            self._values.cancel()

    def take_interrupt(self) -> bool:
        """Ctrl-C ends the question, where one is on its way."""
        return self._values is not None and self._values.cancel()

    def expression_at_cursor(self) -> str:
        """The expression, to be asked again or otherwise."""
        state = self._state
        return state.expression if state is not None else ""

"""The matrix of pairs: claimed beside proven, live while a sweep runs, and what to type when it is over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change, LadderState
from ladder_tui.actions import bindings_for, key_of
from ladder_tui.panes.matrix_rows import (
    CopyTarget,
    Marks,
    PairTarget,
    claim_row,
    control_row,
    matrix_rows,
    pair_rows,
    stale_rows,
    untested_rows,
    verdict_rows,
)
from ladder_tui.panes.pane import Pane
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import EMPTY, Cell, Row

if TYPE_CHECKING:
    from textual.timer import Timer

    from ladder_backends.model.p2p import Sweep
    from ladder_backends.session.pairs_state import PairsState
    from ladder_tui.theming import Palette

_STAGES = {
    "new": "starting",
    "survey": "asking which GPUs there are",
    "control": "controls: own memory, host link, copies through the host",
    "pairs": "pairs",
    "processes": "between processes, and NCCL",
    "together": "all together",
}


def _stage(sweep: Sweep | None) -> str:
    """How far a sweep is, in words."""
    if sweep is None:
        return _STAGES["survey"]
    if sweep.stage != "pairs":
        return sweep.step or _STAGES.get(sweep.stage, "")
    done = sum(bool(pair.arms) and not pair.running for pair in sweep.pairs.values())
    return f"pairs {done} of {len(sweep.pairs)}"


class MatrixPane(Pane):
    """A matrix one can walk on; Enter shows the evidence of a pair."""

    INTEREST = Change.PAIRS | Change.HARDWARE | Change.RUNG
    BINDINGS: ClassVar = bindings_for("matrix")
    CURSOR_LIT: ClassVar[bool] = False

    def __init__(self, ladder: Ladder, *, palette: Palette, id: str) -> None:
        super().__init__(ladder, palette=palette, id=id)
        self._column = 0
        self._opened: PairTarget | None = None
        self._evidence = False
        self._rows: list[Row] = []
        self._rows_for: tuple[object, ...] = ()
        self._first = 0
        self._stands_on = -1.0
        self._clock: Timer | None = None

    @property
    def _pairs(self) -> PairsState:
        return self.ladder.state.pairs

    @property
    def _sweep(self) -> Sweep | None:
        return self._pairs.shown

    # Rows ------------------------------------------------------------------------------------------------------

    def _built(self) -> list[Row]:
        state, sweep = self._pairs, self._sweep
        if sweep is None:
            return []
        chosen = self._chosen() if self.has_focus else None
        wanted = (
            id(sweep),
            id(state.verdicts),
            state.stale,
            state.changed,
            state.running,
            self.body_width,
            chosen,
            self._opened,
            self._evidence,
        )
        if wanted != self._rows_for:
            self._rows_for = wanted
            self._rows = self._made(sweep, chosen)
        return self._rows

    def _made(self, sweep: Sweep, chosen: PairTarget | None) -> list[Row]:
        width = self.body_width
        if self._opened is not None:
            return pair_rows(sweep, self._opened, width)
        if self._evidence:
            rows = verdict_rows(self._pairs, width, evidence=True)
            return [*rows, EMPTY, *untested_rows(sweep, width)]
        rows = [claim_row(sweep, self._pairs.stale)] if sweep.pairs else []
        self._first = len(rows) + 1
        if sweep.gpus:
            rows += matrix_rows(sweep, width, chosen, Marks(self._pairs.stale, self._pairs.changed))
        rows += stale_rows(self._pairs, width)
        if (control := control_row(sweep)) is not EMPTY:
            rows.append(control)
        rows += verdict_rows(self._pairs, width)
        return rows

    def _chosen(self) -> PairTarget | None:
        sweep = self._sweep
        if sweep is None or not sweep.gpus or self._opened is not None or self._evidence:
            return None
        row = self.cursor - self._first
        if not 0 <= row < len(sweep.gpus):
            return None
        column = min(self._column, len(sweep.gpus) - 1)
        return PairTarget(sweep.gpus[row].index, sweep.gpus[column].index)

    @property
    def row_count(self) -> int:
        """Claims, the matrix, controls, the verdict; or the evidence of one pair."""
        return len(self._built())

    def row(self, index: int) -> Row:
        """One of them."""
        rows = self._built()
        return rows[index] if index < len(rows) else EMPTY

    def title(self) -> Title:
        """`P2P  SIMULATED  pairs 5 of 12 · 3 s of about 17`."""
        state, sweep = self._pairs, self._sweep
        cells: list[Cell] = []
        if sweep is None and not state.running:
            return super().title()
        if sweep.simulated if sweep is not None else self.ladder.state.hardware.simulate:
            cells.append(Cell(" SIMULATED", "report"))
        if self._opened is not None:
            source, target = self._opened
            name = f" GPU{source} → GPU{target}" if source != target else f" GPU{source}"
            cells.append(Cell(name, "strong"))
        elif self._evidence:
            cells.append(Cell(" evidence", "strong"))
        if state.running:
            spent = time.monotonic() - state.began
            cells.append(Cell(f" … {_stage(sweep)} · {spent:.0f} s of about {state.expected:.0f}", "focus"))
        elif sweep is None or state.sweep is None:
            cells.append(Cell(f' of the baseline "{state.baseline}"', "muted"))
        else:
            cells.append(Cell(f" {sweep.depth} · {sweep.stage} · {sweep.took:.1f} s", "muted"))
        return Title(self.pane_name, tuple(cells), self.tab_cells())

    def empty_text(self) -> str:
        """How a sweep begins, and what it does to the GPUs."""
        if self._pairs.running:
            return "asking which GPUs there are"
        return (
            f"{key_of('matrix.start')} tests every pair of GPUs: seconds, in processes of their own, settings"
            f" stay as they are; {key_of('matrix.deep')} tests more"
        )

    # Changes ---------------------------------------------------------------------------------------------------

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Draw what there is now."""
        self._rows_for = () if change & ~Change.PAIRS else self._rows_for
        sweep = self._sweep
        if sweep is not None and sweep.pairs and sweep.began != self._stands_on:
            # On the first cell of a new sweep, so that arrows and Enter work at once.
            self._stands_on = sweep.began
            self.cursor, self.top, self._column = 2, 0, 1
        self._run_clock()
        self.update()

    def _run_clock(self) -> None:
        """While a step keeps everybody waiting, the seconds go on; at rest nothing ticks."""
        if self._pairs.running and self._clock is None:
            self._clock = self.set_interval(1.0, self.update)
        elif not self._pairs.running and self._clock is not None:
            self._clock.stop()
            self._clock = None

    # Acting ----------------------------------------------------------------------------------------------------

    def action_sideways(self, columns: int) -> None:
        """Move over the cells of a row; everything else is as wide as the view."""
        sweep = self._sweep
        if sweep is None or self._chosen() is None:
            return
        self._column = min(max(self._column + (1 if columns > 0 else -1), 0), len(sweep.gpus) - 1)
        self.update()

    def activate(self, hit: Hit) -> None:
        """Show the evidence of the cell; copy the command of a row that has one."""
        sweep = self._sweep
        if sweep is None:
            return
        if isinstance(hit.target, CopyTarget):
            self.app.copy_to_clipboard(hit.target.text)
            self.ladder_app.say(f"copied: {hit.target.text}")
            return
        if isinstance(hit.target, PairTarget):
            numbers = [gpu.index for gpu in sweep.gpus]
            self._column = numbers.index(hit.target.target)
        if (chosen := self._chosen()) is not None:
            self._opened = chosen
            self.cursor = self.top = 0
            self.update()

    def copy_text(self, index: int) -> str:
        """The command of the row, alone, where it has one."""
        target = self.row(index).target
        return target.text if isinstance(target, CopyTarget) else super().copy_text(index)

    def action_start(self, depth: str = "quick") -> None:
        """Sweep all pairs."""
        self._opened, self._evidence = None, False
        self.ladder_app.workspace.test_pairs(depth)

    def action_again(self) -> None:
        """Test the cell again."""
        chosen = self._opened or self._chosen()
        if chosen is None or chosen.source == chosen.target:
            self.ladder_app.say("choose a cell of the matrix first", "warning")
            return
        self.work(self.ladder.pairs.again(*chosen))

    def action_evidence(self) -> None:
        """Every fact that the verdict leans on, or the matrix again."""
        self._opened, self._evidence = None, not self._evidence
        self.cursor = self.top = 0
        self.update()

    def action_back(self) -> None:
        """Back to the matrix; on it, stop the sweep."""
        if self._opened is not None or self._evidence:
            opened, self._opened, self._evidence = self._opened, None, False
            sweep = self._sweep
            if opened is not None and sweep is not None:
                numbers = [gpu.index for gpu in sweep.gpus]
                self.cursor = 2 + numbers.index(opened.source) if sweep.pairs else 1
            self.update()
        elif self._pairs.running:
            self.work(self.ladder.pairs.cancel())

    def action_copy_command(self) -> None:
        """Copy the command that helps now."""
        verdict = next((one for one in self._pairs.verdicts if one.now is not None), None)
        if verdict is None or verdict.now is None:
            self.ladder_app.say("there is no command to copy yet", "warning")
            return
        self.app.copy_to_clipboard(verdict.now.command)
        self.ladder_app.say(f"copied: {verdict.now.command}")

    def action_report(self) -> None:
        """One report of everything, copied or written."""
        self.ladder_app.workspace.ask_report()

    def take_interrupt(self) -> bool:
        """Ctrl-C stops a sweep."""
        if not self._pairs.running:
            return False
        self.work(self.ladder.pairs.cancel())
        return True

"""The topology: tree or matrix of the machine, live while it is seen, and the facts of whatever is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events

from ladder_backends.session.state import Change, LadderState
from ladder_tui.actions import bindings_for
from ladder_tui.panes.pane import Pane
from ladder_tui.panes.topology_facts import command_rows, fact_rows, group_title
from ladder_tui.panes.topology_matrix import heading_row, matrix_rows
from ladder_tui.panes.topology_rows import CommandsTarget, GroupTarget, PairTarget, tree_rows
from ladder_tui.widgets.line_view import Hit, Title
from ladder_tui.widgets.row import EMPTY, Cell, Row

if TYPE_CHECKING:
    from textual.timer import Timer

    from ladder_backends.model.fact import Fact
    from ladder_backends.model.topology import Machine
    from ladder_backends.session.hardware_state import HardwareState

SAMPLE_EVERY = 2.0
"""Seconds between samples of the counters while the pane is seen."""

_COMMANDS = "commands"


class TopologyPane(Pane):
    """Tree, matrix, or facts; Enter goes closer, Esc goes back."""

    INTEREST = Change.HARDWARE | Change.RUNG
    BINDINGS: ClassVar = bindings_for("topology")

    _matrix = False
    _column = 1
    _shown = ""
    """The group of facts that is shown, or `commands`; empty for the whole."""
    _back = 0
    _timer: Timer | None = None
    _built: tuple[object, list[Row]] = ((), [])

    # State -----------------------------------------------------------------------------------------------------

    @property
    def hardware(self) -> HardwareState:
        """What is known."""
        return self.ladder.state.hardware

    @property
    def machine(self) -> Machine | None:
        """The machine, once it is read."""
        return self.hardware.machine

    def refresh_from(self, state: LadderState, change: Change) -> None:
        """Read the machine when it is first seen, and sample it while it is."""
        if state.rung == "hardware" and self.machine is None and not self.hardware.failure:
            self.work(self.ladder.hardware.look())
        if self._timer is None:
            self._timer = self.set_interval(SAMPLE_EVERY, self._sample)
        if change == ~Change.NONE or not self.hardware.counters:
            self._sample()
        self._built = ((), [])
        self.update()

    def _sample(self) -> None:
        """Take the counters, where somebody looks."""
        seen = self.display and self.is_attached and self.app.screen is self.screen
        if seen and self.machine is not None:
            self.work(self.ladder.hardware.sample())

    # Rows ------------------------------------------------------------------------------------------------------

    @property
    def _rows(self) -> list[Row]:
        machine, width = self.machine, self.body_width
        key = (id(machine), self._shown, self._matrix, width, self._column, self.cursor if self._matrix else 0)
        if self._built[0] != key:
            self._built = key, self._build_rows(machine, width)
        return self._built[1]

    def _build_rows(self, machine: Machine | None, width: int) -> list[Row]:
        if machine is None:
            return []
        if self._shown == _COMMANDS:
            return command_rows(machine.commands, width)
        if self._shown:
            return fact_rows(machine, self._shown, width, self.hardware.counters)
        if self._matrix and machine.gpus:
            return matrix_rows(machine, self._column, min(self.cursor, len(machine.gpus) - 1), width)
        return tree_rows(self.hardware, width)

    @property
    def row_count(self) -> int:
        """Rows of what is shown."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """One of them."""
        rows = self._rows
        return rows[index] if index < len(rows) else EMPTY

    def heading(self) -> Row | None:
        """Names of the matrix's columns."""
        machine = self.machine
        if self._shown or not self._matrix or machine is None or not machine.gpus:
            return None
        return heading_row(machine, self.body_width)

    def title(self) -> Title:
        """What machine this is, and what of it is shown."""
        machine = self.machine
        cells: list[Cell] = []
        if machine is not None:
            if machine.simulated:
                cells.append(Cell("SIMULATED ", "warn"))
            if self._shown:
                shown = "for root" if self._shown == _COMMANDS else group_title(machine, self._shown)
                cells.append(Cell(f"▸ {shown}", "focus"))
            else:
                cells.append(Cell(machine.simulated or machine.title, "muted"))
        if self.hardware.reading and machine is not None:
            cells.append(Cell("  reading …", "muted"))
        return Title(self.pane_name, tuple(cells), self.tab_cells())

    def empty_text(self) -> str:
        """Why there is nothing."""
        if self.hardware.failure:
            return self.hardware.failure
        return "reading the machine …"

    def copy_text(self, index: int) -> str:
        """A command whole; a fact with its source; else the row."""
        target = self.row(index).target
        if isinstance(target, str):
            return target
        if hasattr(target, "source") and hasattr(target, "label"):
            fact = cast("Fact", target)
            return f"{fact.label}: {fact.text} [{fact.source}]" + (f" — {fact.says}" if fact.says else "")
        return super().copy_text(index)

    # Moving ----------------------------------------------------------------------------------------------------

    def cursor_moved(self) -> None:
        """In the matrix, the way of another pair is told."""
        if self._matrix:
            self._built = ((), [])

    def move_cursor(self, index: int) -> None:
        """In the matrix the cursor stays on GPUs; a way that does not fit is scrolled to by its keys."""
        machine = self.machine
        if self._matrix and not self._shown and machine is not None and machine.gpus:
            index = min(index, len(machine.gpus) - 1)
        super().move_cursor(index)

    def action_sideways(self, columns: int) -> None:
        """In the matrix, choose another column."""
        machine = self.machine
        if self._matrix and not self._shown and machine is not None and machine.gpus:
            step = 1 if columns > 0 else -1
            self._column = max(0, min(self._column + step, len(machine.gpus) - 1))
            self.update()
        else:
            super().action_sideways(columns)

    # Acting ----------------------------------------------------------------------------------------------------

    def activate(self, hit: Hit) -> None:
        """Show the facts of what the row stands for; a click on a cell of the matrix chooses it first."""
        machine, target = self.machine, hit.target
        if machine is None:
            return
        if isinstance(target, PairTarget):
            if hit.column is not None and (target.one, target.other) != (self.cursor, self._column):
                self._column = target.other
                self._built = ((), [])
                self.update()
                return
            pair = machine.pair(target.one, target.other)
            if pair is None:
                return
            self._show(f"pair.{machine.gpus[pair.a].bdf}-{machine.gpus[pair.b].bdf}")
        elif isinstance(target, GroupTarget):
            if group_title(machine, target.group):
                self._show(target.group)
        elif isinstance(target, CommandsTarget):
            self._show(_COMMANDS)

    def _show(self, group: str) -> None:
        if not self._shown:
            self._back = self.cursor
        self._shown = group
        self.cursor = self.top = 0
        self._built = ((), [])
        self.repaint()

    def action_back(self) -> None:
        """From facts to the whole."""
        if not self._shown:
            return
        self._shown = ""
        self._built = ((), [])
        self.top = 0
        self.cursor = self._back
        self.repaint()
        self._sample()

    def action_form(self) -> None:
        """Tree or matrix."""
        machine = self.machine
        if machine is None or not machine.gpus:
            self.ladder_app.say("there is no GPU to draw a matrix of", "warning")
            return
        self._matrix = not self._matrix
        self._shown = ""
        self._column = min(self._column, len(machine.gpus) - 1)
        self.cursor = self.top = 0
        self._built = ((), [])
        self.repaint()

    def action_host(self) -> None:
        """Facts of the host."""
        if self.machine is not None:
            self._show("host")

    def action_again(self) -> None:
        """Read everything again."""
        self.work(self.ladder.hardware.look(again=True))

    def action_commands(self) -> None:
        """What root can run to tell what is unread."""
        machine = self.machine
        if machine is None:
            return
        if machine.commands:
            self._show(_COMMANDS)
        else:
            self.ladder_app.say("nothing is unread that root could tell")

    def action_paste(self) -> None:
        """Take what those commands printed."""
        prompt = self.ladder_app.workspace.prompt
        prompt.ask(
            "file with its output",
            self._paste,
            placeholder="path of a file that holds what setpci, lspci or dmesg printed",
        )

    def _paste(self, text: str) -> None:
        if text.strip():
            self.work(self._paste_file(text.strip()))

    async def _paste_file(self, text: str) -> None:
        told = await self.ladder.hardware.paste_file(text)
        self.ladder_app.say(f"taken: {told}")

    def on_paste(self, event: events.Paste) -> None:
        """Output of those commands, pasted into the view itself."""
        event.stop()
        if event.text.strip():
            self.work(self._paste_text(event.text))

    async def _paste_text(self, text: str) -> None:
        told = await self.ladder.hardware.paste(text)
        self.ladder_app.say(f"taken: {told}")

    def action_save(self) -> None:
        """Keep what is so now as a baseline."""
        self.ladder_app.workspace.prompt.ask("baseline", self._save, placeholder="a name, or a path of a file")

    def _save(self, text: str) -> None:
        if text.strip():
            self.work(self._save_as(text.strip()))

    async def _save_as(self, name: str) -> None:
        path = await self.ladder.hardware.save(name)
        self.ladder_app.say(f"kept as {path}")

    def action_report(self) -> None:
        """One report of everything, copied or written."""
        self.ladder_app.workspace.ask_report()

    def action_compare(self) -> None:
        """Put a baseline beside what is so now."""
        known = ", ".join(self.ladder.hardware.baselines())
        placeholder = f"one of {known}; empty: none" if known else "a path of a file; none is kept yet"
        self.ladder_app.workspace.prompt.ask("compare with", self._compare, placeholder=placeholder)

    def _compare(self, text: str) -> None:
        self._shown = ""
        self.work(self.ladder.hardware.compare(text.strip()))
